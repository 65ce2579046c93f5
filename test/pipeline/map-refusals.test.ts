import { describe, expect, test } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { type JobText, mappingOf, refusals } from './mapping.js';

const HEADINGS = ['Item Name', 'Serial number', 'Cost'];

describe('a job that does not fit the file or the service is refused', () => {
  test.each<[string, JobText, string[], RegExp]>([
    [
      'missing heading',
      { columns: { 'Item Nam': 'name' } },
      HEADINGS,
      /columns\.Item Nam: .*did you mean "Item Name"\? Correct the heading, delete this line from the job, or give it `optional: true`\./,
    ],
    [
      'missing heading, none near',
      { columns: { Zebra: 'name' } },
      HEADINGS,
      /the file has "Item Name", "Serial number", "Cost"/,
    ],
    [
      'colliding headings (66)',
      { columns: { Name: 'name' } },
      ['Name', 'NAME '],
      /several columns.*"Name" \(column 1\), "NAME" \(column 2\)/,
    ],
    ['own heading', { columns: { _row: 'name' } }, ['_row'], /begins with _/],
    [
      'twice in the job',
      { columns: { Name: 'name', 'name ': 'asset_tag' } },
      ['Name'],
      /the headings `Name` and `name ` are the same/,
    ],
    [
      'unknown field',
      { columns: { Cost: 'orginal_cost' } },
      HEADINGS,
      /no field `orginal_cost`, did you mean `original_cost`/,
    ],
    ['unknown short field', { columns: { Cost: 'nmae' } }, HEADINGS, /no field `nmae`, did you mean `name`\?/],
    ['unknown short field, nothing near', { columns: { Cost: 'xyzw' } }, HEADINGS, /no field `xyzw`$/],
    ['field worked out by the service', { columns: { Cost: 'region' } }, HEADINGS, /`region` can only be read/],
    [
      'id that is no key',
      { columns: { Cost: 'id', 'Item Name': 'name' }, match: { key: 'name' } },
      HEADINGS,
      /only where it is the key/,
    ],
    [
      'field twice',
      { columns: { Cost: 'name', 'Item Name': 'name' } },
      HEADINGS,
      /columns\.Item Name: the field is set by columns\.Cost/,
    ],
    ['alias twice', { columns: { Cost: 'category', 'Item Name': 'category.name' } }, HEADINGS, /set by columns\.Cost/],
    [
      'default of a constant',
      { columns: { Cost: 'name' }, constants: { floor: 'x' }, defaults: { floor: 'y' } },
      HEADINGS,
      /a constant already/,
    ],
    [
      'constant of the wrong type',
      { columns: { Cost: 'name' }, constants: { warranty_type: 'eternal' } },
      HEADINGS,
      /constants\.warranty_type: "eternal" is none of/,
    ],
    [
      'constant too long',
      { columns: { Cost: 'name' }, constants: { floor: 'x'.repeat(51) } },
      HEADINGS,
      /constants\.floor: .*51 characters/,
    ],
    [
      'blank constant',
      { columns: { Cost: 'name' }, constants: { floor: ' ' } },
      HEADINGS,
      /constants\.floor: the value is blank/,
    ],
    [
      'unknown constant',
      { columns: { Cost: 'name' }, constants: { flor: 'x' } },
      HEADINGS,
      /constants\.flor: .*`floor`/,
    ],
    [
      'default of the wrong type',
      { columns: { Cost: 'original_cost' }, defaults: { original_cost: 'much' } },
      HEADINGS,
      /defaults\.original_cost: "much"/,
    ],
    [
      'translation',
      { columns: { Cost: { field: 'warranty_type', values: { A: 'oem', B: 'eternal' } } } },
      HEADINGS,
      /columns\.Cost\.values\.B: "eternal"/,
    ],
    [
      'translations that differ',
      { columns: { Cost: { field: 'floor', values: { A: '1', ' a': '2' } } } },
      HEADINGS,
      /are the same cell text/,
    ],
    [
      'date format of the file',
      { columns: { Cost: 'name' }, source: { dates: ['DD/MM/YYYY'] } },
      HEADINGS,
      /source\.dates: the date format "DD\/MM\/YYYY"/,
    ],
    [
      'date format of a column',
      { columns: { Cost: { field: 'warranty_end_date', dates: ['dd/mm/yyyy'] } } },
      HEADINGS,
      /columns\.Cost\.dates: .*month/,
    ],
    [
      'key that no column sets',
      { columns: { Cost: 'name' }, match: { key: 'serial_number' } },
      HEADINGS,
      /match\.key: the key `serial_number` is not mapped/,
    ],
    [
      'unknown key',
      { columns: { Cost: 'name' }, match: { key: 'serial' + '_nmber' } },
      HEADINGS,
      /match\.key: .*`serial_nmber`.*`serial_number`/,
    ],
  ])('%s', (_, job, headings, expected) => {
    expect(refusals(job, headings).join('\n')).toMatch(expected);
  });

  test.each<[string, string, RegExp]>([
    ['unknown template', 'template.Finanze.Cost Centre', /no custom field template "Finanze"\. Did you mean "Finance"/],
    [
      'unknown field',
      'template.Finance.Cost Center',
      /"Finance" has no field "Cost Center"\. Did you mean "Cost Centre"/,
    ],
    ['unknown id', 'template.99.1', /no custom field template "99"/],
    ['inactive template', 'template.Retired.Note', /"Retired" is inactive/],
    ['inactive field', 'template.Finance.Old code', /"Old code" of "Finance" is inactive/],
    [
      'template of another resource',
      'template.Vendor data.Rating',
      /belongs to supplier records, not to asset records/,
    ],
    ['by id, of another resource', 'template.4.41', /belongs to contract records/],
    [
      'two templates of one name',
      'template.Twin.A',
      /several custom field templates are named "Twin"; write the id instead: 6 or 7/,
    ],
    ['incomplete', 'template.Finance', /write template\.<name or id>\.<field>/],
    ['unknown form', 'form.Data center.Rack', /no custom form "Data center"\. Did you mean "Data centre"/],
    ['unknown column', 'form.Data centre.Rak', /has no column "Rak"\. Did you mean "Rack"/],
    ['attachments', 'form.Data centre.Plan', /holds attachments, which cannot be written/],
    ['form of another resource', 'form.Approvals.Signed by', /belongs to contract records/],
  ])('custom field: %s', (_, field, expected) => {
    expect(
      refusals({ columns: { Cost: field, 'Item Name': 'name' }, match: { key: 'name' } }, HEADINGS).join('\n'),
    ).toMatch(expected);
  });

  test('values of two templates', () => {
    const columns = { Cost: 'template.Finance.Budget', 'Item Name': 'name' };
    const job = { columns, match: { key: 'name' }, constants: { 'template.Logistics.Dock': 'D1' } };
    expect(refusals(job, HEADINGS).join()).toMatch(/one custom field template.*"Finance" and "Logistics"/);
  });

  test('suppliers and customers have no custom forms', () => {
    const columns = { Cost: 'form.Data centre.Rack', 'Item Name': 'name' };
    expect(refusals({ resource: 'supplier', columns, match: { key: 'name' } }, HEADINGS).join()).toMatch(
      /a supplier has no custom forms/,
    );
  });

  test('a key whose heading is missing is one fault, not two', () => {
    expect(refusals({ columns: { Nope: 'name' }, match: { key: 'name' } }, HEADINGS)).toHaveLength(1);
  });

  test('every fault is listed, not the first', () => {
    const columns = { Nope: 'name', Cost: 'orginal_cost', 'Item Name': 'template.Nope.x' };
    expect(() => mappingOf({ columns, match: { key: 'colour' } }, HEADINGS)).toThrowError(
      expect.objectContaining({ name: 'RunError', kind: 'usage', message: expect.stringContaining('4 faults') }),
    );
    const details = refusals({ columns, match: { key: 'colour' } }, HEADINGS);
    expect(details).toHaveLength(4);
    expect(new RunError('usage', '', details).details).toEqual(details);
  });
});

describe('what is accepted', () => {
  test.each([
    ['template.Finance.Cost Centre', 'template.3.31'],
    ['template.3.31', 'template.3.31'],
    ['TEMPLATE.finance. cost  centre ', 'template.3.31'],
    ['template.Net. Terms.Days', 'template.8.81'],
    ['template.Finance.Approval v1.2', 'template.3.36'],
    ['template.6.A', 'template.6.61'],
    ['form.data CENTRE.rack', 'form.20.Rack'],
    ['form.20.201', 'form.20.Rack'],
    ['form.Data centre#3.Rack', 'form.20#3.Rack'],
    ['bldng_name', 'bldg_name'],
    ['Original_Cost', 'original_cost'],
  ])('%s is %s', (field, canonical) => {
    const mapping = mappingOf({ columns: { Cost: field, 'Item Name': 'name' }, match: { key: 'name' } }, HEADINGS);
    expect(mapping.columnOf(canonical)).toBe('Cost');
  });

  test('supplier templates serve customers, for whom the interface lists no type', () => {
    const columns = { 'Item Name': 'name', Cost: 'template.Vendor data.Rating' };
    expect(mappingOf({ resource: 'customer', columns, match: { key: 'name' } }, HEADINGS).fields).toContain(
      'template.9.91',
    );
  });

  test('a heading mapped to ~ may be missing', () => {
    expect(mappingOf({ columns: { 'Item Name': 'name', Gone: null } }, HEADINGS).fields).toEqual(['name']);
  });
});

test('a job whose headings are not on the sheet that was read hears which sheet that was', () => {
  const compile = (source: NonNullable<JobText['source']>) =>
    mappingOf({ columns: { Name: 'name' }, source }, ['Inventory'], { meta: { sheet: 'Read me' }, format: 'xlsx' });
  const words = 'The headings are those in row 1 of the sheet "Read me"; if the table stands on another sheet, name it';
  expect(() => compile({})).toThrow(words);
  expect(() => compile({ sheet: 1 })).toThrow(/Correct the job file or the headings\.$/);
});
