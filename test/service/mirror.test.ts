import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { RunError } from '../../src/model/error.js';
import { type MirrorOptions, openMirror } from '../../src/service/lists/mirror.js';
import type { Json, Mirror, MirrorRecord, Page, Readable, Service } from '../../src/service/port.js';
import { openDatabase } from '../../src/store/sqlite.js';
import { seeded } from '../support/seeded.js';
import { type AssetList, type AssetListOptions, assetList } from './mirror-fake.js';

let root: string;
let dir: string;
const open: Mirror[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-mirror-'));
  dir = root;
});
afterEach(async () => {
  for (const mirror of open.splice(0)) await mirror.close();
  await rm(root, { recursive: true, force: true });
});

/** What lies in the folder is all that is left of the process that had it open. */
async function kill(): Promise<void> {
  const left = dir;
  dir = join(left, 'after');
  await mkdir(dir);
  for (const name of await readdir(left)) if (name.startsWith('list.db')) await cp(join(left, name), join(dir, name));
}

const DAY = 86_400_000;
const assets = (size: number, options: Partial<AssetListOptions> = {}): AssetList =>
  assetList({ size, random: seeded(size), ...options });

async function mirrorOf(list: AssetList, options: Partial<MirrorOptions> = {}): Promise<Mirror> {
  const mirror = await openMirror(list.service, 'asset', { dir, fullEvery: 7, now: () => list.time, ...options });
  open.push(mirror);
  return mirror;
}

const all = async (mirror: Mirror): Promise<Json[]> => {
  const records: Json[] = [];
  for await (const batch of mirror.records()) records.push(...batch.map(({ record }) => record));
  return records;
};

/** A night with its requests. */
async function night(list: AssetList, options: Partial<MirrorOptions> = {}) {
  const before = list.requests;
  const mirror = await mirrorOf(list, options);
  const requests = list.requests - before;
  const records = await all(mirror);
  expect(records).toEqual(list.records());
  expect(mirror.count).toBe(list.size);
  const { how, certified, described } = mirror;
  await mirror.close();
  list.time += DAY;
  return { how, certified, described, requests };
}

const update = (list: AssetList, ids: readonly number[]): void => {
  for (const id of ids) list.update(id);
};
const some = (count: number, step = 7): number[] => Array.from({ length: count }, (_, at) => (at + 1) * step);

describe('what is read', () => {
  test('the first time everything, then what has changed', async () => {
    const list = assets(1_000);
    list.time += DAY;
    expect(await night(list)).toEqual({
      how: 'full',
      certified: true,
      described: 'read the whole list, 1,000 records on 40 pages',
      requests: 43,
    });
    expect(await night(list)).toEqual({
      how: 'delta',
      certified: true,
      described:
        'read what has changed since the last reading, on 1 page: none of 1,000 records were new or had changed',
      requests: 1,
    });
    update(list, some(110));
    list.create();
    // Five pages with changes, one without, and the front again.
    expect(await night(list)).toMatchObject({
      how: 'delta',
      described: expect.stringMatching(/on 7 pages: 111 of 1,001 records were new or had changed$/),
      requests: 7,
    });
    update(list, [500]);
    expect(await night(list)).toMatchObject({ described: expect.stringMatching(/: 1 of 1,001 records was new or/) });
  });

  test('everything every so many readings, or after 14 days', async () => {
    const list = assets(200);
    const hows = [];
    for (let nights = 0; nights < 7; nights++) hows.push(await night(list, { fullEvery: 3 }));
    expect(hows.map(({ how }) => how)).toEqual(['full', 'delta', 'delta', 'full', 'delta', 'delta', 'full']);
    expect(hows[3]?.described).toMatch(/, because it was read whole 3 readings ago$/);
    list.time += 14 * DAY;
    expect((await night(list)).described).toMatch(/, because it was last read whole more than 14 days ago$/);
    list.time -= 30 * DAY;
    expect((await night(list, { fullEvery: 1 })).described).not.toMatch(/because/);
  });

  test('other lists than assets, and small ones, always whole and without a word', async () => {
    const list = assets(200);
    for (const resource of ['contract', 'supplier'] as const) {
      const folder = join(dir, resource);
      for (let nights = 0; nights < 2; nights++) {
        const before = list.requests;
        const mirror = await openMirror(list.service, resource, { dir: folder, fullEvery: 7 });
        open.push(mirror);
        expect(mirror).toMatchObject({ how: 'full', certified: true, count: 200 });
        expect(mirror.described).toBe('read the whole list, 200 records on 8 pages');
        expect(list.requests - before).toBe(10);
        expect(await mirror.recheck()).toBeUndefined();
        await mirror.close();
      }
    }
    const small = assets(75);
    for (let nights = 0; nights < 2; nights++) {
      const { how, described } = await night(small, { dir: join(dir, 'small') });
      expect({ how, described }).toEqual({ how: 'full', described: 'read the whole list, 75 records on 3 pages' });
    }
    const none = assets(0);
    for (let nights = 0; nights < 2; nights++) {
      expect(await night(none, { dir: join(dir, 'none') })).toMatchObject({ how: 'full', certified: true });
    }
  });

  test.each<[string, Partial<AssetListOptions>, RegExp]>([
    ['shows dates for people', { show: (at) => new Date(at).toUTCString() }, /its records do not show when/],
    [
      'lacks a date somewhere',
      { show: (at) => (at % 5 === 0 ? null : new Date(at).toISOString()) },
      /do not show when/,
    ],
    ['has one date for all', { show: () => '2026-01-01T00:00:00Z' }, /too many records were modified/],
    ['ignores the order', { ordering: 'ignored' }, /its records do not show when they were modified|the order cannot/],
    ['orders the other way round', { ordering: 'ascending' }, /its records do not show when|do not descend/],
    ['refuses the order', { ordering: 'refused' }, /its records do not show when they were modified/],
  ])('a service that %s is read whole', async (_name, options, why) => {
    const list = assets(300, options);
    await night(list);
    for (let nights = 0; nights < 2; nights++) {
      list.update(some(1)[0] as number);
      const { how, described } = await night(list);
      expect({ how, described }).toEqual({ how: 'full', described: expect.stringMatching(why) });
    }
  });

  describe('records that do not show when they were modified', () => {
    const undated = (size: number) => assets(size, { show: () => undefined });

    test('are read by their order alone', async () => {
      const list = undated(500);
      await night(list);
      const asked = async () => {
        const { how, requests } = await night(list);
        return { how, requests };
      };
      // Two pages as they are held, page 1 again, and one page of the list in its own order.
      expect(await asked()).toEqual({ how: 'delta', requests: 4 });
      update(list, some(60));
      expect(await asked()).toEqual({ how: 'delta', requests: 7 });
      list.create();
      list.update(9);
      expect(await asked()).toEqual({ how: 'delta', requests: 5 });
    });

    test('a record that was written and does not come first is a doubt', async () => {
      const list = undated(300);
      const mirror = await mirrorOf(list);
      mirror.noteWritten([7]);
      list.update(7, false);
      await mirror.close();
      expect(await night(list)).toMatchObject({ how: 'full', described: expect.stringMatching(/7 was written/) });
    });

    test('others that are written and do not come first are found by looking at pages here and there', async () => {
      const list = undated(300);
      await night(list);
      for (const id of list.ids) if (id % 20 === 0 && id < 240) list.update(id, false);
      const { how, described } = await night(list);
      expect({ how, described }).toEqual({
        how: 'full',
        described: expect.stringMatching(/does not hold what is known/),
      });
    });

    test('recheck does not vouch for what it did not see', async () => {
      const list = undated(300);
      const mirror = await mirrorOf(list);
      list.update(40);
      expect(await mirror.recheck()).toMatchObject({ certain: false, records: [{ record: { id: 40 } }] });
      expect(await mirror.recheck()).toMatchObject({ certain: false, records: [] });
    });
  });

  test('a record that went is noticed by the count, also where another came', async () => {
    const list = assets(300);
    await night(list);
    list.remove(17);
    expect((await night(list)).described).toMatch(/because the service counts 299 records, where 300 are known$/);
    list.remove(18);
    list.create();
    expect((await night(list)).described).toMatch(/because the service counts 299 records, where 300 are known$/);
  });

  test('more than half the list: whole, and cheaper than both', async () => {
    const list = assets(500);
    await night(list);
    update(list, some(400, 1));
    const { how, described, requests } = await night(list);
    expect({ how, described }).toEqual({ how: 'full', described: expect.stringMatching(/too many records were mod/) });
    expect(requests).toBeLessThanOrEqual(10 + 22);
  });

  test('many records of one day are read through, whatever their order within it', async () => {
    for (const ties of ['id', '-id', 'any'] as const) {
      const list = assets(600, { grain: 'day', ties });
      list.time = Math.ceil(list.time / DAY) * DAY + 6 * 3600_000;
      update(list, some(60, 3));
      await night(list, { dir: join(dir, ties) });
      // The same day as before the reading.
      list.time -= DAY;
      update(list, [100, 599, 2]);
      const { how, requests } = await night(list, { dir: join(dir, ties) });
      expect({ ties, how }).toEqual({ ties, how: 'delta' });
      expect(requests).toBeLessThan(10);
    }
  });
});

test('what changes without a date is as old as the last full reading, and no older', async () => {
  const list = assets(300);
  const label = async () => {
    const mirror = await mirrorOf(list, { fullEvery: 3 });
    const found = (await all(mirror)).find(({ id }) => id === 40)?.['category'];
    await mirror.close();
    list.time += DAY;
    return [mirror.how, (found as { name: string }).name];
  };
  expect(await label()).toEqual(['full', 'label 0']);
  list.rename(40);
  expect(await label()).toEqual(['delta', 'label 0']);
  expect(await label()).toEqual(['delta', 'label 0']);
  expect(await label()).toEqual(['full', 'label 1']);
});

describe('what is kept', () => {
  const damage: Readonly<Record<string, (file: string) => Promise<void>>> = {
    'a byte of a record changed': async (file) => {
      const bytes = await readFile(file);
      const at = bytes.indexOf('asset 170') + 6;
      bytes[at] = (bytes[at] as number) ^ 1;
      await writeFile(file, bytes);
    },
    'a byte of what is known of the reading changed': async (file) => {
      const bytes = await readFile(file);
      const at = bytes.indexOf('"deltas":0') + 9;
      bytes[at] = (bytes[at] as number) ^ 1;
      await writeFile(file, bytes);
    },
    'the format changed': async (file) => {
      const bytes = await readFile(file);
      bytes[100] = (bytes[100] as number) ^ 1;
      await writeFile(file, bytes);
    },
    'torn at its end': async (file) => truncate(file, (await stat(file)).size - 10),
    'half of it': async (file) => truncate(file, Math.floor((await stat(file)).size / 8192) * 4096),
    'no database': async (file) => writeFile(file, 'x'.repeat(10_000)),
    empty: async (file) => truncate(file, 0),
    missing: async (file) => rm(file),
    'of another version': async (file) => {
      const bytes = await readFile(file);
      bytes[63] = 7;
      await writeFile(file, bytes);
    },
  };

  test.each(Object.entries(damage))('%s: the list is read whole', async (_name, spoil) => {
    const list = assets(200);
    await night(list);
    await spoil(join(dir, 'list.db'));
    expect(await night(list)).toMatchObject({ how: 'full', certified: true });
    expect(await night(list)).toMatchObject({ how: 'delta' });
  });

  test('a reading that ends in an error leaves the one before', async () => {
    const list = assets(300);
    await night(list);
    list.update(9);
    const { page } = list.service;
    let answers = 0;
    const failing = {
      ...list.service,
      page: (...given: Parameters<Service['page']>): Promise<Page> =>
        ++answers > 4 ? Promise.reject(new RunError('failed', 'the service is down')) : page(...given),
    };
    const options = { dir, fullEvery: 1, now: () => list.time };
    await expect(openMirror(failing, 'asset', options)).rejects.toThrow('the service is down');
    expect(await night(list)).toMatchObject({ how: 'delta' });
  });

  test('what a killed process left is gone on with', async () => {
    const list = assets(300);
    await night(list);
    list.update(9);
    await mirrorOf(list);
    await kill();
    list.time += DAY;
    expect(await night(list)).toMatchObject({ how: 'delta' });
  });

  test('an uncertain reading is used and not kept', async () => {
    let restless = false;
    const list = assets(300, {
      beforeAnswer: (living, nth) => {
        if (restless && nth % 5 === 0) living.create();
      },
    });
    await night(list);
    restless = true;
    const mirror = await mirrorOf(list, { fullEvery: 1 });
    restless = false;
    expect(mirror).toMatchObject({ how: 'full', certified: false });
    expect(mirror.described).toMatch(/, 3 times because it changed$/);
    expect(mirror.problems.length).toBeGreaterThan(0);
    expect((await all(mirror)).length).toBe(mirror.count);
    expect(await mirror.recheck()).toBeUndefined();
    await mirror.close();
    expect(await night(list)).toMatchObject({ how: 'delta' });
  });

  test('the file does not grow without end, and are for their owner alone', async () => {
    const list = assets(300);
    const sizes: number[] = [];
    for (let nights = 0; nights < 40; nights++) {
      update(list, some(40, 2));
      await night(list, { fullEvery: 1_000 });
      let bytes = 0;
      for (const name of await readdir(dir)) bytes += (await stat(join(dir, name))).size;
      sizes.push(bytes);
    }
    expect(Math.max(...sizes)).toBeLessThan(5 * (sizes[0] as number));
    const modes = (await readdir(dir)).map(async (name) => (await stat(join(dir, name))).mode & 0o77);
    if (process.platform !== 'win32') expect(await Promise.all(modes)).toEqual(modes.map(() => 0));
  });

  test('records keep every digit, and when they were read', async () => {
    const list = assets(100);
    const price = Decimal.parse('99999999999999.99') as Decimal;
    const withPrice = (record: Json): Json => ({ ...record, original_cost: price, name: 'Gerät\n„x“\u2028' });
    const { page } = list.service;
    const service: Service = {
      ...list.service,
      page: async (...given: Parameters<Service['page']>) => {
        const answer = await page(...given);
        return { ...answer, results: answer.results.map(withPrice) };
      },
    };
    const options = { dir, fullEvery: 7, now: () => list.time };
    await (await openMirror(service, 'asset', options)).close();
    const first = list.time;
    list.time += DAY;
    const second = list.time;
    list.update(50);
    const mirror = await openMirror(service, 'asset', options);
    open.push(mirror);
    expect(mirror.how).toBe('delta');
    const found: MirrorRecord[] = [];
    for await (const batch of mirror.records()) found.push(...batch);
    expect(found.map(({ record }) => record)).toEqual(list.records().map(withPrice));
    for (const { record, readAt } of found) {
      if (record['id'] === 50) expect(readAt).toBeGreaterThan(second);
      else expect(readAt).toBeLessThanOrEqual(first);
    }
  });

  test('every record is shown as it comes', async () => {
    const list = assets(200);
    const seen: number[] = [];
    const options: Partial<MirrorOptions> = {
      onRecords: (records) => seen.push(...records.map(({ id }) => id as number)),
    };
    await night(list, options);
    expect(seen).toEqual(list.ids);
    seen.length = 0;
    list.update(120);
    await night(list, options);
    expect(seen).toHaveLength(75);
    expect(seen[0]).toBe(120);
  });
});

function written(): number {
  const file = openDatabase(join(dir, 'list.db'), { label: '', schema: '', version: 2, remedy: '' });
  try {
    return Number(file.prepare('select count(*) as n from written').get()?.['n']);
  } finally {
    file.close();
  }
}

describe('records that this program writes', () => {
  test('are read anew, also by the process after one that was killed', async () => {
    const list = assets(500);
    await night(list);
    const mirror = await mirrorOf(list);
    mirror.noteWritten(some(60));
    update(list, some(60));
    await kill();
    list.time += DAY;
    expect(await night(list)).toMatchObject({ how: 'delta' });
    expect(written()).toBe(0);
  });

  test('where the service gives them no new date, the list is read whole', async () => {
    const list = assets(500);
    const mirror = await mirrorOf(list);
    mirror.noteWritten([40, 41, 42]);
    for (const id of [40, 41]) list.update(id, false);
    await mirror.close();
    list.time += DAY;
    expect((await night(list)).described).toMatch(/because record 40 was written and not shown/);
  });

  test('that were refused are asked for one by one, and change nothing', async () => {
    const list = assets(500);
    const mirror = await mirrorOf(list);
    mirror.noteWritten([40, 41, 42, 43]);
    list.update(42);
    await mirror.close();
    list.time += DAY;
    expect(await night(list)).toMatchObject({ how: 'delta', requests: 3 + 3 });
    const another = await mirrorOf(list);
    another.noteWritten(some(30, 3));
    await another.close();
    list.time += DAY;
    expect(await night(list)).toMatchObject({
      how: 'full',
      described: expect.stringMatching(/because \d+ records were written and not shown$/),
    });
    // They were not written, which proves nothing.
    expect(await night(list)).toMatchObject({ how: 'delta' });
  });
});

describe('recheck', () => {
  test('shows what has changed or come since, for a request where nothing has', async () => {
    const list = assets(500);
    list.time += DAY;
    const mirror = await mirrorOf(list);
    list.time += 3600_000;
    const asked = async () => {
      const before = list.requests;
      const changed = await mirror.recheck();
      return { ids: changed?.records.map(({ record }) => record['id']), requests: list.requests - before };
    };
    expect(await asked()).toEqual({ ids: [], requests: 1 });
    update(list, [30, 7]);
    const made = list.create();
    // Page 2 shows that nothing else has changed, and page 1 again that nothing changed meanwhile.
    expect(await asked()).toEqual({ ids: [7, 30, made], requests: 3 });
    expect(await asked()).toEqual({ ids: [], requests: 1 });
    update(list, some(40));
    expect((await asked()).ids).toEqual(some(40));
    expect(await all(mirror)).toEqual(list.records());
    expect(mirror.count).toBe(501);
    await mirror.close();
    list.time += DAY;
    expect(await night(list)).toMatchObject({ how: 'delta' });
  });

  test('does not miss a change among many of the same day', async () => {
    const list = assets(500, { grain: 'day' });
    list.time = Math.ceil(list.time / DAY) * DAY;
    update(list, some(60, 2));
    const mirror = await mirrorOf(list);
    list.update(499);
    expect((await mirror.recheck())?.records.map(({ record }) => record['id'])).toEqual([499]);
    list.update(499);
    expect((await mirror.recheck())?.records.map(({ record }) => record['version'])).toEqual([3]);
  });

  test('tells nothing once anything is in doubt, and that is not kept', async () => {
    const list = assets(500);
    const mirror = await mirrorOf(list);
    update(list, [3, 4]);
    list.remove(5);
    expect(await mirror.recheck()).toBeUndefined();
    const before = list.requests;
    expect(await mirror.recheck()).toBeUndefined();
    expect(list.requests).toBe(before);
    await mirror.close();
    expect(await night(list)).toMatchObject({ how: 'full' });
  });
});

test('a list of one page is one answer', async () => {
  const list = assets(20);
  const mirror = await mirrorOf(list);
  list.update(4);
  expect((await mirror.recheck())?.records.map(({ record }) => record['id'])).toEqual([4]);
  expect(await mirror.recheck()).toMatchObject({ records: [] });
});

test('licenses are kept under their own id', async () => {
  const results = Array.from({ length: 20 }, (_, at) => ({ license_id: at + 1, license_name: `License ${at}` }));
  const page = async (_resource: Readable, number: number) => ({ count: 20, results: number === 1 ? results : [] });
  const service = { inFlightLimit: 4, page } as unknown as Service;
  const mirror = await openMirror(service, 'license', { dir, fullEvery: 7 });
  open.push(mirror);
  expect(await all(mirror)).toEqual(results);
});
