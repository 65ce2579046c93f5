import { describe, expect, it } from 'vitest';
import { openDesk } from '../support/desk.js';
import { read, suggested } from './suggested.js';

const range = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

describe('a key of several fields', () => {
  const heading = ['Name', 'Room', 'City', 'Notes'];
  const rows = range(60, (at) => [`Press ${at % 7}`, `R${at % 9}`, `C${at % 2}`, `note ${at}`]);

  it('is found where no column tells the rows apart by itself, with its measure', async () => {
    const { suggestion, job, table } = await suggested('asset', [heading, ...rows, rows[3]!, rows[4]!]);
    expect(suggestion.key).toMatchObject({
      field: 'name',
      also: [{ field: 'room', heading: 'Room' }],
      fits: true,
      usable: 60,
      repeats: 0,
      wholeRepeats: 2,
    });
    expect(read(job).match).toMatchObject({ key: ['name', 'room'] });
    expect((job ?? '').replace(/\n# /g, ' ')).toContain(
      'No column tells the rows apart by itself; "Name" and "Room" together do: 60 of 60 rows have a key of their own, 0 none, 0 that of an earlier row. 2 rows of 62 repeat a whole earlier row and will be left out as duplicates.',
    );
    expect(job).not.toContain('unique_field');
    expect(table).toContain('Key: name + room ("Name" + "Room": 0 blank, 0 repeated).');
  });

  it('is what the import then finds the records by', async () => {
    const table = [heading, ...rows.slice(0, 20), rows[0]!].map((row) => row.join(','));
    const { job } = await suggested('asset', `${table.join('\n')}\n`);
    const desk = await openDesk();
    try {
      const file = await desk.file('assets.csv', `${table.join('\n')}\n`);
      const jobFile = await desk.file('assets.yaml', job ?? '');
      const first = await desk.import(file, jobFile);
      expect(first.summary.rows).toMatchObject({ created: 20, duplicate: 1, invalid: 0 });
      const again = await desk.import(file, jobFile);
      expect(again.summary.rows).toMatchObject({ unchanged: 20, created: 0 });
    } finally {
      await desk.close();
    }
  });

  it('takes three fields where two are not enough, and never a free text, an address or what was not read in full', async () => {
    const three = range(60, (at) => [`Press ${at % 3}`, `R${at % 4}`, `C${at % 5}`, `note ${at}`]);
    expect((await suggested('asset', [heading, ...three])).suggestion.key).toMatchObject({
      field: 'name',
      also: [{ field: 'room' }, { field: 'city' }],
      fits: true,
    });
    const free = range(30, (at) => [`Press ${at % 3}`, `Street ${at}`, `note ${at}`]);
    const { suggestion } = await suggested('asset', [['Name', 'Address', 'Notes'], ...free]);
    expect(suggestion.key).toMatchObject({ field: 'name', also: [], fits: false });
    const many = range(6_000, (at) => [`Press ${at % 100}`, `R${at}`]);
    expect((await suggested('asset', [['Name', 'Room'], ...many])).suggestion.key).toMatchObject({ also: [] });
  });
});

describe('an address', () => {
  it('is no key', async () => {
    const { job, reason } = await suggested('supplier', [
      ['Address', 'City', 'Phone'],
      ...range(5, (at) => [`${at} High Street`, `Town ${at}`, `+44 20 7946 001${at}`]),
    ]);
    expect(job).toBeUndefined();
    expect(reason).toContain('No mapped column can tell one supplier from another');
  });
});

describe('names of the other party', () => {
  it.each([
    ['supplier', 'CustomerName', 'customers', 'customer'],
    ['customer', 'Supplier', 'suppliers', 'supplier'],
    ['customer', 'Vendor Name', 'suppliers', 'supplier'],
  ])('are names of a %s all the same, but not for certain: %s', async (resource, heading, others, other) => {
    const { suggestion, column, job } = await suggested(resource, [
      ['ID', heading, 'Address'],
      ...range(5, (at) => [at + 1, `Globex ${at}`, `${at} High Street`]),
    ]);
    expect(column(heading)).toMatchObject({ field: 'name', confidence: 'medium' });
    expect(suggestion.key).toMatchObject({ field: 'name', fits: true });
    expect(suggestion.warnings).toEqual([
      expect.stringContaining(`a heading for ${others}: are these rows ${resource}s?`),
    ]);
    expect(job).toContain(`--resource ${other}`);
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
    expect(suggestion.key).toMatchObject({ field: 'serial_number', fits: true, unreadable: 1, usable: 239 });
  });

  it('that errors stand among are of one currency', async () => {
    const { column } = await suggested('asset', [
      ['Name', 'Cost'],
      ...range(20, (at) => [`Press ${at}`, ['#REF!', '#DIV/0!', 'n/a'][at] ?? `$${at}.50`]),
    ]);
    expect(column('Cost')).toMatchObject({ field: 'original_cost' });
    expect(column('Cost').remarks.join()).not.toContain('currencies');
    const mixed = await suggested('asset', [
      ['Name', 'Cost'],
      ...range(8, (at) => [`P${at}`, at % 2 ? '$4' : 'EUR 5']),
    ]);
    expect(mixed.column('Cost').remarks.join()).toContain('different currencies: EUR, $');
  });

  it('of one are said as one', async () => {
    const { job, table } = await suggested('supplier', [['Supplier'], ['Globex']]);
    expect(job).toContain('1 row, 1 column, 1 of them mapped');
    expect(job).not.toMatch(/\b1 (?:rows|columns)/);
    expect(table).toContain('1 row; 1 of 1 column mapped');
  });
});
