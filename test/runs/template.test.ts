import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { type ResourceName, WRITABLE } from '../../src/resources/spec.js';
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
    result = await make('asset');
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
    expect(source.meta.headings.slice(0, 3)).toEqual(['Name *', 'Serial number *', 'Manufacturer']);
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
    expect(check('category.subcategory')?.formulae[0]).toMatch(/^OFFSET\(list_subcategory,MATCH\(\$[A-Z]+2,/);
    const pairs = listOf('list_subcategory_of').map((category, i) => `${category}/${listOf('list_subcategory')[i]}`);
    expect(pairs).toEqual(expect.arrayContaining(['Laptop/Rugged', 'Server/Blade']));
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
    expect(note('serial_number')).toMatch(
      /Required in every row\.\nText, at most 50 characters\.\n[\s\S]*Example: 00EX/,
    );
    expect(note('area')).toContain('Can be set on create only.');
    expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1, xSplit: 2 });
  });

  it('explains itself on the help sheet', () => {
    const texts: string[] = [];
    sheetOf(book, 'Help').eachRow((row) => texts.push((row.values as unknown[]).map((value) => value ?? '').join('|')));
    const all = texts.join('\n');
    expect(all).toContain('rowferry import new.xlsx --job new.yaml --dry-run');
    expect(all).toContain('"Northwind Operations"');
    expect(all).toContain('|Serial number *|serial_number|required|text|at most 50 characters|');
    for (const { heading, field: name } of result.columns) expect(all).toContain(`|${heading}|${name}|`);
  });

  it('says that only one template of custom fields fits into a record', async () => {
    expect(result.warnings).toHaveLength(1);
    expect(result.warnings[0]).toContain('"Security"');
    const other = await make('asset', { template: 'security' });
    expect(other.columns.map(({ heading }) => heading)).toContain('Security: Encrypted');
    expect(other.columns.map(({ heading }) => heading)).not.toContain('Finance: Budget');
    expect(other.warnings).toEqual([]);
    await expect(make('asset', { template: 'Securty' })).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('did you mean `Security`?'),
    });
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
      message: expect.stringContaining('holds rows that somebody filled in (row 2 of "Assets")'),
    });
  });
});

describe('the example row', () => {
  it.each(WRITABLE)('of %s can be imported', async (name: ResourceName) => {
    const result = await make(name);
    const job = (await readFile(result.jobPath, 'utf8')).replace(/sheet: \w+/, 'sheet: Example');
    const jobFile = await desk.file(`example-${name}.yaml`, job);
    const imported = await desk.import(result.path, jobFile);
    expect(imported.faults).toEqual([]);
    expect(imported.outcomes).toEqual(['2 created']);
    const sheet = sheetOf(await workbook(result.path), 'Example');
    const blank = result.columns
      .filter((_, at) => sheet.getCell(2, at + 1).value === null)
      .map((column) => column.field);
    // Names that the service cannot list have no example; the rest of the row is complete.
    const unlisted = ['contract', 'parent_contract', 'customer', 'business_unit', 'asset_hardware_model', 'make'];
    expect(blank.filter((one) => !unlisted.includes(one))).toEqual([]);
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
        { resource: 'contract', file: 'c.xlsx', cwd: own.dir, columns: ['description'] },
        { settings, signal: new AbortController().signal, notice: () => undefined },
      );
      expect(result.lists).toContainEqual({ list: 'Customers', values: 1, columns: ['Customer'] });
      expect(result.columns.map(({ field: name }) => name)).toEqual([
        'name',
        'number',
        'contract_type',
        'country',
        'status',
        'contract_start_date',
        'contract_end_date',
        'total_contract_spend_value',
        'customer',
        'supplier',
        'description',
      ]);
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

describe('assets without a serial number', () => {
  it('are imported as the help sheet says', async () => {
    const { path, jobPath } = await make('asset', { columns: ['asset_tag'] });
    const book = await workbook(path);
    const help: string[] = [];
    sheetOf(book, 'Help').eachRow((row) => help.push(String(row.getCell(1).value)));
    expect(help.join('\n')).toContain(
      'write key: asset_tag in place of key: serial_number, and delete the line unique_field',
    );
    sheetOf(book, 'Assets').getRow(2).values = ['Chair of the hall', null, 'TAG-0099'];
    await book.xlsx.writeFile(path);
    const text = await readFile(jobPath, 'utf8');
    await writeFile(jobPath, text.replace('key: serial_number', 'key: asset_tag').replace(/^.*unique_field.*\n/m, ''));
    const imported = await desk.import(path, jobPath);
    expect(imported.faults).toEqual([]);
    expect(imported.outcomes).toEqual(['2 created']);
  });
});

describe('on paper', () => {
  it.each([
    ['few columns fit on a page', ['asset_tag'], true],
    ['many go over several, with headings and names on each', undefined, false],
  ])('%s', async (_, columns, fits) => {
    const { path } = await make('asset', columns ? { columns } : {}, { offline: true });
    const book = await workbook(path);
    for (const name of ['Assets', 'Example']) {
      const { pageSetup } = sheetOf(book, name);
      expect(pageSetup).toMatchObject({ orientation: 'landscape', fitToPage: fits, printTitlesRow: '1:1' });
      expect(pageSetup.printTitlesColumn).toBe('A:A');
      if (fits) expect([pageSetup.fitToWidth, pageSetup.fitToHeight]).toEqual([1, 0]);
    }
    expect(sheetOf(book, 'Help').pageSetup).toMatchObject({ fitToPage: true, fitToWidth: 1, fitToHeight: 0 });
  });
});

describe('a service that does not answer', () => {
  it('is no reason to resume anything', async () => {
    const env = { ROWFERRY_API_URL: 'http://127.0.0.1:9', ROWFERRY_PATIENCE: '0.01' };
    await expect(make('asset', {}, { env })).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/the service is up, then make the template anew\. Nothing was written\.$/),
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
    const source = await openSource(result.path, { sheet: 'Example', header_row: 1 });
    const rows = [];
    for await (const batch of source.rows()) rows.push(...batch);
    expect(rows).toHaveLength(1);
  });

  it('cannot name custom fields', async () => {
    await expect(make('asset', { columns: ['template.Finance.Budget'] }, { offline: true })).rejects.toMatchObject({
      details: [expect.stringContaining('set ROWFERRY_API_URL')],
    });
  });
});

describe('columns that are asked for', () => {
  it('come after those that every row needs, by field, alias, heading or custom name', async () => {
    const columns = ['City', 'cost', 'template.Security.Encrypted', 'Data centre: rack', 'name'];
    const result = await make('asset', { columns });
    expect(result.columns.map((column) => column.field)).toEqual([
      'name',
      'serial_number',
      'city',
      'original_cost',
      'template.Security.Encrypted',
      'form.Data centre.Rack',
    ]);
  });

  it('are refused together where they are wrong', async () => {
    const wrong = make('asset', { columns: ['citty', 'alert', 'template.Finance.Cost Center', 'name'] });
    await expect(wrong).rejects.toMatchObject({
      kind: 'usage',
      details: [
        expect.stringContaining('did you mean `city`?'),
        expect.stringContaining('can only be read'),
        expect.stringContaining('Did you mean "Cost Centre"?'),
      ],
    });
  });
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

  it('is replaced where it is a template that nobody has filled in', async () => {
    const first = await make('asset', {}, offline);
    const again = await make('supplier', { cwd: join(first.path, '..') }, offline);
    expect(again.path).toBe(first.path);
    expect(await readFile(again.jobPath, 'utf8')).toContain('resource: supplier');
    expect((await readdir(join(first.path, '..'))).sort()).toEqual(['new.xlsx', 'new.yaml']);
  });

  it('is whatever cannot be read as an untouched template', async () => {
    const cwd = join(desk.dir, 'not-ours');
    const whole = await readFile((await make('asset', {}, offline)).path);
    const own = new ExcelJS.Workbook();
    own.addWorksheet('Plan').addRow(['Name', 'Cost']);
    const assets = new ExcelJS.Workbook();
    assets.addWorksheet('Assets').addRow(['Name', 'Cost']);
    const files: Record<string, Buffer> = {
      'protected.xlsx': Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(4096)]),
      'cut-off.xlsx': whole.subarray(0, whole.length - 400),
      'text.xlsx': Buffer.from('Name;Cost\n'),
      'own.xlsx': Buffer.from(await own.xlsx.writeBuffer()),
      'own-assets.xlsx': Buffer.from(await assets.xlsx.writeBuffer()),
    };
    await mkdir(cwd, { recursive: true });
    for (const [file, bytes] of Object.entries(files)) {
      await writeFile(join(cwd, file), bytes);
      await expect(make('asset', { cwd, file }, offline)).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringMatching(/is there already, and it is not a blank workbook.* Nothing was written\. Name/),
      });
      expect(await readFile(join(cwd, file))).toEqual(bytes);
    }
    expect((await readdir(cwd)).sort()).toEqual(Object.keys(files).sort());
    await writeFile(join(cwd, 'empty.xlsx'), '');
    expect((await make('asset', { cwd, file: 'empty.xlsx' }, offline)).job).toBe('empty.yaml');
  });

  it.each([
    ['assets.csv', 'does not end in .xlsx'],
    ['.xlsx', 'does not end in .xlsx'],
    ['absent/assets.xlsx', 'does not exist'],
    ['folder.xlsx', 'is a folder'],
  ])('%s', async (file, words) => {
    const cwd = join(desk.dir, 'targets');
    await mkdir(join(cwd, 'folder.xlsx'), { recursive: true });
    await expect(make('asset', { cwd, file }, offline)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(words),
    });
  });

  it.each([
    ['assets', 'did you mean `asset`? Templates are for'],
    ['license', 'can only be read'],
    ['chair', 'asset, contract, supplier, customer'],
  ])('the resource %s', async (resource, words) => {
    await expect(make(resource, {}, offline)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(words),
    });
  });
});
