import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { displayText } from '../../src/model/row.js';
import type { Started } from '../support/process.js';
import { until } from '../support/until.js';
import { type Bench, openBench, RESUME } from './bench.js';

const RECORDS = 1_500;

let bench: Bench;
afterEach(() => bench.close());

async function idsIn(file: string): Promise<number[]> {
  const source = await openSource(file);
  const at = source.meta.headings.indexOf('id');
  const ids: number[] = [];
  for await (const batch of source.rows()) for (const { cells } of batch) ids.push(Number(displayText(cells[at])));
  return ids;
}

/** Kills the process as soon as it has an unfinished file in the folder, or finds it ended. */
async function killWhileWriting({ child, ended }: Started): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  await until(async () => over || (await readdir(bench.dir)).some((name) => name.endsWith('.tmp')));
  child.kill('SIGKILL');
  await ended;
}

/** The old file, or all records. */
async function expectOldOrWhole(file: string, old: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.toString('utf8') === old) return;
  expect((await idsIn(file)).length).toBe(RECORDS);
}

describe('an export that is killed at any moment: the target is the old file or the complete new one', {
  timeout: 120_000,
}, () => {
  it.each(['out.xlsx', 'out.csv', 'out.ndjson.gz'])(
    '%s: killed while it reads, again while it writes, and resumed',
    async (name) => {
      bench = await openBench();
      bench.sandbox.insert(
        'asset',
        Array.from({ length: RECORDS }, (_, i) => ({
          name: `Asset ${i}`,
          asset_notes: `note ${i} ${'x'.repeat(300)}`,
        })),
      );
      const file = join(bench.dir, name);
      await writeFile(file, 'the old one');

      bench.killAt('GET', 40);
      expect(await bench.run(['export', 'asset', '-o', file])).toBe('SIGKILL');
      expect(await readFile(file, 'utf8')).toBe('the old one');

      await killWhileWriting(await bench.start(RESUME));
      await expectOldOrWhole(file, 'the old one');

      expect((await bench.inside(RESUME)).code).toBe(0);
      expect(await idsIn(file)).toEqual(bench.sandbox.records('asset').map((record) => record['id']));
      expect((await readdir(bench.dir)).filter((one) => one.endsWith('.tmp'))).toEqual([]);
    },
  );
});
