import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readWholeList } from '../../src/service/lists/whole-list.js';
import type { Json, Page, Readable, Service } from '../../src/service/port.js';
import { FULL } from '../support/full.js';
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

test('a log of an earlier reading is replaced, also one that is no log at all', async () => {
  const [assets, others] = [livingList({ size: 90, record }), livingList({ size: 30, record })];
  const file = newFile();
  await outcome(assets.service, file);
  const again = await outcome(others.service, file, 4, 'contract');
  expect(again.result.records).toEqual(others.items.map(record));
  expect(again.names).toEqual(new Set(others.items.map((one) => record(one)['name'])));
  await writeFile(file, Buffer.alloc(600_000, 'no log '));
  expect((await outcome(assets.service, file)).result.ids.length).toBe(90);
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
