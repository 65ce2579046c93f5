import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readWholeList, type WholeList } from '../../src/service/lists/whole-list.js';
import type { Json } from '../../src/service/port.js';
import { seeded } from '../support/seeded.js';
import { livingList } from './whole-list-fake.js';

let dir: string;
let files = 0;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-whole-list-first-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function recordsOf(list: WholeList | undefined): Promise<readonly Json[] | undefined> {
  if (!list) return undefined;
  const records: Json[] = [];
  for await (const batch of list.read()) records.push(...batch);
  return records;
}

const change = fc.record({
  nth: fc.integer({ min: 1, max: 35 }),
  what: fc.constantFrom('remove', 'insert', 'change'),
  at: fc.nat({ max: 400 }),
});

test('a list that came out as the first pass showed it is, record for record, what could be read after the first pass', async () => {
  const seen = { asFirst: 0, moved: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        size: fc.integer({ min: 0, max: 400 }),
        seed: fc.nat(),
        changes: fc.array(change, { maxLength: 2 }),
      }),
      async ({ size, seed, changes }) => {
        const living = livingList({
          size,
          random: seeded(seed),
          beforeAnswer(list, nth) {
            for (const { what, at } of changes.filter((one) => one.nth === nth)) {
              const place = list.items.length === 0 ? 0 : at % list.items.length;
              if (what === 'remove') list.remove(place);
              else if (what === 'insert') list.insert();
              else list.change(place);
            }
          },
        });
        let first: WholeList | undefined;
        const list = await readWholeList(living.service, 'asset', {
          file: join(dir, `log-${files++}`),
          onFirstPass: (one) => {
            first = one;
          },
        });
        seen[list.asFirst ? 'asFirst' : 'moved']++;
        if (list.asFirst) {
          expect(list.consistency).toBe('verified');
          expect(await recordsOf(first)).toEqual(await recordsOf(list));
          expect([...(first?.ids() ?? [])]).toEqual([...list.ids()]);
          expect(first).toMatchObject({ consistency: 'verified', passes: list.passes, records: list.records });
        }
        if (changes.length === 0) expect(list.asFirst).toBe(true);
        await list.close();
      },
    ),
    { numRuns: 300 },
  );
  expect(Math.min(seen.asFirst, seen.moved)).toBeGreaterThan(30);
});
