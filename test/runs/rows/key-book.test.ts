import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openKeyStore } from '../../../src/runs/rows/key-store.js';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));
let books = 0;

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.constantFrom('a', 'A', 'b\u0000c', '"', '\ud800', 'ß', 'x'.repeat(30_000)),
);
const rows = fc.array(fc.tuple(texts, texts, fc.nat(2 ** 45)), { maxLength: 80 });

describe('the keys of a file', () => {
  it('are those of a Map with their spellings, and each knows its first row', () => {
    fc.assert(
      fc.property(rows, fc.array(texts), (given, asked) => {
        const book = openKeyStore(join(folder, `${++books}.ndjson`));
        const first = new Map<string, { row: number; content: number }>();
        const spellings = new Map<string, string[]>();
        for (const [at, [key, spelling, content]] of given.entries()) {
          const row = at + 2;
          expect(book.note({ key, spelling, row, content })).toEqual(first.get(key));
          if (!first.has(key)) first.set(key, { row, content });
          const others = spellings.get(key) ?? [];
          if (spelling !== key && !others.includes(spelling)) others.push(spelling);
          spellings.set(key, others);
        }
        expect(book.size).toBe(spellings.size);
        expect([...book]).toEqual([...spellings]);
        expect(book.texts).toBe(book.size + [...spellings.values()].flat().length);
        expect([...book.keys()]).toEqual([...spellings.keys()]);
        const all = [...spellings];
        for (const place of all.keys()) expect(book.at?.(place)).toEqual(all[place]);
        for (const key of [...asked, ...spellings.keys()]) {
          expect([book.has(key), book.get(key)]).toEqual([spellings.has(key), spellings.get(key)]);
        }
        book.close();
        book.close();
        expect(() => book.has('a')).toThrow('let go');
        expect(() => [...book]).toThrow('let go');
      }),
      { numRuns: 60 },
    );
  });
});
