import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { openHome } from '../../src/store/home.js';
import { openDatabase } from '../../src/store/sqlite.js';
import { check, type Evidence, linesOf } from '../invariants/check.js';
import { table } from '../support/desk.js';
import { type Bench, openBench, place } from './bench.js';
import type { Moment, Scenario } from './failpoints.js';

/** Runs to be killed: small enough for hundreds of processes, and with some of everything. */

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** What a finished run told of its rows: `row outcome`, in order. */
async function outcomes(bench: Bench): Promise<string[]> {
  return (await table(join(bench.runDir(), 'results.csv'))).map((line) => `${line['row']} ${line['outcome']}`);
}

function differs(what: string, found: readonly unknown[], expected: readonly unknown[]): string[] {
  const [is, was] = [found.join(', '), expected.join(', ')];
  return is === was ? [] : [`${what}: ${is}; undisturbed: ${was}`];
}

type Promised = Pick<Evidence, 'resource' | 'keyField' | 'columns'> & Partial<Evidence>;

/** What the invariant checker finds, of the run that was begun last. Call `begun` before it. */
function promise(
  bench: Bench,
  input: string,
  of: Promised,
): (killed: number, more?: Partial<Evidence>) => Promise<string[]> {
  const before = structuredClone(bench.sandbox.raw(of.resource));
  return async (killed, more = {}) => {
    const { sandbox } = bench;
    const after = sandbox.raw(of.resource);
    const evidence = { before, after, commits: sandbox.commits, input: join(bench.dir, input), open: killed };
    return linesOf(await check({ ...of, ...evidence, runs: [bench.runDir()], ...more }));
  };
}

const asset = (i: number, cost: number) => ({
  name: `Asset ${i}`,
  serial_number: `SN-${i}`,
  original_cost: cost,
  asset_notes: `note ${i}`,
  category: { id: 1 },
});

const ASSET_COLUMNS = { Name: 'name', Serial: 'serial_number', Cost: 'original_cost', Mac: 'mac_address' };

/** Assets by serial number: 6 to update, 3 that stay as they are, 14 new ones, one faulty row. Answers tell no ids. */
const importAssets: Scenario = async () => {
  const bench = await openBench();
  bench.sandbox.insert(
    'asset',
    numbers(9).map((i) => asset(i, i < 6 ? 5 : 10.5)),
  );
  const promised = promise(bench, 'assets.csv', {
    resource: 'asset',
    keyField: 'serial_number',
    columns: { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' },
  });
  const job = `resource: asset
match: { key: serial_number, unique_field: serial_number }
columns: { Name: name, Serial: serial_number, Cost: original_cost }
brakes: { max_invalid: 50% }
`;
  const rows = [...numbers(23).map((i) => `Asset ${i},SN-${i},10.50`), 'Asset 23,SN-23,ten'];
  const argv = await place(bench, 'assets', job, ['Name,Serial,Cost', ...rows]);
  const kinds = numbers(24).map((i) => (i < 6 ? 'updated' : i < 9 ? 'unchanged' : i < 23 ? 'created' : 'invalid'));
  return {
    bench,
    argv,
    codes: [3],
    async verify(killed) {
      return [
        ...(await promised(killed)),
        ...differs(
          'outcomes',
          await outcomes(bench),
          kinds.map((kind, i) => `${i + 2} ${kind}`),
        ),
        ...differs('writes', [bench.sandbox.commits.length], [20]),
      ];
    },
  };
};

/** Contracts over three generations, each of which is a part of its own; some are there and change. */
const importContracts: Scenario = async () => {
  const bench = await openBench();
  bench.sandbox.insert('supplier', [{ name: 'Globex' }]);
  const stored = (i: number) => ({
    number: `C-${i}`,
    name: `Contract ${i}`,
    contract_type: 'buy_side',
    status: 'active',
    country: 840,
    supplier: 1,
    contract_start_date: '2025-01-01',
    contract_end_date: '2026-12-31',
    total_contract_spend_value: 90,
  });
  bench.sandbox.insert('contract', [stored(0), stored(1)]);
  const promised = promise(bench, 'contracts.csv', {
    resource: 'contract',
    keyField: 'number',
    columns: { No: 'number', Title: 'name', Total: 'total_contract_spend_value' },
    constants: ['contract_type', 'status', 'country', 'supplier', 'parent_contract'],
  });
  const job = `resource: contract
match: { key: number }
columns: { No: number, Title: name, Parent: parent_contract, Vendor: supplier, Start: contract_start_date, End: contract_end_date, Total: total_contract_spend_value }
constants: { contract_type: buy_side, status: active, country: US }
`;
  // 0 and 1 are there; 2 to 5 name one of them; 6 to 9 name one of those.
  const parent = (i: number) => (i < 2 ? '' : i < 6 ? `C-${i % 2}` : `C-${i - 4}`);
  const rows = numbers(10).map((i) => `C-${i},Contract ${i},${parent(i)},Globex,2025-01-01,2026-12-31,100.00`);
  const argv = await place(bench, 'contracts', job, ['No,Title,Parent,Vendor,Start,End,Total', ...rows]);
  return {
    bench,
    argv,
    codes: [0],
    async verify(killed) {
      const kinds = numbers(10).map((i) => `${i + 2} ${i < 2 ? 'updated' : 'created'}`);
      const parents = bench.sandbox
        .records('contract')
        .map((one) => `${one['number']} ${(one['parent_contract'] as { number?: string } | null)?.number ?? ''}`);
      return [
        ...(await promised(killed)),
        ...differs('outcomes', await outcomes(bench), kinds),
        ...differs('writes', [bench.sandbox.commits.length], [10]),
        ...differs(
          'parents',
          parents.sort(),
          numbers(10).map((i) => `C-${i} ${parent(i)}`),
        ),
      ];
    },
  };
};

const MADE = ['Acme', 'Hooli', 'Initech'];

/** Assets of which some name suppliers that are not there: these are created first, by a run inside the run. */
const importReferences: Scenario = async () => {
  const bench = await openBench();
  bench.sandbox.insert('supplier', [{ name: 'Globex' }]);
  bench.sandbox.insert('asset', [asset(0, 5), asset(1, 5)]);
  const promised = promise(bench, 'vendors.csv', {
    resource: 'asset',
    keyField: 'serial_number',
    columns: { Name: 'name', Serial: 'serial_number' },
    constants: ['attached_supplier'],
  });
  const job = `resource: asset
match: { key: serial_number, unique_field: serial_number }
columns: { Name: name, Serial: serial_number, Vendor: attached_supplier }
references: { missing: create }
`;
  const vendor = (i: number) => ['Globex', ...MADE][i % 4];
  const argv = await place(bench, 'vendors', job, [
    'Name,Serial,Vendor',
    ...numbers(8).map((i) => `Asset ${i},SN-${i},${vendor(i)}`),
  ]);
  return {
    bench,
    rows: 8,
    argv,
    codes: [0],
    async verify(killed) {
      const { sandbox } = bench;
      const ofRows = sandbox.commits.filter(({ resource }) => resource === 'asset');
      const summary = JSON.parse(await readFile(join(bench.runDir(), 'summary.json'), 'utf8')) as {
        references: readonly { created: number; total: number }[];
      };
      const linked = sandbox
        .records('asset')
        .map((one) => `${one['serial_number']} ${(one['attached_supplier'] as { name?: string } | null)?.name}`);
      return [
        ...(await promised(killed, { commits: ofRows })),
        ...differs(
          'outcomes',
          await outcomes(bench),
          numbers(8).map((i) => `${i + 2} ${i < 2 ? 'updated' : 'created'}`),
        ),
        ...differs('writes', [ofRows.length, sandbox.commits.length], [8, 11]),
        ...differs(
          'suppliers',
          sandbox
            .records('supplier')
            .map(({ name }) => name)
            .sort(),
          ['Acme', 'Globex', 'Hooli', 'Initech'],
        ),
        ...differs(
          'linked',
          linked.sort(),
          numbers(8).map((i) => `SN-${i} ${vendor(i)}`),
        ),
        ...differs('told', [summary.references[0]?.created, summary.references[0]?.total], [3, 3]),
      ];
    },
  };
};

/** Customers under way at once: so many may be open after a kill. */
const AT_ONCE = 3;

/** Customers cannot be looked up: each is a part of its own, and what a kill left open is unknown and never sent again. */
const importCustomers: Scenario = async () => {
  const bench = await openBench();
  const promised = promise(bench, 'customers.csv', {
    resource: 'customer',
    keyField: 'name',
    columns: { Name: 'name', City: 'city' },
  });
  const argv = await place(
    bench,
    'customers',
    'resource: customer\nmatch: { key: name }\ncolumns: { Name: name, City: city }\n',
    ['Name,City', ...numbers(12).map((i) => `Customer ${i},Bern`)],
  );
  return {
    bench,
    argv: [...argv, '--concurrency', String(AT_ONCE)],
    codes: [0, 3],
    async verify(killed) {
      const told = await outcomes(bench);
      const unknown = told.filter((line) => line.endsWith(' unknown'));
      const others = told.filter((line) => !/ (created|unknown)$/.test(line));
      return [
        ...(await promised(AT_ONCE * killed)),
        ...(unknown.length > AT_ONCE * killed ? [`more unknown than were under way: ${unknown.join(', ')}`] : []),
        ...differs('neither created nor unknown', others, []),
      ];
    },
  };
};

const NIGHT = {
  kind: 'reconcile',
  resource: 'asset',
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: { Serial: 'serial_number', Name: 'name', Cost: 'original_cost', Mac: 'mac_address' },
  orphans: { action: { set: { lifecycle_stage: 'Retired' } }, after: 1 },
  brakes: { max_updates: '100%', max_orphans: '100%' },
};
const [HELD, CHANGED, NEW, ORPHANS] = [40, 6, 6, 5];

/** Lines of before.ndjson about orphans name no row; that each row and orphan is there once is looked at below. */
const ORPHANS_HAVE_NO_ROW = 'before-kept: before.ndjson has a row twice';

/** A night over two pages of assets: updates, new records, orphans that are retired. */
const reconcileAssets: Scenario = async () => {
  const bench = await openBench();
  bench.sandbox.insert(
    'asset',
    numbers(HELD).map((i) => asset(i, 5)),
  );
  const orphans = bench.sandbox.insert(
    'asset',
    numbers(ORPHANS).map((i) => asset(1_000 + i, 5)),
  );
  const promised = promise(bench, 'erp.csv', {
    resource: 'asset',
    keyField: 'serial_number',
    columns: ASSET_COLUMNS,
    // They are no rows of the file: what the job sets in them counts as somebody else's edit, and is looked at below.
    edits: orphans.map((id) => ({ id, changes: { lifecycle_stage: 'Retired' } })),
  });
  const rows = numbers(HELD + NEW).map(
    (i) => `SN-${i},Asset ${i},${i % 6 === 0 && i / 6 < CHANGED ? '7.50' : '5.00'},${i < HELD ? '' : `aa:${i}`}`,
  );
  await writeFile(join(bench.dir, 'erp.csv'), ['Serial,Name,Cost,Mac', ...rows, ''].join('\r\n'));
  await writeFile(join(bench.dir, 'erp.yaml'), stringify(NIGHT));
  const kinds = numbers(HELD + NEW).map((i) =>
    i >= HELD ? 'created' : i % 6 === 0 && i / 6 < CHANGED ? 'updated' : 'unchanged',
  );
  return {
    bench,
    argv: ['reconcile', 'erp.csv', '--job', 'erp.yaml', '--json', '--apply'],
    codes: [0],
    async verify(killed) {
      const { sandbox } = bench;
      const ofRows = sandbox.commits.filter(({ id }) => !orphans.includes(id));
      const retired = sandbox.commits.filter(({ id }) => orphans.includes(id)).map(({ id }) => id);
      const told = await table(join(bench.runDir(), 'orphans.csv'));
      const before = await linesIn(join(bench.runDir(), 'before.ndjson'));
      const rowsBefore = before.map((one) => `${one['row'] ?? `orphan ${one['id']}`}`);
      const changedRows = [
        ...kinds.flatMap((kind, i) => (kind === 'updated' ? [`${i + 2}`] : [])),
        ...orphans.map((id) => `orphan ${id}`),
      ];
      const home = openHome(join(bench.dir, 'home'));
      const absent = home.prepare('select id, absences from absence').all();
      const nights = home.prepare('select ended from night').all();
      home.close();
      return [
        ...(await promised(killed, { commits: ofRows })).filter((line) => line !== ORPHANS_HAVE_NO_ROW),
        ...differs('before', rowsBefore.sort(), changedRows.sort()),
        ...differs(
          'outcomes',
          await outcomes(bench),
          kinds.map((kind, i) => `${i + 2} ${kind}`),
        ),
        ...differs('writes', [ofRows.length], [CHANGED + NEW]),
        ...differs(
          'orphans written',
          retired.sort((a, b) => a - b),
          orphans,
        ),
        ...differs(
          'orphans told',
          told.map((line) => `${line['id']} ${line['outcome']}`),
          orphans.map((id) => `${id} updated`),
        ),
        ...differs(
          'stages',
          orphans.map((id) => sandbox.record('asset', id)?.['lifecycle_stage']),
          orphans.map(() => 'Retired'),
        ),
        ...differs(
          'absent',
          absent.map((one) => `${one['id']} ${one['absences']}`),
          orphans.map((id) => `${id} 1`),
        ),
        ...differs(
          'nights',
          nights.map(({ ended }) => (JSON.parse(String(ended)) as { status: string }).status),
          ['succeeded'],
        ),
      ];
    },
  };
};

async function linesIn(file: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const RECORDS = 60;

/** An export to be edited, over three pages: the target is the old file or the new one at every moment, and so is its job. */
const exportAssets: Scenario = async () => {
  const bench = await openBench();
  const ids = bench.sandbox.insert(
    'asset',
    numbers(RECORDS).map((i) => asset(i, 5)),
  );
  const file = join(bench.dir, 'out.csv');
  await writeFile(file, 'the old one');
  const content = () => readFile(file, 'utf8');
  return {
    bench,
    argv: ['export', 'asset', '-o', file, '--editable', '--json'],
    codes: [0],
    async afterKill() {
      const text = await content();
      return text === 'the old one' || (await wholeAs(file, ids)) ? [] : [`the target is ${text.length} characters`];
    },
    async verify() {
      const summary = JSON.parse(await readFile(join(bench.runDir(), 'summary.json'), 'utf8')) as {
        status: string;
        records: number;
        target: { sha256: string };
      };
      const options = { label: 'base', schema: '', version: 1, remedy: '', reading: true };
      const base = openDatabase(join(bench.runDir(), 'base.db'), options);
      const kept = base.prepare('select count(*) as n from record').get()?.['n'];
      base.close();
      const job = await readFile(join(bench.dir, 'out.yaml'), 'utf8').catch(() => '');
      return [
        ...((await wholeAs(file, ids)) ? [] : ['the target does not hold all records']),
        ...differs('summary', [summary.status, summary.records], ['succeeded', RECORDS]),
        ...differs(
          'hash',
          [summary.target.sha256],
          [
            createHash('sha256')
              .update(await content())
              .digest('hex'),
          ],
        ),
        ...differs('base', [kept], [RECORDS]),
        ...(job.includes(bench.runDir().split('/').at(-1) ?? '?') ? [] : ['the job beside the file names another run']),
        ...differs('writes', [bench.sandbox.requests.writes], [0]),
      ];
    },
  };
};

async function wholeAs(file: string, ids: readonly number[]): Promise<boolean> {
  const lines = await table(file);
  return lines.length === ids.length && lines.every((line, at) => Object.values(line).includes(String(ids[at])));
}

/** Where each is killed first when its recoveries are looked at: in the middle of its work. */
export const BEGUN = {
  importAssets: { milestone: 'outcome-noted', nth: 12 },
  importContracts: { milestone: 'answer-read', nth: 4 },
  importCustomers: { milestone: 'sent', nth: 4 },
  importReferences: { milestone: 'answer-read', nth: 2 },
  reconcileAssets: { milestone: 'planned', nth: 1 },
  exportAssets: { milestone: 'page-kept', nth: 2 },
} as const satisfies Record<string, Moment>;

export const SCENARIOS: Readonly<Record<keyof typeof BEGUN, Scenario>> = {
  importAssets,
  importContracts,
  importCustomers,
  importReferences,
  reconcileAssets,
  exportAssets,
};
