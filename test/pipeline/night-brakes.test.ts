import { describe, expect, it } from 'vitest';
import { headingsChanged, unknownKeys } from '../../src/pipeline/plan/brakes.js';

describe('the brake on headings', () => {
  const before = ['Serial', 'Name', 'Cost', 'Note'];
  const mapped = ['serial', 'name', 'cost'];

  it.each([
    ['the same', before],
    ['others in case, blanks and Unicode form', [' SERIAL', 'Ｎame', 'cost ', 'note']],
    ['unmapped ones in another order', ['Note', 'Serial', 'Name', 'Cost']],
    ['blank ones and remarks of a file of rejected rows', ['Serial', '', 'Name', '_row', 'Cost', 'Note', '_message']],
  ])('lets %s pass', (_, now) => {
    expect(headingsChanged(before, now, mapped)).toEqual({});
  });

  it('names what is missing, and what stands in its place', () => {
    expect(headingsChanged(before, ['Serial', 'Name', 'Price', 'Note'], mapped).tripped).toMatch(
      /^headings: the column "Cost" of the previous file is missing; the column "Price" is new\. .*compare/,
    );
    expect(headingsChanged(before, ['Serial', 'Name'], mapped).tripped).toContain(
      'the columns "Cost", "Note" of the previous file are missing',
    );
  });

  it('names mapped columns whose order changed: headings may have been put over each other’s values', () => {
    expect(headingsChanged(before, ['Name', 'Serial', 'Cost', 'Note'], mapped).tripped).toContain(
      'the columns "Name", "Serial" stand in another order',
    );
    expect(headingsChanged(before, ['Name', 'Serial', 'Cost'], mapped).tripped).toMatch(
      /"Note" of the previous file is missing, and the columns "Name", "Serial" stand in another order/,
    );
  });

  it('only remarks on what was added', () => {
    expect(headingsChanged(before, ['Serial', 'Colour', 'Name', 'Cost', 'Note', 'Weight'], mapped)).toEqual({
      remark: 'The previous file did not have the columns "Colour", "Weight".',
    });
  });

  it('lists a few of many', () => {
    const many = Array.from({ length: 300 }, (_, n) => `Column ${n}`);
    const told = headingsChanged(many, ['Other'], []).tripped ?? '';
    expect(told).toContain('"Column 7" and 292 more');
    expect(told).not.toContain('"Column 8"');
  });
});

describe('the brake on unknown keys', () => {
  const at = { company: 1, companyName: 'Northwind Operations', resource: 'asset' };

  it('says how few are known, whose data this is, and of what', () => {
    expect(unknownKeys({ keyed: 20_000, matched: 3, records: 18_000 }, at)).toMatch(
      /^unknown_keys: of the 20,000 keys of the file only 3 are known to the service, .*18,000 records.*company 1, "Northwind Operations".*an asset a row.*written otherwise/,
    );
    expect(unknownKeys({ keyed: 20, matched: 0, records: 18 }, { company: 7, resource: 'contract' })).toMatch(
      /of the 20 keys of the file none is known.*company 7\).*a contract a row/,
    );
  });

  it.each([
    ['half of the rows', { keyed: 20, matched: 10, records: 500 }],
    ['half of the records, of a file that is far longer', { keyed: 500, matched: 10, records: 20 }],
    ['ten rows or fewer', { keyed: 10, matched: 0, records: 500 }],
    ['ten records or fewer: a first load', { keyed: 500, matched: 0, records: 10 }],
    ['no rows', { keyed: 0, matched: 0, records: 500 }],
  ])('lets %s pass', (_, counts) => {
    expect(unknownKeys(counts, at)).toBeUndefined();
  });

  it.each([
    ['less than half of the rows', { keyed: 21, matched: 10, records: 500 }],
    ['less than half of the records', { keyed: 500, matched: 10, records: 21 }],
  ])('trips at %s', (_, counts) => {
    expect(unknownKeys(counts, at)).toContain('only 10 are known');
  });
});
