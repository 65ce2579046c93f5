import { expect, test } from 'vitest';
import type { Exportable } from '../../src/export/column.js';
import { exportColumns } from '../../src/export/columns.js';
import { Decimal } from '../../src/model/decimal.js';
import { foldText } from '../../src/model/value.js';
import { readOnlySpec, resourceSpec } from '../../src/resources/registry.js';
import { type CustomTemplate, READ_ONLY, WRITABLE } from '../../src/resources/spec.js';
import type { Json, Readable } from '../../src/service/port.js';
import { contextOf, leavesOf, openBench, type Sheet, sheetOf } from './bench.js';

const RESOURCES: readonly Exportable[] = [...WRITABLE, ...READ_ONLY];

const unique = (headings: readonly string[]) => new Set(headings.map(foldText)).size;

/** Values of the record that no cell of its row shows; amounts by value, lists and objects inside a cell. */
function missing(json: Json, row: readonly string[]): string[] {
  const cells = new Set(row);
  const shows = (text: string) =>
    cells.has(text) || row.some((cell) => cell.includes(text) && (/^[[{]/.test(cell) || cell.includes(', ')));
  return leavesOf(json).flatMap(({ path, value }) => {
    const number = typeof value === 'number' || value instanceof Decimal;
    const text = number ? Decimal.of(String(value)).text : String(value);
    return shows(text) ? [] : [`${path.join('.')}=${text}`];
  });
}

const recordsOf = (sheet: Sheet) => sheet.records.map(({ json }) => json);

test.each(RESOURCES)(
  '%s: every value of every demo record is in its row, under headings that are unique',
  async (resource) => {
    const bench = await openBench();
    const jsons =
      resource === 'customer'
        ? (bench.sandbox.records('customer') as Json[]).map((json) => ({ ...json, _known_from: 'written by rowferry' }))
        : await bench.read(resource as Readable);
    expect(jsons.length).toBeGreaterThan(1);
    const sheet = sheetOf(resource, jsons, await bench.context());
    for (const [at, json] of jsons.entries()) expect(missing(json, sheet.rows[at] ?? []), `record ${at}`).toEqual([]);
    const headings = sheet.columns.map(({ heading }) => heading);
    expect(unique(headings)).toBe(headings.length);
    expect(sheet.columns[0]?.kind).toBe('id');
    expect(sheet.columns[0]?.field).toBe(READ_ONLY.some((one) => one === resource) ? undefined : 'id');

    const reversed = sheetOf(resource, [...jsons].reverse(), await bench.context());
    expect(reversed.columns.map(({ heading, kind, field }) => ({ heading, kind, field }))).toEqual(
      sheet.columns.map(({ heading, kind, field }) => ({ heading, kind, field })),
    );
    expect([...reversed.rows].reverse()).toEqual(sheet.rows);
  },
);

test('plain members stand under their own paths', async () => {
  const bench = await openBench();
  for (const resource of ['asset', 'contract', 'supplier'] as const) {
    const sheet = sheetOf(resource, await bench.read(resource), await bench.context());
    for (const [at, json] of recordsOf(sheet).entries()) {
      for (const { path, value } of leavesOf(json)) {
        if (['template', 'custom_form'].includes(path[0] ?? '') || path.includes('email_list')) continue;
        const text = typeof value === 'number' ? Decimal.of(value).text : String(value);
        expect(sheet.cell(at, path.join('.')), `${resource} ${at} ${path.join('.')}`).toBe(text);
      }
    }
  }
});

test('every field that reads show has a column before the first record, and the template and form fields too', async () => {
  const bench = await openBench();
  const context = await bench.context();
  for (const resource of WRITABLE) {
    const spec = resourceSpec(resource);
    const fields = new Set(exportColumns(resource, context).flatMap(({ field }) => field ?? []));
    const readable = spec.fields.filter(({ read, derived, create, update }) => read && !derived && (create || update));
    for (const { name } of readable) expect(fields, `${resource} ${name}`).toContain(name);
    for (const field of fields) {
      if (!/^(template|form)\./.test(field)) expect(spec.fields.map(({ name }) => name)).toContain(field);
    }
  }
  const asset = exportColumns('asset', context);
  const headings = asset.map(({ heading }) => heading);
  expect(headings.slice(0, 3)).toEqual(['id', 'name', 'manufacturer']);
  for (const heading of [
    'attached_supplier.id',
    'attached_supplier.name',
    'contract.number',
    'category.subcategory',
    'asset_owner.phone_number',
    'business_entity',
    'asset_usage_status',
    'template.Finance.Cost Centre',
    'template.Legacy.Old Code',
    'form.Data centre.Rack',
  ]) {
    expect(headings).toContain(heading);
  }
  expect(headings.some((heading) => heading.startsWith('template.Procurement'))).toBe(false);
  expect(headings.indexOf('template.Finance.Cost Centre')).toBeLessThan(headings.indexOf('form.Data centre.Rack'));
  const of = (heading: string) => asset.find((column) => column.heading === heading);
  expect(of('original_cost')).toMatchObject({ kind: 'money', field: 'original_cost' });
  expect(of('warranty_end_date')).toMatchObject({ kind: 'date' });
  expect(of('contract.id')?.field).toBeUndefined();
  expect(of('contract.number')).toMatchObject({ kind: 'text', field: 'contract' });
  expect(of('template.Finance.Budget')).toMatchObject({ kind: 'money', field: 'template.1.2' });
  expect(of('template.Legacy.Old Code')?.field).toBeUndefined();
  expect(of('form.Data centre.Unit')).toMatchObject({ kind: 'integer', field: 'form.1.Unit' });
  expect(of('warranty_type')?.choices).toEqual([
    'none',
    'oem',
    'oem_extended',
    'third_party',
    'advanced_replacement_warranty',
    'standard_manufacturer_warranty',
    'gold_level_support',
  ]);
  const customer = exportColumns('customer', context).map(({ heading }) => heading);
  expect(customer).toContain('template.Compliance.Risk Class');
  expect(customer.at(-1)).toBe('_known_from');
  expect(customer).not.toContain('ein');
});

test('columns of resources that can only be read have kinds of their own', async () => {
  const { columns } = sheetOf('license', await (await openBench()).read('license'), contextOf());
  const kinds = Object.fromEntries(columns.map(({ heading, kind }) => [heading, kind]));
  expect(kinds).toMatchObject({
    license_id: 'id',
    issuer: 'id',
    quota: 'integer',
    is_transferrable: 'boolean',
    expiry_date: 'date',
    assets: 'text',
    'template.Entitlement.Metric': 'text',
  });
  expect(columns.find(({ heading }) => heading === 'status')?.choices).toContain('Transferred');
  expect(columns.find(({ heading }) => heading === 'type')?.choices).toBeUndefined();
  for (const name of READ_ONLY) {
    const known = exportColumns(name, contextOf()).map(({ heading }) => heading);
    expect(known).toEqual(readOnlySpec(name).fields.flatMap((field) => (field.kind === 'object' ? [] : [field.name])));
  }
});

test('dates of licenses: one day only becomes yyyy-MM-dd, a moment and an unclear date stay', () => {
  const dates = ['2024-03-05', 'March 5, 2024', '2024-03-05T10:00:00Z', '03/04/2024', '25/04/2024'];
  const cells = (list: readonly string[]) => {
    const sheet = sheetOf(
      'license',
      list.map((expiry_date, id) => ({ license_id: id + 1, expiry_date })),
      contextOf(),
    );
    return list.map((_, row) => sheet.cell(row, 'expiry_date'));
  };
  expect(cells(dates.slice(0, 4))).toEqual(['2024-03-05', '2024-03-05', '2024-03-05T10:00:00Z', '03/04/2024']);
  // The last one tells that the day comes first.
  expect(cells(dates)).toEqual(['2024-03-05', '2024-03-05', '2024-03-05T10:00:00Z', '2024-04-03', '2024-04-25']);
});

test('lists are joined where they can be taken apart, else JSON', () => {
  const lists = [['Rack', 'Blade'], ['a, b', 'c'], [''], ['[x]'], [], null, ['one'], [1, null]];
  const sheet = sheetOf(
    'category',
    lists.map((subcategories, id) => ({ id: id + 1, subcategories })),
    contextOf(),
  );
  expect(lists.map((_, row) => sheet.cell(row, 'subcategories'))).toEqual([
    'Rack, Blade',
    '["a, b","c"]',
    '[""]',
    '["[x]"]',
    '',
    '',
    'one',
    '[1,null]',
  ]);
});

const field = (id: number, name: string, dataType: CustomTemplate['fields'][number]['dataType'] = 'text') => ({
  id,
  name,
  dataType,
  active: true,
});
const template = (id: number, name: string, fields: CustomTemplate['fields'], more = {}): CustomTemplate => ({
  id,
  name,
  resource: 'asset',
  active: true,
  fields,
  ...more,
});

test('a customer that is known and not read shows what is known', () => {
  const compliance = template(3, 'Compliance', [field(21, 'Risk'), field(22, 'Limit', 'money')], {
    resource: 'supplier',
  });
  const json = { id: 7, name: 'Acme', _known_from: 'written by rowferry' };
  const fields = {
    name: 'Acme',
    'category.name': { id: 4, name: 'Retail' },
    country: { id: 276 },
    nda_signed: false,
    'template.3.22': Decimal.of('99999999999999.99'),
  };
  const columns = exportColumns('customer', contextOf([compliance]));
  const record = { json, read: { id: 7, fields, losses: [], unknown: [] } };
  const cells = columns.map((column) => [column.heading, column.text(record)] as const);
  expect(Object.fromEntries(cells.filter(([, text]) => text !== ''))).toEqual({
    id: '7',
    name: 'Acme',
    'category.id': '4',
    'category.name': 'Retail',
    country: 'Germany',
    nda_signed: 'false',
    'template.id': '3',
    'template.Compliance.Limit': '99999999999999.99',
    _known_from: 'written by rowferry',
  });
});

test('names that are not unique, blank, digits or would collide give way to ids', () => {
  const templates = [
    template(1, 'Finance', [field(11, 'Code'), field(12, 'code ')]),
    template(2, ' finance', [field(21, 'Code')]),
    template(3, '', [field(31, '')]),
    template(4, '77', [field(41, '5')]),
    template(5, 'a.b', [field(51, 'c')]),
    template(6, 'a', [field(61, 'b.c')]),
    template(7, 'Fine', [field(71, 'Colour'), field(72, 'Price v1.2', 'money')]),
    template(8, 'Theirs', [field(81, 'X')], { resource: 'contract' }),
  ];
  const forms = [
    template(4, 'Racks', [field(31, 'Rack'), field(32, 'Rack'), field(33, 'RACK'), field(34, 'Photo', 'attachment')]),
    template(5, 'Ports', [field(51, '52'), field(52, 'Speed', 'number')]),
  ];
  const custom = exportColumns('asset', contextOf(templates, forms)).flatMap(({ heading, field, source }) =>
    source.kind === 'custom' ? [`${heading} <- ${source.name} ${field ?? '-'}`] : [],
  );
  expect(custom).toEqual([
    'template.1.11 <- template.1.11 template.1.11',
    'template.1.12 <- template.1.12 template.1.12',
    'template.2.Code <- template.2.21 template.2.21',
    'template.3.31 <- template.3.31 template.3.31',
    'template.4.41 <- template.4.41 template.4.41',
    'template.5.51 <- template.5.51 template.5.51',
    'template.6.61 <- template.6.61 template.6.61',
    'template.Fine.Colour <- template.7.71 template.7.71',
    'template.Fine.Price v1.2 <- template.7.72 template.7.72',
    'form.Racks.31 <- form.4.Rack form.4.31',
    'form.Racks.33 <- form.4.RACK form.4.33',
    'form.Racks.Photo <- form.4.Photo -',
    'form.Ports.51 <- form.5.52 form.5.51',
    'form.Ports.Speed <- form.5.Speed form.5.Speed',
  ]);
});
