import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allPairs } from './pairs.js';

test('every pair of values of any two factors is there, and few rows do it', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2, maxLength: 12 }), fc.nat(), (sizes, seed) => {
      const factors = Object.fromEntries(sizes.map((size, at) => [`f${at}`, [...Array(size).keys()]]));
      const rows = allPairs(factors, seed);
      const names = Object.keys(factors);
      for (const a of names) {
        for (const b of names) {
          if (a === b) continue;
          const seen = new Set(rows.map((row) => `${row[a]} ${row[b]}`));
          expect(seen.size).toBe(factors[a]!.length * factors[b]!.length);
        }
      }
      const [first = 1, second = 1] = sizes.sort((x, y) => y - x);
      expect(rows.length).toBeLessThanOrEqual(first * second * 2 + 4);
    }),
    { numRuns: 60, seed: 6 },
  );
});

test('one seed gives the same rows every time, another gives others', () => {
  const factors = { a: [1, 2, 3], b: ['x', 'y'], c: [true, false], d: [1, 2, 3, 4] };
  expect(allPairs(factors, 1)).toEqual(allPairs(factors, 1));
  expect(allPairs(factors, 1)).not.toEqual(allPairs(factors, 2));
});
