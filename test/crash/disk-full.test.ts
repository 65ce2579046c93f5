import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.js';
import { RunStore } from '../../src/store/run-store.js';
import { cli } from '../cli/fake-io.js';
import { run } from '../support/process.js';
import { expectTruth } from '../support/truth.js';
import { type Bench, openBench, others, place, RESUME } from './bench.js';
import { openSmallDisk, type SmallDisk } from './small-disk.js';

const ROWS = 2_000;

let bench: Bench | undefined;
let disk: SmallDisk | undefined;
afterEach(async () => {
  await bench?.close();
  await disk?.remove();
  bench = undefined;
  disk = undefined;
});

it('a disk that is full: exit 1 with words, nothing was sent without a durable intent, and resume completes (39)', async ({
  skip,
}) => {
  disk = await openSmallDisk();
  if (disk === undefined) return skip('mounting a small disk needs root');
  let posts = 0;
  bench = await openBench({}, { ROWFERRY_HOME: join(disk.path, 'home') });
  // A service of its own, so that the moment can be chosen.
  const sandbox = await startSandbox({
    token: 'test-token',
    responses: 'bare',
    onRequest({ method }) {
      if (method === 'POST' && ++posts === 100) disk?.fill();
    },
  });
  try {
    const env = { ...bench.env, ROWFERRY_API_URL: sandbox.url };
    const argv = await place(
      bench,
      'assets',
      'resource: asset\nmatch: { key: serial_number, unique_field: serial_number }\ncolumns: { Name: name, Serial: serial_number }\n',
      ['Name,Serial', ...Array.from({ length: ROWS }, (_, i) => `Asset ${i},SN-${i}`)],
    );
    mkdirSync(join(disk.path, 'home'));
    const ended = await run(argv, { cwd: bench.dir, env });
    expect(ended.code).toBe(1);
    expect(ended.err).toContain('disk is full');
    expect(sandbox.commits.length).toBeLessThan(ROWS);

    const runs = join(disk.path, 'home', 'runs');
    const folder = join(runs, readdirSync(runs)[0] ?? '');
    disk.free();
    const store = RunStore.openExisting(join(folder, 'run.db'));
    const intended = new Set([...(store?.rows.rows('op is not null') ?? [])].flat().map(({ key }) => key));
    store?.close();
    const unforeseen = sandbox.records('asset').filter((record) => !intended.has(String(record['serial_number'])));
    expect(unforeseen).toEqual([]);

    expect((await cli(RESUME, { cwd: bench.dir, env })).code).toBe(0);
    const told = await bench.told(folder);
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, sandbox, 'asset', 'serial_number', ROWS);
    expect(sandbox.commits).toHaveLength(ROWS);
  } finally {
    await sandbox.close();
  }
});

it('reports that find no room: the way on is to resume, which writes no row once more (39)', async ({ skip }) => {
  disk = await openSmallDisk();
  if (disk === undefined) return skip('mounting a small disk needs root');
  bench = await openBench();
  const argv = await place(
    bench,
    'assets',
    'resource: asset\nmatch: { key: none }\ncolumns: { Name: name, Serial: serial_number }\n',
    ['Name,Serial', ...Array.from({ length: 100 }, (_, i) => `Asset ${i},SN-${i}`)],
  );
  const reports = join(disk.path, 'reports');
  mkdirSync(reports);
  disk.fill();
  const ended = await run([...argv, '--report', reports], { cwd: bench.dir, env: bench.env });
  expect(ended.code).toBe(1);
  expect(ended.err).toMatch(/could not be written to .*reports: the disk is full\..*rowferry runs resume \d{8}T/s);
  expect(ended.err).not.toContain('run again');
  disk.free();
  expect((await cli(RESUME, { cwd: bench.dir, env: bench.env })).code).toBe(0);
  expect((await bench.told(reports)).summary.rows).toMatchObject({ created: 100, total: 100 });
  expect(bench.sandbox.commits).toHaveLength(100);
});
