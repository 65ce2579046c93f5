import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHashIndex, hash32 } from '../../src/compact/hash-index.js';

describe('an index of hashes', () => {
  it('finds what a Map finds, also where few hashes stand for many names', () => {
    const hashes = fc.constantFrom(
      hash32,
      (name: string) => hash32(name) % 3,
      () => 7,
      () => -1,
    );
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 })), hashes, (names, hash) => {
        const index = createHashIndex();
        const map = new Map<string, number>();
        const added: string[] = [];
        for (const name of names) {
          const found = index.find(hash(name), (thing) => added[thing] === name);
          expect(found).toBe(map.get(name) ?? -1);
          if (found >= 0) continue;
          map.set(name, added.length);
          expect(index.add(hash(name))).toBe(added.length);
          added.push(name);
          expect(index.size).toBe(map.size);
        }
      }),
    );
  });

  it('finds each of many after it has grown', () => {
    const index = createHashIndex();
    const nameOf = (thing: number) => `SN-${thing}`;
    for (let thing = 0; thing < 100_000; thing++) index.add(hash32(nameOf(thing)));
    const strangers: number[] = [];
    for (let thing = 0; thing < 100_000; thing++) {
      if (index.find(hash32(nameOf(thing)), (one) => one === thing) !== thing) strangers.push(thing);
    }
    expect(strangers).toEqual([]);
    let asked = 0;
    for (let thing = 0; thing < 100_000; thing++) {
      index.find(hash32(`XX-${thing}`), () => {
        asked++;
        return false;
      });
    }
    // Two of 2^32 hashes meet so seldom that nearly no name is looked at in vain.
    expect(asked).toBeLessThan(50);
  });
});
