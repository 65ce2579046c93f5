import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findRow, rowWriter } from '../../../src/runs/rows/row-files.js';

test('a row is found by its number among rows of any length and with gaps, and no other is', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'rows-'));
  const path = join(dir, 'resolved.ndjson');
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.nat(20_000).map((n) => 'é'.repeat(n)),
  );
  const rows = fc.array(fc.record({ step: fc.integer({ min: 1, max: 3 }), name: text }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const out = await rowWriter(path, ['name']);
      let row = 1;
      const names = new Map<number, string>();
      for (const { step, name } of given) {
        row += step;
        names.set(row, name);
        out.write({ ref: { row }, key: 'k', set: { name }, issues: [] });
      }
      await out.close();
      for (let at = 0; at <= row + 1; at++) expect(findRow(path, at)?.set['name']).toBe(names.get(at));
    }),
    { numRuns: 10 },
  );
  await rm(dir, { recursive: true });
});
