import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';

/** Shape alone: no figure is looked at, because machines are shared and this one may be busy. */
const figure = z.strictObject({ value: z.number(), unit: z.string(), peak_mb: z.number().optional() });
const goal = z.union([z.strictObject({ least: z.number() }), z.strictObject({ most: z.number() })]);
const line = z.strictObject({
  what: z.string(),
  ours: figure,
  baseline: figure,
  ratio: z.number().positive(),
  least: z.number().positive(),
  greatest: z.number().positive(),
  rounds: z.number().int().positive(),
  goal,
  met: z.boolean(),
  note: z.string().optional(),
});
const latest = z.object({
  node: z.string(),
  cores: z.number(),
  load: z.array(z.number()).length(3),
  commit: z.string().nullable(),
  quick: z.literal(true),
  cases: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string(),
      baseline: z.string(),
      command: z.string(),
      lines: z.array(line).min(1),
    }),
  ),
});

let out: string;
beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'rowferry-bench-test-'));
});
afterAll(() => rm(out, { recursive: true, force: true }));

async function node(argv: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [said, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, said, errors };
}

it('measures two cheap cases and writes results, table and plot', async () => {
  const run = await node(['bench/run.mjs', '--quick', '--only', 'validation,upsert-requests', '--out', out]);
  expect(run, run.errors).toMatchObject({ code: 0 });
  expect((await readdir(out)).sort()).toEqual(['latest.json', 'ratios.svg']);
  const path = join(out, 'latest.json');
  const { cases } = latest.parse(JSON.parse(await readFile(path, 'utf8')));
  expect(cases.map(({ name }) => name)).toEqual(['validation', 'upsert-requests']);
  expect(cases.map(({ lines }) => lines.length)).toEqual([2, 1]);
  // Requests are counted, not timed: 500 rows, 2,000 records on 80 pages, 5 changed.
  expect(cases[1]?.lines[0]).toMatchObject({ baseline: { value: 85, unit: 'requests' }, met: true });
  for (const { lines } of cases) for (const { what } of lines) expect(run.said).toContain(what);

  const table = await node(['bench/table.mjs'], { BENCH_RESULTS: path });
  expect(table.said).toContain('| upsert with 1% changed: requests: 500 rows, 2,000 records | ');
  const svg = await readFile(join(out, 'ratios.svg'), 'utf8');
  expect(svg.match(/<rect /g)).toHaveLength(1 + 3);
  expect(svg).toContain('validation: rows with 3 faults');
});

it('names the cases there are where one is asked for that is none', async () => {
  const run = await node(['bench/run.mjs', '--only', 'speed', '--out', out]);
  expect(run.code).toBe(1);
  expect(run.errors).toMatch(/there is no case speed; there are: csv-read, xlsx-read/);
});

it('has a case for every goal', async () => {
  const run = await node(['bench/run.mjs', '--list', '--full']);
  const names = run.said
    .trim()
    .split('\n')
    .map((text) => text.split(':')[0]);
  const files = (await readdir('bench/cases')).map((file) => file.replace('.mjs', ''));
  expect([...names].sort()).toEqual(files.sort());
});
