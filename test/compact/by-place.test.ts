import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChoiceMap, createNumberMap, type DenseMap } from '../../src/compact/dense-map.js';

const places = fc.oneof(fc.nat(20), fc.nat(10_000), fc.nat(2 ** 31));

function alike<T>(made: () => DenseMap<T>, values: fc.Arbitrary<T>): void {
  fc.assert(
    fc.property(fc.array(fc.tuple(places, values)), fc.array(places), (entries, asked) => {
      const list = made();
      const map = new Map<number, T>();
      for (const [place, value] of entries) {
        list.set(place, value);
        map.set(place, value);
      }
      for (const place of [...map.keys(), ...asked]) {
        expect([list.get(place), list.has(place)]).toEqual([map.get(place), map.has(place)]);
      }
      expect(list.size).toBe(map.size);
    }),
  );
}

describe('what is kept by place', () => {
  it('holds numbers as a Map does, up to the largest that are whole', () => {
    alike(createNumberMap, fc.oneof(fc.nat(5), fc.maxSafeInteger()));
  });

  it('holds choices as a Map does', () => {
    const choices = ['created', 'updated', 'failed'] as const;
    alike(() => createChoiceMap(choices), fc.constantFrom(...choices));
  });
});
