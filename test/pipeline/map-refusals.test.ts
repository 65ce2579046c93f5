import { describe, expect, test } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { type JobText, mappingOf, refusals } from './mapping.js';

const HEADINGS = ['Item Name', 'Serial number', 'Cost'];

describe('a job that does not fit the file or the service is refused', () => {
  test.each<[job: JobText, expected: RegExp, headings?: string[]]>([
    [
      { columns: { 'Item Nam': 'name' } },
      /columns\.Item Nam: .*did you mean "Item Name"\? Correct the heading, delete this line from the job, or give it `optional: true`\./,
    ],
    [{ columns: { Zebra: 'name' } }, /the file has "Item Name", "Serial number", "Cost"/],
    [{ columns: { _row: 'name' } }, /begins with _/, ['_row']],
    [{ columns: { Name: 'name', 'name ': 'asset_tag' } }, /the headings `Name` and `name ` are the same/, ['Name']],
    [{ columns: { Cost: 'orginal_cost' } }, /no field `orginal_cost`, did you mean `original_cost`/],
    [{ columns: { Cost: 'nmae' } }, /no field `nmae`, did you mean `name`\?/],
    [{ columns: { Cost: 'xyzw' } }, /no field `xyzw`$/],
    [{ columns: { Cost: 'region' } }, /`region` can only be read/],
    [{ columns: { Cost: 'id', 'Item Name': 'name' }, match: { key: 'name' } }, /only where it is the key/],
    [{ columns: { Cost: 'name', 'Item Name': 'name' } }, /columns\.Item Name: the field is set by columns\.Cost/],
    [{ columns: { Cost: 'category', 'Item Name': 'category.name' } }, /set by columns\.Cost/],
    [{ columns: { Cost: 'name' }, constants: { floor: 'x' }, defaults: { floor: 'y' } }, /a constant already/],
    [
      { columns: { Cost: 'name' }, constants: { warranty_type: 'eternal' } },
      /constants\.warranty_type: "eternal" is none of/,
    ],
    [{ columns: { Cost: 'name' }, constants: { floor: 'x'.repeat(51) } }, /constants\.floor: .*51 characters/],
    [{ columns: { Cost: 'name' }, constants: { floor: ' ' } }, /constants\.floor: the value is blank/],
    [{ columns: { Cost: 'name' }, constants: { flor: 'x' } }, /constants\.flor: .*`floor`/],
    [{ columns: { Cost: 'original_cost' }, defaults: { original_cost: 'much' } }, /defaults\.original_cost: "much"/],
    [
      { columns: { Cost: { field: 'warranty_type', values: { A: 'oem', B: 'eternal' } } } },
      /columns\.Cost\.values\.B: "eternal"/,
    ],
    [{ columns: { Cost: { field: 'floor', values: { A: '1', ' a': '2' } } } }, /are the same cell text/],
    [{ columns: { Cost: 'name' }, source: { dates: ['DD/MM/YYYY'] } }, /source\.dates: the date format "DD\/MM\/YYYY"/],
    [{ columns: { Cost: { field: 'warranty_end_date', dates: ['dd/mm/yyyy'] } } }, /columns\.Cost\.dates: .*month/],
    [
      { columns: { Cost: 'name' }, match: { key: 'serial_number' } },
      /match\.key: the key `serial_number` is not mapped/,
    ],
    [
      { columns: { Cost: 'name' }, match: { key: 'serial' + '_nmber' } },
      /match\.key: .*`serial_nmber`.*`serial_number`/,
    ],
  ])('%j', (job, expected, headings = HEADINGS) => {
    expect(refusals(job, headings).join('\n')).toMatch(expected);
  });

  test('headings that collide (66)', () => {
    expect(refusals({ columns: { Name: 'name' } }, ['Name', 'NAME ']).join('\n')).toMatch(
      /several columns.*"Name" \(column 1\), "NAME" \(column 2\)/,
    );
  });

  test.each<[field: string, expected: RegExp]>([
    ['template.Finanze.Cost Centre', /no custom field template "Finanze"\. Did you mean "Finance"/],
    ['template.Finance.Cost Center', /"Finance" has no field "Cost Center"\. Did you mean "Cost Centre"/],
    ['template.99.1', /no custom field template "99"/],
    ['template.Retired.Note', /"Retired" is inactive/],
    ['template.Finance.Old code', /"Old code" of "Finance" is inactive/],
    ['template.Vendor data.Rating', /belongs to supplier records, not to asset records/],
    ['template.4.41', /belongs to contract records/],
    ['template.Twin.A', /several custom field templates are named "Twin"; write the id instead: 6 or 7/],
    ['template.Finance', /write template\.<name or id>\.<field>/],
    ['form.Data center.Rack', /no custom form "Data center"\. Did you mean "Data centre"/],
    ['form.Data centre.Rak', /has no column "Rak"\. Did you mean "Rack"/],
    ['form.Data centre.Plan', /holds attachments, which cannot be written/],
    ['form.Approvals.Signed by', /belongs to contract records/],
  ])('custom field: %s', (field, expected) => {
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
