import { expect, it } from 'vitest';
import { ReadBack } from '../../src/pipeline/apply/read-back.js';
import { UpdateRow } from '../../src/pipeline/apply/update.js';
import { type Update, WriteRun, type WriterOptions } from '../../src/pipeline/apply/write.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { lexicon } from '../resources/lexicon.js';

const FRESH_MS = 60_000;

/** Whether the record of an update is read again at the beginning of its part. */
async function isReadAgain(age: number, together: boolean): Promise<boolean> {
  const record = { id: 1, name: 'Supplier 1', city: 'Bern' };
  let reads = 0;
  const options = {
    plan: { spec: resourceSpec('supplier'), lexicon },
    freshMs: FRESH_MS,
    pace: { shared: together },
    now: () => age,
    service: {
      async get() {
        reads++;
        return record;
      },
    },
  } as unknown as WriterOptions;
  const change = { kind: 'update', id: 1, set: { city: 'Basel' }, base: { record, readAt: 0 } } as unknown as Update;
  const run = new WriteRun(options);
  expect(await new UpdateRow(change, run, new ReadBack(run)).refresh()).toBe(true);
  return reads > 0;
}

it('a record is read again where it is stale when its part begins', async () => {
  expect(await isReadAgain(FRESH_MS, false)).toBe(false);
  expect(await isReadAgain(FRESH_MS + 1, false)).toBe(true);
});

it('where others send the part, also where it would become stale on the way', async () => {
  expect(await isReadAgain(0.75 * FRESH_MS, true)).toBe(false);
  expect(await isReadAgain(0.75 * FRESH_MS + 1, true)).toBe(true);
});

it('a clock that was put back tells nothing: it is read again', async () => {
  expect(await isReadAgain(-1, false)).toBe(true);
});
