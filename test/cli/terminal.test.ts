import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { openLog, openScreen } from '../../src/cli/messages.js';
import { visible } from '../../src/model/control-characters.js';
import { redactor } from '../../src/model/secret-forms.js';
import { formatTable } from '../../src/runs/run/present.js';

/** What a terminal obeys: colours, titles, links (OSC 8), one-byte C1 forms, backspaces, and turned direction. */
const STEERING = [
  '\u001b[31mred',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://planted.example\u001b\\link',
  '\u009b31m',
  '\u009d0;x\u009c',
  'shown\b\b\b\bhidden',
  'a\rb',
  '\u007f',
  '\u0085',
  'rtl\u202egnp.exe',
  '\u2066isolated\u2069',
  'mark\u061c',
  'line\u2028end\u2029',
];
/** What a terminal obeys: control characters but for tab and line feed, and marks that turn the direction of text. */
const OBEYED = /[^\P{Cc}\t\n]|[\u061c\u2028-\u202e\u2066-\u2069]/u;

it.each(STEERING)('%j is a picture in what is printed (91)', (text) => {
  expect(visible(`x\t${text}\ny`)).not.toMatch(OBEYED);
  expect(visible(`x\t${text}\ny`)).toMatch(/^x\t.*\ny$/s);
});

it.each([false, true])('no log line steers a terminal, as JSON or for people (terminal: %s) (91)', async (terminal) => {
  let out = '';
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      out += String(chunk);
      done();
    },
  });
  const screen = await openScreen({ env: {}, cwd: '/', stdin: process.stdin, stdout: stderr, stderr });
  const log = await openLog({ level: 'debug', terminal, screen, secrets: [] });
  for (const text of STEERING) {
    log.warn({ file: text, nested: { [text]: [text] }, err: new Error(text) }, `refused ${text}`);
    if (!terminal) expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({ file: text });
  }
  expect(out.split('\n').length).toBeGreaterThanOrEqual(STEERING.length);
  expect(out.replaceAll('\n', '')).not.toMatch(OBEYED);
});

it.each([
  ['as it is', (secret: string) => secret],
  ['in an address', encodeURIComponent],
  ['in JSON', (secret: string) => JSON.stringify(secret).slice(1, -1)],
  ['packed', (secret: string) => Buffer.from(secret).toString('base64')],
  ['packed for addresses', (secret: string) => Buffer.from(secret).toString('base64url')],
  ['as a password', (secret: string) => Buffer.from(`:${secret}`).toString('base64')],
])('a secret %s is replaced wherever it appears (86)', (_, form) => {
  const secret = 'planted/token "9"+ü';
  expect(redactor([secret])(`a ${form(secret)} b`)).toMatch(/^a \[secret\]=* b$/);
});

it('a table fits the terminal: a long text is cut, then columns that others tell are left out', () => {
  const headings = ['RUN', 'WHEN', 'FILE', 'STATUS'];
  const row = ['20261123T080000000Z-aaaa', '2026-11-23 08:00', 'a/long/way/to/the/assets.csv', 'partial'];
  const at = (width: number) =>
    formatTable(headings, [row], { width, shorten: 2, leaveOut: [1, 2] })
      .split('\n')
      .at(-1);
  expect(at(100)).toBe(row.join('  '));
  expect(at(70)).toBe('20261123T080000000Z-aaaa  2026-11-23 08:00  …o/the/assets.csv  partial');
  expect(at(60)).toBe('20261123T080000000Z-aaaa  …ng/way/to/the/assets.csv  partial');
  expect(at(40)).toBe('20261123T080000000Z-aaaa  partial');
  expect(at(10)).toBe('20261123T080000000Z-aaaa  partial');
});
