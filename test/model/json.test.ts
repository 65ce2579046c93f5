import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { parseJson, stringifyBody } from '../../src/model/json.js';

test.each([
  ['[99999999999999.99]', [Decimal.of('99999999999999.99')]],
  ['{"a": 12345678901234567890}', { a: Decimal.of('12345678901234567890') }],
  ['9999999999999999', Decimal.of('9999999999999999')],
  ['[0.1, 123456789012345, 1.5e3, -0.0000000000000001]', [0.1, 123456789012345, 1500, -1e-16]],
  [
    '{"serial": "12345678901234567890", "note": "a: 12345678901234567890"}',
    { serial: '12345678901234567890', note: 'a: 12345678901234567890' },
  ],
  ['[1e400]', [Decimal.parse('1e400')]],
  ['\ufeff{"a":1}', { a: 1 }],
  ['{"a":1,"a":99999999999999.99}', { a: Decimal.of('99999999999999.99') }],
])('%s is read without loss', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});

test.each(['', '{', '{"a":99999999999999.99', '[1e999]', 'NaN', '{"a":99999999999999.99}}'])(
  '%j is not JSON',
  (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  },
);

test('a heading called __proto__ stays a heading (82)', () => {
  const read = parseJson('{"__proto__":{"x":99999999999999.99},"b":1}') as Record<string, unknown>;
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(read).not.toHaveProperty('x');
  expect(read['b']).toBe(1);
  expect(stringifyBody({ ['__proto__x']: 1 })).toBe('{"__proto__x":1}');
});

test('decimals are written as bare numbers, digit for digit', () => {
  expect(stringifyBody({ mrc: Decimal.of('999999999999999.99'), list: [Decimal.of('-0.10')] })).toBe(
    '{"mrc":999999999999999.99,"list":[-0.1]}',
  );
});

test('what JSON cannot say is refused', () => {
  expect(() => stringifyBody({ a: Number.POSITIVE_INFINITY })).toThrow('Infinity is no JSON number');
  expect(() => stringifyBody({ a: 1n })).toThrow('bigint');
});

test('plain JSON is written as JSON.stringify writes it, and read back the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // JSON.stringify writes -0 as 0, and so do we.
      expect(stringifyBody(value)).toBe(JSON.stringify(value));
      expect(JSON.parse(stringifyBody(parseJson(JSON.stringify(value))))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 500 },
  );
});

test('every amount survives read and write, however many digits it has', () => {
  const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,12})?$/);
  fc.assert(
    fc.property(digits, fc.stringMatching(/^[a-z"\\:, 0-9.]{0,12}$/), (number, name) => {
      const read = parseJson(`{${JSON.stringify(name)}: ${number}, "z": ["x", ${number}]}`) as Record<string, unknown>;
      const again = parseJson(stringifyBody(read)) as Record<string, unknown>;
      for (const value of [read[name], again[name], (again['z'] as unknown[])[1]]) {
        if (name !== 'z') expect(Decimal.of(String(value)).equals(Decimal.of(number))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
