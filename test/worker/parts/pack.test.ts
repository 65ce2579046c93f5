import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Decimal } from '../../../src/model/decimal.js';
import { pack, unpack } from '../../../src/worker/parts/protocol.js';

const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat(30))
  .map(([digits, places]) => Decimal.of(`${digits}e-${places}`));
// What JSON itself does not keep is no part of a body: -0, lone surrogates in keys and values stay as they are.
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => (Object.is(one, -0) ? 0 : one));
const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'name'));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.string({ unit: 'binary' }), number, fc.integer(), fc.boolean(), fc.constant(null), decimal),
    fc.array(tie('value')),
    // Own members only: `__proto__` among them.
    fc.array(fc.tuple(name, tie('value'))).map((entries) => Object.fromEntries(entries)),
  ),
}));

it('what was packed comes out as it was: amounts with every digit, all of Unicode, any names (82)', () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(withDecimals(unpack(pack(one)))).toStrictEqual(withDecimals(one));
    }),
    { numRuns: 500 },
  );
});

/** As JSON has it, a number is a number, however it is held. */
function withDecimals(value: unknown): unknown {
  if (value instanceof Decimal || typeof value === 'number') return Decimal.of(`${value}`);
  if (Array.isArray(value)) return value.map(withDecimals);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withDecimals(one)]));
}

it('members that are undefined are left out, as in a body', () => {
  expect(unpack(pack({ a: undefined, b: [1], c: Decimal.of('99999999999999.990') }))).toStrictEqual({
    b: [1],
    c: Decimal.of('99999999999999.99'),
  });
});

it('a large part packs small, and anything else is refused', () => {
  const requests = Array.from({ length: 500 }, (_, i) => ({
    op: 'create',
    body: { name: `Müller ${i}`, city: 'Bern' },
  }));
  expect(pack(requests).length).toBeLessThan(JSON.stringify(requests).length / 2);
  expect(() => unpack('no part of ours')).toThrow();
});
