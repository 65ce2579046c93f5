import { describe, expect, it } from 'vitest';
import { countText } from '../../src/model/count-text.js';
import { listRequests, NOTHING_PROBED, nextProbe } from '../../src/pipeline/match/filter.js';
import { matchKeys } from '../../src/pipeline/match/match.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { openLists } from '../../src/runs/run/open-service.js';
import type { Json, Page, Service, Snapshot } from '../../src/service/port.js';
import { lexicon } from '../resources/lexicon.js';
import { FULL } from '../support/full.js';
import { seeded } from '../support/seeded.js';

/** Interface, sections 4.4 and 8. */
const PAGE = 25;
const PROBE = 500;

interface World {
  readonly records: number;
  readonly keys: number;
  /** Of the keys. */
  readonly existing: number;
  /** The probe's answers come in pages, or whole. */
  readonly probe: 'paged' | 'whole' | 'ignored';
  readonly key: 'serial_number' | 'asset_tag';
}

const keyOf = (n: number) => `SN-${String(n).padStart(6, '0')}`;
const recordAt = (n: number): Json => ({ id: n, serial_number: keyOf(n), asset_tag: keyOf(n) });

/** Assets 1 to `records`, kept nowhere; counts what it is asked. */
function counting({ records, probe }: World): Service & { readonly requests: number } {
  const counts = { total: 0, reads: 0, writes: 0, retries: 0 };
  const count = () => {
    counts.total++;
    counts.reads++;
  };
  const numberOf = (key: string) => Number(/^SN-(\d+)$/.exec(key)?.[1] ?? 0);
  const there = (key: string) => numberOf(key) >= 1 && numberOf(key) <= records;
  const never = () => Promise.reject(new Error('nothing is written here'));
  return {
    counts,
    get requests() {
      return counts.total;
    },
    async page(_, page, query = {}): Promise<Page> {
      count();
      const wanted = query['serial_number'] ?? query['asset_tag'];
      if (wanted !== undefined) {
        const results = there(wanted) && page === 1 ? [recordAt(numberOf(wanted))] : [];
        return { count: there(wanted) ? 1 : 0, results };
      }
      const from = (page - 1) * PAGE;
      const size = Math.max(0, Math.min(PAGE, records - from));
      return { count: records, results: Array.from({ length: size }, (_one, i) => recordAt(from + i + 1)) };
    },
    get: never,
    serialProbe: {
      batchLimit: Number.POSITIVE_INFINITY,
      async page(list, page) {
        count();
        if (probe === 'ignored') return undefined;
        const found = list.filter(there);
        const serials = probe === 'whole' ? found : found.slice((page - 1) * PAGE, page * PAGE);
        return { serials, count: found.length };
      },
    },
    write: never,
    inFlightLimit: 16,
    close: async () => undefined,
  };
}

function memory(): Snapshot {
  const ids = new Map<string, number[]>();
  return {
    add: async (id, _, key) => void ids.set(key, [...(ids.get(key) ?? []), id]),
    ids: (key) => ids.get(key) ?? [],
    addFingerprint: () => undefined,
    hasId: () => false,
    has: (key) => ids.has(key),
    idByFingerprint: () => undefined,
    get: async () => undefined,
    get size() {
      return ids.size;
    },
    close: async () => undefined,
  };
}

/** Keys of which the first exist, so many; in the file they stand in blocks. */
function keysOf({ keys, existing, records }: World): Map<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (let n = 1; n <= keys; n++) all.set(keyOf(n <= existing ? n : records + n), []);
  return all;
}

async function look(world: World): Promise<{ requests: number; how: string; found: number }> {
  const service = counting(world);
  const snapshot = memory();
  const keys = keysOf(world);
  const how = await matchKeys(keys, {
    spec: resourceSpec('asset'),
    key: [world.key],
    service,
    lexicon,
    snapshot,
    readAll: openLists(
      service,
      () => 'not kept',
      () => undefined,
      () => 0,
    ),
    now: () => 0,
  });
  return { requests: service.requests, how, found: snapshot.size };
}

/**
 * The cheapest plan of somebody who knew how many keys exist: min(mirror, probe + filters), with the controls that every
 * plan has. Page 1 tells what the list costs; a list that lacks a key has its two ends read again; a filter is tried on a
 * record that is there, and one travels along with each probe. A filter that finds nothing is asked for five more forms of the key.
 */
function cheapest({ records, keys, existing, probe, key }: World): number {
  const pages = Math.max(1, Math.ceil(records / PAGE));
  const mirror = pages + (existing < keys && pages > 1 ? 2 : 0);
  const filters = 1 + 1 + keys + FORMS * (keys - existing);
  const batches = Math.ceil(keys / PROBE);
  const answers = probe === 'whole' ? batches : batches * Math.ceil((existing / batches + 1) / PAGE);
  const probed = 1 + answers + existing;
  return key === 'serial_number' && probe !== 'ignored' ? Math.min(mirror, filters, probed) : Math.min(mirror, filters);
}

/**
 * What finding out may cost beyond 1.05 times the cheapest plan, in requests. Serial numbers: which share of them exists is
 * told by samples. Filters: it is not known whether a key is missing, and the ends of the list read again; the first nine tell.
 */
const SAMPLES = 2;
const ENDS = 1;
/** Forms of a key that may be stored, beside the usual one: with a blank or a no-break space at either end, in full width. */
const FORMS = 5;
const FIRST_KEYS = 9;

const SMALL = [0, 1, 25, 26, 100, 500, 2_500];
const LARGE = [20_000, 100_000];
const KEYS = [1, 2, 10, 30, 100, 400, 1_000, 5_000];
const SHARES = [0, 0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 1];

/** Long lists take their time to read: fewer of those. */
function grid(probe: World['probe'], key: World['key']): World[] {
  const worlds = new Map<string, World>();
  const add = (records: number, keys: number, share: number) => {
    const existing = Math.min(records, Math.round(keys * share));
    worlds.set(`${records} ${keys} ${existing}`, { records, keys, existing, probe, key });
  };
  const main = probe === 'paged' && key === 'serial_number';
  for (const records of main ? SMALL : SMALL.filter((_, at) => at % 2 === 1)) {
    for (const keys of main && FULL ? [...KEYS, 20_000, 100_000] : KEYS) {
      for (const share of keys > 5_000 ? [0, 0.01, 1] : SHARES) add(records, keys, share);
    }
  }
  for (const records of main ? LARGE : LARGE.slice(0, 1)) {
    for (const keys of [1, ...(main ? [] : [100, 400]), 1_000, 5_000, ...(main ? [FULL ? 100_000 : 20_000] : [])]) {
      for (const share of [0, 0.01, 0.1, 1]) add(records, keys, share);
    }
  }
  return [...worlds.values()];
}

describe('the requests of looking up', () => {
  it.each([
    ['serial numbers, the probe answers in pages', 'paged', 'serial_number'],
    ['serial numbers, the probe answers in one', 'whole', 'serial_number'],
    ['serial numbers, the probe is ignored', 'ignored', 'serial_number'],
    ['tags, which cannot be probed', 'paged', 'asset_tag'],
  ] as const)('stay near the cheapest plan: %s', async (_, probe, key) => {
    const dear: string[] = [];
    for (const world of grid(probe, key)) {
      const { requests, how, found } = await look(world);
      expect(found).toBe(world.existing);
      const best = cheapest(world);
      const probes = key === 'serial_number' && probe !== 'ignored';
      const finding = probes ? 0 : Math.min(FIRST_KEYS, world.keys);
      const most = 1.05 * best + (key === 'serial_number' ? SAMPLES : ENDS) + finding;
      if (requests > most) dear.push(`${JSON.stringify(world)}: ${requests} in place of ${best} (${how})`);
      // What is said is what was done.
      if (how !== 'no keys to look up') expect(how).toContain(`: ${countText(requests, 'request')}`);
    }
    expect(dear).toEqual([]);
  });

  it('are at most 1.05 times the cheapest plan for 5,000 rows against 20,000 records', async () => {
    for (const existing of [5_000, 4_950, 2_500, 50]) {
      const world = { records: 20_000, keys: 5_000, existing, probe: 'paged', key: 'serial_number' } as const;
      expect((await look(world)).requests).toBeLessThanOrEqual(1.05 * cheapest(world));
    }
  });

  it('are told', async () => {
    const world = { records: 20_000, keys: 5_000, probe: 'paged', key: 'serial_number' } as const;
    const { how: whole } = await look({ ...world, existing: 5_000 });
    expect(whole).toBe(
      'probed 500 of 5,000 serial numbers, 500 exist; then read the whole list, 20,000 records on 800 pages: 801 requests',
    );
    const { how: singly } = await look({ ...world, existing: 50 });
    expect(singly).toBe('probed 5,000 serial numbers, 50 exist, and asked for each of these: 61 requests');
    const { how: few } = await look({ ...world, keys: 1, existing: 1 });
    expect(few).toBe('probed 1 serial number, 1 exists, and asked for it: 3 requests');
    const { how: short } = await look({ ...world, records: 60, existing: 60 });
    expect(short).toBe('read the whole list, 60 records on 3 pages: 5 requests');
  });
});

describe('the choice by samples', () => {
  it('costs next to nothing on average, whatever share exists and wherever in the file', () => {
    const random = seeded(8);
    const rounds = 2_000;
    let ratios = 0;
    let misled = 0;
    for (let round = 0; round < rounds; round++) {
      const records = Math.round(10 ** (3 + 2 * random()));
      const keys = Math.round(10 ** (2 + 2.5 * random()));
      const { existing, requests } = bySamples(records, keys, 10 ** (-3 * random()), random);
      const best = cheapest({ records, keys, existing, probe: 'paged', key: 'serial_number' });
      ratios += requests / best;
      if (requests > 1.05 * best + SAMPLES) misled++;
    }
    expect(ratios / rounds).toBeLessThan(1.05);
    // Where the list and the filters cost about the same, or a small sample misleads.
    expect(misled / rounds).toBeLessThan(0.01);
  });
});

/** Requests of somebody who goes by `nextProbe`, each serial number existing by chance. */
function bySamples(records: number, keys: number, share: number, random: () => number) {
  const exists = Array.from({ length: keys }, () => random() < share);
  const existing = exists.filter(Boolean).length;
  let probed = NOTHING_PROBED;
  let requests = 1;
  while (probed.asked < keys) {
    const next = nextProbe(records, keys, probed);
    if (next === 'list') break;
    const hits = exists.slice(probed.asked, probed.asked + next).filter(Boolean).length;
    const pagesLeft = Math.ceil((hits + 1) / PAGE) - 1;
    probed = { asked: probed.asked + next, hits: probed.hits + hits, unpaged: false, pagesLeft };
    requests++;
    // The first page tells how many there are.
    if (pagesLeft > 0 && nextProbe(records, keys, probed) === 'list') break;
    requests += pagesLeft;
    probed = { ...probed, pagesLeft: 0 };
  }
  const list = listRequests(records, existing < keys);
  const filters = probed.asked === keys && probed.pagesLeft === 0 ? probed.hits : Number.POSITIVE_INFINITY;
  return { existing, requests: requests + Math.min(list, filters) };
}
