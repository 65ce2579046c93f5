import { describe, expect, it } from 'vitest';
import { blankColumns } from '../../../src/blank-workbook/columns.js';
import { jobText } from '../../../src/blank-workbook/job-text.js';
import { resourceSpec } from '../../../src/resources/registry.js';
import type { CustomTemplate } from '../../../src/resources/spec.js';
import { checkJobText } from '../../../src/runs/job-file.js';
import { chooseCustom } from '../../../src/runs/template/custom.js';

const asset = resourceSpec('asset');
const owner = (id: number, name: string, ...fields: string[]): CustomTemplate => ({
  id,
  name,
  resource: 'asset',
  active: true,
  fields: fields.map((field, at) => ({ id: id * 10 + at, name: field, dataType: 'text', active: true })),
});

describe('names that differ in case alone', () => {
  it.each([
    ['fields of a template', { templates: [owner(1, 'Finance', 'Dup', 'dup', 'Other')], forms: [] }],
    ['columns of a form', { templates: [], forms: [owner(1, 'Room', 'Rack', 'rack', 'RACK', 'Other')] }],
    ['forms', { templates: [], forms: [owner(1, 'Room', 'Rack', 'Other'), owner(2, 'ROOM', 'Rack', 'More')] }],
    ['forms of one name', { templates: [], forms: [owner(1, 'Room', 'Rack'), owner(2, 'Room', 'Rack')] }],
  ])('%s go by their ids, under headings of their own', (_, catalogue) => {
    const { columns } = chooseCustom(asset, catalogue, {});
    const all = blankColumns(asset, columns);
    const text = jobText(asset, all, { workbook: 'a.xlsx', job: 'a.yaml' });
    expect(checkJobText(text).problems).toEqual([]);
    const custom = all.filter((column) => column.custom);
    expect(new Set(custom.map(({ heading }) => heading.toLowerCase())).size).toBe(custom.length);
    expect(custom.some(({ field }) => /^(?:template|form)\.\d+\.\d+$/.test(field))).toBe(true);
    const sure = custom.filter(({ spec }) => /Other|More/.test(spec.label));
    for (const { field } of sure) expect(field).toMatch(/\.(?:Other|More)$/);
  });
});

describe('a template or form that is asked for', () => {
  const catalogue = {
    templates: [owner(1, 'Finance', 'A'), owner(2, 'Finance', 'B'), owner(3, 'finance', 'C'), owner(4, 'IT', 'D')],
    forms: [owner(7, 'Room', 'Rack'), owner(8, 'Repair', 'Cost')],
  };
  const fields = (wish: Parameters<typeof chooseCustom>[2]) =>
    chooseCustom(asset, catalogue, wish).columns.map(({ field }) => field);

  it('is the one of that id, or else of that name', () => {
    expect(fields({ template: 'it', forms: ['none'] })).toEqual(['template.IT.D']);
    expect(fields({ template: '2', forms: ['none'] })).toEqual(['template.2.20']);
    expect(fields({ template: 'none', forms: ['repair'] })).toEqual(['form.Repair.Cost']);
    expect(fields({ template: 'none' })).toEqual(['form.Room.Rack', 'form.Repair.Cost']);
  });

  it('must not be one of several', () => {
    expect(() => fields({ template: 'Finance' })).toThrow('say the id instead: 1 or 2.');
    expect(() => fields({ template: 'FINANCE' })).toThrow('say the id instead: 1 or 2 or 3.');
  });

  it('is listed with its id where names are equal', () => {
    expect(() => fields({ template: 'Legal' })).toThrow(
      'no custom field template "Legal". There are "Finance" (1), "Finance" (2), "finance" (3), "IT", and none.',
    );
    expect(() => fields({ forms: ['Rom'] })).toThrow(
      '"Rom", did you mean `Room`? There are "Room", "Repair", and none.',
    );
    expect(chooseCustom(asset, catalogue, {}).warnings[0]).toContain('"Finance" (2), "finance" (3), "IT"');
  });
});
