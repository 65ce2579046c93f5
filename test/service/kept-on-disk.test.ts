import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openKnownIds } from '../../src/service/known-ids.js';
import { beginSnapshot } from '../../src/service/lists/snapshot.js';

let dir: string;
let next = 0;
const fresh = (): string => join(dir, `case-${next++}`);
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-kept-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const ids = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 999_999_999_999_999 }));
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.constantFrom('', 'a', 'b\t"c', '\ud800', 'x'.repeat(9_000)),
);
const steps = fc.array(fc.tuple(ids, texts, texts), { maxLength: 40 });

describe('what is looked up on the disk is what a Map would hold', () => {
  it('the records of a snapshot, by id and by key', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.array(texts), async (given, asked) => {
        const snapshot = await beginSnapshot(fresh());
        const records = new Map<number, { key: string; record: { id: number; text: string }; readAt: number }>();
        for (const [at, step] of given.entries()) {
          const [id, key, text] = step;
          records.set(id, { key, record: { id, text }, readAt: at });
          snapshot.add(id, { id, text }, key, at);
          expect(snapshot.size).toBe(records.size);
        }
        for (const [id, { record, readAt }] of records) {
          const text = JSON.parse(JSON.stringify(record.text)) as string;
          expect(await snapshot.get(id)).toEqual({ record: { id, text }, readAt });
        }
        for (const key of [...asked, ...[...records.values()].map((one) => one.key)]) {
          const having = [...records].flatMap(([id, one]) => (key !== '' && one.key === key ? [id] : []));
          expect(snapshot.ids(key)).toEqual(having.sort((a, b) => a - b));
        }
        await snapshot.close();
      }),
      { numRuns: 60 },
    );
  });

  it('what was written last and reads do not show, by resource and id', async () => {
    const resources = ['asset', 'contract', 'customer'] as const;
    const writes = fc.array(
      fc.option(fc.tuple(fc.constantFrom(...resources), ids, texts), { nil: undefined, freq: 8 }),
    );
    await fc.assert(
      fc.asyncProperty(writes, fc.boolean(), async (given, flushed) => {
        const folder = fresh();
        await mkdir(folder);
        let known = openKnownIds(folder, 'a');
        const last = new Map<string, string>();
        const check = () => {
          for (const resource of resources)
            for (const id of [1, 2, 3, ...given.flatMap((one) => (one ? [one[1]] : []))]) {
              const make = last.get(`${resource}/${id}`);
              expect(known.lastWritten(resource, id)).toEqual(make === undefined ? undefined : { make });
            }
        };
        for (const step of given) {
          if (step) {
            const [resource, id, make] = step;
            last.set(`${resource}/${id}`, make);
            known.remember(resource, id, { make });
            if (flushed) await known.flush();
          } else {
            await known.close();
            known = openKnownIds(folder, 'a');
          }
          check();
        }
        await known.close();
      }),
      { numRuns: 40 },
    );
  });
});
