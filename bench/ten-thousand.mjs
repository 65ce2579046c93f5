/**
 * 10,000 creates through a service in trouble: 5% answers 500 (half of them after the commit), 2% resets after the commit
 * and 1% before, bursts of 429 with and without a pause, an outage of 60 seconds, a new token half-way. A real process, a
 * real service, real time.
 *
 *   npm run build && node bench/ten-thousand.mjs [--quick]
 *
 * The goals: every record there, none twice, the report exact; retries at most 10% above the faults that were met. Retries
 * are `requests.retries` of summary.json: requests that went out again, and probes in the outage. Looks at what became of
 * an open create are reads, and no retries. BENCH_DIST names another build, BENCH_ROWS another size.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const quick = process.argv.includes('--quick');
const ROWS = Number(process.env['BENCH_ROWS'] ?? (quick ? 1_000 : 10_000));
const OUTAGE_MS = quick ? 5_000 : 60_000;
const SETTLE = quick ? '0.2,0.5,1' : '1,3,6';
const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
const { startSandbox } = await import(pathToFileURL(join(dist, 'sandbox/index.js')).href);

const chances = [
  'POST /asset probability=0.025 seed=21 status=500',
  'POST /asset probability=0.025 seed=22 status=500 execute',
  'POST /asset probability=0.02 seed=23 close_after',
  'POST /asset probability=0.01 seed=24 close_before',
];
const at = (part) => Math.round(ROWS * part);
const bursts = [
  `POST /asset from=${at(0.1)} to=${at(0.1) + 30} status=429 retry_after=1`,
  `POST /asset from=${at(0.2)} to=${at(0.2) + 30} status=429`,
  `POST /asset from=${at(0.3)} to=${at(0.3) + 30} status=429 retry_after=1`,
];

const dir = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
const tokenFile = join(dir, 'token');
writeFileSync(tokenFile, 'first-token');
let outageEnds;
let inOutage = 0;
const sandbox = await startSandbox({
  responses: 'bare',
  token: 'first-token',
  keepBodies: false,
  latencyMs: 5,
  faults: [...bursts, ...chances],
  onRequest() {
    if (outageEnds === undefined && sandbox.commits.length >= at(0.5)) {
      outageEnds = performance.now() + OUTAGE_MS;
      sandbox.setFaults(['* * status=503']);
      setTimeout(() => sandbox.setFaults(chances), OUTAGE_MS);
    }
    if (outageEnds > performance.now()) inOutage++;
    if (sandbox.commits.length < at(0.75) || sandbox.token !== 'first-token') return;
    sandbox.expireToken('second-token');
    writeFileSync(tokenFile, 'second-token');
  },
});

const input = join(dir, 'assets.csv');
const lines = Array.from({ length: ROWS }, (_, i) => `Asset ${i},SN-${100_000 + i},${i}.50\r\n`);
writeFileSync(input, `Name,Serial,Cost\r\n${lines.join('')}`);
const job = join(dir, 'assets.yaml');
writeFileSync(
  job,
  `kind: import
resource: asset
match: { key: serial_number, unique_field: serial_number }
columns: { Name: name, Serial: serial_number, Cost: original_cost }
`,
);
const report = join(dir, 'report');

function rowferry(...argv) {
  const child = spawn(process.execPath, [join(dist, 'bin/rowferry.js'), ...argv, '--json'], {
    cwd: dir,
    env: {
      PATH: process.env['PATH'],
      ROWFERRY_API_URL: sandbox.url,
      ROWFERRY_API_TOKEN_FILE: tokenFile,
      ROWFERRY_HOME: join(dir, 'home'),
      ROWFERRY_SETTLE_WINDOW: SETTLE,
      ROWFERRY_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  return new Promise((done) => child.on('close', (code) => done({ code, out })));
}

const began = performance.now();
const { code, out } = await rowferry('import', input, '--job', job, '--report', report);
const seconds = (performance.now() - began) / 1000;
const summary = JSON.parse(out);
const { statuses, kinds } = sandbox.requests;
const count = (...names) => names.reduce((sum, name) => sum + (statuses[name] ?? 0), 0);
const injected = count('401', '429', '500', '503', 'none');
const posts = Object.entries(kinds).reduce((sum, [kind, n]) => sum + (kind.startsWith('POST') ? n : 0), 0);
const sent = sandbox.requests.total;

// The report against the service's own books.
const ids = new Map(sandbox.raw('asset').map((record) => [String(record.serial_number), String(record.id)]));
const results = readFileSync(join(report, 'results.csv'), 'utf8').trim().split(/\r?\n/).slice(1);
const wrong = results.filter((line, i) => {
  const [row, outcome, key, id] = line.split(',');
  const there = ids.get(key);
  if (row !== String(i + 2) || key !== `SN-${100_000 + i}`) return true;
  return outcome === 'created' ? there === undefined || there !== id : outcome !== 'unknown' || there !== undefined;
});
const exact =
  wrong.length === 0 &&
  results.length === ROWS &&
  summary.requests.total === sent &&
  summary.rows.created === sandbox.commits.length &&
  summary.rows.created + summary.rows.unknown === ROWS;

sandbox.setFaults([]);
// Both requests of a create may have been cut off before they took effect: such a row is unknown, and `retry` is for it.
const retried = summary.rows.unknown > 0 ? await rowferry('runs', 'retry', summary.run) : { code: 0 };
const records = sandbox.raw('asset');
const distinct = new Set(records.map((record) => record.serial_number)).size;
await sandbox.close();
rmSync(dir, { recursive: true, force: true });

const verdict = {
  'all records there, none twice': distinct === ROWS && records.length === ROWS && sandbox.commits.length === ROWS,
  'the report is exact': exact && (code === 0 || code === 3) && retried.code === 0,
  'retries at most 10% above the faults': summary.requests.retries <= injected * 1.1,
  'creates beyond one a row at most 10% above the faults': posts - ROWS <= injected * 1.1,
};
console.log(
  JSON.stringify(
    {
      rows: ROWS,
      outcomes: Object.fromEntries(Object.entries(summary.rows).filter(([, n]) => n > 0)),
      seconds: Math.round(seconds),
      faults: {
        ...Object.fromEntries(['401', '429', '500', '503'].map((s) => [s, count(s)])),
        resets: count('none'),
        all: injected,
      },
      requests: summary.requests,
      in_outage: { seconds: OUTAGE_MS / 1000, requests: inOutage },
      creates_beyond_one_a_row: posts - ROWS,
      verdict,
    },
    null,
    2,
  ),
);
process.exitCode = Object.values(verdict).every(Boolean) ? 0 : 1;
