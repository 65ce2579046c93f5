import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdSet } from '../../src/service/lists/id-set.js';
import { type ListWalk, walkList } from '../../src/service/lists/walk-list.js';
import type { Json, Page, Service } from '../../src/service/port.js';
import { client, json, refusal, serve } from './server.js';

/** A list that changes: `before` each read may add and remove ids. Only `page` is used by a walk. */
function moving(ids: number[], before: (ids: number[], nth: number) => void = () => undefined) {
  let nth = 0;
  let reads = 0;
  const page = async (_resource: string, number: number): Promise<Page> => {
    before(ids, ++nth);
    reads++;
    const results = ids.slice((number - 1) * 25, number * 25).map((id) => ({ id }));
    const answer = number > 1 && results.length === 0 ? { count: 0, results } : { count: ids.length, results };
    await Promise.resolve();
    return answer;
  };
  const service = { page, inFlightLimit: 4 } as unknown as Service;
  return { service, ids, reads: () => reads };
}

async function walked(walk: ListWalk): Promise<number[]> {
  const ids: number[] = [];
  for await (const { records } of walk) ids.push(...records.map((record: Json) => record['id'] as number));
  return ids;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test.each([0, 1, 24, 25, 26, 50, 512])(
  'a quiet list of %i records is read whole, in order, and certified',
  async (size) => {
    const list = moving(range(1, size));
    const walk = walkList(list.service, 'asset');
    expect(walk.certified).toBe(false);
    expect(await walked(walk)).toEqual(range(1, size));
    expect(walk.certified).toBe(true);
    expect(list.reads()).toBe(Math.max(1, Math.ceil(size / 25)));
  },
);

test('pages are read in parallel from a real service, never by following next (85)', async () => {
  let inFlight = 0;
  let most = 0;
  const { url, seen } = await serve((response, one) => {
    most = Math.max(most, ++inFlight);
    const page = Number(one.url.searchParams.get('page'));
    setTimeout(() => {
      inFlight--;
      const results = range(1, 25).map((i) => ({ id: (page - 1) * 25 + i }));
      json(response, 200, { count: 500, next: 'http://elsewhere.invalid/steal', results });
    }, 2);
  });
  const walk = walkList(client(url, { maxInFlight: 6 }), 'supplier');
  expect((await walked(walk)).length).toBe(500);
  expect(walk.certified).toBe(true);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(6);
  expect(seen.length).toBe(20);
});

test('the first page is not read again where the caller has it', async () => {
  const list = moving(range(1, 30));
  const first = await list.service.page('asset', 1);
  expect(await walked(walkList(list.service, 'asset', { first }))).toEqual(range(1, 30));
  expect(list.reads()).toBe(2);
});

test.each([
  ['a removal', (ids: number[]) => void ids.shift()],
  ['many removals', (ids: number[]) => void ids.splice(0, 60)],
  ['an insertion at the end', (ids: number[]) => void ids.push(9_999)],
])('%s while reading: nothing that stays is lost, nothing comes twice, not certified', async (_name, change) => {
  const list = moving(range(1, 300), (ids, nth) => {
    if (nth === 6) change(ids);
  });
  const walk = walkList(list.service, 'asset');
  const seen = await walked(walk);
  expect(new Set(seen).size).toBe(seen.length);
  expect(list.ids.filter((id) => !seen.includes(id))).toEqual([]);
  expect(walk.certified).toBe(false);
  expect(walk.problems.join()).toMatch(/counted/);
});

test('a list that is emptied while it is read ends', async () => {
  const list = moving(range(1, 300), (ids, nth) => {
    if (nth === 5) ids.length = 0;
  });
  const walk = walkList(list.service, 'asset');
  expect((await walked(walk)).length).toBeLessThan(300);
  expect(walk.certified).toBe(false);
});

test('a list that changes with every read ends, and is not certified', async () => {
  let next = 10_000;
  const list = moving(range(1, 2_000), (ids) => {
    ids.shift();
    ids.push(next++, next++);
  });
  const walk = walkList(list.service, 'asset');
  await walked(walk);
  expect(walk.certified).toBe(false);
  expect(list.reads()).toBeLessThan(2_000);
});

test('a count below what is shown hides no record (25)', async () => {
  const { service } = moving(range(1, 130));
  const low = {
    ...service,
    page: async (...args: Parameters<Service['page']>) => ({ ...(await service.page(...args)), count: 31 }),
  };
  const walk = walkList(low as Service, 'asset');
  expect(await walked(walk)).toEqual(range(1, 130));
  expect(walk.certified).toBe(false);
});

test('falling ids, repeated ids, missing ids and a wrong count are not certified', async () => {
  for (const [ids, words] of [
    [[...range(30, 60), ...range(1, 20)], 'do not ascend'],
    [[...range(1, 30), 30], 'came again'],
  ] as const) {
    const walk = walkList(moving([...ids]).service, 'asset');
    expect(new Set(await walked(walk))).toEqual(new Set(ids));
    expect(walk.certified).toBe(false);
    expect(walk.problems.join()).toContain(words);
  }
  const short = {
    page: async () => ({ count: 3, results: [{ id: 1 }, { id: 2 }] }),
    inFlightLimit: 1,
  } as unknown as Service;
  const walk = walkList(short, 'asset');
  await walked(walk);
  expect(walk.certified).toBe(false);
  const nameless = {
    page: async () => ({ count: 1, results: [{ name: 'x' }] }),
    inFlightLimit: 1,
  } as unknown as Service;
  expect((await walked(walkList(nameless, 'asset'))).length).toBe(1);
});

test.each(['forward', 'backward'] as const)(
  'a count of 9e15 is believed no longer than the list explains it: %s (96)',
  async (direction) => {
    const ids = range(1, 60);
    let reads = 0;
    /** `pages`: whether the service looks at the number of the page; `lies`: how many answers have that count. */
    const service = (pages: boolean, lies: number): Service => {
      reads = 0;
      const page = async (_resource: string, number: number): Promise<Page> => {
        const results = (pages ? ids.slice((number - 1) * 25, number * 25) : ids.slice(0, 25)).map((id) => ({ id }));
        const true_ = number > 1 && results.length === 0 ? 0 : ids.length;
        return { count: ++reads <= lies ? 9e15 : true_, results };
      };
      return { page, inFlightLimit: 4 } as unknown as Service;
    };
    // One wrong answer is overtaken by the next.
    expect((await walked(walkList(service(true, 1), 'asset', { direction }))).sort((a, b) => a - b)).toEqual(ids);
    expect(reads).toBeLessThan(12);
    for (const pages of [true, false]) {
      const walk = walkList(service(pages, Number.POSITIVE_INFINITY), 'asset', { direction });
      const end = await refusal(walked(walk)).catch(() => '');
      // Forward, a list whose pages are empty was left before: it changes faster than it can be read.
      if (direction === 'backward' || !pages) expect(end).toContain('counts 9,000,000,000,000,000 records in a list');
      expect(walk.certified).toBe(false);
      expect(reads).toBeLessThan(2_100);
    }
  },
);

test('whatever is removed and added: no record that stays is lost by a backward walk, none comes twice in any', async () => {
  const change = fc.record({ at: fc.integer({ min: 1, max: 20 }), remove: fc.nat(400), add: fc.nat(3) });
  const direction = fc.constantFrom('forward' as const, 'backward' as const);
  const inFlight = fc.integer({ min: 1, max: 5 });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 400 }),
      fc.array(change, { maxLength: 6 }),
      direction,
      inFlight,
      async (size, changes, way, inFlightLimit) => {
        const start = range(1, size);
        let next = 1_000;
        const list = moving([...start], (ids, nth) => {
          for (const { at, remove, add } of changes) {
            if (at !== nth) continue;
            if (ids.length > 0) ids.splice(remove % ids.length, 1);
            for (let i = 0; i < add; i++) ids.push(next++);
          }
        });
        const walk = walkList({ ...list.service, inFlightLimit }, 'asset', { direction: way });
        const seen = await walked(walk);
        expect(new Set(seen).size).toBe(seen.length);
        const lost = start.filter((id) => list.ids.includes(id) && !seen.includes(id));
        if (way === 'backward') expect(lost).toEqual([]);
        // One page at a time, and changes that never leave the count as it was: a forward walk loses nothing either.
        if (inFlightLimit === 1 && changes.every(({ add }) => add === 0)) expect(lost).toEqual([]);
        if (changes.length === 0) expect(walk.certified).toBe(true);
      },
    ),
    // The last page was empty, as its only record had moved to the page before.
    { numRuns: 300, examples: [[52, [4, 2].map((at) => ({ at, remove: 0, add: 0 })), 'forward', 1]] },
  );
});

test('a set of ids is a set, dense or sparse', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(3_000), fc.nat(Number.MAX_SAFE_INTEGER))), (ids) => {
      const ours = new IdSet();
      const theirs = new Set<number>();
      for (const id of ids) {
        expect(ours.add(id)).toBe(!theirs.has(id));
        theirs.add(id);
      }
      for (const id of ids) expect([ours.has(id), ours.has(id + 1)]).toEqual([true, theirs.has(id + 1)]);
    }),
  );
});
