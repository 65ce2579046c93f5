import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNumberSet } from '../../src/compact/dense-map.js';

test('a set of numbers has what was added, and nothing else', () => {
  const one = fc.oneof(
    fc.maxSafeNat(),
    fc.nat({ max: 20 }),
    fc.nat({ max: 9 }).map((high) => high * 2 ** 40),
  );
  fc.assert(
    fc.property(fc.array(one, { maxLength: 3_000, size: 'max' }), fc.array(one), (added, others) => {
      const set = createNumberSet();
      for (const number of added) set.add(number);
      const expected = new Set(added);
      for (const number of [...added, ...others]) expect(set.has(number)).toBe(expected.has(number));
      expect(set.has(Number.NaN)).toBe(false);
    }),
    { numRuns: 50 },
  );
});
