import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mapFile } from '../../src/runs/map-file.js';
import { odsOf, rowXml, sheetXml, textCell, textSheet, typed } from '../files/ods-fixtures.js';
import { type Desk, openDesk } from '../support/desk.js';

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

const job = (source: object = {}) => ({
  kind: 'import',
  resource: 'asset',
  source,
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: {
    'Item Name': { field: 'name', required: true },
    Serial: { field: 'serial_number', required: true },
    Cost: 'original_cost',
    Bought: 'service_start_date',
  },
});

const styles =
  '<number:number-style style:name="N1"><number:number number:decimal-places="0" number:min-integer-digits="6"/></number:number-style>' +
  '<style:style style:name="code" style:family="table-cell" style:data-style-name="N1"/>';

const asset = (name: string, serial: number, cost: string, bought: string) =>
  rowXml(
    textCell(name) +
      typed('float', String(serial), String(serial).padStart(6, '0'), ' table:style-name="code"') +
      cost +
      bought,
  );

const money = (value: string, shown: string) => typed('currency', value, shown, ' office:currency="USD"');
const day = (value: string) => typed('date', value, value.split('-').reverse().join('/'));

/** Longer than a sheet of .xlsx can be named, which the rejected rows are. */
const SHEET = 'Inventory of laptops, screens and telephones';

const book = odsOf({
  styles,
  body: sheetXml(
    SHEET,
    textSheet([['Item Name', 'Serial', 'Cost', 'Bought']]) +
      asset('Projector', 417, money('1200.5', '$1,200.50'), day('2024-02-29')) +
      asset('Printer', 418, typed('percentage', '0.5', '50%'), day('2024-03-01')) +
      asset('Rack', 419, money('99999999999.99', '$99,999,999,999.99'), day('2024-03-02')) +
      asset('Switch', 420, money('5', '$5.00'), textCell('02/03/2024')),
  ),
});

describe('an OpenDocument spreadsheet', () => {
  it('is rehearsed, imported, found unchanged, and what was rejected comes back corrected', async () => {
    const file = await desk.file('inventory.ods', book);
    const rehearsal = await desk.import(file, job(), { dryRun: true });
    expect(rehearsal.outcomes).toEqual(['2 created', '3 invalid', '4 created', '5 invalid']);
    expect(rehearsal.commits).toBe(0);

    const first = await desk.import(file, job());
    expect(first.outcomes).toEqual(rehearsal.outcomes);
    expect(first.exitCode).toBe(3);
    const summary = JSON.parse(await readFile(join(first.reportDir, 'summary.json'), 'utf8'));
    expect(summary.source).toMatchObject({ format: 'ods', sheet: SHEET, header_row: 1, rows: 4, encoding: null });
    expect(summary.reports).toContain('rejected.xlsx');

    const again = await desk.import(file, job());
    expect(again.outcomes).toEqual(['2 unchanged', '3 invalid', '4 unchanged', '5 invalid']);
    expect(again.commits).toBe(0);

    const rejected = join(first.reportDir, 'rejected.xlsx');
    const corrected = new ExcelJS.Workbook();
    await corrected.xlsx.readFile(rejected);
    const sheet = corrected.getWorksheet(SHEET.slice(0, 31).trim())!;
    expect(sheet.getRow(1).values).toEqual(expect.arrayContaining(['Item Name', '_row', '_message']));
    expect([sheet.getCell('B2').value, sheet.getCell('B2').numFmt]).toEqual([418, '000000']);
    sheet.getCell('C2').value = 0.5;
    sheet.getCell('C2').numFmt = '0.00';
    sheet.getCell('D3').value = '2024-03-02';
    await corrected.xlsx.writeFile(rejected);
    // The job may say what the file was: its rejected rows are a workbook of the other kind.
    const mended = await desk.import(rejected, job({ format: 'ods', sheet: SHEET }));
    expect(mended.outcomes).toEqual(['2 created', '3 created']);

    expect(desk.sandbox.records('asset')).toMatchObject([
      { serial_number: '000417', original_cost: '1200.50', service_start_date: '2024-02-29' },
      { serial_number: '000419', original_cost: '99999999999.99', service_start_date: '2024-03-02' },
      { serial_number: '000418', original_cost: '0.50', service_start_date: '2024-03-01' },
      { serial_number: '000420', original_cost: '5.00', service_start_date: '2024-03-02' },
    ]);
  });

  it('has its codes, units and dates in its rejected rows, and texts are read from them as they showed', async () => {
    const columns = { Serial: ['serial_number', 'name'], Price: 'asset_notes', Since: 'area', Cost: 'original_cost' };
    const codes = { ...job(), columns };
    const row = (serial: number, code: string) =>
      rowXml(
        typed('float', String(serial), code) +
          typed('currency', '1200.5', 'CHF 1’200.50', ' office:currency="CHF"') +
          typed('date', '2024-02-29', '29. Februar 2024') +
          textCell('tbd'),
      );
    const body = sheetXml('A', textSheet([Object.keys(columns)]) + row(712, 'SN-0712') + row(713, 'SN-0713'));
    const first = await desk.import(await desk.file('codes.ods', odsOf({ body })), codes);
    expect(first.outcomes).toEqual(['2 invalid', '3 invalid']);
    const rejected = join(first.reportDir, 'rejected.xlsx');
    const corrected = new ExcelJS.Workbook();
    await corrected.xlsx.readFile(rejected);
    const sheet = corrected.getWorksheet('A')!;
    expect([sheet.getCell('A2').value, sheet.getCell('A2').numFmt]).toEqual([712, '"SN-"0000']);
    for (const cell of ['D2', 'D3']) sheet.getCell(cell).value = 5;
    sheet.getCell('B3').value = 7;
    await corrected.xlsx.writeFile(rejected);
    expect((await desk.import(rejected, codes)).outcomes).toEqual(['2 created', '3 created']);
    const same = { area: '29. Februar 2024', original_cost: '5.00' };
    expect(desk.sandbox.records('asset').slice(-2)).toMatchObject([
      { serial_number: 'SN-0712', asset_notes: 'CHF 1’200.50', ...same },
      { serial_number: 'SN-0713', asset_notes: '7', ...same },
    ]);
  });

  it('is described by `map` like any workbook', async () => {
    const { suggestion, job: text = '' } = await mapFile({ file: await desk.file('map.ods', book), resource: 'asset' });
    expect(suggestion.columns.map(({ heading }) => heading)).toEqual(['Item Name', 'Serial', 'Cost', 'Bought']);
    expect(text).toContain('format: auto                      # ods, known');
    expect(text).toMatch(/Serial: serial_number {3}# high: .*4 of 4 values fit/);
    expect(text).toMatch(/Cost: original_cost .*not "50%" \(row 3\)/);
  });
});
