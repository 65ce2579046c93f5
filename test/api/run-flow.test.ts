import { copyFile, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import XLSX from 'xlsx';
import { runFolder } from '../../src/runs/run/layout.js';
import { until } from '../support/until.js';
import { type ApiBench, JOB, openApiBench, sheet } from './worker.js';

const SUPPLIERS = {
  kind: 'import',
  resource: 'supplier',
  match: { key: 'name' },
  columns: { Name: 'name', City: 'city' },
};

let bench: ApiBench;
beforeAll(async () => {
  bench = await openApiBench();
});
afterAll(() => bench.close());

describe('a run over the API', () => {
  let run: string;
  it('has its id at once, and is told of to its end', async () => {
    const file = await bench.file(
      'a.csv',
      sheet(12, (i) => (i % 3 === 1 ? 'much' : `${i}.50`)),
    );
    run = await bench.order({ kind: 'import', job: 'assets', file });
    expect(run).toMatch(/^\d{8}T\d{9}Z-[0-9a-f]{4}$/);
    const detail = await bench.ended(run);
    expect(detail).toMatchObject({
      ...{ id: run, status: 'partial', kind: 'import', job: 'assets', file: 'a.csv', dry_run: false, rows: 12 },
      ...{ needs_person: 4, here: true, resource: 'asset', progress: null, reason: null },
      ordered: { job: 'assets', file },
      outcomes: { created: 8, invalid: 4 },
      actions: {
        resume: { allowed: false, why: 'It came to its end.' },
        retry: { allowed: false },
        undo: { allowed: true },
        approve: { allowed: false },
        stop: { allowed: false },
      },
    });
    expect(detail.reports).toContain('rejected.csv');
  });

  it('is in the list, by each filter', async () => {
    const ids = async (query: string) =>
      (await bench.call('GET', `/runs?${query}`)).body.runs.map(({ id }: { id: string }) => id);
    for (const query of [
      '',
      'job=assets',
      'kind=import',
      'status=partial',
      `q=${run.slice(0, 12)}`,
      'q=A.CSV',
      'limit=1',
    ])
      expect(await ids(query), query).toEqual([run]);
    for (const query of ['job=b', 'kind=undo', 'status=failed,waiting', 'q=b.csv'])
      expect(await ids(query)).toEqual([]);
  });

  it('shows its rows, with cells, by each filter, from any place', async () => {
    const rows = async (query: string) => (await bench.call('GET', `/runs/${run}/rows?${query}`)).body;
    const numbers = (page: { rows: { row: number }[] }) => page.rows.map(({ row }) => row);
    const all = await rows('cells=true&limit=5');
    expect(all).toMatchObject({ headings: ['Name', 'Serial', 'Cost'], total: 12, next: expect.any(String) });
    expect(all.rows[1]).toMatchObject({ row: 3, outcome: 'invalid', key: 'S-1', cells: ['n1', 'S-1', 'much'] });
    expect(numbers(await rows(`limit=5&cells=true&after=${encodeURIComponent(all.next)}`))).toEqual([7, 8, 9, 10, 11]);
    expect(numbers(await rows('offset=10'))).toEqual([12, 13]);
    expect(numbers(await rows('outcome=to_correct'))).toEqual([3, 6, 9, 12]);
    expect(numbers(await rows('outcome=in&limit=3&offset=2'))).toEqual([5, 7, 8]);
    expect(numbers(await rows('code=not_a_number&column=Cost'))).toEqual([3, 6, 9, 12]);
    expect(numbers(await rows('code=not_a_number&column=Name'))).toEqual([]);
    expect(numbers(await rows('key=s-1'))).toEqual([3, 12, 13]);
    const page = await rows('outcome=to_correct&limit=2&cells=true');
    expect(page).toMatchObject({ total: 4, rows: [{ cells: ['n1', 'S-1', 'much'] }, { row: 6 }] });
    expect(numbers(await rows(`outcome=to_correct&limit=2&after=${page.next}`))).toEqual([9, 12]);
  });

  it('tells the story of a row', async () => {
    const story = async (row: number | string) => bench.call('GET', `/runs/${run}/rows/${row}`);
    expect((await story(2)).body).toMatchObject({
      ...{ row: 2, outcome: 'created', key: 'S-0', cells: ['n0', 'S-0', '0.50'], corrected: [], found: null },
      sent: { operation: 'create', times: 1, at: expect.any(String) },
    });
    expect((await story(3)).body).toMatchObject({ outcome: 'invalid', issues: [{ code: 'not_a_number' }], sent: null });
    for (const row of [1, 99, 'x', '-1', '2.0']) expect((await story(row)).status).toBe(404);
  });

  it('groups its faults, and shows its plan', async () => {
    const { body: faults } = await bench.call('GET', `/runs/${run}/faults`);
    expect(faults).toEqual([
      expect.objectContaining({ code: 'not_a_number', column: 'Cost', value: 'much', rows: 4, first: 3 }),
    ]);
    const { body: plan } = await bench.call('GET', `/runs/${run}/plan`);
    expect(plan).toMatchObject({ created: 8, updated: 0, unchanged: 0, cleared: 0 });
    expect(plan.brakes).toEqual([{ name: 'min_rows', limit: '1', found: '12 rows', tripped: false }]);
  });

  it('hands out its reports, and nothing else', async () => {
    const report = (name: string) => bench.call('GET', `/runs/${run}/reports/${name}`);
    const results = await report('results.csv');
    expect([results.status, results.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(results.body).toContain('2,created,S-0');
    expect(results.headers.get('content-disposition')).toContain('attachment');
    const page = await report('report.html');
    expect(page.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
    for (const name of [
      'run.db',
      'run.json',
      '..%2Frun.json',
      '..',
      '%2e%2e%2f%2e%2e%2fkeys.json',
      'lock',
      'lock.db',
      '',
      'results.csv%00',
    ])
      expect((await report(name)).status, name).toBe(404);
  });

  it('is written as its dry run was seen, whatever others have written since', async () => {
    const order = (City: string, options: object) =>
      bench.order({
        kind: 'import',
        job: SUPPLIERS,
        rows: [
          { Name: 'Seen', City },
          { Name: 'Alike', City: 'Bern' },
        ],
        options,
      });
    const [mine, other] = [await order('Basel', { dry_run: true }), await order('Genf', { dry_run: true })];
    for (const run of [mine, other]) expect(await bench.ended(run)).toMatchObject({ outcomes: { created: 2 } });
    expect(await bench.ended(await order('Genf', { plan_of: other }))).toMatchObject({ outcomes: { created: 2 } });
    const late = await order('Basel', { plan_of: mine });
    expect(await bench.ended(late)).toMatchObject({ outcomes: { conflict: 1, unchanged: 1 }, status: 'partial' });
    const { body } = await bench.call('GET', `/runs/${late}/rows/1`);
    expect(JSON.stringify(body)).toMatch(/the plan was a new record, and it would now be an update of record/);
    expect(bench.sandbox.records('supplier').filter(({ name }) => name === 'Seen')).toMatchObject([{ city: 'Genf' }]);
    // What rows refer to is created by the run itself: in the plan it has no id yet.
    const refers = {
      ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number', unique_field: 'serial_number' } },
      columns: { Serial: 'serial_number', Name: 'name', Supplier: 'attached_supplier' },
      references: { missing: 'create' },
    };
    const rows = [{ Serial: 'seen-1', Name: 'n', Supplier: 'Brand new' }];
    const seen = await bench.order({ kind: 'import', job: refers, rows, options: { dry_run: true } });
    await bench.ended(seen);
    const written = await bench.order({ kind: 'import', job: refers, rows, options: { plan_of: seen } });
    expect(await bench.ended(written)).toMatchObject({ outcomes: { created: 1 } });
    // A row that refers to one that is not written was not planned either, and is told why once more.
    const contracts = {
      ...{ kind: 'import', resource: 'contract', match: { key: 'number' }, constants: { contract_type: 'buy_side' } },
      columns: { No: 'number', Name: 'name', Start: 'start_date', Parent: 'parent_contract' },
      brakes: { max_invalid: '100%' },
    };
    const family = [
      { No: 'P-1', Name: 'parent', Start: 'never' },
      { No: 'P-2', Name: 'child', Start: '2026-01-01', Parent: 'P-1' },
    ];
    const put = (options: object) => bench.order({ kind: 'import', job: contracts, rows: family, options });
    const planned = await put({ dry_run: true });
    expect(await bench.ended(planned)).toMatchObject({ outcomes: { invalid: 2 } });
    expect(await bench.ended(await put({ plan_of: planned }))).toMatchObject({ outcomes: { invalid: 2 } });
    const unknown = {
      kind: 'import',
      job: SUPPLIERS,
      rows: [{ Name: 'x' }],
      options: { plan_of: '20261121T081502123Z-3f9a' },
    };
    expect((await bench.call('POST', '/runs', unknown)).status).toBe(409);
    unknown.options = { plan_of: '../../x' };
    expect((await bench.call('POST', '/runs', unknown)).status).toBe(422);
  });

  it.each([
    { format: 'csv', delimiter: ';' },
    { format: 'xlsx', sheet: 'One', header_row: 3 },
    { encoding: 'utf-16le' },
  ])('takes rows that come with it whatever its job says of files: %j', async (source) => {
    const job = { ...SUPPLIERS, source: { ...source, null_values: ['-'] } };
    const rows = [
      { Name: 'Köln Nord', City: '-' },
      { Name: 'Two', City: 'Köln', Town: 'x' },
    ];
    const id = await bench.order({ kind: 'import', job, rows, options: { dry_run: true } });
    expect(await bench.ended(id)).toMatchObject({ outcomes: { created: 2 }, summary: { rows: { total: 2 } } });
    expect((await bench.call('GET', `/runs/${id}/plan`)).body.creates[0].values).toEqual([
      { field: 'name', value: 'Köln Nord' },
    ]);
  });

  it('that cannot be put back as was asked for tells what was to be done, everywhere, and waits for a person as before', async () => {
    const { body } = await bench.call('POST', `/runs/${run}/undo`, { retire: { nope: 'x' } });
    const undo = { kind: 'undo', of_run: run, status: 'failed' };
    expect(await bench.ended(body.id)).toMatchObject(undo);
    const { body: list } = await bench.call('GET', '/runs?limit=1');
    expect(list.runs).toEqual([expect.objectContaining({ id: body.id, ...undo })]);
    const { body: overview } = await bench.call('GET', '/overview');
    const waits = overview.needs_person.map(({ id }: { id: string }) => id);
    expect([waits.includes(run), waits.includes(body.id)]).toEqual([true, false]);
  });

  it('is put back, first as a rehearsal', async () => {
    const { body } = await bench.call('POST', `/runs/${run}/undo`, {
      dry_run: true,
      retire: { lifecycle_stage: 'Retired' },
    });
    expect(await bench.ended(body.id)).toMatchObject({ kind: 'undo', of_run: run, dry_run: true, status: 'succeeded' });
    expect((await bench.call('GET', `/runs/${body.id}/plan`)).body.brakes).toEqual([]);
    const { status, body: told } = await bench.call('POST', `/runs/${run}/undo`, {
      retire: { lifecycle_stage: 'Retired' },
    });
    expect([status, told]).toEqual([202, { id: expect.any(String) }]);
    expect(await bench.ended(told.id)).toMatchObject({ kind: 'undo', file: 'a.csv', outcomes: { updated: 8 } });
    expect((await bench.call('GET', `/runs/${run}`)).body.undone_by).toBe(told.id);
    const audited = (await readFile(path.join(bench.home, 'audit.ndjson'), 'utf8')).split('\n');
    const undone = audited.filter((line) => line.includes('undo begun')).map((line) => JSON.parse(line));
    expect(undone.slice(-2).map((line) => [line.run, line.dry_run])).toEqual([
      [body.id, true],
      [told.id, undefined],
    ]);
  });

  it('cells are corrected: alike ones at once, one by its row', async () => {
    const file = await bench.file(
      'b.csv',
      sheet(6, (i) => (i % 2 ? 'dear' : '1.00')),
    );
    const corrections = [
      { column: 'Cost', from: 'dear', value: '2.50' },
      { column: 'cost', row: 5, value: '7' },
      { column: 'Name', row: 2, value: 'first' },
    ];
    const again = await bench.order({ kind: 'import', job: 'assets', file, corrections, options: { dry_run: true } });
    const detail = await bench.ended(again);
    expect(detail).toMatchObject({ status: 'succeeded', corrections: 3, ordered: { corrections } });
    expect(detail.reports).toContain('corrected.csv');
    const { body: copy } = await bench.call('GET', `/runs/${again}/reports/corrected.csv`);
    expect(copy).toBe(
      'Name,Serial,Cost\r\nfirst,S-0,1.00\r\nn1,S-1,2.50\r\nn2,S-2,1.00\r\nn3,S-3,7\r\nn4,S-4,1.00\r\nn5,S-5,2.50\r\n',
    );
    expect((await bench.call('GET', `/runs/${again}/rows/5`)).body).toMatchObject({
      cells: ['n3', 'S-3', '7'],
      corrected: [2],
    });
    const { status, body } = await bench.call('POST', '/runs', {
      ...{ kind: 'import', job: 'assets', file },
      corrections: [{ column: 'Cost', value: '1' }],
    });
    expect([status, body.errors]).toEqual([422, [expect.stringContaining('corrections[0]')]]);
  });

  it('of what was removed says that only the summary is left', async () => {
    const gone = await bench.order({ kind: 'import', job: 'assets', file: await bench.file('gone.csv', sheet(2)) });
    await bench.ended(gone);
    await rm(runFolder(bench.home, gone).store);
    for (const at of ['rows', 'rows/2', 'faults', 'plan']) {
      const { status, body } = await bench.call('GET', `/runs/${gone}/${at}`);
      expect([status, body.detail]).toEqual([409, expect.stringContaining('only the summary is left')]);
    }
  });

  it('what is put aside waits for nobody, until it is taken up again', async () => {
    const file = await bench.file(
      'aside.csv',
      sheet(2, () => 'dear'),
    );
    const run = await bench.order({ kind: 'import', job: 'assets', file });
    expect(await bench.ended(run)).toMatchObject({ status: 'partial', needs_person: 2 });
    const waits = async () => {
      const { body } = await bench.call('GET', '/overview');
      return body.needs_person.some(({ id }: { id: string }) => id === run);
    };
    const put = async (aside: boolean, role: 'viewer' | 'operator' = 'operator') =>
      (await bench.call('PUT', `/runs/${run}/aside`, { aside }, { role })).status;
    expect([await put(true, 'viewer'), await waits()]).toEqual([403, true]);
    expect([await put(true), await put(true)]).toEqual([204, 204]);
    await until(async () => !(await waits()));
    expect((await bench.call('GET', `/runs/${run}`)).body.aside).toBe(true);
    expect(await put(false)).toBe(204);
    await until(waits);
    const audited = (await readFile(path.join(bench.home, 'audit.ndjson'), 'utf8'))
      .split('\n')
      .filter((line) => line.includes(run));
    expect(audited.map((line) => JSON.parse(line).what)).toEqual([
      ...['import ordered', 'put aside', 'put aside', 'taken up again'],
    ]);
  });

  it('a row whose every cell is emptied is left out', async () => {
    const file = await bench.file('left.csv', sheet(3));
    const corrections = ['Name', 'Serial', 'Cost'].map((column) => ({ column, row: 3, value: '' }));
    const run = await bench.order({ kind: 'import', job: 'assets', file, corrections });
    const detail = await bench.ended(run);
    expect(detail).toMatchObject({ status: 'succeeded', outcomes: { skipped: 1 }, rows: 3 });
    expect(JSON.stringify(detail.summary)).not.toContain('look like totals');
    expect((await bench.call('GET', `/runs/${run}/rows/3`)).body).toMatchObject({
      outcome: 'skipped',
      cells: ['', '', ''],
      issues: [{ code: 'not_a_record', message: 'Every cell of the row was emptied, so the row is left out.' }],
    });
  });

  it('one correction goes for every cell that shows the same, whatever blanks are around it', async () => {
    const costs = ['dear', ' dear ', 'dear\u00a0', 'de ar'];
    const file = await bench.file(
      'blanks.csv',
      sheet(4, (i) => costs[i] ?? ''),
    );
    const order = { kind: 'import', job: 'assets', file, options: { dry_run: true } };
    const first = await bench.order(order);
    await bench.ended(first);
    const { body: faults } = await bench.call('GET', `/runs/${first}/faults`);
    expect(faults.find(({ value }: { value: string }) => value === 'dear')).toMatchObject({ rows: 3 });
    const run = await bench.order({ ...order, corrections: [{ column: 'Cost', from: 'dear', value: '7' }] });
    expect(await bench.ended(run)).toMatchObject({ rows: 4, outcomes: { invalid: 1 } });
    const audited = (await readFile(path.join(bench.home, 'audit.ndjson'), 'utf8')).split('\n');
    expect(JSON.parse(audited.find((line) => line.includes(run)) ?? '')).toMatchObject({
      what: 'import ordered',
      dry_run: true,
    });
  });

  it('corrections that meet no cell are told of', async () => {
    const file = await bench.file('unmet.csv', sheet(3));
    const corrections = [
      { column: 'Cost', row: 999, value: '1' },
      { column: 'Cost', row: 1, value: '1' },
      { column: 'Cost', from: 'nothing like it', value: '1' },
      { column: 'Cost', from: '1.50', value: '2' },
      { column: 'Cost', row: 3, value: '7' },
    ];
    const run = await bench.order({ kind: 'import', job: 'assets', file, corrections, options: { dry_run: true } });
    const { summary } = await bench.ended(run);
    expect((summary?.['warnings'] as string[] | undefined)?.filter((text) => /correction/i.test(text))).toEqual([
      expect.stringMatching(/^Corrections that met no cell .* changed nothing: 3\./),
    ]);
  });

  it('corrected rows of JSON, and a corrected workbook, come back in their form', async () => {
    const rows = [
      { Name: 'a', Serial: 'J-1', Cost: 'dear' },
      { Name: 'b', Serial: 'J-2', Cost: 2.5 },
    ];
    const corrections = [{ column: 'Cost', from: 'dear', value: '1.25' }];
    const json = await bench.order({ kind: 'import', job: 'assets', rows, corrections, options: { dry_run: true } });
    expect(await bench.ended(json)).toMatchObject({ status: 'succeeded', outcomes: { created: 2 } });
    expect((await bench.call('GET', `/runs/${json}/reports/corrected.ndjson`)).body).toBe(
      '{"Name":"a","Serial":"J-1","Cost":"1.25"}\n{"Name":"b","Serial":"J-2","Cost":2.5}\n',
    );
    const file = path.join(bench.dir, 'demo.xlsx');
    await copyFile('fixtures/assets-demo.xlsx', file);
    const job = {
      ...JOB,
      columns: { 'Item Name': 'name', 'Serial number': 'serial_number', 'Purchase Cost': 'original_cost' },
    };
    const mended = [{ column: 'Purchase Cost', from: 'tbc', value: '99.00' }];
    const book = await bench.order({ kind: 'import', job, file, corrections: mended, options: { dry_run: true } });
    expect((await bench.ended(book)).reports).toContain('corrected.xlsx');
    const answer = await fetch(`${bench.url}/api/v1/runs/${book}/reports/corrected.xlsx`, {
      headers: { authorization: `Bearer ${bench.keys.viewer}` },
    });
    const sheets = XLSX.read(Buffer.from(await answer.arrayBuffer()));
    const text = XLSX.utils.sheet_to_csv(Object.values(sheets.Sheets)[0]!);
    expect([text.includes('99.00'), text.includes('tbc'), text.includes('_outcome')]).toEqual([true, false, false]);
    expect(text.trim().split('\n')).toHaveLength(241);
  });

  it('a correction means one of several columns that are called alike, or of none', async () => {
    const file = await bench.file('c.csv', 'Name,Serial,Cost,,Note,Note\r\nn0,S-0,1,x,y,y\r\n');
    const corrections = [
      { column: 'Note #2', from: 'y', value: 'second' },
      { column: 'D', row: 2, value: 'fourth' },
    ];
    const run = await bench.order({ kind: 'import', job: 'assets', file, corrections, options: { dry_run: true } });
    await bench.ended(run);
    const { body } = await bench.call('GET', `/runs/${run}/rows?cells=true`);
    expect(body.headings).toEqual(['Name', 'Serial', 'Cost', 'D', 'Note #1', 'Note #2']);
    expect(body.rows[0].cells).toEqual(['n0', 'S-0', '1', 'fourth', 'y', 'second']);
  });
});
