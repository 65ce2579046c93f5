import { expect, test } from 'vitest';
import type { Field, Suggestion } from '../../src/api/schema.js';
import {
  constantIn,
  type DraftStorage,
  fieldIn,
  keyIn,
  listDrafts,
  loadDraft,
  newDraft,
  saveDraft,
  suggestedJob,
  unfilledFields,
  withConstant,
  withDecided,
  withEdits,
  withField,
  withKey,
  withOption,
} from '../../src/console/import/draft.js';

const found = (heading: string, field: string | null) => ({ heading, field }) as Suggestion['columns'][number];
const suggestion = {
  resource: 'asset',
  rows: 240,
  columns: [found('Serial', 'serial_number'), found('Stage', null), found('Bought', 'service_start_date')],
  key: { field: 'serial_number', heading: 'Serial', blank: 0, repeats: 0, fits: true },
  missing: ['name'],
  job: {
    kind: 'import',
    resource: 'asset',
    source: { null_values: ['N/A'] },
    match: { key: 'serial_number', unique_field: 'serial_number', existing: 'update', missing: 'create' },
    columns: { Serial: { field: 'serial_number', values: { a: 'b' } }, Stage: null, Bought: 'service_start_date' },
  },
} as unknown as Suggestion;
const field = (name: string, required: boolean) => ({ name, label: name, required }) as Field;
const fields = [field('name', true), field('serial_number', false), field('lifecycle_stage', false)];
const job = suggestedJob(suggestion, {});

function shelf(room = Number.POSITIVE_INFINITY): DraftStorage {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem(name: string, text: string) {
      if (text.length > room - [...kept].reduce((n, [other, { length }]) => (other === name ? n : n + length), 0))
        throw new DOMException('full', 'QuotaExceededError');
      kept.set(name, text);
    },
  };
}

test('what was suggested is the job, as long as nobody decides otherwise', () => {
  expect(job).toEqual(suggestion.job);
  expect(unfilledFields(job, suggestion, fields).map(({ name }) => name)).toEqual(['name']);
  expect(keyIn(job, suggestion)).toEqual(['serial_number']);
});

test('a field goes to one column, and what was found out of another field does not stay with it', () => {
  const moved = withField(job, job, 'Stage', 'serial_number');
  expect(moved['columns']).toEqual({ Serial: null, Stage: 'serial_number', Bought: 'service_start_date' });
  const back = withField(moved, job, 'Serial', 'serial_number');
  expect(back['columns']).toEqual({ ...(job['columns'] as object), Stage: null });
});

test('blank cells, dates, constants, the key and the table are said in the job', () => {
  let next = suggestedJob(suggestion, { header_row: 3 });
  next = withOption(next, 'Serial', { blank: 'clear' });
  next = withOption(next, 'Bought', { dates: ['dd/MM/yyyy'] });
  next = withConstant(withConstant(next, 'name', 'Laptop'), 'lifecycle_stage', '');
  expect(withKey(next, 'name')).toMatchObject({
    source: { null_values: ['N/A'], header_row: 3 },
    columns: {
      Serial: { field: 'serial_number', values: { a: 'b' }, blank: 'clear' },
      Bought: { field: 'service_start_date', dates: ['dd/MM/yyyy'] },
    },
    constants: { name: 'Laptop' },
    match: { key: 'name', unique_field: 'name', existing: 'update' },
  });
  expect(constantIn(withConstant(next, 'name', ''), 'name')).toBe('');
  expect(withKey(next, null)['match']).toEqual({ key: 'none', existing: 'update', missing: 'create' });
  expect(keyIn(withKey(next, null), suggestion)).toEqual([]);
});

test('a heading may have any name', () => {
  const strange = { ...job, columns: JSON.parse('{"__proto__":"name","constructor":null}') as object };
  const next = withField(strange, strange, 'constructor', 'asset_tag');
  expect(JSON.stringify(next['columns'])).toBe('{"__proto__":"name","constructor":"asset_tag"}');
  expect([fieldIn(next, '__proto__'), fieldIn(next, 'toString')]).toEqual(['name', null]);
});

test('of several fields of a column the first is meant', () => {
  expect(fieldIn({ columns: { A: ['name', 'asset_tag'] } }, 'A')).toBe('name');
});

test('a draft is found again as it was, for as long as its upload is there', () => {
  const kept = shelf();
  const draft = withEdits(newDraft('u1', 'x.csv'), 'r1', [{ column: 'A', row: 2, value: 'x' }]);
  saveDraft(kept, draft);
  saveDraft(kept, newDraft('u2', 'y.csv'));
  expect(loadDraft(kept, 'u1')).toMatchObject({ name: 'x.csv', edits: { r1: [{ row: 2 }] } });
  expect(listDrafts(kept).map(({ id }) => id)).toEqual(['u2', 'u1']);
  saveDraft(kept, { ...newDraft('u2', 'y.csv'), at: 0 });
  expect(listDrafts(kept).map(({ id }) => id)).toEqual(['u1']);
  kept.setItem('rowferry.imports', '{"cut');
  expect(listDrafts(kept)).toEqual([]);
  saveDraft(kept, draft);
  expect(listDrafts(kept)).toEqual([draft]);
});

test('what was decided of a table stays with it', () => {
  const first = withDecided(newDraft('u1', 'x.csv'), '', { job });
  const second = withDecided(withDecided(first, 'header_row=7', { job: 'kept' }), '', { run: 'r1' });
  expect(second.tables).toEqual({ '': { job, run: 'r1' }, 'header_row=7': { job: 'kept' } });
});

test('a draft that the browser has no room for leaves the one before', () => {
  const edits = (signs: number) =>
    withEdits(newDraft('u1', ''), 'r1', [{ column: 'A', row: 2, value: 'x'.repeat(signs) }]);
  const kept = shelf(JSON.stringify([edits(600)]).length);
  expect([saveDraft(kept, edits(500)), saveDraft(kept, edits(900))]).toEqual([true, false]);
  expect(loadDraft(kept, 'u1')?.edits['r1']?.[0]?.value).toHaveLength(500);
});
