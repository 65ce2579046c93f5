import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { checkJobText } from '../../src/runs/job-file.js';
import { mapFile } from '../../src/runs/map-file.js';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { type Desk, type Exported, type ExportOptions, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { stored as storedOf, storedOne } from '../support/records.js';
import { FORMATS } from './round-trip-bench.js';
import { filled, furnish, insert, TEXTS } from './round-trip-records.js';

/** Between export and import somebody else changes the service: only cells that a person changed are written. */

let desk: Desk;

type Sheet = Record<string, string>[];

const jobOf = (file: string) => file.replace(/\.\w+$/, '.yaml');
const baseOf = ({ summary }: Exported) => join(desk.home, 'runs', summary.run, 'base.db');

async function change(file: string, edit: (rows: Sheet) => unknown): Promise<void> {
  const rows = parse(await readFile(file), { columns: true, bom: true }) as Sheet;
  const answer = edit(rows);
  const made = Array.isArray(answer) ? (answer as Sheet) : rows;
  const headings = Object.keys(made[0] ?? {});
  const cells = [headings, ...made.map((row) => headings.map((heading) => row[heading] ?? ''))];
  await writeFile(
    file,
    cells.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n'),
  );
}

/** Sets a cell of the only record of a file. */
async function setCell(file: string, heading: string, text: string): Promise<void> {
  if (file.endsWith('.csv')) return change(file, (rows) => Object.assign(rows[0]!, { [heading]: text }));
  if (file.endsWith('.ndjson')) {
    const record = JSON.parse(await readFile(file, 'utf8')) as object;
    return writeFile(file, `${JSON.stringify({ ...record, [heading]: text })}\n`);
  }
  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile(file);
  const sheet = book.worksheets.find((one) => (one.getRow(1).values as unknown[]).includes(heading))!;
  sheet.getRow(2).getCell((sheet.getRow(1).values as unknown[]).indexOf(heading)).value = text;
  await book.xlsx.writeFile(file);
}

async function changeJob(file: string, edit: (text: string) => string): Promise<void> {
  await writeFile(jobOf(file), edit(await readFile(jobOf(file), 'utf8')));
}

const outcome = (rows: readonly Record<string, string>[]) => rows.map((row) => `${row['id']} ${row['outcome']}`);

/** Three suppliers, exported as CSV. */
async function suppliers(options: ExportOptions = {}, sandbox: SandboxOptions = {}) {
  desk = await openDesk(sandbox);
  const ids = desk.sandbox.insert(
    'supplier',
    ['Ada', 'Ben', 'Cleo'].map((name) => ({ name, city: 'Oslo', phone: '1' })),
  );
  const exported = await desk.export('supplier', 'suppliers.csv', { editable: true, ...options });
  const one = (at: number) => storedOne(desk.sandbox, 'supplier', ids[at] ?? 0);
  const edit = (at: number, changes: object) => desk.sandbox.edit('supplier', ids[at] ?? 0, changes);
  return { ids, exported, file: exported.file, one, edit, run: () => desk.import(exported.file, jobOf(exported.file)) };
}

describe.each(['asset', 'contract', 'supplier'] as const)('%s with every field filled', (resource) => {
  it.each(FORMATS)(
    'every field is changed in the service, the file is not (%s): nothing is written',
    async (format) => {
      desk = await openDesk();
      furnish(desk.sandbox);
      const make = (more: number) => TEXTS.map((_, n) => filled(desk.sandbox, resource, n + more));
      const ids = insert(desk.sandbox, resource, make(0));
      const { file } = await desk.export(resource, `data.${format}`, { editable: true });
      for (const id of ids) desk.sandbox.remove(resource, id);
      insert(desk.sandbox, resource, make(1), { alert: true, ids });
      const before = storedOf(desk.sandbox, resource);
      const result = await desk.import(file, jobOf(file));
      expect(result.results.filter((row) => row['outcome'] !== 'unchanged')).toEqual([]);
      expect([result.results.length, result.summary.requests.writes]).toEqual([before.size, 0]);
      expect(storedOf(desk.sandbox, resource)).toEqual(before);
    },
  );
});

describe('map of an edited workbook', () => {
  it('gives the job of the export that wrote it, so that a record is renamed and only changed cells are written', async () => {
    const { ids, edit, one } = await suppliers();
    const { file } = await desk.export('supplier', 'edited.xlsx', { editable: true });
    await setCell(file, 'name', 'Ada Ltd');
    edit(0, { city: 'Bergen' });
    const map = () => mapFile({ file, resource: 'supplier', settings: desk.settings() });
    const { job, suggestion, summary } = await map();
    expect(job).toBe(await readFile(jobOf(file), 'utf8'));
    expect(summary).toMatchObject({ key: { field: 'id', blank: 0, repeats: 0 }, missing: [], next: null });
    const fields = new Map(suggestion.columns.map(({ heading, field }) => [heading, field]));
    expect([fields.get('id'), fields.get('category.name'), fields.get('category.id')]).toEqual([
      ...['id', 'category.name', undefined],
    ]);
    const { outcomes } = await desk.import(file, parseYaml(job) as object);
    expect(outcomes).toEqual(['2 updated', '3 unchanged', '4 unchanged']);
    expect([one(0)['id'], one(0)['name'], one(0)['city']]).toEqual([ids[0], 'Ada Ltd', 'Bergen']);
    // Of another resource, and where its job is gone, it is a workbook like others.
    const other = await mapFile({ file, resource: 'customer', settings: desk.settings() });
    expect(other.job).toContain('Suggested by rowferry map');
    await rm(jobOf(file));
    const without = (await map()).summary;
    expect(without.key?.field).toBe('name');
    expect(without.warnings.join()).toContain('which is not at hand with its job file');
  });
});

describe('a file that is older than the service', () => {
  it('writes the cell that a person changed, and leaves what others changed since', async () => {
    const { ids, file, one, edit, run } = await suppliers();
    edit(0, { city: 'Rome' });
    edit(2, { city: 'Bonn' });
    await change(file, (rows) => {
      rows[2]!['phone'] = '3';
    });
    const dry = await desk.import(file, jobOf(file), { dryRun: true });
    expect(dry.plan.map((row) => [row['id'], row['field'], row['new']])).toEqual([[String(ids[2]), 'phone', '3']]);
    const result = await run();
    expect(outcome(result.results)).toEqual([`${ids[0]} unchanged`, `${ids[1]} unchanged`, `${ids[2]} updated`]);
    expect(result.commits).toBe(1);
    expect([one(0)['city'], one(2)['city'], one(2)['phone']]).toEqual(['Rome', 'Bonn', '3']);
    expect(result.summary.warnings).toEqual([]);
  });

  it('is not changed where a spreadsheet program took the zeros of a text; a workbook keeps them (69)', async () => {
    const { ids, file, one, edit, run } = await suppliers();
    for (const at of [0, 1, 2]) {
      const texts = { business_zip_postal_code: '00123', ein: '001234567', phone: '+47', fax: '1.10', mobile: '12E4' };
      edit(at, texts);
    }
    await desk.export('supplier', 'suppliers.csv', { editable: true });
    await change(file, (rows) => {
      const texts = { business_zip_postal_code: '123', ein: '1234567', phone: '47', fax: '1.1', mobile: '1.20E+05' };
      for (const row of rows) Object.assign(row, texts);
      rows[1]!['city'] = 'Rome';
      rows[1]!['fax'] = '1.100';
      rows[2]!['business_zip_postal_code'] = '124';
    });
    const result = await run();
    expect(outcome(result.results)).toEqual([`${ids[0]} unchanged`, `${ids[1]} updated`, `${ids[2]} updated`]);
    expect([one(1), one(2)]).toMatchObject([
      { business_zip_postal_code: '00123', ein: '001234567', phone: '+47', city: 'Rome', fax: '1.100', mobile: '12E4' },
      { business_zip_postal_code: '124', ein: '001234567', fax: '1.10' },
    ]);
    expect(result.summary.warnings.filter((text) => text.includes('lost the zeros'))).toHaveLength(5);
    const book = await desk.export('supplier', 'book.xlsx', { editable: true });
    await setCell(book.file, 'business_zip_postal_code', '123');
    await desk.import(book.file, jobOf(book.file));
    expect(one(0)['business_zip_postal_code']).toBe('123');
  });

  it.each([
    ['csv', '100000000000000'],
    ['csv', '1E+14'],
    ['ndjson', '99999999999999.98'],
  ])('is not changed where a program kept 15 digits of an amount (%s, %s) (70)', async (format, kept) => {
    desk = await openDesk();
    const assets = importOf('asset', 'name', { N: 'name', C: 'original_cost' });
    await desk.import(await desk.file('a.csv', 'N,C\nA,99999999999999.99\n'), assets);
    const id = Number(desk.sandbox.records('asset')[0]?.['id']);
    const { file } = await desk.export('asset', `assets.${format}`, { editable: true });
    const text = (await readFile(file, 'utf8')).replace('99999999999999.99', kept);
    await writeFile(file, text);
    const { outcomes, summary } = await desk.import(file, jobOf(file));
    expect([outcomes[0]?.split(' ')[1], summary.warnings.join()]).toEqual([
      'unchanged',
      expect.stringContaining('behind the 15th'),
    ]);
    await writeFile(file, text.replace(kept, '99999999999999.97'));
    await desk.import(file, jobOf(file));
    expect(storedOne(desk.sandbox, 'asset', id)['original_cost']).toBe('99999999999999.97');
  });

  it('a cell that a person and somebody else changed is a conflict, until it is imported once more (32)', async () => {
    const { ids, file, one, edit, run } = await suppliers();
    for (const at of [0, 1]) edit(at, { city: 'Rome', website: 'r.example' });
    edit(2, { city: 'Bonn' });
    await change(file, (rows) => {
      Object.assign(rows[0]!, { phone: '7' });
      Object.assign(rows[1]!, { city: 'Bonn', phone: '7' });
      Object.assign(rows[2]!, { city: 'Bonn' });
    });
    const dry = await desk.import(file, jobOf(file), { dryRun: true });
    const expected = [`${ids[0]} updated`, `${ids[1]} conflict`, `${ids[2]} unchanged`];
    expect([outcome(dry.results), dry.exitCode]).toEqual([expected, 3]);
    const result = await run();
    expect(outcome(result.results)).toEqual(expected);
    expect(one(0)).toMatchObject({ city: 'Rome', phone: '7' });
    expect(one(1)).toMatchObject({ city: 'Rome', phone: '1' });
    expect(result.faults).toMatchObject([{ row: '3', code: 'changed_meanwhile', column: 'city', value: 'Bonn' }]);
    expect(result.faults[0]?.['message']).toMatch(/it was "Oslo" then, the record now has "Rome".* sets "Bonn"/);
    expect(outcome((await run()).results)).toEqual([`${ids[0]} unchanged`, `${ids[1]} updated`, `${ids[2]} unchanged`]);
    expect(one(1)).toMatchObject({ city: 'Bonn', phone: '7', website: 'r.example' });
  });

  it('a run that a brake stopped has not told of conflicts yet: the next one does (32)', async () => {
    const { file, one, edit, run } = await suppliers();
    edit(1, { city: 'Rome' });
    await change(file, (rows) => {
      for (const row of rows) row['city'] = 'Bonn';
    });
    await changeJob(file, (text) => text.replace('blank: keep', 'blank: keep\nbrakes: { max_updates: 1 }'));
    expect((await run()).exitCode).toBe(4);
    const forced = await desk.import(file, jobOf(file), { force: true });
    expect(forced.outcomes).toEqual(['2 updated', '3 conflict', '4 updated']);
    expect(one(1)['city']).toBe('Rome');
  });

  it('cells of every kind are compared with what the record holds by their meaning (32)', async () => {
    desk = await openDesk();
    const [supplier = 0, other = 0] = desk.sandbox.insert('supplier', [
      { name: 'One' },
      { name: 'Other' },
      { name: 'Third' },
    ]);
    const held = {
      original_cost: 1234.5,
      end_of_life_date: '2024-05-06',
      country: 276,
      attached_supplier: supplier,
      warranty_type: 'oem',
      asset_notes: 'a\r\nb ',
    };
    const changed = {
      original_cost: 1234.75,
      end_of_life_date: '2025-05-06',
      country: 40,
      attached_supplier: other,
      warranty_type: 'none',
      asset_notes: 'a\nc',
    };
    const cells = {
      original_cost: '99',
      end_of_life_date: '2030-01-01',
      country: 'France',
      attached_supplier: 'id:3',
      warranty_type: 'third_party',
      asset_notes: 'new',
    };
    const fields = Object.keys(held) as (keyof typeof held)[];
    const ids = desk.sandbox.insert(
      'asset',
      [...fields, ...fields].map((field, n) => ({
        name: `A ${field} ${n}`,
        serial_number: `E-${n}`,
        category: { id: 1 },
      })),
    );
    for (const id of ids) desk.sandbox.edit('asset', id, held);
    const { file } = await desk.export('asset', 'a.csv', {
      editable: true,
      columns: fields,
    });
    await change(file, (rows) => {
      expect(rows).toHaveLength(ids.length);
      for (const [at, row] of rows.entries()) {
        const field = fields[at % fields.length]!;
        row[field === 'attached_supplier' ? 'attached_supplier.name' : field] = cells[field];
      }
    });
    // The first of each kind keeps what it held, and of the second somebody else has changed it.
    for (const [at, field] of fields.entries())
      desk.sandbox.edit('asset', ids[fields.length + at]!, { [field]: changed[field] });
    const result = await desk.import(file, jobOf(file), { dryRun: true });
    expect(result.results.map((row) => row['outcome'])).toEqual([
      ...fields.map(() => 'updated'),
      ...fields.map((field) => (field === 'warranty_type' ? 'updated' : 'conflict')),
    ]);
  });

  it('a cell that is put back to what the export wrote is a change again, once another value was imported', async () => {
    const { file, one, run } = await suppliers();
    await change(file, (rows) => Object.assign(rows[0]!, { city: 'Bergen' }));
    expect((await desk.import(file, jobOf(file), { dryRun: true })).plan).toHaveLength(1);
    expect((await run()).commits).toBe(1);
    expect((await run()).commits).toBe(0);
    await change(file, (rows) => Object.assign(rows[0]!, { city: 'Oslo' }));
    expect((await run()).commits).toBe(1);
    expect(one(0)).toMatchObject({ city: 'Oslo' });
    // Emptied where the job says that empties the field.
    await changeJob(file, (text) => text.replace('blank: keep', 'blank: clear'));
    await change(file, (rows) => Object.assign(rows[0]!, { city: '' }));
    expect((await run()).commits).toBe(1);
    expect(one(0)?.['city'] ?? null).toBeNull();
  });

  it('rows may be sorted and deleted, headings renamed, and a record that is gone is told', async () => {
    const { ids, file, one, edit, run } = await suppliers();
    edit(0, { city: 'Rome' });
    desk.sandbox.remove('supplier', ids[1] ?? 0);
    await change(file, (rows) =>
      rows.reverse().map(({ city = '', ...rest }, at) => ({ Town: at === 0 ? 'Bonn' : city, ...rest })),
    );
    await changeJob(file, (text) => text.replace('\n  city:', '\n  Town:'));
    const result = await run();
    expect(outcome(result.results)).toEqual([`${ids[2]} updated`, ' invalid', `${ids[0]} unchanged`]);
    expect(result.faults.map((fault) => fault['code'])).toEqual(['record_not_found']);
    expect([one(0)['city'], one(2)['city']]).toEqual(['Rome', 'Bonn']);
  });

  it('`blank: clear` empties what a person emptied, not what others filled in', async () => {
    const { file, one, edit, run } = await suppliers();
    for (const at of [0, 1]) edit(at, { state_province: 'Viken', website: 'a.example' });
    await changeJob(file, (text) => text.replace('blank: keep', 'blank: clear'));
    await change(file, (rows) => {
      rows[1]!['city'] = '';
    });
    const result = await run();
    expect(result.commits).toBe(1);
    expect(one(0)).toMatchObject({ state_province: 'Viken', website: 'a.example', city: 'Oslo' });
    expect(one(1)).toMatchObject({ state_province: 'Viken', website: 'a.example' });
    expect(one(1)['city']).toBeUndefined();
  });

  it('constants and defaults of the job are set as ever', async () => {
    const { file, one, edit, run } = await suppliers();
    edit(0, { phone: '7' });
    await changeJob(file, (text) =>
      text
        .replace('\n  city: city', '\n  city: ~')
        .replace('blank: keep', 'blank: keep\nconstants: { city: Oslo }\ndefaults: { website: a.example }'),
    );
    edit(0, { city: 'Rome' });
    await run();
    expect(one(0)).toMatchObject({ city: 'Oslo', website: 'a.example', phone: '7' });
  });

  it('a file that was saved in another form says the same', async () => {
    desk = await openDesk();
    const [id = 0] = desk.sandbox.insert('asset', [{ name: 'A', serial_number: '1', category: { id: 1 } }]);
    desk.sandbox.edit('asset', id, { original_cost: 1234.5, end_of_life_date: '2024-05-06' });
    const { file } = await desk.export('asset', 'a.csv', {
      editable: true,
      columns: ['original_cost', 'end_of_life_date', 'room'],
    });
    await change(file, ([row]) => {
      expect(row).toMatchObject({ original_cost: '1234.5', end_of_life_date: '2024-05-06' });
      return [{ ...row, original_cost: '1.234,50', end_of_life_date: '06.05.2024' }];
    });
    await changeJob(file, (text) => text.replace(/decimal: .*/, 'decimal: ","').replace('yyyy-MM-dd', 'dd.MM.yyyy'));
    desk.sandbox.edit('asset', id, { original_cost: 9, end_of_life_date: '2024-12-24' });
    const result = await desk.import(file, jobOf(file));
    expect([result.faults, result.outcomes, result.commits]).toEqual([[], ['2 unchanged'], 0]);
  });

  it('cells that a spreadsheet program has typed compare by their value', async () => {
    desk = await openDesk();
    const ids = desk.sandbox.insert(
      'asset',
      ['1', '2'].map((name) => ({ name, serial_number: `007${name}`, category: { id: 1 } })),
    );
    for (const id of ids) desk.sandbox.edit('asset', id, { original_cost: 1234.5, end_of_life_date: '2024-05-06' });
    const columns = ['serial_number', 'original_cost', 'end_of_life_date', 'usage_status', 'room'];
    const { file } = await desk.export('asset', 'a.xlsx', { editable: true, columns });
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(file);
    const sheet = book.worksheets.find((one) => one.name === 'Assets')!;
    const at = (heading: string) => (sheet.getRow(1).values as unknown[]).indexOf(heading);
    for (const row of [2, 3]) {
      const cost = sheet.getRow(row).getCell(at('original_cost'));
      cost.value = 1234.5;
      cost.numFmt = '#,##0.00';
      const date = sheet.getRow(row).getCell(at('end_of_life_date'));
      date.value = new Date(Date.UTC(2024, 4, row === 2 ? 6 : 7));
      date.numFmt = 'dd/mm/yyyy';
    }
    await book.xlsx.writeFile(file);
    for (const id of ids)
      desk.sandbox.edit('asset', id, { original_cost: 9, end_of_life_date: '2024-12-24', room: 'R' });
    const result = await desk.import(file, jobOf(file), { dryRun: true });
    expect(result.plan.map((row) => [row['id'], row['field'], row['new']])).toEqual([
      [String(ids[1]), 'end_of_life_date', '2024-05-07'],
    ]);
  });

  it('category and subcategory are one thing: both are set where one of them is changed', async () => {
    desk = await openDesk();
    desk.sandbox.putLookup('category', 1, { id: 4, category: 'Network', subcategories: ['Switch', 'Router'] });
    desk.sandbox.putLookup('category', 1, { id: 5, category: 'Server', subcategories: ['Blade'] });
    const ids = desk.sandbox.insert(
      'asset',
      ['A', 'B'].map((name) => ({ name, serial_number: name, category: { id: 4, subcategory: 'Switch' } })),
    );
    const { file } = await desk.export('asset', 'a.csv', {
      editable: true,
      columns: ['category.name', 'category.subcategory'],
    });
    for (const id of ids) desk.sandbox.edit('asset', id, { category: { id: 5, subcategory: 'Blade' } });
    await change(file, (rows) => {
      rows[1]!['category.subcategory'] = 'Router';
    });
    const result = await desk.import(file, jobOf(file), { dryRun: true });
    expect(result.outcomes).toEqual(['2 unchanged', '3 conflict']);
    expect(result.plan.map((row) => [row['id'], row['field'], row['new']])).toEqual([
      [String(ids[1]), 'category.name', 'Network (4)'],
      [String(ids[1]), 'category.subcategory', 'Router'],
    ]);
    desk.sandbox.edit('asset', ids[1]!, { category: { id: 4, subcategory: 'Switch' } });
    expect((await desk.import(file, jobOf(file), { dryRun: true })).outcomes).toEqual(['2 unchanged', '3 updated']);
  });
});

describe('a file that is imported more than once', () => {
  const CITY =
    /since the file was imported: it was exported as "Oslo" and sent as "Bonn", the record now has "Rome", and the row sets "Bonn"/;

  it('what others changed since the first import is a conflict, until it is imported once more (32)', async () => {
    const { ids, file, one, edit, run } = await suppliers();
    await change(file, (rows) => Object.assign(rows[0]!, { city: 'Bonn' }));
    expect(outcome((await run()).results)[0]).toBe(`${ids[0]} updated`);
    edit(0, { city: 'Rome' });
    await change(file, (rows) => Object.assign(rows[0]!, { phone: '7' }));
    const second = await run();
    expect([outcome(second.results)[0], second.commits]).toEqual([`${ids[0]} conflict`, 0]);
    expect(second.faults[0]?.['message']).toMatch(CITY);
    expect(one(0)).toMatchObject({ city: 'Rome', phone: '1' });
    // Another value than the conflict told.
    edit(0, { city: 'Paris' });
    expect(outcome((await run()).results)[0]).toBe(`${ids[0]} conflict`);
    expect(outcome((await run()).results)[0]).toBe(`${ids[0]} updated`);
    expect(one(0)).toMatchObject({ city: 'Bonn', phone: '7' });
    edit(0, { city: 'Rome' });
    await change(file, (rows) => Object.assign(rows[0]!, { city: 'Bern' }));
    expect(outcome((await run()).results)[0]).toBe(`${ids[0]} conflict`);
  });

  it('a row whose first write was refused is written by the second import, unless somebody else was there', async () => {
    const { ids, file, one, edit, run } = await suppliers();
    await change(file, (rows) => {
      for (const row of rows) row['city'] = 'Bonn';
    });
    desk.sandbox.setFaults(['PUT * status=422']);
    expect(outcome((await run()).results)).toEqual(ids.map((id) => `${id} rejected`));
    desk.sandbox.setFaults([]);
    edit(1, { city: 'Rome' });
    edit(2, { phone: '5' });
    const second = await run();
    expect(outcome(second.results)).toEqual([`${ids[0]} updated`, `${ids[1]} conflict`, `${ids[2]} updated`]);
    expect(second.faults[0]?.['message']).toMatch(CITY);
    expect([one(0)['city'], one(1)['city'], one(2)['city']]).toEqual(['Bonn', 'Rome', 'Bonn']);
  });

  it.each([
    ['close_before', 'updated'],
    ['close_after', 'unchanged'],
  ])('the first import was cut off at its first write (%s)', async (fault, expected) => {
    const stop = new AbortController();
    const onRequest = ({ method }: { method: string }) => void (method === 'PUT' && stop.abort('SIGTERM'));
    const { ids, file, one, edit, run } = await suppliers({}, { onRequest });
    await change(file, (rows) => {
      for (const row of rows) row['city'] = 'Bonn';
    });
    desk.sandbox.setFaults([`PUT * ${fault}`]);
    const first = await desk.import(file, jobOf(file), { signal: stop.signal, env: { ROWFERRY_CONCURRENCY: '1' } });
    expect(first.summary.status).toBe('interrupted');
    desk.sandbox.setFaults([]);
    edit(1, { city: 'Rome' });
    const second = await run();
    expect(outcome(second.results)).toEqual([`${ids[0]} ${expected}`, `${ids[1]} conflict`, `${ids[2]} updated`]);
    expect([one(0)['city'], one(1)['city'], one(2)['city']]).toEqual(['Bonn', 'Rome', 'Bonn']);
  });

  it('an edit that was in conflict and is taken back writes nothing', async () => {
    const { ids, file, one, edit, run } = await suppliers();
    await change(file, (rows) => Object.assign(rows[0]!, { city: 'Bonn' }));
    edit(0, { city: 'Rome' });
    expect(outcome((await run()).results)[0]).toBe(`${ids[0]} conflict`);
    await change(file, (rows) => Object.assign(rows[0]!, { city: 'Oslo', phone: '7' }));
    expect(outcome((await run()).results)[0]).toBe(`${ids[0]} updated`);
    expect(one(0)).toMatchObject({ city: 'Rome', phone: '7' });
  });
});

describe('fields of custom field templates and forms', () => {
  it.each(FORMATS)('the one that a person changed is written, those that others changed stay (%s)', async (format) => {
    desk = await openDesk();
    furnish(desk.sandbox);
    const make = (more: number) => filled(desk.sandbox, 'supplier', more);
    const ids = insert(desk.sandbox, 'supplier', [{ ...make(0), name: 'One' }]);
    const { file } = await desk.export('supplier', `data.${format}`, { editable: true, filter: { name: 'One' } });
    const job = parseYaml(await readFile(jobOf(file), 'utf8')) as { columns: Record<string, string | null> };
    const own = Object.keys(make(0)).filter((field) => field.startsWith('template.'));
    const field = own[0] ?? '';
    expect(own.length).toBeGreaterThan(1);
    const heading = Object.keys(job.columns).find((one) => job.columns[one] === field) ?? '';
    await setCell(file, heading, 'by hand');
    for (const id of ids) desk.sandbox.remove('supplier', id);
    // The same template, every value another.
    const others = Object.fromEntries(
      Object.entries(make(1)).filter(([name]) => !name.startsWith('template.') && name !== 'name'),
    );
    insert(desk.sandbox, 'supplier', [{ ...make(0), ...others, name: 'Two' }], { alert: true, ids });
    const result = await desk.import(file, jobOf(file), { dryRun: true });
    expect([result.faults, result.outcomes]).toEqual([[], [format === 'ndjson' ? '1 updated' : '2 updated']]);
    const set = result.plan.filter((row) => row['kind'] === 'set');
    expect(set.map((row) => [row['id'], row['field'], row['new']])).toEqual([[String(ids[0]), heading, 'by hand']]);
  });
});

describe('runs that are continued', () => {
  it('an interrupted import goes on with what the person changed', async () => {
    const { ids, file, one, edit } = await suppliers();
    for (const at of [0, 1, 2]) edit(at, { city: 'Rome' });
    await change(file, (rows) => {
      for (const row of rows) row['phone'] = '9';
    });
    const stop = new AbortController();
    let writes = 0;
    const env = { ROWFERRY_CONCURRENCY: '1' };
    const watch = setInterval(() => {
      writes = desk.sandbox.commits.length;
      if (writes > 0) stop.abort('SIGTERM');
    }, 1);
    const first = await desk
      .import(file, jobOf(file), { signal: stop.signal, env })
      .finally(() => clearInterval(watch));
    const last = first.summary.status === 'interrupted' ? await desk.resume({ env }) : first;
    expect(outcome(last.results)).toEqual(ids.map((id) => `${id} updated`));
    for (const at of [0, 1, 2]) expect(one(at)).toMatchObject({ city: 'Rome', phone: '9' });
  });

  it('a resumed export remembers all that it wrote', async () => {
    const stop = new AbortController();
    let pages = 0;
    desk = await openDesk({
      onRequest: ({ path }) => void (path.includes('/supplier/') && ++pages === 3 && stop.abort('SIGTERM')),
    });
    const ids = desk.sandbox.insert(
      'supplier',
      Array.from({ length: 60 }, (_, n) => ({ name: `S ${n}`, city: 'Oslo' })),
    );
    const first = await desk.export('supplier', 's.csv', { editable: true, signal: stop.signal });
    expect(first.summary.status).toBe('interrupted');
    await desk.resumeExport();
    for (const id of ids) desk.sandbox.edit('supplier', id, { city: 'Rome' });
    const result = await desk.import(first.file, jobOf(first.file));
    expect([result.summary.rows.unchanged, result.commits, result.summary.warnings]).toEqual([60, 0, []]);
  });
});

describe('what the export wrote is not at hand', () => {
  it('every cell counts, and the summary says so once', async () => {
    const { exported, one, edit, run } = await suppliers();
    edit(0, { city: 'Rome' });
    await rm(baseOf(exported));
    const result = await run();
    expect(one(0)['city']).toBe('Oslo');
    expect(result.summary.warnings).toEqual([
      `This job was written by the export ${exported.summary.run}, which this data folder does not have: every cell counts, and older values are written back where somebody changed them since. Look at the dry run.`,
    ]);
  });

  it('rows that it did not write, and exports of other records, are told apart', async () => {
    const { ids, file, one, edit, run } = await suppliers({ filter: { name: 'Ada' } });
    edit(1, { city: 'Rome' });
    await change(file, (rows) => [...rows, { ...rows[0], id: String(ids[1]), name: 'Ben' }]);
    const result = await run();
    expect([result.commits, one(1)['city']]).toEqual([1, 'Oslo']);
    expect(result.summary.warnings.join()).toContain('did not write: 1. Of them every cell counts');
    const other = await desk.export('contract', 'c.csv', { editable: true });
    await changeJob(file, (text) => text.replace(/edited_from: \S+/, `edited_from: ${other.summary.run}`));
    expect((await run()).summary.warnings.join()).toContain('which read other records (resource, company or service)');
  });

  it('something that is no run id is refused with its line', () => {
    const text =
      'kind: import\nresource: supplier\nedited_from: ../../x\nmatch: { key: id, missing: fail }\ncolumns: { id: id, City: city }\n';
    expect(checkJobText(text).problems).toMatchObject([
      {
        line: 3,
        message: expect.stringContaining('`edited_from` is "../../x"; it must be the id of the export') as string,
      },
    ]);
  });
});
