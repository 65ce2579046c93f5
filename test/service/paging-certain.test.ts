import { expect, test } from 'vitest';
import { type WalkOptions, walkList } from '../../src/service/lists/walk-list.js';
import { seeded } from '../support/seeded.js';
import { type LivingList, livingList } from './whole-list-fake.js';

const SEEDS = 400;

interface Reading {
  readonly certified: boolean;
  readonly confirmed: boolean;
  /** Ids that were there all the time and were not shown. */
  readonly lost: readonly number[];
}

/** Reads a list of 60 to 460 records in which, between answers, one record goes whenever one comes. */
async function reading(seed: number, options: WalkOptions = {}, inFlightLimit = 8): Promise<Reading> {
  const chance = seeded(seed * 7919 + 3);
  const often = [0.02, 0.05, 0.6][Math.floor(chance() * 3)] ?? 0;
  const change = (list: LivingList) => {
    if (chance() >= often || list.items.length === 0) return;
    list.remove(Math.floor(chance() * list.items.length));
    list.insert();
  };
  const size = 60 + Math.floor(chance() * 400);
  const list = livingList({ size, random: chance, beforeAnswer: change, inFlightLimit });
  const initial = list.items.map(({ id }) => id);
  const seen = new Set<number>();
  const walk = walkList(list.service, 'asset', options);
  for await (const { records } of walk) for (const record of records) seen.add(record['id'] as number);
  const { certified } = walk;
  const lost = initial.filter((id) => !list.removed.has(id) && !seen.has(id));
  return { certified, lost, confirmed: await walk.confirm() };
}

test.each([1, 8])(
  'removals that additions hide fool a plain reading, and no confirmed one, %i in flight (20, 21)',
  async (parallel) => {
    const fooled: number[] = [];
    let confirmed = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const read = await reading(seed, {}, parallel);
      if (read.certified && read.lost.length > 0) fooled.push(seed);
      if (!read.confirmed) continue;
      confirmed++;
      expect([seed, read.certified, read.lost]).toEqual([seed, true, []]);
    }
    expect(fooled.length).toBeGreaterThan(0);
    expect(confirmed).toBeGreaterThan(5);
  },
);

test('read backward one page after the other, the same lists lose nothing (20)', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { lost } = await reading(seed, { direction: 'backward' });
    expect([seed, lost]).toEqual([seed, []]);
  }
});

test.each([
  [0, 1, 1],
  [20, 1, 1],
  [25, 1, 1],
  [26, 2, 4],
  [250, 10, 12],
  [1000, 40, 42],
])('a quiet list of %i records is read with %i requests and confirmed with %i', async (size, requests, confirmed) => {
  const list = livingList({ size, random: seeded(size) });
  const walk = walkList(list.service, 'asset');
  expect(await walk.confirm()).toBe(false);
  let shown = 0;
  for await (const { records } of walk) shown += records.length;
  expect([walk.certified, shown, list.served]).toEqual([true, size, requests]);
  expect(await walk.confirm()).toBe(true);
  expect(list.served).toBe(confirmed);
});

test.each([
  ['grows', (list: LivingList) => list.insert()],
  ['shrinks', (list: LivingList) => list.remove(0)],
  [
    'does both',
    (list: LivingList) => {
      list.remove(0);
      list.insert();
    },
  ],
])('a list that %s, whenever it does, is not confirmed', async (_, change) => {
  for (const moment of [2, 3, 4]) {
    const list: LivingList = livingList({
      size: 60,
      beforeAnswer: (_list, nth) => {
        if (nth === moment) change(list);
      },
    });
    const walk = walkList(list.service, 'asset');
    for await (const _page of walk);
    expect(await walk.confirm()).toBe(false);
  }
});
