import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scrub } from '../../src/model/secret-forms.js';
import { messageLine, readMessages } from '../../src/service/transport/answer.js';

const read = (body: unknown): string =>
  messageLine(readMessages(400, typeof body === 'string' ? body : JSON.stringify(body)));

test.each([
  [{ serial_number: ['Taken.', 'Too long.'] }, 'serial_number: Taken.; serial_number: Too long.'],
  [{ name: 'Required.' }, 'name: Required.'],
  [{ detail: 'Not allowed.' }, 'Not allowed.'],
  [{ message: 'Bad.', code: 400 }, 'Bad.'],
  [{ error: 'Bad.', status: 400 }, 'Bad.'],
  [{ errors: ['One.', 'Two.'] }, 'One.; Two.'],
  [{ errors: { name: ['Required.'] } }, 'name: Required.'],
  [{ errors: { name: ['Required.'], description: ['Long.'] } }, 'name: Required.; description: Long.'],
  [{ errors: [{ field: 'name', message: 'Required.' }] }, 'name: Required.'],
  [{ errors: [{ loc: ['body', 'name'], msg: 'Required.', type: 'missing' }] }, 'body.name: Required.'],
  [{ error: { code: 'X', message: 'Bad.', details: [{ field: 'mrc', error: 'Negative.' }] } }, 'Bad.; mrc: Negative.'],
  [{ contact_person: { email: ['Invalid.'] } }, 'contact_person.email: Invalid.'],
  [{ templates: [{ fields: [{}, { value: ['Too long.'] }] }] }, 'templates.fields.value: Too long.'],
  [{ non_field_errors: ['Both.'] }, 'Both.'],
  [['One.', 'Two.'], 'One.; Two.'],
  ['"Just words."', 'Just words.'],
  ['plain words', 'plain words'],
  [{ code: 17 }, 'code: 17'],
  [{ source: ['Unknown.'], detail: ['Long.'] }, 'source: Unknown.; Long.'],
  [
    { type: 'https://x/y', title: 'Bad Request', status: 400, detail: 'Cost is negative.', instance: '/a' },
    'Cost is negative.',
  ],
  [{ type: 'about:blank', title: 'Bad Request', status: 400 }, 'Bad Request'],
  [{ title: 'Invalid.', status: 400, detail: 'Bad.', errors: {} }, 'Bad.'],
  [{ title: ['Too long.'], type: ['Unknown.'] }, 'Too long.; type: Unknown.'],
  ['', 'The service gave no reason (status 400).'],
  [{}, 'The service gave no reason (status 400).'],
  [
    '<html><head><title>502 Bad Gateway</title><style>p{}</style></head><body><h1>Oops &amp; so</h1><script>x()</script></body>',
    '502 Bad Gateway: Oops & so',
  ],
])('%j reads as %s', (body, words) => {
  expect(read(body)).toBe(words);
});

test('long answers are cut at 2,000 characters, deep ones do not matter', () => {
  const many = { errors: Array.from({ length: 500 }, (_, i) => `fault ${i} ${'x'.repeat(100)}`) };
  const words = readMessages(400, JSON.stringify(many)).reduce((sum, { text }) => sum + text.length, 0);
  expect(words).toBeGreaterThan(1_900);
  expect(words).toBeLessThanOrEqual(2_000);
  expect(readMessages(400, `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`).length).toBe(1);
  expect(readMessages(400, 'y'.repeat(1_000_000))[0]?.text.length).toBe(2_000);
});

test('control characters and terminal sequences are taken out (91)', () => {
  expect(read({ detail: 'a\u001b[31mred\u001b[0m\u0007b\r\nc\u202ed' })).toBe('ared b c d');
});

test.each([
  ['in an address', (secret: string) => encodeURIComponent(secret)],
  ['in a form', (secret: string) => encodeURIComponent(secret).replaceAll('%20', '+')],
  ['in JSON', (secret: string) => JSON.stringify({ secret })],
  ['packed', (secret: string) => Buffer.from(secret).toString('base64')],
  ['packed for addresses', (secret: string) => Buffer.from(secret).toString('base64url')],
  ['as a password', (secret: string) => Buffer.from(`:${secret}`).toString('base64')],
])('a secret %s is replaced (86)', (_, form) => {
  for (const secret of ['planted/token+9', 'pl"anted token', 'ümläut>>??token']) {
    const said = scrub(`refused ${form(secret)} here`, [secret]);
    expect(said).toMatch(/^refused .*\*\*\*.* here$/);
    for (const packed of [secret, form(secret).replace(/=+$/, '')]) expect(said).not.toContain(packed);
  }
});

test('secrets are replaced in every form they may take (86)', () => {
  const secrets = ['s3cr3t/with "quotes"', 'abc'];
  const said = `Bearer abcdef.ghi-0123456 and s3cr3t/with "quotes" and ${encodeURIComponent(secrets[0] ?? '')} and abc`;
  expect(scrub(said, secrets)).toBe('Bearer *** and *** and *** and abc');
  expect(messageLine(readMessages(400, JSON.stringify({ detail: said }), secrets))).not.toContain('s3cr3t');
});

test.each([
  ['Authorization: Bearer planted-to... is wrong', 'Authorization: Bearer *** is wrong'],
  ['Authorization: Bearer plan', 'Authorization: Bearer ***'],
  ['got planted-tok... of an unknown client', 'got ***... of an unknown client'],
  ['planted-token/one or planted-token%2Ftwo or the planted ones', '*** or *** or the planted ones'],
])('a secret that is quoted in part is replaced: %s (86)', (said, clean) => {
  expect(scrub(said, ['planted-token/one', 'planted-token/two'])).toBe(clean);
});

test('words that follow "basic" or "bearer" are the service\'s own', () => {
  const said = 'Basic Office Supplies, Basic Win10 and Basic telecommunications are taken; the bearer must sign.';
  expect(scrub(said, ['planted-token'])).toBe(said);
});

test('whatever the body, there is a message, it is bounded, and no secret is in it (86)', () => {
  const secret = 'planted-secret';
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: false }), fc.boolean(), (value, raw) => {
      const text = raw ? String(JSON.stringify(value)?.slice(0, -1)) : (JSON.stringify({ value, secret }) ?? '');
      const messages = readMessages(422, text, [secret]);
      expect(messages.length).toBeGreaterThan(0);
      expect(messageLine(messages).length).toBeLessThan(2_500);
      expect(messageLine(messages)).not.toContain(secret);
    }),
    { numRuns: 300 },
  );
});
