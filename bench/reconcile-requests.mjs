/**
 * Requests of nightly reconciliations of 100,000 assets as the service counts them: one in a hundred changed, read whole;
 * and the nights after, which read what changed.
 *
 *   npm run build && node bench/reconcile-requests.mjs [--quick]
 *
 * The goals: M/25 + changed + 10 for the first night, a twentieth of that for the next one (performance page). BENCH_DIST
 * names another build, BENCH_RECORDS another size.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const quick = process.argv.includes('--quick');
const RECORDS = Number(process.env['BENCH_RECORDS'] ?? (quick ? 5_000 : 100_000));
const EVERY = 100;
const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
const { startSandbox } = await import(pathToFileURL(join(dist, 'sandbox/index.js')).href);

const dir = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
const sandbox = await startSandbox({ token: 'bench', responses: 'bare', keepBodies: false });
const serial = (i) => `SN-${1_000_000 + i}`;
const costs = Array.from({ length: RECORDS }, (_, i) => 1_000 + i);
sandbox.insert(
  'asset',
  costs.map((cost, i) => ({
    serial_number: serial(i),
    name: `Asset ${i}`,
    asset_tag: `T-${i}`,
    original_cost: cost,
    category: { id: 1, subcategory: 'Rugged' },
    asset_owner: 2,
    city: 'Bern',
    asset_notes: `Bought for team ${i % 90}`,
  })),
);

const job = join(dir, 'erp.yaml');
writeFileSync(
  job,
  `kind: reconcile
resource: asset
match: { key: serial_number, unique_field: serial_number }
columns: { Serial: serial_number, Name: name, Tag: asset_tag, Cost: original_cost, Category: category.name, Sub: category.subcategory, Owner: asset_owner, City: city, Notes: asset_notes }
`,
);

function change(by) {
  let changed = 0;
  for (let i = by; i < RECORDS; i += EVERY, changed++) costs[i] += by;
  return changed;
}

let nights = 0;
async function night({ apply = true, home = 'home' } = {}) {
  const file = join(dir, 'erp.csv');
  const lines = costs.map(
    (cost, i) => `${serial(i)},Asset ${i},T-${i},${cost}.00,Laptop,Rugged,Ben Osei,Bern,Bought for team ${i % 90}\r\n`,
  );
  // Another file each night, by its last line end alone.
  writeFileSync(
    file,
    `Serial,Name,Tag,Cost,Category,Sub,Owner,City,Notes\r\n${lines.join('')}${'\r\n'.repeat(++nights)}`,
  );
  const before = { ...sandbox.requests };
  const began = performance.now();
  const argv = [
    join(dist, 'bin/rowferry.js'),
    'reconcile',
    file,
    '--job',
    job,
    '--json',
    ...(apply ? ['--apply'] : []),
  ];
  const child = spawn(process.execPath, argv, {
    cwd: dir,
    env: {
      PATH: process.env['PATH'],
      ROWFERRY_API_URL: sandbox.url,
      ROWFERRY_API_TOKEN: 'bench',
      ROWFERRY_HOME: join(dir, home),
      ROWFERRY_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  const code = await new Promise((done) => child.on('close', done));
  if (code !== 0) throw new Error(`ended with ${code}: ${err}`);
  const summary = JSON.parse(out);
  return {
    read: summary.reconcile.read.how,
    requests: sandbox.requests.total - before.total,
    reads: sandbox.requests.reads - before.reads,
    writes: sandbox.requests.writes - before.writes,
    seconds: Math.round((performance.now() - began) / 100) / 10,
  };
}

const table = [];
async function line(what, goal, options) {
  const measured = await night(options);
  table.push({ night: what, ...measured, goal, met: measured.requests <= goal });
}

try {
  const first = RECORDS / 25 + RECORDS / EVERY + 10;
  const changed = change(1);
  await line('1st, 1% changed, whole', first);
  await line('2nd, nothing changed, delta', Math.floor(first / 20));
  await line('3rd, nothing changed, report-only', Math.floor(first / 20), { apply: false });
  change(2);
  await line('4th, 1% changed in the file', changed + Math.floor(first / 20));
  for (let i = 3; i < RECORDS; i += EVERY) sandbox.edit('asset', i + 1, { city: 'Basel' });
  await line('5th, 1% changed by people', changed + Math.ceil(changed / 25) + Math.floor(first / 20));
  change(4);
  await line('another home, 1% changed, whole', first, { home: 'other' });
  console.table(table);
  console.log(JSON.stringify({ bench: 'reconcile-requests', records: RECORDS, nights: table }));
  if (table.some((one) => !one.met)) process.exitCode = 1;
} finally {
  await sandbox.close();
  rmSync(dir, { recursive: true, force: true });
}
