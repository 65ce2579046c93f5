import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { fault, type IssueCode } from '../../src/model/issue.js';
import { type Fields, type Value, valueText } from '../../src/model/value.js';
import { makeConverter } from '../../src/pipeline/map/convert.js';
import { repeatsName, withoutRepeats } from '../../src/pipeline/plan/unchanged-cells.js';
import type { ResolvedRow } from '../../src/pipeline/rows.js';
import type { Loss } from '../../src/resources/read-value.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { mappingOf, row as sheetRow } from './mapping.js';

const columnOf = (field: string) => `The ${field}`;
const wrong = (code: IssueCode, field: string, value: string) =>
  fault(code, 'text', { field, value, column: columnOf(field) });

const specOf = (field: string) => resourceSpec('supplier').fields.find(({ name }) => name === field);

function meet(row: Partial<ResolvedRow>, fields: Fields, losses: readonly Loss[] = []) {
  const read = { id: 1, fields, losses, unknown: [] };
  const whole: ResolvedRow = { ref: { row: 2 }, key: '1', set: {}, issues: [], ...row };
  const held = { record: undefined, read, ours: undefined, base: fields };
  const { row: own, carried } = withoutRepeats(whole, held, { columnOf, specOf });
  return { set: own.set, codes: own.issues.map(({ code }) => code), carried: carried.map(({ code }) => code) };
}

describe('a row on its record', () => {
  test('a text that differs from its value by outer blanks alone takes the record over', () => {
    const row = { set: { room: 'R 1' }, cells: { room: ' R 1 ' } };
    expect(meet(row, { room: ' R 1 ' }).set).toEqual({ room: ' R 1 ' });
    expect(meet(row, { room: ' R 1' }).set).toEqual({ room: 'R 1' });
    expect(meet({ set: { room: null }, cells: { room: '  ' } }, { room: '  ' }).set).toEqual({ room: '  ' });
  });

  test('a line end that lost its carriage return in a spreadsheet program is no change, another text is', () => {
    const held = { asset_notes: 'one\r\ntwo\rthree' };
    expect(meet({ set: { asset_notes: 'one\ntwo\nthree' } }, held).set).toEqual(held);
    expect(meet({ set: { asset_notes: 'one\ntwo\n3' } }, held).set).toEqual({ asset_notes: 'one\ntwo\n3' });
    expect(meet({ set: { asset_notes: 'one\r\ntwo' } }, { asset_notes: 'one\ntwo' }).set).toEqual({
      asset_notes: 'one\r\ntwo',
    });
  });

  test('the apostrophe of a text is no escape where the record holds the same', () => {
    const row = { set: { name: '=1' }, escaped: { name: "'=1" } };
    expect(meet(row, { name: "'=1" }).set).toEqual({ name: "'=1" });
    expect(meet(row, { name: '=1' }).set).toEqual({ name: '=1' });
    expect(meet(row, { name: '=2' }).set).toEqual({ name: '=1' });
    expect(meet({ set: { name: '=1' } }, { name: "'=1" }).set).toEqual({ name: '=1' });
  });

  test('a form row that no request can carry is repeated like any other value', () => {
    const field = 'form.7#2.Rack';
    const child = (value: Value) => [{ field, text: valueText(value), why: 'a child', value }];
    const at = (text: string) => ({ set: { [field]: text } });
    expect(meet(at('one\ntwo'), {}, child('one\r\ntwo')).set).toEqual({});
    expect(meet(at('one\n2'), {}, child('one\r\ntwo')).set).toEqual({ [field]: 'one\n2' });
    const issues = [wrong('control_character', field, 'a\u0001')];
    expect(meet({ ...at('a\u0001'), issues }, {}, child('a\u0001'))).toEqual({ set: {}, codes: [], carried: [] });
    expect(meet({ ...at('a\u0001'), issues }, {}, child('b\u0001')).codes).toEqual(['control_character']);
  });

  test('a stated limit is one of the value, not of the cell without its outer blanks', () => {
    const row = (ein: string) => ({
      set: { ein },
      cells: { ein: `\t${ein}` },
      issues: [wrong('wrong_length', 'ein', ein)],
    });
    expect(meet(row('tab star'), { ein: '\ttab star' })).toEqual({
      set: { ein: '\ttab star' },
      codes: [],
      carried: [],
    });
    expect(meet(row('tab'), { ein: '\ttab' }).carried).toEqual(['wrong_length']);
    expect(meet(row('tab star'), { ein: '\ttab stop' }).codes).toEqual(['wrong_length']);
  });

  test('a cell that shows what could not be read sets nothing', () => {
    const loss = { field: 'cost', text: '1,200', why: 'two meanings' };
    const row = { set: { cost: Decimal.of('1200') }, cells: { cost: '1,200' } };
    expect(meet(row, {}, [loss]).set).toEqual({});
    expect(meet(row, { cost: Decimal.of('1200') }).set).toEqual({ cost: Decimal.of('1200') });
  });

  test('a name that was found is no change where reads show the same name without an id', () => {
    const loss = { field: 'usage_status', text: 'In repair', why: 'no id' };
    expect(meet({ set: { usage_status: { id: 5, name: 'In repair' } } }, {}, [loss]).set).toEqual({});
    expect(meet({ set: { usage_status: { id: 4, name: 'Other' } } }, {}, [loss]).set).toEqual({
      usage_status: { id: 4, name: 'Other' },
    });
  });

  test.each([
    ['not_a_date', '03/04/2024', { text: '03/04/2024' }, []],
    ['not_a_date', '04/04/2024', { text: '03/04/2024' }, ['not_a_date']],
    ['invalid_encoding', 'bro\ufffdken', { value: 'bro\ud83dken' }, []],
    ['number_precision_lost', '1.23457E+11', { value: ' 1.23457E+11 ' }, []],
    ['reference_ambiguous', 'Twin', { value: { id: 7, name: 'Twin' } }, []],
    ['reference_ambiguous', 'Twin', { value: { id: 7, name: 'Other' } }, ['reference_ambiguous']],
    ['reference_not_found', 'Gone', {}, ['reference_not_found']],
    ['required', '', { value: '' }, ['required']],
    ['ragged_row', 'x', { value: 'x' }, ['ragged_row']],
  ] as const)('a cell at fault (%s, %j) on %j: %j', (code, text, holds, codes) => {
    const fields: Fields = 'value' in holds ? { field: holds.value } : {};
    const losses = 'text' in holds ? [{ field: 'field', text: holds.text, why: '' }] : [];
    expect(meet({ issues: [wrong(code, 'field', text)] }, fields, losses).codes).toEqual(codes);
  });

  test('a value outside its limits is no fault where the record holds it; a stated limit counts when it is carried', () => {
    const set = { name: 'x'.repeat(60), email: 'no address' };
    const issues = [wrong('too_long', 'name', set.name), wrong('not_an_email', 'email', set.email)];
    expect(meet({ set, issues }, set)).toEqual({ set, codes: [], carried: ['too_long'] });
    expect(meet({ set, issues }, { ...set, name: 'y' }).codes).toEqual(['too_long']);
  });

  test('a subcategory is the same only under the same category', () => {
    const issues = [wrong('reference_not_found', 'category.subcategory', 'Old')];
    const held = { 'category.name': { id: 1 }, 'category.subcategory': 'Old' };
    expect(meet({ set: { ...held }, issues }, held).codes).toEqual([]);
    expect(meet({ set: { ...held, 'category.name': { id: 2 } }, issues }, held).codes).toEqual(['reference_not_found']);
  });
});

test('a customer that is known by its name alone is repeated by that name', () => {
  expect(repeatsName({ id: 1, name: 'Acme' }, 'Acme')).toBe(true);
  expect(repeatsName({ id: 1, name: 'Acme', city: 'X' }, 'Acme')).toBe(false);
  expect(repeatsName({ id: 1, name: 'Acme' }, undefined)).toBe(false);
});

describe('what a cell says beyond its value', () => {
  const mapping = (values?: Record<string, string>) =>
    mappingOf(
      {
        columns: { Name: { field: 'name', ...(values ? { values } : {}) }, Cost: 'original_cost' },
        match: { key: 'name' },
      },
      ['Name', 'Cost'],
    );
  const cells = (texts: readonly string[], values?: Record<string, string>) =>
    mapping(values).mapRow(sheetRow(texts)).cells;

  test('is kept for texts with outer blanks and for numbers that are not written plainly, and for nothing else', () => {
    expect(cells([' A ', '1,200'])).toEqual({ name: ' A ', original_cost: '1,200' });
    expect(cells(['A  b', '1200.50'])).toBeUndefined();
    expect(cells(['A', ''])).toBeUndefined();
  });

  test.each(['$5', '€ 5', '5 USD', '１２', '(5)', '- 5', '5-', '1 200'])('is kept for the amount %s', (text) => {
    expect(cells(['A', text])).toEqual({ original_cost: text });
  });

  test('is kept for dates that are written in another way', () => {
    const columns = { Name: 'name', End: 'end_of_life_date' };
    const dated = mappingOf({ columns }, Object.keys(columns));
    expect(dated.mapRow(sheetRow(['A', '3.May.2024'])).cells).toEqual({ end_of_life_date: '3.May.2024' });
    expect(dated.mapRow(sheetRow(['A', '2024-05-03'])).cells).toBeUndefined();
    expect(dated.mapRow(sheetRow(['A', ''])).cells).toBeUndefined();
  });

  test('of an escaped text is what stands in the file', () => {
    const at = { ...sheetRow(['=1', '5']), escaped: [0] };
    expect(mapping().mapRow(at).escaped).toEqual({ name: "'=1" });
  });

  test('is not kept where the job translates the text', () => {
    expect(cells([' A ', '1'], { a: 'B' })).toBeUndefined();
  });
});

describe('a reference by id', () => {
  const convert = (to: 'contract' | 'supplier', text: string) =>
    makeConverter(
      { name: 'x', label: 'x', type: { kind: 'reference', to } },
      { decimal: { sign: '.', why: '' }, format: 'csv' },
    )(text);

  test.each([
    ['contract', 'id:12', { id: 12 }],
    ['contract', 'ID: 12', { id: 12 }],
    ['supplier', 'id:12', { id: 12 }],
    ['supplier', '12', { named: 'supplier', name: '12' }],
    ['contract', '12', { named: 'contract', name: '12' }],
    ['contract', 'id:0', { named: 'contract', name: 'id:0' }],
    ['contract', 'id:12x', { named: 'contract', name: 'id:12x' }],
    ['supplier', 'id:9999999999999999', { named: 'supplier', name: 'id:9999999999999999' }],
    ['supplier', 'grid:5', { named: 'supplier', name: 'grid:5' }],
  ] as const)('%s %s', (to, text, expected) => {
    expect(convert(to, text)).toEqual(expected);
  });
});
