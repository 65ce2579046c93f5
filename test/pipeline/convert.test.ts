import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import type { Cell } from '../../src/model/row.js';
import { convertCell, issuesOf, mappingOf } from './mapping.js';

const number = (value: string, shown = value, format?: string): Cell => ({
  t: 'n',
  value,
  shown,
  ...(format === undefined ? {} : { format }),
});
const day = (value: string, shown = value): Cell => ({ t: 'd', value, shown });
const bool = (value: boolean): Cell => ({ t: 'b', value });

describe('text', () => {
  test.each<[Cell, unknown]>([
    ['  A  b\u00a0', 'A  b'],
    ['\u200bSN-1\ufeff', 'SN-1'],
    ['00123', '00123'],
    ['two\nlines', 'two\nlines'],
    ['e\u0301', 'e\u0301'],
    ['bell\u0007', 'control_character'],
    ['x'.repeat(50), 'x'.repeat(50)],
    ['x'.repeat(51), 'too_long'],
    ['😀'.repeat(50), '😀'.repeat(50)],
    ['1.23457E+11', 'number_precision_lost'],
    ['1E5', '1E5'],
    [number('42'), '42'],
    [number('42', '00042', '00000'), '00042'],
    [number('42', '', ';;;'), '42'],
    [number('1234567890123', '1.23457E+12', 'General'), '1234567890123'],
    [number('1234567890123', '1.23457E+12'), '1234567890123'],
    [number('100000', '1.00E+05', '0.00E+00'), 'number_precision_lost'],
    [number('123456789012346000', '1.23457E+17', 'General'), 'number_precision_lost'],
    [number('123456789012346000', '123456789012346000', '0'), 'number_precision_lost'],
    [number('0.000000000000001', '0.000000000000001'), '0.000000000000001'],
    [day('2024-02-01', '01/02/2024'), '01/02/2024'],
    [bool(true), 'TRUE'],
    [bool(false), 'FALSE'],
  ])('%j → %s', (cell, expected) => {
    expect(convertCell('serial_number', cell, { format: 'xlsx' })).toBe(expected);
  });

  test('NDJSON numbers carry all their digits', () => {
    expect(convertCell('serial_number', number('123456789012345678901'), { format: 'ndjson' })).toBe(
      '123456789012345678901',
    );
  });
});

describe('money', () => {
  test.each<[Cell, unknown]>([
    ['$1,200.50', Decimal.of('1200.50')],
    [' 27,275.25 ', Decimal.of('27275.25')],
    ['999999999999999.00', Decimal.of('999999999999999')],
    ['99999999999999.99', Decimal.of('99999999999999.99')],
    ['1000000000000000', 'out_of_range'],
    ['-1', 'out_of_range'],
    ['n/a', 'not_a_number'],
    ['50%', 'not_a_number'],
    [number('0.3', '$0.30'), Decimal.of('0.3')],
    [number('0.2', '20%', '0%'), 'not_a_number'],
    [number('45000.6', '2:24 PM', 'h:mm AM/PM'), 'not_a_number'],
    [number('1.25', '30:00'), 'not_a_number'],
    [number('1.25', '30', '[h]'), 'not_a_number'],
    [number('1.25', '€1.25', '[$€-407]0.00'), Decimal.of('1.25')],
    [number('123456', '1.23E+05', '0.00E+00'), Decimal.of('123456')],
    [day('2024-01-01'), 'not_a_number'],
    [bool(true), 'not_a_number'],
  ])('%j → %s', (cell, expected) => {
    expect(convertCell('original_cost', cell)).toEqual(expected);
  });

  test.each([
    ['total_contract_spend_value', '1234.50.'],
    ['notice_period', '17.'],
  ])('a text that is no %s: write digits such as %s', (field, example) => {
    const job = { resource: 'contract', match: { key: 'number' }, columns: { Key: 'number', Cell: field } } as const;
    const [issue] = issuesOf(mappingOf(job, ['Key', 'Cell']), ['k', 'id:2']);
    expect(issue?.message).toMatch(new RegExp(`such as ${example}$`));
  });

  test('the decimal sign may be stated for the file or for a column', () => {
    expect(convertCell('original_cost', '1.200,50', { source: { decimal: ',' } })).toEqual(Decimal.of('1200.5'));
    expect(convertCell({ field: 'original_cost', decimal: ',' }, '1.200', {})).toEqual(Decimal.of('1200'));
    expect(convertCell({ field: 'original_cost', decimal: '.' }, '1.200', { source: { decimal: ',' } })).toEqual(
      Decimal.of('1.2'),
    );
  });

  test('auto follows the sample', () => {
    const sample = [{ row: 2, cells: ['k', '3,5'] }];
    expect(convertCell('original_cost', '1.200', { sample })).toEqual(Decimal.of('1200'));
    expect(convertCell('original_cost', '1.5', { sample })).toBe('not_a_number');
  });
});

describe('whole numbers', () => {
  test.each<[Cell, unknown]>([
    ['30', 30],
    ['30.0', 30],
    ['1,234', 1234],
    [number('90', '90 days'), 90],
    ['2.5', 'not_an_integer'],
    [number('2.5'), 'not_an_integer'],
    ['thirty', 'not_a_number'],
    ['99999999999999999999', 'out_of_range'],
    ['-999999999999999', -999999999999999],
    ['-1000000000000000', 'out_of_range'],
  ])('%j → %s', (cell, expected) => {
    expect(convertCell('template.Finance.Heads', cell)).toBe(expected);
  });

  test('what is none is told to be written without decimals', () => {
    const mapping = mappingOf({ columns: { Id: 'id', N: 'name' }, match: { key: 'id' } }, ['Id', 'N']);
    expect(issuesOf(mapping, ['id:5', 'x'])[0]?.message).toContain('a whole number. Write digits such as 17.');
    const said = (cell: Cell) => issuesOf(mapping, [cell, 'x'])[0]?.message;
    expect(said(number('30.5', '31', '0'))).toBe('"31" is 30.5, not a whole number. Correct the cell.');
    expect(said(number('30.5'))).toBe('"30.5" is not a whole number. Correct the cell.');
  });
});

describe('dates', () => {
  test.each<[Cell, unknown]>([
    [day('2024-02-29', '29 Feb'), '2024-02-29'],
    [day('2024-02-29T13:45:00'), '2024-02-29'],
    [day('1899-12-31T12:00:00', '12:00'), 'not_a_date'],
    [day('1900-01-00', '0'), 'not_a_date'],
    ['December 1, 2016', '2016-12-01'],
    ['01/02/2024', 'ambiguous_date'],
    [number('45000'), 'not_a_date'],
    [number('20240131'), '2024-01-31'],
    [bool(true), 'not_a_date'],
  ])('%j → %s', (cell, expected) => {
    expect(convertCell('warranty_end_date', cell)).toBe(expected);
  });

  test('formats of the column stand in place of those of the file', () => {
    const source = { dates: ['dd/MM/yyyy'] };
    expect(convertCell('warranty_end_date', '01/02/2024', { source })).toBe('2024-02-01');
    expect(convertCell({ field: 'warranty_end_date', dates: ['MM/dd/yyyy'] }, '01/02/2024', { source })).toBe(
      '2024-01-02',
    );
    expect(convertCell({ field: 'warranty_end_date', dates: ['ddMMyyyy'] }, number('29022024'), { source })).toBe(
      '2024-02-29',
    );
    expect(convertCell('warranty_end_date', '2024-02-01', { source })).toBe('not_a_date');
  });

  test('a number in a date column says how to format it', () => {
    const mapping = mappingOf({ columns: { N: 'name', End: 'warranty_end_date' } }, ['N', 'End']);
    expect(issuesOf(mapping, ['k', number('45000')])[0]?.message).toMatch(/"45000".*Format the column as a date/);
  });
});

describe('yes and no, choices', () => {
  test.each<[Cell, unknown]>([
    ['yes', true],
    ['Y', true],
    ['x', true],
    ['FALSE', false],
    ['0', false],
    [number('1'), true],
    [bool(false), false],
    ['perhaps', 'not_a_boolean'],
  ])('%j → %s', (cell, expected) => {
    expect(convertCell('nda_signed', cell, { resource: 'supplier' })).toBe(expected);
  });

  test.each<[Cell, unknown]>([
    ['oem_extended', 'oem_extended'],
    [' OEM Extended ', 'oem_extended'],
    ['Third-Party', 'third_party'],
    ['eternal', 'not_in_list'],
  ])('%j → %s', (cell, expected) => {
    expect(convertCell('warranty_type', cell)).toBe(expected);
  });

  test('a value out of the list lists the accepted ones', () => {
    const mapping = mappingOf({ columns: { N: 'name', W: 'warranty_type' } }, ['N', 'W']);
    expect(issuesOf(mapping, ['k', 'third partly'])[0]?.message).toMatch(/Did you mean "third_party"\?.*oem_extended/);
  });
});

describe('e-mail addresses', () => {
  test.each<[Cell, unknown]>([
    [' a.b@example.com ', 'a.b@example.com'],
    ['nobody', 'not_an_email'],
  ])('%j → %s', (cell, expected) => {
    expect(convertCell('warranty_contact_email', cell)).toBe(expected);
  });
});

test.each(['0', '60', '-5', '2958466'])(
  'a date cell with the serial number %s says what is wrong with it',
  (serial) => {
    const mapping = mappingOf({ columns: { N: 'name', D: 'warranty_end_date' } }, ['N', 'D']);
    const message = (format?: string) => issuesOf(mapping, ['k', number(serial, serial, format)])[0]?.message;
    for (const format of ['yyyy-mm-dd', 'd/m/yy', '[$-409]d-mmm-yy;@', 'dd"."mm']) {
      expect(message(format)).toContain(
        `is a date cell with the serial number ${serial}, which is outside the calendar`,
      );
    }
    for (const format of [undefined, 'General', '0.00', '[Red]0', '0" days"', 'h:mm']) {
      expect(message(format)).toContain('Format the column as a date');
    }
  },
);

describe('countries', () => {
  test.each<[Cell, number | string]>([
    ['Germany', 276],
    ['de', 276],
    ['USA', 840],
    ['036', 36],
    [number('36'), 36],
    ['England', 'reference_not_found'],
    ['Atlantis', 'reference_not_found'],
  ])('%j → %s', (cell, expected) => {
    const value = convertCell('country', cell);
    if (typeof expected === 'number') expect(value).toMatchObject({ id: expected, name: expect.any(String) });
    else expect(value).toBe(expected);
  });

  test('a name of two countries suggests their codes, not itself', () => {
    const mapping = mappingOf({ columns: { N: 'name', C: 'country' } }, ['N', 'C']);
    expect(issuesOf(mapping, ['k', 'Congo'])[0]?.message).toContain(
      'Did you mean "CG" (Congo) or "CD" (Democratic Republic of the Congo)?',
    );
  });

  test('a country not found suggests one; the job may translate it', () => {
    const mapping = mappingOf({ columns: { N: 'name', C: 'country' } }, ['N', 'C']);
    expect(issuesOf(mapping, ['k', 'England'])[0]?.message).toContain('United Kingdom');
    expect(convertCell({ field: 'country', values: { England: 'GB', Scotland: 826 } }, 'scotland')).toMatchObject({
      id: 826,
    });
  });
});

describe('references', () => {
  test.each<[string, Cell, unknown]>([
    ['category.name', 'Laptop', { named: 'category', name: 'Laptop', column: 'Cell' }],
    ['category', '12', { named: 'category', name: '12', column: 'Cell' }],
    ['category', 'id:12', { id: 12 }],
    ['category.name', number('12', '12.00'), { named: 'category', name: '12', column: 'Cell' }],
    ['category.name', '012', { named: 'category', name: '012', column: 'Cell' }],
    ['category.name', '0', { named: 'category', name: '0', column: 'Cell' }],
    ['category.name', '99999999999999999999', { named: 'category', name: '99999999999999999999', column: 'Cell' }],
    ['asset_owner', ' kim@example.com ', { named: 'asset-owner', name: 'kim@example.com', column: 'Cell' }],
    ['attached_supplier', 'Acme', { named: 'supplier', name: 'Acme', column: 'Cell' }],
    ['contract', '4711', { named: 'contract', name: '4711', column: 'Cell' }],
    ['contract', number('4711'), { named: 'contract', name: '4711', column: 'Cell' }],
  ])('%s %j → %j', (target, cell, expected) => {
    expect(convertCell(target, cell)).toEqual(expected);
  });

  test('a subcategory is text', () => {
    expect(convertCell('category.subcategory', '12')).toBe('12');
  });
});
