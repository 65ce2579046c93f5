import { describe, expect, it } from 'vitest';
import { suggested } from './suggested.js';

const range = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

describe('an address', () => {
  it('is no key', async () => {
    const { job, suggestion } = await suggested('supplier', [
      ['Address', 'City', 'Phone'],
      ...range(5, (at) => [`${at} High Street`, `Town ${at}`, `+44 20 7946 001${at}`]),
    ]);
    expect(suggestion.key).toBeUndefined();
    expect(job).toMatch(/No column means a field that\s+(# )?identifies one/);
    expect(job).toContain('# match: { key: name }');
  });
});

describe('titles and notes between the records', () => {
  it('have no key, and speak against none', async () => {
    const assets = range(12, (at) => [`Laptop ${at}`, `SN-${at}`, 'Dell', at]);
    const rows = [
      ['Name', 'Serial number', 'Manufacturer', 'Cost'],
      ['Berlin', '', '', ''],
      ...assets,
      ['12 in all', '', '', ''],
    ];
    expect((await suggested('asset', rows)).suggestion.key).toMatchObject({ field: 'serial_number', fits: true });
  });
});

describe('names of the other party', () => {
  it.each([
    ['supplier', 'CustomerName'],
    ['customer', 'Supplier'],
    ['customer', 'Vendor Name'],
  ])('are names of a %s all the same, but not for certain: %s', async (resource, heading) => {
    const { suggestion, column } = await suggested(resource, [
      ['ID', heading, 'Address'],
      ...range(5, (at) => [at + 1, `Globex ${at}`, `${at} High Street`]),
    ]);
    expect(column(heading)).toMatchObject({ field: 'name', confidence: 'medium' });
    expect(suggestion.key).toMatchObject({ field: 'name', fits: true });
  });

  it('give way to a heading of the resource itself', async () => {
    const { fields, suggestion } = await suggested('supplier', [
      ['Customer', 'Supplier'],
      ...range(5, (at) => [`Initech ${at}`, `Globex ${at}`]),
    ]);
    expect(fields).toEqual({ Customer: '~', Supplier: 'name' });
    expect(suggestion.warnings).toEqual([]);
  });
});

describe('numbers', () => {
  it('that lost digits do not fit', async () => {
    const { column, suggestion } = await suggested('asset', [
      ['Name', 'Serial Number'],
      ...range(240, (at) => [`Press ${at}`, at === 112 ? '3.52099E+17' : `S${at}`]),
    ]);
    expect(column('Serial Number').evidence).toContain('239 of 240 values fit');
    expect(column('Serial Number').remarks.join()).toContain('"3.52099E+17" (row 114) cannot be read as text');
    expect(suggestion.key).toMatchObject({ field: 'serial_number', fits: true, usable: 240 });
  });

  it('of one are said as one', async () => {
    const { job, table } = await suggested('supplier', [['Supplier'], ['Globex']]);
    expect(job).toContain('1 row, 1 column, 1 of them mapped');
    expect(job).not.toMatch(/\b1 (?:rows|columns)/);
    expect(table).toContain('1 row; 1 of 1 column mapped');
  });
});
