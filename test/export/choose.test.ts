import { expect, test } from 'vitest';
import { describeHabits, recordHabits } from '../../src/export/column.js';
import { chooseColumns } from '../../src/export/names.js';
import { RunError } from '../../src/model/error.js';
import { openBench, sheetOf } from './bench.js';

test('columns by heading, by what headings begin with, by field and alias, in the order they are named', async () => {
  const naming = await (await openBench()).naming('asset');
  const chosen = (...wanted: string[]) => chooseColumns(wanted, naming).map(({ heading }) => heading);
  expect(chosen('serial_number', 'ID', 'name', 'id')).toEqual(['serial_number', 'id', 'name']);
  expect(chosen('category')).toEqual(['category.id', 'category.name', 'category.subcategory']);
  expect(chosen('supplier', 'supplier.name', 'building')).toEqual([
    'attached_supplier.id',
    'attached_supplier.name',
    'bldg_name',
  ]);
  expect(chosen('template.finance')).toEqual([
    'template.Finance.Cost Centre',
    'template.Finance.Budget',
    'template.Finance.Approved On',
    'template.Finance.Headcount',
  ]);
  expect(chosen('template.1.2', 'form.1.Rack', 'form.Data  centre.unit')).toEqual([
    'template.Finance.Budget',
    'form.Data centre.Rack',
    'form.Data centre.Unit',
  ]);
});

test('every name that nothing has is listed', async () => {
  const naming = await (await openBench()).naming('asset');
  const faults = (work: () => unknown): readonly string[] => {
    try {
      work();
    } catch (error) {
      if (error instanceof RunError && error.kind === 'usage') return [error.message, ...error.details];
      throw error;
    }
    return [];
  };
  const found = faults(() => chooseColumns(['serial_numbr', 'id', 'template.Finance.Bugdet', 'inventory_no'], naming));
  expect(found).toHaveLength(4);
  expect(found[1]).toContain('Did you mean "serial_number"');
  expect(found[2]).toContain('Did you mean "Budget"');
  expect(found[3]).toContain('never shows it');
  expect(faults(() => chooseColumns([], naming))).toEqual(['The columns cannot be chosen so. No column is named.']);
});

test.each(['d/m', 'long', 'datetime', 'iso'] as const)('dates that the service shows as %s', async (dates) => {
  const bench = await openBench({ switches: { dates } });
  const jsons = await bench.read('asset');
  const sheet = sheetOf('asset', jsons, await bench.context());
  const raw = bench.sandbox.raw('asset');
  for (const at of [0, 1, 50, 299]) {
    expect(sheet.cell(at, 'warranty_start_date')).toBe(raw[at]!['warranty_start_date']);
  }
  const licenses = sheetOf('license', await bench.read('license'), await bench.context());
  // No license of the demo tells whether 01/02/2022 is in January; a moment keeps its text.
  const first = { 'd/m': '01/01/2022', long: '2022-01-01', datetime: '2022-01-01T00:00:00Z', iso: '2022-01-01' }[dates];
  expect(licenses.cell(0, 'issued_date')).toBe(dates === 'd/m' ? '2022-01-01' : first);
  expect(licenses.cell(1, 'issued_date')).toBe(
    { 'd/m': '01/02/2023', long: '2023-02-01', datetime: '2023-02-01T00:00:00Z', iso: '2023-02-01' }[dates],
  );
});

test('what the records do not tell is said', () => {
  const habits = (records: readonly object[], resource: 'asset' | 'license' = 'asset') => {
    const survey = recordHabits(resource);
    for (const record of records) survey.observe(record as never);
    return describeHabits(survey.conclude());
  };
  const unclear = { id: 1, warranty_end_date: '03/04/2024' };
  expect(habits([unclear])).toContain('"03/04/2024" (warranty_end_date)');
  expect(habits([unclear, { id: 2, warranty_end_date: '25/04/2024' }])).toBeUndefined();
  expect(habits([{ license_id: 1, expiry_date: '03/04/2024' }], 'license')).toContain('"03/04/2024" (expiry_date)');
  expect(
    habits([{ license_id: 1, expiry_date: '03/04/2024' }, { expiry_date: '25/04/2024' }], 'license'),
  ).toBeUndefined();
});
