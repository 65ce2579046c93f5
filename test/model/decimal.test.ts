import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';

describe('Decimal', () => {
  it.each([
    ['12', '12'],
    ['-12.50', '-12.5'],
    ['007', '7'],
    ['.5', '0.5'],
    ['1.2e3', '1200'],
    ['1.25e-3', '0.00125'],
    ['-0', '0'],
    ['99999999999999.99', '99999999999999.99'],
  ])('reads %s as %s', (source, text) => {
    expect(Decimal.parse(source)?.text).toBe(text);
  });

  it.each(['', '.', '1,2', 'abc', '1.2.3', '--1', '1e99999'])('does not read %j', (source) => {
    expect(Decimal.parse(source)).toBeUndefined();
  });

  const cents = fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n });
  const amount = (value: bigint) => {
    const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
    return Decimal.of(`${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`);
  };

  it('adds and compares like whole cents', () => {
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(amount(a).plus(amount(b)).text).toBe(amount(a + b).text);
        expect(amount(a).compare(amount(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it('is text in reports', () => {
    expect(JSON.stringify({ cost: Decimal.of('1200.50') })).toBe('{"cost":"1200.5"}');
  });
});
