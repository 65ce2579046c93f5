import { describe, expect, test } from 'vitest';
import { jobFaultText, type ReconcileJob, reconcileJob } from '../../src/model/job.js';
import { compileCompare } from '../../src/pipeline/plan/authority.js';
import { resourceSpec } from '../../src/resources/registry.js';

const FIELDS = ['name', 'serial_number', 'asset_notes', 'category.name', 'category.subcategory', 'template.2.11'];
const TEMPLATES = [
  {
    id: 2,
    name: 'Finance',
    resource: 'asset',
    active: true,
    fields: [{ id: 11, name: 'Cost Centre', type: 'text', active: true }],
  },
];

function compile(compare: object, fields: readonly string[] = FIELDS) {
  const job: ReconcileJob = reconcileJob.parse({
    kind: 'reconcile',
    resource: 'asset',
    match: { key: 'serial_number' },
    columns: {},
    compare,
  });
  return compileCompare(
    job,
    resourceSpec('asset'),
    { templates: TEMPLATES as never, forms: [] },
    { fields, key: ['serial_number'] },
  );
}

describe('whose value stands', () => {
  test('the file, where the job says nothing', () => {
    expect(compile({}).authorityOf('name', { name: 'a' }, { name: 'b' })).toBe('file');
  });

  test('a field by its name, all others by `*`; custom fields by the names people use', () => {
    const { authorityOf, problems } = compile({
      authority: { '*': 'service', Name: 'file', 'template.Finance.Cost Centre': 'fill' },
    });
    expect(problems).toEqual([]);
    expect(authorityOf('name', { name: 'a' }, { name: 'b' })).toBe('file');
    expect(authorityOf('asset_notes', { asset_notes: 'a' }, {})).toBe('service');
    expect(authorityOf('template.2.11', { 'template.2.11': 'x' }, {})).toBe('file');
    expect(authorityOf('template.2.11', { 'template.2.11': 'x' }, { 'template.2.11': 'y' })).toBe('service');
  });

  test('only the fields that are named are compared, where some are', () => {
    const { authorityOf } = compile({ fields: ['name'] });
    expect(authorityOf('name', { name: 'a' }, {})).toBe('file');
    expect(authorityOf('asset_notes', { asset_notes: 'a' }, {})).toBe('none');
  });

  test('a subcategory follows its category where that differs, and stands for itself where it does not', () => {
    const { authorityOf } = compile({ authority: { 'category.name': 'service', 'category.subcategory': 'file' } });
    const set = { 'category.name': { id: 1 }, 'category.subcategory': 'Rugged' };
    expect(
      authorityOf('category.subcategory', set, { 'category.name': { id: 2 }, 'category.subcategory': 'Office' }),
    ).toBe('service');
    expect(
      authorityOf('category.subcategory', set, { 'category.name': { id: 1 }, 'category.subcategory': 'Business' }),
    ).toBe('file');
    const led = compile({ authority: { 'category.name': 'service' } });
    expect(led.authorityOf('category.subcategory', set, { 'category.name': { id: 1 } })).toBe('service');
  });

  test('names that are no fields, or that nothing sets, are told', () => {
    const { problems } = compile({ fields: ['nmae'], authority: { room: 'file' } });
    expect(problems.map(jobFaultText)).toEqual([
      expect.stringMatching(/compare.fields: .*no field `nmae`/),
      expect.stringMatching(/compare.authority.room: `room` is set by no column, .* nothing to compare/),
    ]);
  });
});
