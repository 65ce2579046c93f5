import { describe, expect, it } from 'vitest';
import { unknownKeys } from '../../src/pipeline/plan/brakes.js';

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
