import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OUTCOMES } from '../../src/model/outcome.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { table } from '../support/desk.js';
import type { Told } from '../support/truth.js';
import type { Work } from './full-disk.js';

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => i + from);
const asset = (i: number, cost: number) => ({
  name: `Asset ${i}`,
  serial_number: `SN-${i}`,
  original_cost: cost,
  asset_notes: `note ${i}`,
  lifecycle_stage: 'Deployed',
  category: { id: 1 },
});
const sheet = (rows: readonly string[]) => `${['Name,Serial,Cost', ...rows].join('\r\n')}\r\n`;
const row = (i: number, cost: string) => `Asset ${i},SN-${i},${cost}`;
const COLUMNS = 'columns: { Name: name, Serial: serial_number, Cost: original_cost }';
const MATCH = 'match: { key: serial_number, unique_field: serial_number }';

/** 10 updates, 2 rows without a difference, 10 new records, one that is no number and one that repeats a key. */
export const IMPORT: Work = {
  name: 'import',
  argv: (dir) => ['import', join(dir, 'assets.csv'), '--job', join(dir, 'assets.yaml'), '--json'],
  files: {
    'assets.yaml': `kind: import\nresource: asset\n${MATCH}\n${COLUMNS}\nbrakes: { max_invalid: 50% }\n`,
    'assets.csv': sheet([...numbers(22).map((i) => row(i, i < 2 ? '5.00' : '11.00')), 'X,SN-x,much', row(3, '11.00')]),
  },
  there: numbers(12).map((i) => asset(i, 5)),
  verify: (sandbox, told) => [
    ...costs(
      sandbox,
      numbers(22).map((i) => [`SN-${i}`, i < 2 ? '5.00' : '11.00']),
    ),
    ...once(sandbox, 10, 10),
    ...outcomes(told, { unchanged: 2, updated: 10, created: 10, invalid: 1, duplicate: 1 }),
  ],
};

/** 6 updates, 14 rows without a difference, 4 new records, and 2 records that the file does not name any more. */
export const RECONCILE: Work = {
  name: 'reconcile --apply',
  argv: (dir) => ['reconcile', join(dir, 'assets.csv'), '--job', join(dir, 'assets.yaml'), '--apply', '--json'],
  files: {
    'assets.yaml': `kind: reconcile\nresource: asset\n${MATCH}\n${COLUMNS}
orphans: { action: set, after: 1, set: { lifecycle_stage: Retired } }
brakes: { max_updates: 100%, max_orphans: 100%, max_cleared: 100%, max_change: 100% }\n`,
    'assets.csv': sheet(numbers(24).map((i) => row(i, i < 6 || i >= 20 ? '11.00' : '5.00'))),
  },
  there: [...numbers(20), 90, 91].map((i) => asset(i, 5)),
  verify: (sandbox, told) => [
    ...costs(sandbox, [
      ...numbers(24).map((i): [string, string] => [`SN-${i}`, i < 6 || i >= 20 ? '11.00' : '5.00']),
      ['SN-90', '5.00'],
      ['SN-91', '5.00'],
    ]),
    ...once(sandbox, 4, 8),
    ...outcomes(told, { unchanged: 14, updated: 6, created: 4 }),
    ...stages(sandbox),
  ],
};

const EXPORTED = 60;

/** A list of three pages. */
export const EXPORT: Work = {
  name: 'export',
  argv: (dir) => ['export', 'asset', '-o', join(dir, 'out', 'assets.csv'), '--editable', '--json'],
  files: {},
  there: numbers(EXPORTED).map((i) => asset(i, 5)),
  async verify(_, told, dir) {
    const path = join(dir, 'out', 'assets.csv');
    if (!existsSync(path)) return ['there is no file'];
    const lines = await table(path);
    const status = told?.summary.status;
    return [
      ...(lines.length === EXPORTED ? [] : [`the file has ${lines.length} records`]),
      ...(existsSync(join(dir, 'out', 'assets.yaml')) ? [] : ['there is no job beside the file']),
      ...(status === 'succeeded' ? [] : [`the summary says ${status}`]),
    ];
  },
};

function costs(sandbox: Sandbox, expected: readonly (readonly string[])[]): string[] {
  const found = sandbox.records('asset').map((one) => `${one['serial_number']} ${one['original_cost']}`);
  const wanted = expected.map(([serial, cost]) => `${serial} ${cost}`);
  const notes = sandbox
    .raw('asset')
    .filter((one) => one['asset_notes'] !== undefined && !String(one['asset_notes']).startsWith('note '));
  return [
    ...wanted.filter((one) => !found.includes(one)).map((one) => `the service lacks ${one}`),
    ...found.filter((one) => !wanted.includes(one)).map((one) => `the service has ${one}`),
    ...(found.length === wanted.length ? [] : [`${found.length} records, not ${wanted.length}`]),
    ...notes.map((one) => `a note was changed: ${JSON.stringify(one)}`),
  ];
}

/** Of the records that no row names, all are retired, and of the others none. */
function stages(sandbox: Sandbox): string[] {
  return sandbox
    .raw('asset')
    .filter((one) => /SN-9\d/.test(String(one['serial_number'])) !== (one['lifecycle_stage'] === 'Retired'))
    .map((one) => `lifecycle_stage of ${one['serial_number']} is ${one['lifecycle_stage']}`);
}

/** A PUT whose outcome was not recorded may be sent again where nothing shows it; a POST never. */
function once(sandbox: Sandbox, posts: number, puts: number): string[] {
  const count = (method: string) => sandbox.commits.filter((one) => one.method === method).length;
  return [
    ...(count('POST') === posts ? [] : [`${count('POST')} records were created, not ${posts}`]),
    ...(count('PUT') === puts ? [] : [`${count('PUT')} records were replaced, not ${puts}`]),
  ];
}

function outcomes(told: Told | undefined, wanted: Readonly<Record<string, number>>): string[] {
  if (told === undefined) return ['there are no reports'];
  const counts: Record<string, number> = {};
  for (const { outcome = '' } of told.results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return OUTCOMES.filter(
    (kind) => (counts[kind] ?? 0) !== (wanted[kind] ?? 0) || told.summary.rows[kind] !== (wanted[kind] ?? 0),
  ).map((kind) => `${counts[kind] ?? 0} rows ${kind} (summary: ${told.summary.rows[kind]}), not ${wanted[kind] ?? 0}`);
}
