import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { writeTable } from '../../src/files/table-write.js';
import { cliPath } from '../support/build.js';
import { read, scratch } from './fixtures.js';
import { ABOUT, batches, columns } from './workbook/tables.js';

const { folder } = await scratch();
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Writes a table of 25 columns; says how many rows were asked for, batch by batch, and its peak memory in MB at its end. */
const SCRIPT = `
import { readFile } from 'node:fs/promises';
const [module, path, count, pause] = process.argv.slice(2);
const { writeTable } = await import(module);
const kinds = ['id', 'text', 'date', 'money', 'decimal', 'integer', 'boolean', 'text', 'text', 'text'];
const columns = Array.from({ length: 25 }, (_, i) => ({ heading: 'Column ' + i, kind: kinds[i % 10] }));
const value = (kind, row) =>
  kind === 'id' ? String(row) : kind === 'date' ? '20' + (10 + (row % 90)) + '-01-31' : kind === 'money' ? (row % 999) + '.25'
  : kind === 'decimal' ? '0.5' : kind === 'integer' ? String(row % 99) : kind === 'boolean' ? 'true' : 'Text "' + row + '" é & more';
async function* rows() {
  for (let from = 0; from < Number(count); from += 500) {
    yield Array.from({ length: 500 }, (_, i) => columns.map(({ kind }) => value(kind, from + i)));
    process.stdout.write((from + 500) + '\\n');
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, Number(pause)));
  }
}
const about = { title: 'Assets', facts: [] };
const { rows: written } = await writeTable(path, columns, rows(), about);
// What a process reports of its own resources begins with the memory of the one that started it.
const high = await readFile('/proc/self/status', 'utf8').then((text) => Number(/VmHWM:[^0-9]*([0-9]+)/.exec(text)[1]), () => process.resourceUsage().maxRSS);
process.stdout.write(JSON.stringify({ written, peak: high / 1024 }) + '\\n');
`;

interface Writing {
  readonly child: ChildProcess;
  /** Resolves when so many rows were asked for, or at the end. */
  until(rows: number): Promise<void>;
  /** Everything it said. */
  readonly out: Promise<string>;
}

/** `pause`: milliseconds that its source takes for each 500 rows. */
async function start(path: string, rows: number, pause = 0): Promise<Writing> {
  const script = join(folder, 'write.mjs');
  await writeFile(script, SCRIPT);
  const module = pathToFileURL(join(dirname(await cliPath()), '..', 'files', 'table-write.js')).href;
  const child = spawn(process.execPath, [script, module, path, String(rows), String(pause)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  let text = '';
  const watchers = new Set<() => void>();
  child.stdout!.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    for (const watch of watchers) watch();
  });
  const out = new Promise<string>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      children.delete(child);
      resolve(text);
    });
  });
  const until = (wanted: number) =>
    Promise.race([
      out.then(() => undefined),
      new Promise<void>((resolve) => {
        const watch = () => {
          if (Number(text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1)) >= wanted) resolve();
        };
        watchers.add(watch);
        watch();
      }),
    ]);
  return { child, until, out };
}

test.each(['xlsx', 'csv.gz'])(
  '%s: killed at any moment, the target is the old file or the complete new one',
  async (form) => {
    const path = join(folder, `killed.${form}`);
    await writeTable(path, columns('text'), batches([['old']]), ABOUT);
    const ROWS = 10_000;
    let killed = 0;
    for (let i = 1; i <= 10; i++) {
      const { child, until, out } = await start(path, ROWS, 10);
      // From the first rows to the last, where the file is flushed and renamed; the exact moment is chance.
      await until((ROWS * i) / 10);
      child.kill('SIGKILL');
      await out;
      const { meta, rows } = await read(path);
      if (meta.headings.length > 1) expect(rows.length).toBe(ROWS);
      else killed++;
      if (meta.headings.length > 1) await writeTable(path, columns('text'), batches([['old']]), ABOUT);
    }
    expect(killed).toBeGreaterThanOrEqual(3);
    await writeTable(path, columns('text'), batches([['new']]), ABOUT);
    expect((await read(path)).rows.map(({ cells }) => cells)).toEqual([['new']]);
  },
  120_000,
);

test('memory does not grow with the rows', async () => {
  const peakOf = async (rows: number) => {
    const { out } = await start(join(folder, 'memory.xlsx'), rows);
    const { written, peak } = JSON.parse((await out).split('\n').at(-2)!) as { written: number; peak: number };
    expect(written).toBe(rows);
    return peak;
  };
  const small = await peakOf(15_000);
  const large = await peakOf(90_000);
  // Six times the rows; what the collector leaves standing differs by some tens of megabytes.
  expect(large).toBeLessThan(small + 60);
  expect(large).toBeLessThan(160);
});
