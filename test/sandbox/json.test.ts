import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountInRange,
  amountOf,
  compareAmounts,
  daysBetween,
  Exact,
  isDate,
  parseJson,
  percentOf,
  showDate,
  sumsTo,
  toJson,
  toPlain,
} from '../../src/sandbox/values.js';

describe('the lossless JSON reader', () => {
  it('agrees with JSON.parse on every value without fractions', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        const expected = JSON.parse(text, (_key, member: unknown) =>
          typeof member === 'number' ? `n${member}` : member,
        ) as unknown;
        const numbers = (member: unknown): unknown => {
          if (member instanceof Exact) return `n${Number(member.text)}`;
          if (typeof member === 'number') return `n${member}`;
          if (Array.isArray(member)) return member.map(numbers);
          if (member instanceof Map) return Object.fromEntries([...member].map(([key, one]) => [key, numbers(one)]));
          return member;
        };
        expect(numbers(parseJson(text))).toEqual(expected);
      }),
    );
  });

  it('keeps every digit of a number', () => {
    expect(parseJson('[99999999999999.99, 1200.50, 1e3, 123456789012345678, -0.10]')).toEqual(
      ['99999999999999.99', '1200.50', '1e3', '123456789012345678', '-0.10'].map((text) => new Exact(text)),
    );
    expect(parseJson('-999999999999999')).toBe(-999999999999999);
  });

  it('takes __proto__ for a name like any other', () => {
    const value = parseJson('{"__proto__": 1}');
    expect(value instanceof Map && value.get('__proto__')).toBe(1);
  });

  it.each([
    '',
    '{',
    '[1,]',
    '{"a" 1}',
    '{a:1}',
    '01',
    '1 2',
    '"a',
    '"\\x"',
    'nul',
    '"\n"',
    '[1 2]',
    '-',
    '['.repeat(100),
    `${'['.repeat(100)}${']'.repeat(100)}`,
  ])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('takes ordinary values over and gives them back', () => {
    const value = { a: [1, 'x', null, true], b: { c: 2 } };
    expect(toPlain(toJson(value))).toEqual(value);
    expect(toPlain(toJson({ a: 1.5, b: 10n ** 20n }))).toEqual({ a: '1.5', b: '100000000000000000000' });
  });
});

describe('amounts', () => {
  it.each([
    ['1200', '1200.00'],
    ['1200.5', '1200.50'],
    ['1.2e3', '1200.00'],
    ['12e-4', '0.0012'],
    ['99999999999999.99', '99999999999999.99'],
    ['0.1000', '0.10'],
    ['-0', '0.00'],
    ['-5', '-5.00'],
  ])('reads %s as %s', (text, amount) => {
    expect(amountOf(parseJson(text))).toBe(amount);
  });

  it('takes numbers only', () => {
    expect(amountOf('12')).toBeUndefined();
    expect(amountOf(new Exact('1e500'))).toBeUndefined();
  });

  it('knows its range', () => {
    expect(amountInRange('0.00')).toBe(true);
    expect(amountInRange('999999999999999.00')).toBe(true);
    expect(amountInRange('999999999999999.01')).toBe(false);
    expect(amountInRange('1000000000000000.00')).toBe(false);
    expect(amountInRange('-0.01')).toBe(false);
  });

  it('compares, adds and divides as whole numbers of cents do', () => {
    const cents = fc.bigInt({ min: 0n, max: 10n ** 17n });
    const shown = (value: bigint) => `${value / 100n}.${String(value % 100n).padStart(2, '0')}`;
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(Math.sign(compareAmounts(shown(a), shown(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect(sumsTo(shown(a), shown(b), shown(a + b))).toBe(true);
        expect(sumsTo(shown(a), shown(b), shown(a + b + 1n))).toBe(false);
      }),
    );
    expect(percentOf('1.00', '3.00')).toBe('33.33');
    expect(percentOf('2.00', '3.00')).toBe('66.67');
    expect(percentOf('0.00', '3.00')).toBe('0.00');
    expect(percentOf('1.00', '0.00')).toBeUndefined();
  });
});

describe('dates', () => {
  it.each([
    ['2024-02-29', true],
    ['2023-02-29', false],
    ['1900-02-29', false],
    ['2000-02-29', true],
    ['2024-13-01', false],
    ['2024-04-31', false],
    ['2024-1-1', false],
    ['0000-01-01', false],
  ])('%s is a date: %s', (text, expected) => {
    expect(isDate(text)).toBe(expected);
  });

  it('counts days and shows each style', () => {
    expect(daysBetween('2024-02-28', '2024-03-01')).toBe(2);
    expect(showDate('2024-02-05', 'iso')).toBe('2024-02-05');
    expect(showDate('2024-02-05', 'datetime')).toBe('2024-02-05T00:00:00Z');
    expect(showDate('2024-02-05', 'long')).toBe('February 5, 2024');
    expect(showDate('2024-02-05', 'd/m')).toBe('05/02/2024');
  });
});
