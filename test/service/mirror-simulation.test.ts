import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DELTA_RULES, type DeltaRules } from '../../src/service/lists/delta.js';
import { openMirror } from '../../src/service/lists/mirror.js';
import type { Json, Mirror } from '../../src/service/port.js';
import { FULL } from '../support/full.js';
import { seeded } from '../support/seeded.js';
import { type AssetList, assetList, type Grain, type Ties } from './mirror-fake.js';

let dir: string;
beforeAll(async () => {
  // Thousands of small files are made durable: in memory that takes no time.
  dir = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'rowferry-mirror-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const HOUR = 3600_000;
/** `keen`: every write gets a date. `lazy`: some writes of others do not; `deaf`: none of ours does. */
type Manner = 'keen' | 'lazy' | 'deaf';

interface Story {
  readonly seed: number;
  readonly chance: () => number;
  readonly list: AssetList;
  readonly label: string;
  readonly manner: Manner;
  /** The service does not keep the promise that a delta reading rests on: what it misses is counted, and is no violation. */
  readonly blurred: boolean;
  readonly fullEvery: number;
  readonly nights: number;
  /** What may happen before an answer; switched on for some nights. */
  readonly moving: { on: boolean; dodged: boolean };
}

/** Everything that happens under a seed. */
function story(seed: number): Story {
  const chance = seeded(seed * 7919 + 3);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)] as T;
  const size = Math.floor(pick([0, 76, 76, 76, 200]) + chance() * 100);
  const grain = pick<Grain>(['ms', 's', 's', 'day', 'day']);
  const ties = pick<Ties>(['id', '-id', 'any']);
  const ordering = chance() < 0.85 ? 'honoured' : pick(['ignored', 'ascending', 'refused'] as const);
  const manner = pick<Manner>(['keen', 'keen', 'keen', 'lazy', 'deaf']);
  const form =
    chance() < 0.05
      ? 'odd'
      : pick(['none', 'none', 'zoned', 'zoned', 'offset', 'local', grain === 'day' ? 'date' : 'zoned'] as const);
  const show = {
    zoned: (millis: number) => new Date(millis).toISOString(),
    offset: (millis: number) => `${new Date(millis + 2 * HOUR).toISOString().slice(0, 19)}+02:00`,
    local: (millis: number) => new Date(millis).toISOString().slice(0, 19).replace('T', ' '),
    date: (millis: number) => new Date(millis).toISOString().slice(0, 10),
    none: () => undefined,
    odd: (millis: number) => (millis % 7 === 0 ? null : new Date(millis).toISOString()),
  }[form];
  const moving = { on: false, dodged: false };
  const often = pick([0, 0.05, 0.2, 0.6]);
  const edits = chance() < 0.6;
  const dodges = chance() < 0.5;
  const list = assetList({
    size,
    random: chance,
    grain,
    ties,
    ordering,
    show,
    beforeAnswer(living, _nth, unread) {
      if (!moving.on) return;
      // A record that changed before changes again: from a page to be read now it goes to one that was read.
      if (dodges && unread && !moving.dodged) {
        moving.dodged = true;
        living.update(living.standing(unread + Math.floor(chance() * 12)) ?? 1);
      }
      while (chance() < often) {
        const what = edits ? 0 : chance();
        if (what < 0.55) living.update((chance() < 0.5 && pick(living.touched.slice(-60))) || someId(living, chance));
        else if (what < 0.65) living.create();
        else if (what < 0.75) living.remove(someId(living, chance));
        else if (what < 0.85) {
          living.remove(someId(living, chance));
          living.create();
        } else living.update(someId(living, chance));
      }
    },
  });
  const label = `seed ${seed} (${list.size} assets, ${grain}, ties ${ties}, ${ordering}, ${manner}, ${form})`;
  const nights = 3 + Math.floor(chance() * 3);
  // Where no date is shown the order has to tell, and coarse dates or the wrong way round do not.
  const blurred = form === 'none' && (grain !== 'ms' || ordering === 'ascending');
  return { seed, chance, list, label, manner, blurred, fullEvery: pick([2, 5, 7, 20]), nights, moving };
}

const someId = ({ ids }: AssetList, chance: () => number): number => ids[Math.floor(chance() * ids.length)] ?? 1;

/** A day: others create, change and remove records. */
function day({ list, chance, manner }: Story): { lazily: boolean } {
  let lazily = false;
  list.time += chance() < 0.2 ? 60_000 : Math.floor(chance() * 30 * HOUR);
  const changes = [0, 1, 3, 10, 25, 40][Math.floor(chance() * 6)] as number;
  for (let done = 0; done < changes; done++) {
    const moves = manner !== 'lazy' || chance() < 0.9;
    lazily ||= !moves;
    list.update(someId(list, chance), moves);
    if (chance() < 0.1) list.time += Math.floor(chance() * HOUR);
  }
  const comeAndGo = chance();
  if (comeAndGo < 0.3) for (let made = Math.ceil(chance() * 4); made > 0; made--) list.create();
  if (comeAndGo > 0.25 && comeAndGo < 0.35) list.remove(someId(list, chance));
  return { lazily };
}

interface Tally {
  readonly wrong: string[];
  nights: number;
  deltas: number;
  moved: number;
  rechecks: number;
  told: number;
  /** Delta readings of services that do not keep their promise, and those of them that were not like a full one. */
  blurred: number;
  missed: number;
}

const all = async (mirror: Mirror): Promise<Json[]> => {
  const records: Json[] = [];
  for await (const batch of mirror.records()) for (const { record } of batch) records.push(record);
  return records;
};

async function live(told: Story, tally: Tally, rules: DeltaRules): Promise<void> {
  const { list, chance, label, moving } = told;
  const folder = join(dir, `mirror-${told.seed}`);
  /** Changes without a date that no full reading has seen. */
  let hidden = false;
  for (let night = 1; night <= told.nights; night++) {
    const where = `${label}, night ${night}`;
    const before = list.event;
    moving.on = chance() < 0.4;
    moving.dodged = false;
    const options = { dir: folder, fullEvery: told.fullEvery, now: () => list.time };
    const mirror = await openMirror(list.service, 'asset', options, rules);
    const atRest = list.event === before;
    moving.on = false;
    tally.nights++;
    if (mirror.how === 'full' && mirror.certified) hidden = false;
    if (mirror.how === 'delta') tally.deltas++;
    if (mirror.how === 'delta' && !atRest) tally.moved++;
    const records = await all(mirror);
    const ids = records.map(({ id }) => id as number);
    if (ids.some((id, at) => at > 0 && id <= (ids[at - 1] as number))) tally.wrong.push(`${where}: not ascending`);
    if (mirror.count !== ids.length) tally.wrong.push(`${where}: count ${mirror.count}, ${ids.length} records`);
    if (told.blurred && mirror.how === 'delta') {
      hidden ||= JSON.stringify(records) !== JSON.stringify(list.records());
      tally.blurred++;
      if (hidden && atRest) tally.missed++;
    }
    const sure = mirror.certified && !hidden && !(told.blurred && mirror.how === 'delta');
    if (sure && atRest && JSON.stringify(records) !== JSON.stringify(list.records())) {
      tally.wrong.push(`${where}: ${mirror.how} reading of a list at rest is wrong: ${mirror.described}`);
    }
    if (sure && mirror.how === 'delta') {
      const old = records.filter((record) => !list.wasSo(record, before));
      if (old.length > 0) tally.wrong.push(`${where}: ${old.map(({ id }) => id)} as they were before the reading`);
      const found = new Set(ids);
      const lost = list.there(before).filter((id) => !found.has(id));
      if (lost.length > 0) tally.wrong.push(`${where}: ${lost} are missing`);
    }
    await work(told, tally, mirror, { where, sure, records });
    await mirror.close();
    if (day(told).lazily) hidden = true;
  }
  await rm(folder, { recursive: true, force: true });
}

/** The run's own writes, and looks at what has changed meanwhile. */
async function work(
  { list, chance, manner, blurred }: Story,
  tally: Tally,
  mirror: Mirror,
  { where, sure, records }: { where: string; sure: boolean; records: readonly Json[] },
): Promise<void> {
  let deaf = false;
  const known = new Map(records.map((record) => [record['id'] as number, record]));
  const look = async () => {
    tally.rechecks++;
    const changed = await mirror.recheck();
    if (!changed) return;
    tally.told++;
    if (!sure || deaf || blurred) return;
    for (const { record } of changed.records) known.set(record['id'] as number, record);
    const told = JSON.stringify([...known.values()]);
    if (told !== JSON.stringify(list.records())) tally.wrong.push(`${where}: recheck`);
    if (chance() < 0.2 && JSON.stringify(await all(mirror)) !== told) tally.wrong.push(`${where}: after a recheck`);
  };
  if (chance() < 0.6) {
    for (let others = Math.floor(chance() * 4); others > 0; others--) list.update(someId(list, chance));
    if (chance() < 0.2) list.create();
    await look();
    list.update(someId(list, chance));
    await look();
  }
  if (chance() < 0.5) {
    const planned = Array.from({ length: Math.floor(chance() * 40) }, () => someId(list, chance));
    mirror.noteWritten(planned);
    // Some are refused, or never sent.
    for (const id of planned) {
      if (chance() < 0.1) continue;
      deaf ||= manner === 'deaf';
      list.update(id, !deaf);
    }
    if (chance() < 0.5) await look();
  }
}

/** Under broken rules the first thing that is wrong is enough. */
async function seeds(from: number, to: number, rules: DeltaRules = DELTA_RULES): Promise<Tally> {
  const tally: Tally = { wrong: [], nights: 0, deltas: 0, moved: 0, rechecks: 0, told: 0, blurred: 0, missed: 0 };
  for (let seed = from; seed <= to && (rules === DELTA_RULES || tally.wrong.length === 0); seed++) {
    await live(story(seed), tally, rules);
  }
  return tally;
}

const SEEDS = Number(process.env['MIRROR_SEEDS'] ?? (FULL ? 1_000 : 80));

test(`${SEEDS} services, each over some nights: a delta reading shows what a full one would`, {
  timeout: 3_600_000,
}, async () => {
  const { wrong, ...tally } = await seeds(1, SEEDS);
  console.info(
    `${tally.nights} nights, ${tally.deltas} with delta (${tally.moved} of a list that changed meanwhile); ` +
      `${tally.told} of ${tally.rechecks} rechecks told what had changed; ${wrong.length} violations; ` +
      `${tally.missed} of ${tally.blurred} delta readings by a blurred order missed something`,
  );
  expect(wrong.slice(0, 10)).toEqual([]);
  expect(tally.deltas).toBeGreaterThan(tally.nights / 8);
  expect(tally.moved).toBeGreaterThan(10);
});

const BROKEN: Readonly<Record<string, DeltaRules>> = {
  'stops at the first page that is as remembered': { ...DELTA_RULES, watermark: false },
  'does not look at the count': { ...DELTA_RULES, counts: false },
  'does not look at the front again': { ...DELTA_RULES, secondLook: false },
};

test.each(Object.entries(BROKEN))('the simulation catches one that %s', async (_name, rules) => {
  const { wrong } = await seeds(1, 500, rules);
  expect(wrong.length).toBeGreaterThan(0);
});
