/**
 * An import against a service whose limit of requests per second nobody tells, and which moves: 50 → 5 → 50.
 *
 *   npm run build && node bench/hidden-limit.mjs [--quick] [--retry-after]
 *
 * The goals, for each phase once it has settled: at least 85% of the limit used, at most 2% of the answers 429.
 * `--retry-after`: the service names a pause with each 429. BENCH_DIST names another build.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const quick = process.argv.includes('--quick');
const stated = process.argv.includes('--retry-after');
const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
const { startSandbox } = await import(pathToFileURL(join(dist, 'sandbox/index.js')).href);
/** Requests a second, how long in all, and how much of that is for finding it. Few requests a second take longer to tell. */
const PHASES = quick
  ? [
      { limit: 50, ms: 20_000, settleMs: 8_000 },
      { limit: 5, ms: 30_000, settleMs: 10_000 },
      { limit: 50, ms: 40_000, settleMs: 25_000 },
    ]
  : [
      { limit: 50, ms: 60_000, settleMs: 15_000 },
      { limit: 5, ms: 90_000, settleMs: 20_000 },
      { limit: 50, ms: 90_000, settleMs: 45_000 },
    ];
const ROWS = PHASES.reduce((sum, { limit, ms }) => sum + (limit * ms) / 1000, 0) * 2;

const dir = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
const answers = [];
const sandbox = await startSandbox({
  responses: 'full',
  token: 'bench',
  keepBodies: false,
  latencyMs: 20,
  maxRps: PHASES[0].limit,
  switches: { retryAfter: stated ? 'seconds' : 'none' },
  onAnswer: (_request, status) => answers.push({ at: performance.now(), status }),
});
const input = join(dir, 'assets.csv');
writeFileSync(
  input,
  `Name,Serial\r\n${Array.from({ length: ROWS }, (_, i) => `Asset ${i},SN-${100_000 + i}\r\n`).join('')}`,
);
const job = join(dir, 'assets.yaml');
writeFileSync(
  job,
  `kind: import
resource: asset
match: { key: serial_number, unique_field: serial_number }
columns: { Name: name, Serial: serial_number }
`,
);
const child = spawn(process.execPath, [join(dist, 'bin/rowferry.js'), 'import', input, '--job', job, '--json'], {
  cwd: dir,
  env: {
    PATH: process.env['PATH'],
    ROWFERRY_API_URL: sandbox.url,
    ROWFERRY_API_TOKEN: 'bench',
    ROWFERRY_HOME: join(dir, 'home'),
    ROWFERRY_LOG_LEVEL: 'error',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const ended = new Promise((done) => child.on('close', done));
while (sandbox.commits.length === 0) await pause(20);

const table = [];
for (const { limit, ms, settleMs } of PHASES) {
  sandbox.setMaxRps(limit);
  const from = performance.now() + settleMs;
  await pause(ms);
  const part = answers.filter(({ at }) => at >= from);
  const seconds = (performance.now() - from) / 1000;
  const refused = part.filter(({ status }) => status === 429).length;
  const used = (part.length - refused) / (seconds * limit);
  const share = refused / Math.max(1, part.length);
  table.push({
    limit,
    seconds: Math.round(seconds),
    answers: part.length,
    used: `${(used * 100).toFixed(1)}%`,
    refused: `${(share * 100).toFixed(2)}%`,
    met: used >= 0.85 && share <= 0.02,
  });
}
sandbox.setMaxRps(undefined);
child.kill('SIGTERM');
await ended;
const writes = sandbox.commits.length;
const distinct = new Set(sandbox.raw('asset').map((record) => record.serial_number)).size;
await sandbox.close();
rmSync(dir, { recursive: true, force: true });
console.table(table);
const verdict = { goals: table.every(({ met }) => met), 'none twice': writes === distinct };
console.log(JSON.stringify({ phases: table, verdict }));
process.exitCode = Object.values(verdict).every(Boolean) ? 0 : 1;
