import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { FULL } from '../../support/full.js';
import { openToOthers } from '../../support/process.js';
import { sharedStores } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew, told } from '../../support/worker.js';
import { repeated } from './two-folders.js';

let crew: Crew;
afterEach(() => crew?.close());

/** Rows that cannot be looked up: each that is sent again is there twice. */
const APPENDS = JSON.stringify({ ...JSON.parse(ASSETS), match: { key: 'none' } });

/** Writes the sheet piece by piece, and rests half as long as a drop folder waits. */
const WRITER = `
  const { openSync, writeSync, closeSync } = require('node:fs');
  const [path, sheet] = process.argv.slice(1);
  const handle = openSync(path, 'w');
  const size = Math.ceil(sheet.length / 8);
  const piece = (i) => {
    writeSync(handle, sheet.slice(i * size, (i + 1) * size));
    if (i < 7) setTimeout(piece, i === 3 ? 1_000 : 150, i + 1);
    else closeSync(handle);
  };
  piece(0);`;

const files = FULL ? 100 : 50;

// The folder decides who takes a file, whatever the store.
const stores = (await sharedStores()).filter(({ name }) => name === 'redis');
describe.each(stores)('two workers and one drop folder on $name', ({ start }) => {
  it('take a file that is written slowly once and whole, and each of many files once; data folders stay closed (46, 109)', async () => {
    crew = await openCrew({ server: await start() });
    const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
    const folder = join(crew.inbox, 'assets');
    await mkdir(folder, { recursive: true });

    const path = join(folder, 'slow.csv');
    const writer = spawn(process.execPath, ['-e', WRITER, path, assetSheet(400)], { stdio: 'inherit' });
    await once(writer, 'exit');
    const slow = await crew.only(60_000);
    expect(slow.summary).toMatchObject({ status: 'succeeded', rows: { created: 400, total: 400 } });
    expectTruth(slow, crew.sandbox, 'asset', 'serial_number', 400);

    const drops = Array.from({ length: files }, (_, i) => crew.drop(`f${i}.csv`, assetSheet(2, 1_000 + 2 * i)));
    await Promise.all(drops);
    await until(async () => (await crew.ended()).length > files, { withinMs: 120_000, what: `${files} runs` });
    await until(async () => (await readdir(join(crew.inbox, 'processing', 'assets')).catch(() => [])).length === 0);
    const ended = await crew.ended();
    expect(ended).toHaveLength(files + 1);
    expect(await crew.ended('failed')).toEqual([]);
    const names = new Set<string>();
    for (const one of ended) {
      const { summary } = await told(one);
      const { source } = JSON.parse(await readFile(join(one, 'summary.json'), 'utf8'));
      names.add(source.path);
      expect(summary.status).toBe('succeeded');
      expect(
        (await readdir(one)).filter((name) => name.endsWith('.csv') && /^(f\d+|slow)\.csv$/.test(name)),
      ).toHaveLength(1);
    }
    expect(names.size).toBe(files + 1);
    expect(crew.sandbox.commits).toHaveLength(400 + 2 * files);
    expect(crew.sandbox.records('asset')).toHaveLength(400 + 2 * files);
    // Both had their share.
    for (const worker of workers) expect(worker.coordinates()).toBe(true);
    for (const one of ['one', 'two']) expect(await openToOthers(crew.home(one))).toEqual([]);
  }, 240_000);

  /** The first one in the middle of a run. */
  async function inTheMiddle() {
    crew = await openCrew({
      server: await start(),
      sandbox: { latencyMs: 40 },
      jobs: { assets: APPENDS },
      env: { ROWFERRY_CONCURRENCY: '4' },
    });
    const one = await crew.worker('one');
    await crew.drop('a.csv', assetSheet(800));
    await until(() => crew.sandbox.commits.length > 20, { what: 'the middle of the run' });
    return one;
  }

  /** What was under way when a process was killed stays unknown, and is not sent again. */
  async function expectOnce() {
    const { summary } = await crew.only(120_000);
    const { created = 0, unknown = 0 } = summary.rows;
    expect(created + unknown).toBe(800);
    expect(repeated(crew.sandbox.records('asset').map((record) => record['serial_number']))).toEqual([]);
  }

  it('with queues of their own: one leaves to the other what that has taken', async () => {
    await inTheMiddle();
    await crew.worker('two', { env: { ROWFERRY_QUEUE_URL: '' } });
    await expectOnce();
  }, 240_000);

  it('with queues of their own: one has what it moves back as it is told to, where the other is gone for good', async () => {
    await (await inTheMiddle()).kill();
    const two = await crew.worker('two', { env: { ROWFERRY_QUEUE_URL: '' } });
    await until(() => two.err().includes('it is left to that worker'), { withinMs: 30_000, what: 'the warning' });
    const taken = join(crew.inbox, 'processing', 'assets');
    const [run = ''] = await readdir(taken);
    await rename(join(taken, run, 'a.csv'), join(crew.inbox, 'assets', 'a.csv'));
    await rm(join(taken, run), { recursive: true });
    const { summary } = await crew.only(60_000);
    expect(summary.rows).toMatchObject({ created: 800 });
  }, 240_000);

  it('whose queue was emptied: one waits for the other with rows that would be there twice', async () => {
    const one = await inTheMiddle();
    await one.kill();
    const client = new Redis(crew.server.url ?? '');
    await client.flushall();
    client.disconnect();
    const two = await crew.worker('two');
    await until(() => two.err().includes('it is waited for'), { withinMs: 30_000, what: 'the other one' });
    await crew.worker('one');
    await expectOnce();
  }, 240_000);
});
