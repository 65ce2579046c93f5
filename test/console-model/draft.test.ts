import { expect, test } from 'vitest';
import type { Field, Suggestion } from '../../src/api/schema.js';
import {
  type Draft,
  drafts,
  jobOf,
  keep,
  keyOf,
  load,
  mapping,
  missing,
  newDraft,
  type Shelf,
  targetsOf,
  withEdits,
  withField,
  withSource,
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
const job = (draft: Draft) => jobOf(draft, suggestion) as Record<string, Record<string, unknown>>;

function shelf(room = Number.POSITIVE_INFINITY): Shelf {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem(name: string, text: string) {
      if (text.length > room - [...kept].reduce((n, [other, { length }]) => (other === name ? n : n + length), 0))
        throw new DOMException('full', 'QuotaExceededError');
      kept.set(name, text);
    },
    removeItem: (name: string) => void kept.delete(name),
    key: (at: number) => [...kept.keys()][at] ?? null,
    get length() {
      return kept.size;
    },
  };
}

test('what was suggested is the job, as long as nobody decides otherwise', () => {
  const draft = newDraft('u1', 'inventory.csv');
  expect(jobOf(draft, suggestion)).toEqual({ ...suggestion.job, constants: {} });
  expect(missing(draft, suggestion, fields).map(({ name }) => name)).toEqual(['name']);
  expect(keyOf(draft, suggestion)).toEqual(['serial_number']);
});

test('a field goes to one column, and what was found out of another field does not stay with it', () => {
  const draft = withField(newDraft('u1', 'x.csv'), suggestion, 'Stage', 'serial_number');
  expect(mapping(draft, suggestion).map((one) => one.field)).toEqual([null, 'serial_number', 'service_start_date']);
  expect(job(draft)['columns']).toEqual({ Serial: null, Stage: 'serial_number', Bought: 'service_start_date' });
});

test('blank cells, dates, constants, the key and the table are said in the job', () => {
  const draft: Draft = {
    ...withSource(newDraft('u1', 'x.csv'), { header_row: 3 }),
    blanks: { Serial: 'clear' },
    dates: { Bought: 'dd/MM/yyyy' },
    constants: { name: 'Laptop', lifecycle_stage: '' },
    key: ['name'],
  };
  expect(job(draft)).toMatchObject({
    source: { null_values: ['N/A'], header_row: 3 },
    columns: {
      Serial: { field: 'serial_number', values: { a: 'b' }, blank: 'clear' },
      Bought: { field: 'service_start_date', dates: ['dd/MM/yyyy'] },
    },
    constants: { name: 'Laptop' },
    match: { key: 'name', unique_field: 'name', existing: 'update' },
  });
  expect(job(draft)['constants']).not.toHaveProperty('lifecycle_stage');
  expect(job({ ...draft, key: [] })['match']).toEqual({ key: 'none', existing: 'update', missing: 'create' });
});

test('a heading may have any name', () => {
  const strange = { ...suggestion, columns: [found('__proto__', 'name'), found('constructor', null)] };
  const draft = withField(newDraft('u1', 'x.csv'), strange, 'constructor', 'asset_tag');
  expect(JSON.stringify((jobOf(draft, strange) as Record<string, unknown>)['columns'])).toBe(
    '{"__proto__":null,"constructor":"asset_tag"}',
  );
});

test('the fields of a job are known by its headings, those of a saved one are not', () => {
  expect(targetsOf(suggestion.job).get('Serial')).toBe('serial_number');
  expect(targetsOf({ columns: { A: ['name', 'asset_tag'] } }).get('A')).toBe('name');
  expect(targetsOf('assets-hq').size).toBe(0);
});

test('a draft is found again as it was, for as long as its upload is there', () => {
  const kept = shelf();
  const draft = withEdits(newDraft('u1', 'x.csv'), 'r1', [{ column: 'A', row: 2, value: 'x' }]);
  keep(kept, draft);
  keep(kept, newDraft('u2', 'y.csv'));
  expect(load(kept, 'u1')).toMatchObject({ name: 'x.csv', edits: { r1: [{ row: 2 }] } });
  expect(drafts(kept).map(({ id }) => id)).toHaveLength(2);
  kept.setItem('rowferry.import.u2', JSON.stringify({ ...newDraft('u2', 'y.csv'), at: 0 }));
  kept.setItem('rowferry.import.u3', '{"cut');
  kept.setItem('other', '1');
  expect(drafts(kept).map(({ id }) => id)).toEqual(['u1']);
  expect(kept.getItem('rowferry.import.u2')).toBeNull();
});

test('a draft takes the room of those of other files, the oldest first, and says where there is none', () => {
  const kept = shelf(850);
  for (const [at, id] of ['old', 'new'].entries())
    kept.setItem(`rowferry.import.${id}`, JSON.stringify({ ...newDraft(id, ''), at: Date.now() - 1_000 + at }));
  const edits = (signs: number) =>
    withEdits(newDraft('u1', ''), 'r1', [{ column: 'A', row: 2, value: 'x'.repeat(signs) }]);
  expect(keep(kept, edits(500))).toBe(true);
  expect(drafts(kept).map(({ id }) => id)).toEqual(['u1', 'new']);
  expect(keep(kept, edits(900))).toBe(false);
  expect(load(kept, 'u1')?.edits['r1']?.[0]?.value).toHaveLength(500);
});
