import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { summaryText } from '../../src/report/console.js';
import { checkJobText } from '../../src/runs/job/check.js';
import { type Desk, type ImportOptions, openDesk, table } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;
let posted: () => void;
beforeEach(async () => {
  posted = () => undefined;
  desk = await openDesk({ onRequest: ({ method }) => (method === 'POST' ? posted() : undefined) });
  desk.sandbox.insert('supplier', [{ name: 'Globex' }]);
});

const JOB = importOf(
  'asset',
  'serial_number',
  { Serial: 'serial_number', Name: 'name', Vendor: 'attached_supplier' },
  { references: { missing: 'create' }, retire: { lifecycle_stage: 'Retired' } },
);

/** Imports assets by serial number and vendor. */
async function assets(rows: readonly (readonly [string, string])[], job: object = {}, options: ImportOptions = {}) {
  const lines = rows.map(([serial, vendor]) => [serial, `Asset ${serial}`, vendor]);
  const path = await desk.file('assets.csv', [['Serial', 'Name', 'Vendor'], ...lines]);
  return desk.import(path, { ...JOB, ...job }, options);
}

const suppliers = () => desk.sandbox.records('supplier').map(({ name }) => name);
const vendors = () =>
  desk.sandbox
    .records('asset')
    .map((one) =>
      `${one['serial_number']} ${(one['attached_supplier'] as { name?: string } | null)?.name ?? ''}`.trim(),
    );
const codes = (run: { results: readonly Record<string, string>[] }) =>
  run.results.map(({ row, outcome, codes: found }) => `${row} ${outcome} ${found}`.trimEnd());
const told = (run: Awaited<ReturnType<typeof assets>>) =>
  run.summary.references?.map(({ first, run: _, ...counts }) => ({
    ...counts,
    names: first.map(({ name, outcome, rows }) => `${name}: ${outcome}, ${rows}`),
  }));

const ROWS = [
  ['A-1', 'Acme'],
  ['A-2', 'Globex'],
  ['A-3', 'Acme'],
  ['A-4', 'Initech'],
  ['A-5', ''],
] as const;

describe('references: { missing: create }', () => {
  it('a name that hardly differs from one of the service is created, with the question whether that is meant', async () => {
    for (const dryRun of [true, false]) {
      const run = await assets([['A-1', 'Globexx']], {}, { dryRun });
      expect(run.results[0]?.['message']).toContain('Is "Globex" meant?');
    }
    expect(suppliers()).toEqual(['Globex', 'Globexx']);
  });

  it('names that no record bears are created once, before the rows that need them', async () => {
    const run = await assets(ROWS);
    expect(codes(run)).toEqual([
      '2 created reference_created',
      '3 created',
      '4 created reference_created',
      '5 created reference_created',
      '6 created',
    ]);
    expect([run.exitCode, run.summary.rows.total]).toEqual([0, 5]);
    expect(suppliers()).toEqual(['Globex', 'Acme', 'Initech']);
    expect(vendors()).toEqual(['A-1 Acme', 'A-2 Globex', 'A-3 Acme', 'A-4 Initech', 'A-5']);
    const names = ['Acme: created, 2', 'Initech: created, 1'];
    expect(told(run)).toEqual([{ resource: 'supplier', created: 2, total: 2, names }]);
    expect(run.summary.requests.writes).toBe(desk.sandbox.requests.writes);
    expect(desk.sandbox.commits.slice(0, 2).map(({ resource }) => resource)).toEqual(['supplier', 'supplier']);
  });

  it('the same file again writes nothing', async () => {
    await assets(ROWS);
    const again = await assets(ROWS);
    expect([again.commits, again.summary.rows.unchanged, told(again)]).toEqual([0, 5, undefined]);
  });

  it('a part of a key that is new shows its name', async () => {
    const job = { match: { key: ['serial_number', 'attached_supplier'] } };
    const dry = await assets([['A-1', 'Acme']], job, { dryRun: true });
    expect(dry.results[0]?.['key']).toBe('A-1 | Acme');
  });

  it('a dry run shows them and sends nothing; brakes count them', async () => {
    const dry = await assets(ROWS, {}, { dryRun: true });
    expect([dry.commits, dry.summary.rows.created]).toEqual([0, 5]);
    const names = ['Acme: created, 2', 'Initech: created, 1'];
    expect(told(dry)).toEqual([{ resource: 'supplier', created: 2, total: 2, names }]);
    const said = '2 suppliers that rows name, not in the service, to be created first: "Acme", "Initech".';
    expect(summaryText(dry.summary)).toContain(said);
    const listed = await table(join(dry.reportDir, 'references.csv'));
    expect(listed.map(({ name, rows, row }) => `${name} ${rows} ${row}`)).toEqual(['Acme 2 2', 'Initech 1 5']);
    const braked = await assets(ROWS, { brakes: { max_creates: 6 } });
    expect([braked.summary.status, braked.commits, suppliers().length]).toEqual(['braked', 0, 1]);
    expect(told(braked)?.[0]).toMatchObject({ not_attempted: 2, total: 2 });
    expect(braked.summary.reason).toContain('5 of 5 rows and 2 records that rows name would be created');
    expect((await assets(ROWS, { brakes: { max_creates: 7 } })).summary.rows.created).toBe(5);
  });

  it('an approved plan is carried out with them', async () => {
    desk.sandbox.insert('asset', [{ name: 'Asset A-1', serial_number: 'A-1', attached_supplier: 1 }]);
    const dry = await assets(ROWS, {}, { dryRun: true });
    expect(dry.plan).toContainEqual(expect.objectContaining({ row: '2', old: 'Globex (1)', new: 'Acme (new)' }));
    const run = await desk.approve(dry.summary.run, 'Ada');
    expect([run.exitCode, run.outcomes[0], run.summary.rows.created]).toEqual([0, '2 updated', 4]);
    expect(suppliers()).toEqual(['Globex', 'Acme', 'Initech']);
  });

  it('an approved plan creates none for a row that it left alone', async () => {
    const [id = 0] = desk.sandbox.insert('asset', [{ name: 'Asset A-1', serial_number: 'A-1' }]);
    const rows = [
      ['A-1', 'Initech'],
      ['A-2', 'Acme'],
    ] as const;
    const job = { match: { key: 'serial_number', existing: 'fail' } };
    const dry = await assets(rows, job, { dryRun: true });
    expect(dry.outcomes).toEqual(['2 invalid', '3 created']);
    // Now the first row would create its record, and what it refers to.
    desk.sandbox.edit('asset', id, { serial_number: 'other' });
    const run = await desk.approve(dry.summary.run, 'Ada');
    expect([run.exitCode, run.outcomes]).toEqual([3, ['2 conflict', '3 created']]);
    expect(suppliers()).toEqual(['Globex', 'Acme']);
  });

  it('an approved plan names what it referred to and is there no more', async () => {
    desk.sandbox.insert('asset', [{ name: 'Asset A-1', serial_number: 'A-1' }]);
    const rows = [
      ['A-1', 'Globex'],
      ['A-2', 'Acme'],
    ] as const;
    const dry = await assets(rows, {}, { dryRun: true });
    desk.sandbox.edit('supplier', 1, { name: 'Globex Ltd' });
    const run = await desk.approve(dry.summary.run, 'Ada');
    expect(codes(run)).toEqual(['2 conflict changed_meanwhile', '3 created reference_created']);
    expect(run.results[0]?.['message']).toContain('There is no supplier "Globex" now');
    expect(suppliers()).toEqual(['Globex Ltd', 'Acme']);
  });

  it('nothing is created for rows that are not written', async () => {
    desk.sandbox.insert('asset', [{ name: 'Asset A-1', serial_number: 'A-1' }]);
    const rows = [
      ['A-1', 'Skipped Ltd'],
      ['A-2', 'Acme'],
      ['A-2', 'Twice Ltd'],
      ['', 'Keyless Ltd'],
    ] as const;
    const run = await assets(rows, {
      match: { key: 'serial_number', existing: 'skip' },
      columns: { ...JOB.columns, Serial: { field: 'serial_number', required: true } },
    });
    expect(codes(run)).toEqual([
      '2 skipped',
      '3 created reference_created',
      '4 duplicate duplicate_key',
      '5 invalid required',
    ]);
    expect(suppliers()).toEqual(['Globex', 'Acme']);
  });

  it('spellings: blanks are one name; case and invisible characters are decided by a person', async () => {
    const run = await assets([
      ['A-1', 'Acme  Ltd'],
      ['A-2', ' Acme Ltd '],
      ['A-3', 'Initech'],
      ['A-4', 'INITECH'],
      ['A-5', 'globex'],
      ['A-6', 'Hooli\u200b'],
      ['A-7', 'Hooli'],
      ['A-8', '4711'],
      ['A-9', 'x'.repeat(51)],
      ['A-10', 'N/A'],
      ['A-11', '-'],
      ['A-12', '17.0'],
      ['A-13', '1,234'],
      ['A-14', '00042'],
      ['A-15', '1e5'],
      ['A-16', '3M'],
    ]);
    expect(codes(run)).toEqual([
      '2 created reference_created',
      '3 created reference_created',
      '4 invalid reference_ambiguous',
      '5 invalid reference_ambiguous',
      '6 invalid reference_not_found',
      '7 created reference_created',
      '8 created reference_created',
      '9 invalid reference_not_found',
      '10 invalid too_long',
      '11 invalid reference_not_found',
      '12 invalid reference_not_found',
      '13 invalid reference_not_found',
      '14 invalid reference_not_found',
      '15 invalid reference_not_found',
      '16 invalid reference_not_found',
      '17 created reference_created',
    ]);
    expect(suppliers()).toEqual(['Globex', 'Acme Ltd', 'Hooli', '3M']);
  });

  it('what people write where they know no name is created for nobody, and the row says what to do', async () => {
    const texts = ['TBC', 'n.a.', 'N/A', ' Unknown ', '—', 'tbd', 'none', 'various', 'k. A.', 'Non-Applicable Ltd'];
    const run = await assets(texts.map((text, at) => [`A-${at}`, text]));
    expect(run.summary.rows).toMatchObject({ created: 1, invalid: 9 });
    expect(suppliers()).toEqual(['Globex', 'Non-Applicable Ltd']);
    expect(run.results[0]?.['message']).toContain('state `source: { null_values: ["TBC"] }`');
    desk.sandbox.insert('supplier', [{ name: 'Unknown' }]);
    const there = await assets([['B-1', 'Unknown']]);
    expect(there.summary.rows.created).toBe(1);
  });

  it('nor where the list may not have shown all, and the row says so', async () => {
    desk.sandbox.setFaults(['GET /supplier wrong_count']);
    const run = await assets([['A-1', 'Acme']]);
    expect(codes(run)).toEqual(['2 invalid reference_not_found']);
    expect(run.results[0]?.['message']).toContain('It may be there all the same');
    expect(suppliers()).toEqual(['Globex']);
  });

  it('several records of a name are not guessed among', async () => {
    desk.sandbox.insert('supplier', [{ name: 'Twin' }, { name: 'Twin ' }]);
    const run = await assets([['A-1', 'Twin']]);
    expect(codes(run)).toEqual(['2 invalid reference_ambiguous']);
    expect(run.commits).toBe(0);
  });

  it('what the service refuses makes its rows invalid, the others are written', async () => {
    desk.sandbox.setFaults(['POST /supplier nth=1 status=400 body="blocked" content_type=text/plain']);
    const run = await assets(ROWS);
    expect(codes(run)).toEqual([
      '2 invalid reference_not_found',
      '3 created',
      '4 invalid reference_not_found',
      '5 created reference_created',
      '6 created',
    ]);
    expect(run.results[0]?.['message']).toContain('The supplier "Acme" could not be created (rejected)');
    expect(run.results[0]?.['message']).toContain('refused the record: blocked. Put that right');
    expect(told(run)?.[0]).toMatchObject({ created: 1, rejected: 1 });
    desk.sandbox.setFaults([]);
    expect((await assets(ROWS)).summary.rows.created).toBe(2);
  });

  it('a row that was left unknown is taken up by a retry, with what was created', async () => {
    desk.sandbox.setFaults(['POST /asset status=503']);
    const run = await assets(ROWS.slice(0, 1), { brakes: { max_creates: 9 } });
    expect([run.outcomes, suppliers()]).toEqual([['2 unknown'], ['Globex', 'Acme']]);
    desk.sandbox.setFaults([]);
    const retry = await desk.retry(run.summary.run);
    expect([retry.outcomes, vendors(), suppliers().length]).toEqual([['2 created'], ['A-1 Acme'], 2]);
  });

  it('interrupted while they are created: the run goes on with them, and the totals are those of an undisturbed one', async () => {
    const stop = new AbortController();
    posted = () => stop.abort('SIGTERM');
    const run = await assets(ROWS, {}, { signal: stop.signal });
    expect([run.summary.status, run.exitCode, run.summary.rows.not_attempted]).toEqual(['interrupted', 143, 5]);
    posted = () => undefined;
    const resumed = await desk.resume();
    expect([resumed.exitCode, resumed.summary.rows.created, suppliers().length]).toEqual([0, 5, 3]);
    expect(told(resumed)?.[0]).toMatchObject({ created: 2, total: 2 });
    expect(desk.sandbox.commits).toHaveLength(7);
  });

  it('a row that was sent when the run was cut off is known again under another name of what it refers to', async () => {
    const stop = new AbortController();
    posted = () => stop.abort('SIGTERM');
    desk.sandbox.setFaults(['POST /asset timeout_after']);
    const rows = [['A-1', 'Globex']] as const;
    const run = await assets(rows, {}, { signal: stop.signal, env: { ROWFERRY_SETTLE_WINDOW: '0' } });
    expect([run.summary.status, vendors()]).toEqual(['interrupted', ['A-1 Globex']]);
    desk.sandbox.edit('supplier', 1, { name: 'Globex Ltd' });
    const resumed = await desk.resume();
    expect([codes(resumed), vendors(), suppliers()]).toEqual([['2 created'], ['A-1 Globex Ltd'], ['Globex Ltd']]);
  });

  it('a service that refuses the token for them stops the run before its rows, and it can be resumed', async () => {
    desk.sandbox.setFaults(['POST /supplier status=403']);
    const run = await assets(ROWS);
    expect([run.summary.status, run.exitCode, run.commits]).toEqual(['failed', 1, 0]);
    expect(run.summary.reason).toContain('403');
    desk.sandbox.setFaults([]);
    const resumed = await desk.resume();
    expect([resumed.exitCode, resumed.summary.rows.created, vendors()[0]]).toEqual([0, 5, 'A-1 Acme']);
  });

  it('an answer that is lost after it took effect doubles nothing', async () => {
    desk.sandbox.setFaults(['POST /supplier nth=1 close_after']);
    const run = await assets(ROWS);
    expect([run.exitCode, suppliers()]).toEqual([0, ['Globex', 'Acme', 'Initech']]);
    expect(vendors()[0]).toBe('A-1 Acme');
  });

  it('customers: by name, the service guards them', async () => {
    const columns = { Serial: 'serial_number', Name: 'name', Vendor: 'customer' };
    desk.sandbox.insert('customer', [{ name: 'Hidden' }]);
    const rows = [
      ['A-1', 'Acme'],
      ['A-2', 'Hidden'],
      ['A-3', 'Acme'],
    ] as const;
    const run = await assets(rows, { columns });
    expect(codes(run)).toEqual([
      '2 created reference_created',
      '3 invalid reference_not_found',
      '4 created reference_created',
    ]);
    expect(desk.sandbox.records('customer').map(({ name }) => name)).toEqual(['Hidden', 'Acme']);
    const again = await assets([rows[0], rows[2]], { columns });
    expect([again.commits, again.summary.rows.unchanged]).toEqual([0, 2]);
  });

  it('two runs at once create a supplier once', async () => {
    const contracts = await desk.file('contracts.csv', 'No,Vendor\r\nC-1,Acme\r\nC-2,Hooli');
    const job = importOf(
      'contract',
      'number',
      { No: 'number', Vendor: 'supplier' },
      {
        constants: {
          name: 'C',
          contract_type: 'buy_side',
          status: 'active',
          country: 'US',
          contract_start_date: '2025-01-01',
          contract_end_date: '2026-12-31',
          total_contract_spend_value: '1.00',
        },
        references: { missing: 'create' },
      },
    );
    const [one, other] = await Promise.all([assets(ROWS), desk.import(contracts, job)]);
    expect([one.exitCode, other.exitCode]).toEqual([0, 0]);
    expect([...suppliers()].sort()).toEqual(['Acme', 'Globex', 'Hooli', 'Initech']);
  });
});

describe('the undo of such a run', () => {
  const retire = { general_description: 'not needed' };
  const job = { references: { missing: 'create', retire } };
  const described = () => desk.sandbox.records('supplier').map(({ general_description: text }) => text ?? '');

  it('retires what it created after the rows', async () => {
    const run = await assets(ROWS, job);
    const dry = await desk.undo(run.summary.run, { dryRun: true });
    expect([dry.commits, dry.exitCode, dry.summary.reason]).toEqual([0, 0, undefined]);
    const undo = await desk.undo(run.summary.run);
    expect([undo.exitCode, undo.summary.rows.updated]).toEqual([0, 5]);
    expect(described()).toEqual(['', 'not needed', 'not needed']);
    expect(undo.summary.warnings).toContainEqual(expect.stringMatching(/2 suppliers .* 2 retired\./));
    const again = await desk.undo(undo.summary.run);
    expect([again.exitCode, described()]).toEqual([0, ['', '', '']]);
  });

  it('says what stays where the job names nothing that retires it', async () => {
    const run = await assets(ROWS);
    const undo = await desk.undo(run.summary.run);
    expect([undo.exitCode, undo.summary.rows.updated, described()]).toEqual([3, 5, ['', '', '']]);
    expect(undo.summary.stay).toBe(2);
    expect(undo.summary.warnings.join()).toContain('2 left: `rowferry runs show');
    const part = `${run.summary.run}.supplier`;
    const later = await desk.undo(part, { retire });
    expect([later.outcomes, described()]).toEqual([
      ['1 updated', '2 updated'],
      ['', 'not needed', 'not needed'],
    ]);
  });
});

describe('a job file', () => {
  const problems = (more: object) =>
    checkJobText(JSON.stringify({ ...JOB, ...more })).problems.map(({ path, message }) => `${path}: ${message}`);

  it('says create for suppliers and customers of imports alone', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ kind: 'reconcile' })[0]).toContain('in import jobs only');
    expect(problems({ references: { missing: 'create', retire: { name: 'x', ein: '1' } } })).toHaveLength(2);
    expect(problems({ references: { missing: 'guess' } })[0]).toContain('reject, create');
  });
});
