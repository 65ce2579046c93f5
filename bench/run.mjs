/**
 * Every speed goal against its baseline, in one run: `npm run bench`.
 *
 *   node bench/run.mjs [--quick] [--full] [--only a,b] [--rounds N] [--out FOLDER] [--list]
 *
 * A case is a file of bench/cases. Ours and the baseline take turns, each figure is a process of its own, a ratio is of one
 * round, and the median counts; the table states its least and greatest, too. --quick: one round of small sizes, to see
 * that it runs. --full: the sizes that take minutes as well (a million rows; the whole well over an hour).
 * Writes latest.json, ratios.svg and scaling.svg to bench/results. BENCH_DIST names another build than dist/.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { DIST } from './measure/lab.mjs';
import { machine } from './measure/machine.mjs';
import { terminalTable } from './measure/report.mjs';
import { linesOf } from './measure/rounds.mjs';
import { ratiosPlot, scalingPlot } from './plot.mjs';

const BENCH = dirname(fileURLToPath(import.meta.url));
/** The order of the goals' table. */
const ORDER = [
  'csv-read',
  'xlsx-read',
  'xlsx-export',
  'dry-run',
  'cpu',
  'import-0ms',
  'import-20ms',
  'import-newman',
  'import-256',
  'nightly-unchanged',
  'validation',
  'upsert-requests',
  'reconcile-requests',
  'export-20ms',
  'memory',
  'queue-overhead',
  'two-workers',
  'scaling',
];

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    out: { type: 'string', default: join(BENCH, 'results') },
    list: { type: 'boolean', default: false },
  },
});

async function cases() {
  const names = readdirSync(join(BENCH, 'cases')).map((file) => file.replace(/\.mjs$/, ''));
  const unlisted = names.filter((name) => !ORDER.includes(name));
  const wanted = options.only?.split(',') ?? [...ORDER, ...unlisted];
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`there is no case ${unknown.join(', ')}; there are: ${ORDER.join(', ')}`);
  const found = [];
  for (const name of wanted) {
    const { default: one } = await import(pathToFileURL(join(BENCH, 'cases', `${name}.mjs`)).href);
    if (!one.fullOnly || options.full || options.only) found.push(one);
  }
  return found;
}

/** What the case under way has open, and its folder. */
let underWay;

async function measure(one, rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
  const { quick, full } = options;
  const flags = [...(quick ? ['--quick'] : []), ...(full ? ['--full'] : [])].join(' ');
  const command = `node bench/run.mjs --only ${one.name}${flags && ` ${flags}`}`;
  const began = performance.now();
  let opened;
  try {
    underWay = { folder };
    opened = await one.open({ folder, quick, full, rounds });
    underWay = { folder, opened };
    const lines = await linesOf(one, opened, rounds);
    return { name: one.name, title: one.title, baseline: one.baseline, command: opened.command ?? command, lines };
  } catch (error) {
    // One case that cannot run here leaves the others.
    return { name: one.name, title: one.title, baseline: one.baseline, command, lines: [], error: error.message };
  } finally {
    await leave({ folder, opened });
    underWay = undefined;
    console.error(`${one.name}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
}

async function leave({ folder, opened }) {
  await opened?.close?.();
  rmSync(folder, { recursive: true, force: true });
}

// Ctrl-C leaves no service, queue or worker of a case behind.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.once(signal, async () => {
    if (underWay) await leave(underWay);
    process.exit(code);
  });
}

const chosen = await cases();
if (options.list) {
  for (const { name, title, baseline } of chosen) console.info(`${name}: ${title} | ${baseline}`);
} else {
  if (!existsSync(join(DIST, 'bin/rowferry.js'))) throw new Error(`${DIST} holds no build; run npm run build first`);
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds is a number from 1');
  const before = machine();
  const results = [];
  for (const one of chosen) results.push(await measure(one, rounds));
  const out = resolve(options.out);
  mkdirSync(out, { recursive: true });
  const { quick, full } = options;
  const latest = { ...before, finished_at: new Date().toISOString(), load_after: machine().load, quick, full, rounds };
  // The cases that were not measured now keep what an earlier run of the same sizes found.
  const kept = options.only ? earlier(join(out, 'latest.json'), results) : [];
  const all = [...results, ...kept].sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
  writeFileSync(join(out, 'latest.json'), `${JSON.stringify({ ...latest, cases: all }, null, 2)}\n`);
  writeFileSync(join(out, 'ratios.svg'), ratiosPlot(all));
  if (all.some(({ name }) => name === 'scaling')) writeFileSync(join(out, 'scaling.svg'), scalingPlot(all));
  console.info(terminalTable(results));
  if (results.some(({ error }) => error)) process.exitCode = 1;
}

/** Each keeps the time and machine of its own measurement. */
function earlier(path, results) {
  if (!existsSync(path)) return [];
  const { cases: before, quick, full, ...of } = JSON.parse(readFileSync(path, 'utf8'));
  if (quick !== options.quick || full !== options.full) return [];
  const { commit, load, started_at } = of;
  return before
    .filter(({ name }) => !results.some((one) => one.name === name))
    .map((one) => ({ measured: { commit, load, started_at }, ...one }));
}
