import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readWholeList } from '../../src/service/lists/whole-list.js';
import type { Json, Page, Readable, Service } from '../../src/service/port.js';
import { FULL } from '../support/full.js';
import { seeded } from '../support/seeded.js';
import { livingList } from './whole-list-fake.js';

let dir: string;
let files = 0;
const newFile = (): string => join(dir, `log-${files++}`);
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-whole-list-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** What a reading came to, whole. */
async function outcome(service: Service, file: string, parallel = 4, resource: Readable = 'asset') {
  const names: unknown[] = [];
  const list = await readWholeList({ ...service, inFlightLimit: parallel }, resource, {
    file,
    onRecords: (records) => names.push(...records.map(({ name }) => name)),
  });
  const records: Json[] = [];
  for await (const batch of list.read()) records.push(...batch);
  const { consistency, passes, problems } = list;
  const result = { consistency, passes, problems, ids: [...list.ids()], records };
  await list.close();
  return { result, names: new Set(names) };
}

const record = ({ id, version }: { id: number; version: number }): Json => ({ id, name: `Gerät ${id} 😀`, version });

/** Answers as they were given once, and none but these: a walk that went another way would wait for ever. */
function played(answers: readonly { readonly page: number; readonly answer: Page }[]): Service {
  const left = [...answers];
  return {
    inFlightLimit: 1,
    async page(_resource: string, page: number) {
      const next = left.shift();
      if (next?.page !== page) throw new Error(`page ${page} was asked for, not ${next?.page}`);
      return next.answer;
    },
  } as unknown as Service;
}

test('a log cut off anywhere is gone on with: the same result, and no page is asked for again', async () => {
  // A list that moves in passes 1 and 2, so that all ways of a walk are in the log.
  const living = livingList({
    size: 160,
    record,
    beforeAnswer(list, nth) {
      if (nth === 4) list.remove(2);
      if (nth === 9) list.insert(6);
      if (nth === 11) list.change(40);
      if (nth === 13) list.remove(1);
    },
  });
  const answers: { page: number; answer: Page }[] = [];
  const recording = {
    inFlightLimit: 1,
    async page(resource: 'asset', page: number) {
      const answer = await living.service.page(resource, page);
      answers.push({ page, answer });
      return answer;
    },
  } as unknown as Service;
  const file = newFile();
  const { result, names } = await outcome(recording, file);
  expect(result.passes).toBe(4);
  expect(result.problems.length).toBeGreaterThan(1);
  const bytes = await readFile(file);
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1);
  expect(ends.length).toBe(answers.length + 1);

  const cuts = ends.flatMap((end, nth) => {
    const next = ends[nth + 1] ?? end;
    return [end, end + 1, Math.floor((end + next) / 2), next - 1].filter((cut) => cut <= next);
  });
  for (const cut of [0, 1, (ends[0] as number) - 1, ...cuts]) {
    const torn = newFile();
    await writeFile(torn, bytes.subarray(0, cut));
    const kept = Math.max(0, ends.filter((end) => end <= cut).length - 1);
    const again = await outcome(played(answers.slice(kept)), torn);
    expect(JSON.stringify(again.result)).toBe(JSON.stringify(result));
    expect(again.names).toEqual(names);
    expect(bytes.equals(await readFile(torn))).toBe(true);
  }
});

test('a read that fails leaves a log that the next one goes on from', async () => {
  const living = livingList({ size: 300, record, random: seeded(5) });
  const file = newFile();
  let asked = 0;
  for (let nth = 1; ; nth++) {
    const failing = {
      inFlightLimit: 3,
      page(resource: 'asset', page: number) {
        asked++;
        return asked % 9 === 0 ? Promise.reject(new Error(`gone away ${nth}`)) : living.service.page(resource, page);
      },
    } as unknown as Service;
    const done = await outcome(failing, file, 3).catch((error: Error) => error.message);
    if (typeof done === 'string') {
      expect(done).toBe(`gone away ${nth}`);
      continue;
    }
    expect(nth).toBeGreaterThan(2);
    expect(done.result.consistency).toBe('verified');
    expect(done.result.records).toEqual(living.items.map(record));
    break;
  }
});

test('a finished log gives the list without a request', async () => {
  const living = livingList({ size: 90, record });
  const file = newFile();
  const first = await outcome(living.service, file);
  const again = await outcome(played([]), file);
  expect(again).toEqual(first);
});

test('a log of something else is replaced, also one that is no log at all', async () => {
  const [assets, others] = [livingList({ size: 90, record }), livingList({ size: 30, record })];
  const file = newFile();
  await outcome(assets.service, file);
  expect((await outcome(others.service, file, 4, 'contract')).result.ids.length).toBe(30);
  expect((await outcome(assets.service, file)).result.ids.length).toBe(90);
  await writeFile(file, Buffer.alloc(600_000, 'no log '));
  expect((await outcome(assets.service, file)).result.ids.length).toBe(90);
});

test('a damaged line is not believed, nor what stands behind it', async () => {
  const living = livingList({ size: 200, record });
  const file = newFile();
  const { result } = await outcome(living.service, file);
  const bytes = await readFile(file);
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 10);
  const damages: ((line: Buffer) => Buffer)[] = [
    (line) => Buffer.from(line.toString().replace('"pass":1', '"pass":7')),
    (line) => Buffer.from(line.toString().replace(/"at":\[\d+,/, '"at":[')),
    (line) => Buffer.concat([line.subarray(0, line.length - 40), Buffer.alloc(40)]),
    () => Buffer.from(''),
    () => Buffer.from('{"pass":1,"page":7}'),
  ];
  for (const damage of damages) {
    const [from, to] = [(ends[2] as number) + 1, ends[3] as number];
    const broken = newFile();
    const line = damage(bytes.subarray(from, to));
    await writeFile(broken, Buffer.concat([bytes.subarray(0, from), line, bytes.subarray(to)]));
    const before = living.served;
    expect((await outcome(living.service, broken)).result).toEqual(result);
    expect(living.served - before).toBe(2 * 8 + 1 - 2);
  }
});

test('a log that cannot be written stops the reading in words for people', async () => {
  const living = livingList({ size: 60, record });
  const nowhere = join(dir, 'no such folder', 'log');
  await expect(outcome(living.service, nowhere)).rejects.toThrow(/cannot be kept in .*ENOENT/);
});

test.each([FULL ? 300_000 : 100_000])(
  '%i records take less than 60 bytes each in memory, and reading them little more',
  async (size) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = (): number => {
      collect();
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const file = newFile();
    const service = {
      page: async (_: string, page: number) => pageOf(page, size),
      inFlightLimit: 16,
    } as unknown as Service;
    // What is loaded and compiled with the first use is no part of it.
    await outcome({ ...service, page: async (_: string, page: number) => pageOf(page, 500) } as Service, newFile());
    const before = held();
    const started = performance.now();
    let most = 0;
    const options = {
      file,
      onProgress: (done: number) => {
        if (done % 25_000 === 0) most = Math.max(most, held() - before);
      },
    };
    const list = await readWholeList(service, 'asset', options);
    const seconds = (performance.now() - started) / 1000;
    const settled = (held() - before) / size;
    let read = 0;
    const again = performance.now();
    for await (const batch of list.read()) read += batch.length;
    const back = (performance.now() - again) / 1000;
    const per = 100_000 / size;
    console.info(
      `${settled.toFixed(1)} bytes a record; 100,000 records in ${(seconds * per).toFixed(1)} s ` +
        `(two passes), given back in ${(back * per).toFixed(1)} s; log ${(await stat(file)).size >> 20} MB`,
    );
    expect(list.consistency).toBe('verified');
    expect(read).toBe(size);
    expect(settled).toBeLessThan(60);
    expect(settled).toBeGreaterThan(30);
    // Pages that wait for their turn and lines that wait for the disk, however long the list.
    expect(most).toBeLessThan(60 * size + (16 << 20));
    await list.close();
    await rm(file);
  },
  120_000,
);

function pageOf(number: number, size: number): Page {
  const from = (number - 1) * 25;
  const results = Array.from({ length: Math.max(0, Math.min(25, size - from)) }, (_, at) => ({
    id: (from + at + 1) * 3,
    name: `Asset ${from + at}`,
    serial_number: `SN-${from + at}`,
  }));
  return { count: results.length > 0 ? size : 0, results };
}
