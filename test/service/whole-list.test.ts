import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { walkList } from '../../src/service/lists/walk-list.js';
import { readWholeList, type WholeList, type WholeListOptions } from '../../src/service/lists/whole-list.js';
import type { Json, Service } from '../../src/service/port.js';
import { seeded } from '../support/seeded.js';
import { type LivingOptions, livingList } from './whole-list-fake.js';

let dir: string;
let files = 0;
const open: (() => Promise<unknown>)[] = [];
const newFile = (): string => join(dir, `log-${files++}`);
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-whole-list-'));
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function whole(service: Service, options: Partial<WholeListOptions> = {}): Promise<WholeList> {
  const list = await readWholeList(service, 'asset', { file: newFile(), ...options });
  open.push(() => list.close());
  return list;
}

async function recordsOf(list: WholeList, ids?: Iterable<number>): Promise<Json[]> {
  const records: Json[] = [];
  for await (const batch of list.read(ids)) {
    expect(batch.length).toBeLessThanOrEqual(500);
    records.push(...batch);
  }
  return records;
}

const idsOf = (records: readonly Json[]): unknown[] => records.map(({ id }) => id);

describe('a list at rest', () => {
  test.each([
    [0, 2],
    [1, 2],
    [24, 2],
    [25, 3],
    [26, 5],
    [101, 10],
    [375, 31],
    [399, 32],
  ])('of %i records is verified in two passes and %i requests', async (size, requests) => {
    const living = livingList({ size, random: seeded(size) });
    const list = await whole(living.service);
    expect(list).toMatchObject({ consistency: 'verified', passes: 2, records: size, problems: [] });
    expect([...list.ids()]).toEqual(living.items.map(({ id }) => id));
    expect(await recordsOf(list)).toEqual(living.items);
    expect(living.served).toBe(requests);
  });

  test('and a count of 9e15 it is left with a sentence after a thousand pages that show nothing (96)', async () => {
    const living = livingList({ size: 60, shape: (page) => ({ ...page, count: 9e15 }) });
    await expect(whole(living.service)).rejects.toThrow('counts 9,000,000,000,000,000 records in a list');
    expect(living.served).toBeLessThan(1_100);
    const once = livingList({ size: 60, shape: (page) => (once.served === 1 ? { ...page, count: 9e15 } : page) });
    const list = await whole(once.service);
    expect([...list.ids()]).toEqual(once.items.map(({ id }) => id));
    expect(once.served).toBeLessThan(40);
  });

  test('is read with no more requests in flight than allowed, and with as many as that', async () => {
    for (const inFlightLimit of [6, 3]) {
      const living = livingList({ size: 2_000, random: seeded(1), inFlightLimit });
      await whole(living.service);
      expect(living.mostPending).toBe(inFlightLimit);
    }
  });

  test('goes from the last page to the first, then from the first to the last', async () => {
    const living = livingList({ size: 180, inFlightLimit: 1 });
    await whole(living.service);
    expect(living.asked).toEqual([1, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('tells how far it is, and shows every record once a page', async () => {
    const living = livingList({ size: 60 });
    const steps: number[][] = [];
    const shown: unknown[] = [];
    await whole(living.service, {
      onProgress: (...step) => steps.push(step),
      onRecords: (records) => shown.push(...idsOf(records)),
    });
    expect(steps.slice(0, 3)).toEqual([
      [25, 60, 1],
      [35, 60, 1],
      [60, 60, 1],
    ]);
    expect(steps.at(-1)).toEqual([60, 60, 2]);
    expect(new Set(shown).size).toBe(60);
  });

  test('gives the records of the ids asked for, in that order, and says which it does not have', async () => {
    const living = livingList({ size: 1_300 });
    const list = await whole(living.service);
    const wanted = [...list.ids()].reverse().filter((_, at) => at % 2 === 0);
    expect(idsOf(await recordsOf(list, wanted))).toEqual(wanted);
    await expect(recordsOf(list, [3, 4])).rejects.toThrow('no record 4 was read');
  });

  test('keeps every digit and every character', async () => {
    const record = ({ id }: { id: number }): Json => ({
      id,
      name: `"quoted", \\ ]} \n\u2028 😀 é\u0000 ${'ü'.repeat(id)}`,
      mrc: Decimal.of('99999999999999.99'),
      nested: { list: [1, null, { a: [] }], __proto__x: true },
    });
    const living = livingList({ size: 70, record });
    expect(await recordsOf(await whole(living.service))).toEqual(living.items.map(record));
  });

  test('of licenses is known by license_id', async () => {
    const living = livingList({ size: 60, record: ({ id }) => ({ license_id: id }) });
    expect([...(await whole(living.service)).ids()]).toEqual(living.items.map(({ id }) => id));
  });

  test('that comes bare, all on one page, is read whole', async () => {
    const all = Array.from({ length: 3_000 }, (_, at) => ({ id: at + 1 }));
    const page = async (_: string, number: number) => ({ count: 3_000, results: number === 1 ? all : [] });
    const list = await whole({ page, inFlightLimit: 4 } as unknown as Service);
    expect(list).toMatchObject({ consistency: 'verified', records: 3_000 });
  });

  test.each([
    ['in pages, of which the first looks like all', 25, 'partial', 60],
    ['whole, whatever page is asked for', 60, 'verified', 60],
  ])('that comes bare, %s', async (_, size, consistency, records) => {
    const all = Array.from({ length: 60 }, (_, at) => ({ id: at + 1 }));
    const page = async (_: string, number: number) => {
      const results = size === 60 ? all : all.slice((number - 1) * size, number * size);
      return { count: results.length, results, bare: true };
    };
    const service = { page, inFlightLimit: 4 } as unknown as Service;
    expect(await whole(service)).toMatchObject({ consistency, records });
    const walk = walkList(service, 'supplier');
    for await (const _ of walk);
    expect([walk.certified, await walk.confirm()]).toEqual(Array(2).fill(consistency === 'verified'));
  });
});

describe('a service that is not as it should be', () => {
  const partial = async (options: LivingOptions, more: Partial<WholeListOptions> = {}) => {
    const living = livingList({ size: 100, ...options });
    const list = await whole(living.service, more);
    return { living, list, said: list.problems.join('\n') };
  };

  test.each([101, 99, 130])(
    'counts %i where 100 are shown: said, after two passes, with everything that was seen',
    async (count) => {
      const { living, list, said } = await partial({
        shape: (page) => ({ ...page, count: page.results.length ? count : 0 }),
      });
      expect(list).toMatchObject({ consistency: 'partial', passes: 2, records: 100 });
      expect(said).toContain(`100 records were shown, the service counts ${count}`);
      expect(living.served).toBeLessThan(25);
    },
  );

  test('counts no more than a cap: what lies behind it is read all the same (25)', async () => {
    const { list, said } = await partial({
      size: 260,
      shape: (page) => ({ ...page, count: Math.min(page.count, 100) }),
    });
    expect(list).toMatchObject({ consistency: 'partial', records: 260 });
    expect(said).toContain('page 5: it holds more, although the service counts 100 records');
  });

  test('repeats its last page for every number past the end (24)', async () => {
    const last = ({ items }: { items: readonly Json[] }): Json[] =>
      items.slice(Math.floor((items.length - 1) / 25) * 25);
    const shape: LivingOptions['shape'] = (page, _number, items) =>
      page.results.length > 0
        ? page
        : { count: items.length, results: last({ items: items.map((item) => ({ ...item })) }) };
    for (const size of [100, 110, 125]) {
      const { list } = await partial({ size, shape });
      expect(list).toMatchObject({ consistency: 'verified', passes: 2, records: size });
    }
    let removals = 0;
    const beforeAnswer: LivingOptions['beforeAnswer'] = (list, nth) => {
      if (nth === 4) for (; removals < 60; removals++) list.remove(0);
    };
    const { living, list } = await partial({ size: 130, shape, beforeAnswer });
    expect(list.consistency).toBe('verified');
    expect([...list.ids()]).toEqual(living.items.map(({ id }) => id));
  });

  test('gives page 1 whatever page is asked for: an end, and a word', async () => {
    const { living, list, said } = await partial({
      shape: (_page, _n, items) => ({ count: 100, results: items.slice(0, 25).map((item) => ({ ...item })) }),
    });
    expect(list).toMatchObject({ consistency: 'partial', records: 25 });
    expect(said).toContain('came again');
    expect(living.served).toBeLessThan(60);
  });

  test('has other page sizes than documented, or changes them', async () => {
    const sized = await partial({ size: 260, pageSize: 100 });
    expect(sized.list).toMatchObject({ consistency: 'verified', passes: 2, records: 260 });
    const small = await partial({ size: 260, pageSize: 7 });
    expect(small.list).toMatchObject({ consistency: 'verified', passes: 2, records: 260 });
    for (const [before, after] of [
      [25, 10],
      [10, 25],
    ] as const) {
      let served = 0;
      const shape: LivingOptions['shape'] = (_page, number, items) => {
        const size = ++served > 6 ? after : before;
        const results = items.slice((number - 1) * size, number * size).map((item) => ({ ...item }));
        return { count: results.length > 0 ? items.length : 0, results };
      };
      const changed = await partial({ size: 260, shape });
      expect([...changed.list.ids()]).toEqual(changed.living.items.map(({ id }) => id));
      expect(changed.said).toMatch(/where (others held|\d+ were due)/);
    }
  });

  test('leaves records out of its pages that it counts (no right to see them)', async () => {
    const shape: LivingOptions['shape'] = (page) => ({
      ...page,
      results: page.results.filter(({ id }) => Number(id) % 5 !== 0),
    });
    const { list, said } = await partial({ size: 500, shape });
    expect(list).toMatchObject({ consistency: 'partial', passes: 2, records: 400 });
    expect(said).toContain('400 records were shown, the service counts 500');
  });

  test('sends records without an id: kept once each, never verified', async () => {
    const record = ({ id }: { id: number }): Json => (id % 30 === 0 ? { name: `nameless ${id % 60}` } : { id });
    const { living, list, said } = await partial({ record });
    expect(list.consistency).toBe('partial');
    expect(said).toContain('have no id');
    const records = await recordsOf(list);
    expect(list.records).toBe(records.length);
    expect(idsOf(records.filter(({ id }) => id))).toEqual([...list.ids()]);
    // Ten of a hundred have none, two kinds of them, spread over four pages: alike on one page are kept apart.
    const expected = living.items.map(record).filter(({ id }) => id === undefined);
    const kinds = new Set(expected.map(({ name }) => name));
    expect(new Set(records.filter(({ id }) => id === undefined).map(({ name }) => name))).toEqual(kinds);
  });

  test('has no page 1 although it counts records', async () => {
    const { list, said } = await partial({ shape: () => ({ count: 40, results: [] }) });
    expect(list).toMatchObject({ consistency: 'partial', records: 0 });
    expect(said).toContain('0 records were shown, the service counts 40');
  });

  test('lists ids that fall', async () => {
    const { living, list, said } = await partial({ record: ({ id }) => ({ id: 1_000 - id }) });
    expect(list.consistency).toBe('partial');
    expect(said).toContain('ids do not ascend');
    expect([...list.ids()]).toEqual(living.items.map(({ id }) => 1_000 - id).reverse());
  });

  test('gives an id a second time, to another record: the newest is kept', async () => {
    let version = 1;
    const living = livingList({
      size: 60,
      inFlightLimit: 1,
      record: ({ id }) => ({ id, version }),
      beforeAnswer: (_, nth) => {
        if (nth > 3) version = 2;
      },
    });
    const list = await whole(living.service);
    expect(list.consistency).toBe('verified');
    expect(new Set((await recordsOf(list)).map((record) => record['version']))).toEqual(new Set([2]));
  });

  test('adds records faster than they can be read: an end', async () => {
    const living = livingList({
      size: 60,
      beforeAnswer: (list) => {
        for (let i = 0; i < 30; i++) list.insert();
      },
    });
    const list = await whole(living.service);
    expect(list.consistency).toBe('partial');
    expect(list.problems.join()).toContain('faster than it can be read');
    expect(new Set(list.ids()).size).toBe(list.records);
  });
});

test('the next page is asked for when an answer has arrived, before it is taken in', async () => {
  const living = livingList({ size: 1_000, inFlightLimit: 2 });
  const underWay: number[] = [];
  const service = {
    inFlightLimit: 2,
    page(...[resource, page, query, options]: Parameters<typeof living.service.page>) {
      return living.service.page(resource, page, query, {
        ...options,
        isKnown(text) {
          const before = living.asked.length;
          const known = options?.isKnown?.(text) ?? false;
          underWay.push(living.asked.length - before);
          return known;
        },
      });
    },
  } as unknown as typeof living.service;
  expect((await whole(service)).consistency).toBe('verified');
  expect(underWay.filter((asked) => asked === 1).length).toBeGreaterThan(60);
  expect(living.mostPending).toBeLessThanOrEqual(2);
});
