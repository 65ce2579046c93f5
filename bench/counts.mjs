/**
 * What an import is made of, counted, for one row and for each further one: functions and files beyond Node.js (V8 coverage), system calls
 * (where strace is), allocated MB. Needs dist/; BENCH_DIST names another build.
 *
 *   node bench/counts.mjs [ROWS]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIST, openLab } from './measure/lab.mjs';
import { writeSheet } from './measure/sheet.mjs';

const rows = Number(process.argv[2] ?? 1_000);
const folder = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
const lab = await openLab(folder);
await lab.bare();
const job = lab.job('assets', 'import', {}, 10);
const columns = 10;
let homes = 0;

async function imported(count, { before = [], flags = [], env = {} } = {}) {
  await lab.reset();
  const sheet = join(folder, `${count}.csv`);
  await writeSheet(sheet, count, undefined, columns);
  const home = join(folder, `home-${++homes}`);
  const main = [process.execPath, ...flags, join(DIST, 'bin/rowferry.js'), 'import', sheet, '--job', job, '--json'];
  const [command, ...argv] = [...before, ...main];
  const done = spawnSync(command, argv, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { PATH: process.env['PATH'], HOME: folder, ...lab.environment(home), ...env },
  });
  if (done.error || done.status !== 0) throw done.error ?? new Error(done.stderr);
  return done.stdout;
}

async function covered(count) {
  const folderOf = join(folder, `coverage-${count}`);
  await imported(count, { env: { NODE_V8_COVERAGE: folderOf, NODE_DISABLE_COMPILE_CACHE: '1' } });
  const reports = readdirSync(folderOf).map((name) => JSON.parse(readFileSync(join(folderOf, name), 'utf8')));
  const scripts = reports.flatMap(({ result }) => result).filter(({ url }) => url.startsWith('file:'));
  const ran = scripts.flatMap(({ functions }) => functions.filter(({ ranges }) => ranges[0].count > 0));
  const calls = ran.reduce((sum, { ranges }) => sum + ranges[0].count, 0);
  return { files: scripts.length, functions: ran.length, calls };
}

async function systemCalls(count) {
  if (spawnSync('strace', ['-V']).error) return {};
  const table = join(folder, `strace-${count}`);
  await imported(count, { before: ['strace', '-f', '-c', '-o', table] });
  const [, calls] = /(\d+)(?:\s+\d+)? total\s*$/.exec(readFileSync(table, 'utf8')) ?? [];
  return { 'system calls': Number(calls) };
}

async function allocated(count) {
  const said = await imported(count, { flags: ['--trace-gc-nvp'] });
  const bytes = [...said.matchAll(/\ballocated=(\d+)/g)].reduce((sum, [, size]) => sum + Number(size), 0);
  return { 'allocated MB': Math.round(bytes / 1e5) / 10 };
}

try {
  const of = async (count) => ({
    ...(await covered(count)),
    ...(await systemCalls(count)),
    ...(await allocated(count)),
  });
  const [one, many] = [await of(1), await of(rows)];
  const each = Object.fromEntries(
    Object.keys(one).map((name) => [name, Number(((many[name] - one[name]) / (rows - 1)).toPrecision(3))]),
  );
  console.table({ 'one row': one, [`${rows} rows`]: many, 'each further row': each });
} finally {
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
}
