import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FULL } from '../../support/full.js';
import { openToOthers } from '../../support/process.js';
import { sharedStores } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, openCrew, told } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

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
});
