import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blankColumns } from '../../src/blank-workbook/columns.js';
import { writeBlankWorkbook } from '../../src/blank-workbook/workbook.js';
import { openSource } from '../../src/files/open.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { CustomTemplate } from '../../src/resources/spec.js';
import { customColumns } from '../../src/runs/service-names.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { type TemplateRequest, type TemplateResult, writeTemplate } from '../../src/runs/template.js';
import { type Desk, openDesk } from '../support/desk.js';
import { teach } from '../support/records.js';

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk({ seed: 'demo' });
});
afterAll(() => desk.close());

interface Made extends TemplateResult {
  readonly path: string;
  readonly jobPath: string;
  readonly notices: readonly string[];
}

let made = 0;
/** A template in a folder of its own, unless a file is named. */
async function make(
  resource: string,
  more: Partial<TemplateRequest> = {},
  options: { offline?: boolean; env?: Record<string, string> } = {},
): Promise<Made> {
  const cwd = more.cwd ?? join(desk.dir, `template-${++made}`);
  await mkdir(cwd, { recursive: true });
  const notices: string[] = [];
  const settings = options.offline ? resolveSettings({}, {}, cwd) : desk.settings(options.env);
  const result = await writeTemplate(
    { resource, file: 'new.xlsx', ...more, cwd },
    { settings, signal: new AbortController().signal, notice: ({ text }) => notices.push(text) },
  );
  return { ...result, notices, path: join(cwd, result.file), jobPath: join(cwd, result.job) };
}

const field = (result: TemplateResult, name: string): number => {
  const at = result.columns.findIndex((column) => column.field === name);
  if (at < 0) throw new Error(`no column ${name}`);
  return at + 1;
};

async function workbook(path: string): Promise<ExcelJS.Workbook> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile(path);
  return book;
}

type Validated = ExcelJS.Worksheet & { readonly dataValidations: { model: Record<string, ExcelJS.DataValidation> } };

function sheetOf(book: ExcelJS.Workbook, name: string): Validated {
  const sheet = book.getWorksheet(name);
  if (!sheet) throw new Error(`no sheet ${name}`);
  return sheet as Validated;
}

describe('a workbook for assets, with a service', () => {
  let result: Made;
  let book: ExcelJS.Workbook;
  let reads: number;
  beforeAll(async () => {
    desk.sandbox.resetRequests();
    result = await make('asset', { all: true });
    reads = desk.sandbox.requests.total;
    book = await workbook(result.path);
  });

  const listOf = (name: string): unknown[] => {
    const sheet = sheetOf(book, 'Lists');
    const [range = ''] = book.definedNames.getRanges(name).ranges;
    const [, letter = '', from = '', to = ''] = /\$(\w+)\$(\d+):\$\w+\$(\d+)$/.exec(range) ?? [];
    return Array.from(
      { length: Number(to) - Number(from) + 1 },
      (_, i) => sheet.getCell(`${letter}${Number(from) + i}`).value,
    );
  };

  it('is read by our own reader as headings without a row', async () => {
    const source = await openSource(result.path, { sheet: 'Assets', header_row: 1 });
    expect(source.meta.headings).toEqual(result.columns.map(({ heading }) => heading));
    expect(source.meta.headings.slice(0, 3)).toEqual(['Name *', 'Serial number *', 'Asset tag']);
    expect(source.meta.headings).toEqual(expect.arrayContaining(['Finance: Cost Centre', 'Data centre: Rack']));
    const rows = [];
    for await (const batch of source.rows()) rows.push(...batch);
    expect(rows).toEqual([]);
    expect((await stat(result.path)).size).toBeLessThan(60_000);
  });

  it('reads each list of the service once', () => {
    // The company, two kinds of custom fields, categories, owners, usage statuses, and suppliers on two pages.
    expect(reads).toBe(8);
  });

  it("offers the service's names and the interface's values", () => {
    const sheet = sheetOf(book, 'Assets');
    const check = (name: string, row = 2) =>
      sheet.dataValidations.model[sheet.getCell(row, field(result, name)).address];
    expect(sheetOf(book, 'Lists').state).toBe('hidden');
    expect(check('warranty_type')).toMatchObject({
      type: 'list',
      formulae: ['list_warranty_type'],
      errorStyle: 'stop',
    });
    expect(listOf('list_warranty_type')).toContain('gold_level_support');
    expect(check('attached_supplier', 5000)).toMatchObject({ formulae: ['list_supplier'], errorStyle: 'warning' });
    expect(check('support_provider')).toMatchObject({ formulae: ['list_supplier'] });
    expect(check('attached_supplier', 5001)).toBeUndefined();
    expect(listOf('list_supplier')).toHaveLength(40);
    expect(listOf('list_supplier')).toEqual(expect.arrayContaining(['Acme Computers', '山本電機株式会社']));
    expect(listOf('list_category')).toHaveLength(10);
    expect(listOf('list_usage_status')).toContain('In repair');
    expect(listOf('list_country')).toContain('Japan');
    // Two owners are called Sam Lee: their e-mail addresses tell them apart.
    expect(listOf('list_asset_owner')).toEqual(expect.arrayContaining(['Ada Park', 'sam.lee2@northwind.example']));
    expect(listOf('list_asset_owner')).not.toContain('Sam Lee');
    expect(check('category.subcategory')).toMatchObject({ formulae: ['list_subcategory'], errorStyle: 'warning' });
    expect(listOf('list_subcategory')).toEqual(expect.arrayContaining(['Rugged', 'Blade']));
    expect(result.lists).toContainEqual({
      list: 'Suppliers',
      values: 40,
      columns: ['Supplier', 'Warranty provider', 'Support provider'],
    });
  });

  it('formats whole columns and says on each heading what it takes', () => {
    const sheet = sheetOf(book, 'Assets');
    const format = (name: string) => sheet.getColumn(field(result, name)).numFmt;
    expect([format('serial_number'), format('original_cost'), format('warranty_end_date')]).toEqual([
      '@',
      '#,##0.00',
      'yyyy-mm-dd',
    ]);
    const note = (name: string) => {
      const said = sheet.getCell(1, field(result, name)).note;
      return typeof said === 'string' ? said : said.texts?.map(({ text }) => text).join('');
    };
    expect(result.columns.every((column) => (note(column.field) ?? '').length > 20)).toBe(true);
    expect(note('serial_number')).toContain(
      'Required in every row.\nText, at most 50 characters.\nRows are matched by it',
    );
    expect(note('original_cost')).toContain('Example: 1250.50');
    expect(note('area')).toContain('Can be set on create only.');
    expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1, xSplit: 2 });
  });

  it('has the fields of every custom field template, and says that a record holds the values of one', () => {
    expect(result.columns.map(({ heading }) => heading)).toEqual(
      expect.arrayContaining(['Finance: Cost Centre', 'Security: Encrypted']),
    );
    const at = field(result, 'template.Security.Encrypted');
    expect(JSON.stringify(sheetOf(book, 'Assets').getCell(1, at).note)).toContain('the values of one');
    expect(result.warnings).toEqual([]);
  });

  it('is refused when imported blank: there are no rows', async () => {
    const imported = await desk.import(result.path, result.jobPath, { dryRun: true });
    expect(imported.exitCode).toBe(4);
    expect(imported.summary.reason).toContain('no data rows');
    expect(imported.summary.rows.total).toBe(0);
  });

  it('is imported as a person fills it in', async () => {
    const sheet = sheetOf(book, 'Assets');
    const put = (row: number, values: Record<string, ExcelJS.CellValue>) => {
      for (const [name, value] of Object.entries(values)) sheet.getCell(row, field(result, name)).value = value;
    };
    put(2, {
      name: 'Server of the archive',
      serial_number: '000123456789012345678',
      'category.name': 'Server',
      'category.subcategory': 'Rack',
      asset_owner: 'sam.lee2@northwind.example',
      attached_supplier: '山本電機株式会社',
      usage_status: 'In repair',
      country: 'Japan',
      warranty_type: 'gold_level_support',
      warranty_end_date: new Date(Date.UTC(2029, 1, 28)),
      original_cost: 12345.6,
      asset_tag: '=1+1',
      'template.Finance.Cost Centre': '007',
      'template.Finance.Headcount': 3,
      'form.Data centre.Rack': 'R-01',
      'form.Data centre.Installed': new Date(Date.UTC(2026, 0, 31)),
    });
    put(3, { name: 'Second', serial_number: '0002', 'currency.value': 'EUR' });
    put(7, { name: 'Third, after blank rows', serial_number: '0003' });
    const filled = join(desk.dir, 'filled.xlsx');
    await book.xlsx.writeFile(filled);
    const imported = await desk.import(filled, result.jobPath);
    expect(imported.faults).toEqual([]);
    expect(imported.outcomes).toEqual(['2 created', '3 created', '7 created']);
    const [first] = desk.sandbox.raw('asset').filter((raw) => raw['serial_number'] === '000123456789012345678');
    expect(first).toMatchObject({
      category: { category: 3, subcategory: 'Rack' },
      asset_owner: 10,
      country: 392,
      asset_tag: '=1+1',
      warranty_end_date: '2029-02-28',
      warranty_type: 'gold_level_support',
    });
    const again = await desk.import(filled, result.jobPath);
    expect(again.summary.rows.unchanged).toBe(3);
    expect(again.commits).toBe(0);
    // Nobody's rows are written over by a template made anew.
    await expect(make('asset', { cwd: desk.dir, file: 'filled.xlsx' })).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('filled.xlsx is there already'),
    });
  });
});

describe('what the service does not tell', () => {
  let own: Desk;
  beforeEach(() => {
    desk.sandbox.setFaults([]);
  });

  it('a list that may not be read leaves its column without a drop-down', async () => {
    desk.sandbox.setFaults(['GET /supplier status=403', 'GET /custom-form-template status=403']);
    const result = await make('asset');
    desk.sandbox.setFaults([]);
    expect(result.lists.map(({ list }) => list)).not.toContain('Suppliers');
    expect(result.lists.map(({ list }) => list)).toContain('Categories');
    expect(result.columns.some(({ field: name }) => name.startsWith('form.'))).toBe(false);
    expect(result.warnings.filter((text) => text.includes('(403)'))).toEqual([
      expect.stringContaining('custom-form-template'),
      expect.stringContaining('supplier'),
    ]);
    expect(result.notices).toEqual(expect.arrayContaining(result.warnings as string[]));
  });

  it('names that earlier runs learned are offered as such', async () => {
    own = await openDesk({ seed: 'demo' });
    try {
      await teach(own, 'customer', { 1: 'Contoso Retail', 2: 'Twice', 3: 'Twice' });
      const settings = own.settings();
      const result = await writeTemplate(
        { resource: 'contract', file: 'c.xlsx', cwd: own.dir },
        { settings, signal: new AbortController().signal, notice: () => undefined },
      );
      expect(result.lists).toContainEqual({ list: 'Customers', values: 1, columns: ['Customer'] });
    } finally {
      await own.close();
    }
  });

  it('a company that is not there, or a service that refuses the token, is said, and nothing is written', async () => {
    const cwd = join(desk.dir, 'nothing');
    await expect(make('asset', { cwd, company: 99 })).rejects.toMatchObject({ kind: 'failed' });
    await expect(make('asset', { cwd }, { env: { ROWFERRY_API_TOKEN: 'wrong-token' } })).rejects.toMatchObject({
      kind: 'failed',
    });
    expect(await readdir(cwd)).toEqual([]);
  });
});

describe('a service that does not answer', () => {
  it('is no reason to resume anything', async () => {
    const env = { ROWFERRY_API_URL: 'http://127.0.0.1:9', ROWFERRY_PATIENCE: '0.01' };
    await expect(make('asset', {}, { env })).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/that the service is up\.$/),
    });
  });
});

describe('without a service', () => {
  it("has the interface's own fields and values, and says what is missing", async () => {
    const result = await make('contract', {}, { offline: true });
    expect(result.warnings).toEqual([expect.stringContaining('ROWFERRY_API_URL is not set')]);
    expect(result.company).toBeUndefined();
    expect(await readFile(result.jobPath, 'utf8')).not.toContain('company:');
    expect(result.lists.map(({ list }) => list)).toContain('Countries');
  });
});

it('names custom fields so that each is meant alone, and leaves out what no import can set', () => {
  const field = (id: number, name: string, more = {}) => ({
    id,
    name,
    dataType: 'text' as const,
    active: true,
    ...more,
  });
  const owner = (id: number, name: string, fields: CustomTemplate['fields'], more = {}) => ({
    ...{ id, name, resource: 'asset', active: true, fields },
    ...more,
  });
  const catalogue = {
    templates: [
      owner(1, 'Finance', [field(10, 'Cost'), field(11, 'COST'), field(12, 'Old', { active: false })]),
      owner(2, 'Finance', [field(20, 'Budget')]),
      owner(3, 'IT', [field(30, 'Host'), field(31, 'Plan', { dataType: 'attachment' })]),
      owner(4, 'Legal', [field(40, 'Case')], { resource: 'contract' }),
    ],
    forms: [owner(7, 'Room', [field(70, 'Rack')]), owner(8, 'Gone', [field(80, 'x')], { active: false })],
  };
  expect(customColumns(resourceSpec('asset'), catalogue).map(({ field: name }) => name)).toEqual([
    'template.1.10',
    'template.1.11',
    'template.2.20',
    'template.IT.Host',
    'form.Room.Rack',
  ]);
});

describe('a target that will not do', () => {
  const offline = { offline: true } as const;

  it('is a job file that somebody else wrote', async () => {
    const cwd = join(desk.dir, 'own-job');
    await mkdir(cwd);
    await writeFile(join(cwd, 'new.yaml'), 'kind: import\n');
    await expect(make('asset', { cwd }, offline)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('new.yaml'),
    });
    expect(await readdir(cwd)).toEqual(['new.yaml']);
    expect(await readFile(join(cwd, 'new.yaml'), 'utf8')).toBe('kind: import\n');
  });

  it('is a workbook that is there already', async () => {
    const first = await make('asset', {}, offline);
    const bytes = await readFile(first.path);
    await expect(make('supplier', { cwd: join(first.path, '..') }, offline)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringMatching(/new\.xlsx is there already.* Nothing was written\. Name another workbook/),
    });
    expect(await readFile(first.path)).toEqual(bytes);
  });

  it.each([
    ['assets.csv', 'does not end in .xlsx'],
    ['.xlsx', 'does not end in .xlsx'],
    ['absent/assets.xlsx', 'does not exist'],
    ['folder.xlsx', 'is there already'],
  ])('%s', async (file, words) => {
    const cwd = join(desk.dir, 'targets');
    await mkdir(join(cwd, 'folder.xlsx'), { recursive: true });
    await expect(make('asset', { cwd, file }, offline)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(words),
    });
  });

  it.each([
    ['assett', 'did you mean `asset`? Name one for which a template can be made: asset'],
    ['license', 'can only be read'],
    ['chair', 'asset, contract, supplier, customer'],
  ])('the resource %s', async (resource, words) => {
    await expect(make(resource, {}, offline)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(words),
    });
  });
});

describe('a workbook that cannot be put into place', () => {
  it('leaves no job behind, which would be in the way of the next one', async () => {
    const cwd = join(desk.dir, 'in-the-way');
    const spec = resourceSpec('asset');
    const place = { workbook: join(cwd, 'a.xlsx'), job: join(cwd, 'a.yaml'), jobText: 'kind: import\n' };
    await mkdir(join(place.workbook, 'taken'), { recursive: true });
    const blank = { spec, columns: blankColumns(spec, []), lists: new Map() };
    await expect(writeBlankWorkbook(blank, place)).rejects.toThrow('a.xlsx: could not be written');
    expect(await readdir(cwd)).toEqual(['a.xlsx']);
  });
});
