import { describe, expect, it } from 'vitest';
import {
  type BlankColumn,
  blankColumns,
  dropDowns,
  isIndispensable,
  KEY,
  offer,
} from '../../src/blank-workbook/columns.js';
import { checkOf, jobText, noteText } from '../../src/blank-workbook/workbook.js';
import { customFieldSpec } from '../../src/resources/custom.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { type CustomField, WRITABLE } from '../../src/resources/spec.js';
import { checkJobText } from '../../src/runs/job-file.js';

const about = { workbook: 'my things.xlsx', job: 'my things.yaml', company: 1 };
const asset = resourceSpec('asset');
const contract = resourceSpec('contract');

const named = (columns: readonly BlankColumn[], field: string): BlankColumn => {
  const column = columns.find((one) => one.field === field);
  if (!column) throw new Error(`no column ${field}`);
  return column;
};

describe.each(WRITABLE)('the columns of %s', (name) => {
  const spec = resourceSpec(name);
  const columns = blankColumns(spec, []);

  it('are all fields that an import can set, once each', () => {
    const writable = spec.fields.filter((field) => !field.derived && (field.create ?? field.update) !== undefined);
    expect(columns.map(({ field }) => field).sort()).toEqual(writable.map((field) => field.name).sort());
    expect(new Set(columns.map(({ heading }) => heading.toLowerCase())).size).toBe(columns.length);
  });

  it('begin with what every row needs, marked, the key among it', () => {
    const needed = columns.filter(({ need }) => need === 'always');
    expect(columns.slice(0, needed.length)).toEqual(needed);
    expect(needed.map(({ field }) => field)).toEqual(
      expect.arrayContaining([KEY[name], ...spec.fields.filter((field) => field.required).map((field) => field.name)]),
    );
    expect(columns.filter(({ heading }) => heading.endsWith(' *'))).toEqual(needed);
  });

  it('have fifteen at most that people use, in groups that stand together', () => {
    const used = columns.filter(({ group }) => group !== undefined);
    expect(used.length).toBeGreaterThanOrEqual(13);
    expect(used.length).toBeLessThanOrEqual(15);
    expect(columns.slice(0, used.length)).toEqual(used);
    expect(columns.filter((column) => isIndispensable(column, spec)).every(({ group }) => group)).toBe(true);
    const groups = used.map(({ group }) => group).filter((group, at, all) => group !== all[at - 1]);
    expect(groups).toEqual([...new Set(groups)]);
    const comments = [...jobText(spec, used, about).matchAll(/^ {2}# (.*)$/gm)].map((found) => found[1]);
    expect(comments).toEqual(groups);
  });

  it('are imported by a job without a fault or remark', () => {
    const text = jobText(spec, columns, about);
    const { job, problems } = checkJobText(text);
    expect(problems).toEqual([]);
    expect(job).toMatchObject({ kind: 'import', resource: name, match: { key: [KEY[name]] } });
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
      'Field Finance: COST (template.7.2)',
      'Field Finance: Cost (template.7.3)',
      'template.7.4',
      'Finance: Line break',
      'Field private: x (template.7.9)',
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
    const offered = offer([['B'], ['A'], ['Twice'], [' Twice '], ['4711'], ['id:5'], ['1.2E+10'], ['bad\u0007'], ['']]);
    expect(offered).toEqual({ names: ['A', 'B'], leftOut: 6, source: 'service' });
  });

  it('fall back on a second spelling where the first is shared', () => {
    const owners = [
      ['Sam Lee', 'sam@example.com'],
      ['Sam Lee', 'lee@example.com'],
      ['Ada', 'ada@example.com'],
    ];
    expect(offer(owners).names).toEqual(['Ada', 'lee@example.com', 'sam@example.com']);
    expect(offer(owners).leftOut).toBe(0);
  });

  it('make lists that columns of the same kind share', () => {
    const lists = dropDowns(
      blankColumns(asset, []),
      new Map([
        ['supplier', offer([['Acme']])],
        ['subcategory', offer([['Rugged']])],
      ]),
    );
    expect(lists.get('attached_supplier')).toBe(lists.get('warranty_provider'));
    expect(lists.has('asset_owner')).toBe(false);
    expect(lists.get('category.subcategory')?.values).toEqual(['Rugged']);
    expect(lists.get('country')?.values.length).toBeGreaterThan(240);
  });
});

describe('checks while typing', () => {
  const columns = blankColumns(contract, []);
  const check = (field: string) => checkOf(named(columns, field), undefined, 'H');

  it('stop at what the import is sure to refuse', () => {
    expect(check('name')).toMatchObject({ type: 'textLength', formulas: [50], error: { style: 'stop' } });
    expect(check('mrc')).toMatchObject({
      type: 'decimal',
      formulas: [0, 999_999_999_999_999],
      error: { style: 'stop' },
    });
    const ein = named(blankColumns(resourceSpec('supplier'), []), 'ein');
    const of = checkOf(ein, undefined, 'A');
    expect(of).toMatchObject({ type: 'textLength', operator: 'equal', formulas: [9] });
  });
});
