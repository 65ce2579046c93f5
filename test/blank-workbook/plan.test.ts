import { describe, expect, it } from 'vitest';
import {
  type BlankColumn,
  blankColumns,
  COMMON_FIELDS,
  chooseNames,
  dropDowns,
} from '../../src/blank-workbook/columns.js';
import { jobText, noteText } from '../../src/blank-workbook/workbook.js';
import { customFieldSpec } from '../../src/resources/custom.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { type CustomField, WRITABLE } from '../../src/resources/spec.js';
import { checkJobText } from '../../src/runs/job-file.js';

const about = { workbook: 'my things.xlsx', job: 'my things.yaml', company: 1 };
const asset = resourceSpec('asset');

describe.each(WRITABLE)('the columns of %s', (name) => {
  const spec = resourceSpec(name);
  const columns = blankColumns(spec, []);

  it('are all fields that an import can set, once each', () => {
    const writable = spec.fields.filter((field) => !field.derived && (field.create ?? field.update) !== undefined);
    expect(columns.map(({ field }) => field).sort()).toEqual(writable.map((field) => field.name).sort());
    expect(new Set(columns.map(({ heading }) => heading.toLowerCase())).size).toBe(columns.length);
  });

  it('begin with what every row needs, marked, the key among it', () => {
    const needed = columns.filter(({ required }) => required);
    expect(columns.slice(0, needed.length)).toEqual(needed);
    expect(needed.map(({ field }) => field)).toEqual(
      expect.arrayContaining([
        spec.naturalKeys[0],
        ...spec.fields.filter((field) => field.required).map((field) => field.name),
      ]),
    );
    expect(columns.filter(({ heading }) => heading.endsWith(' *'))).toEqual(needed);
  });

  it('begin with fifteen at most that people use, whatever every row needs among them', () => {
    const used = columns.slice(0, COMMON_FIELDS[name].length).map(({ field }) => field);
    expect(used).toEqual(COMMON_FIELDS[name]);
    expect(used.length).toBeLessThanOrEqual(15);
    const oneOf = name === 'contract' ? ['supplier', 'customer'] : [];
    expect(used).toEqual(
      expect.arrayContaining([...columns.filter(({ required }) => required).map(({ field }) => field), ...oneOf]),
    );
  });

  it('are imported by a job without a fault or remark', () => {
    const text = jobText(spec, columns, about);
    const { job, problems } = checkJobText(text);
    expect(problems).toEqual([]);
    expect(job).toMatchObject({ kind: 'import', resource: name, match: { key: [spec.naturalKeys[0]] } });
    expect(Object.keys(job && 'match' in job ? job.columns : {})).toEqual(columns.map(({ heading }) => heading));
  });

  it('each have a note that fits', () => {
    const lists = dropDowns(columns, new Map());
    for (const column of columns) {
      const note = noteText(column, lists.get(column.field), spec);
      expect(note.length).toBeGreaterThan(4);
      expect(note.length).toBeLessThan(900);
    }
  });
});

describe('headings of custom fields', () => {
  const template = { id: 7, name: 'Finance', resource: 'asset', active: true, fields: [] };
  const field = (id: number, label: string): CustomField => ({ id, name: label, dataType: 'text', active: true });
  const customs = (...names: string[]) =>
    names.map((label, at) => {
      const spec = customFieldSpec(asset, template, field(at + 1, label));
      return { field: `template.7.${at + 1}`, spec };
    });

  it('are told apart where names are alike, blank, or begin as columns that are never read', () => {
    const under = { ...template, name: '_private' };
    const spec = customFieldSpec(asset, under, field(9, 'x'));
    const columns = blankColumns(asset, [
      ...customs('Cost', 'COST', 'Ｃｏｓｔ', ' ', 'Line\nbreak \u200b'),
      { field: 'template.7.9', spec },
    ]);
    const headings = columns.slice(-6).map(({ heading }) => heading);
    expect(headings).toEqual([
      'Finance: Cost',
      'template.7.2',
      'template.7.3',
      'template.7.4',
      'Finance: Line break',
      'template.7.9',
    ]);
    expect(checkJobText(jobText(asset, columns, about)).problems).toEqual([]);
  });

  it('say that a longer text is taken only by a new record', () => {
    const [column] = blankColumns(asset, customs('Cost')).slice(-1);
    expect(noteText(column as BlankColumn, undefined, asset)).toMatch(
      /^Text, at most 150 characters\.\nIn an existing record at most 50 characters\./,
    );
  });
});

describe('names on offer', () => {
  it('are those that stand for one record and are read as a name', () => {
    const offered = chooseNames([
      ['B'],
      ['A'],
      ['Twice'],
      [' Twice '],
      ['4711'],
      ['id:5'],
      ['1.2E+10'],
      ['bad\u0007'],
      [''],
    ]);
    expect(offered).toEqual({ names: ['A', 'B'], leftOut: 6, source: 'service' });
  });

  it('fall back on a second spelling where the first is shared', () => {
    const owners = [
      ['Sam Lee', 'sam@example.com'],
      ['Sam Lee', 'lee@example.com'],
      ['Ada', 'ada@example.com'],
    ];
    expect(chooseNames(owners).names).toEqual(['Ada', 'lee@example.com', 'sam@example.com']);
    expect(chooseNames(owners).leftOut).toBe(0);
  });

  it('make lists that columns of the same kind share', () => {
    const lists = dropDowns(
      blankColumns(asset, []),
      new Map([
        ['supplier', chooseNames([['Acme']])],
        ['subcategory', chooseNames([['Rugged']])],
      ]),
    );
    expect(lists.get('attached_supplier')).toBe(lists.get('warranty_provider'));
    expect(lists.has('asset_owner')).toBe(false);
    expect(lists.get('category.subcategory')?.values).toEqual(['Rugged']);
    expect(lists.get('country')?.values.length).toBeGreaterThan(240);
  });
});
