import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../support/full.js';
import { CONTRACTS, fileText, JOB, KINDS, makeErp, SUPPLIERS } from './reconcile-erp.js';
import { type Expected, expectNight, FIELDS, type Plain, plainAmount } from './reconcile-expected.js';
import { type Desk, type Line, type Night, openNights, worldText } from './reconcile-night.js';

/**
 * A night of many records against a file with differences of every kind, and the result against a computation of its own:
 * report-only, applied, and the night after. 20,000 records is the size that is promised; the usual one has as many differing records
 * of each kind.
 */

const RECORDS = FULL ? 20_000 : 4_800;
const ROUNDS = 80;
const SCOPE = JOB.scope['category.name'];

let desk: Desk;
let job: string;
let file: string;
let rows: ReturnType<typeof makeErp>['rows'];
let expected: Expected;
let reported: Night;

beforeAll(async () => {
  desk = await openNights();
  const erp = makeErp({ count: RECORDS, every: RECORDS / ROUNDS, fresh: 150 });
  rows = erp.rows;
  desk.sandbox.insert('supplier', SUPPLIERS);
  desk.sandbox.insert('contract', CONTRACTS);
  desk.sandbox.insert('asset', erp.bodies);
  job = await desk.job('erp', JOB);
  file = await desk.file('erp.csv', fileText(rows));
  expected = expectNight(desk, fileText(rows), desk.sandbox.records('asset', 1), SCOPE);
});
afterAll(() => desk.close());

const count = (outcome: string) => expected.rows.filter((one) => one.outcome === outcome).length;
const EVERY = ['created', 'updated', 'unchanged', 'invalid', 'duplicate', 'ambiguous', 'at_risk'];
const differing = () => expected.rows.filter((one) => one.differences.length > 0);
const differences = () => differing().flatMap((one) => one.differences);

/** A value as reports show it, in the form in which the expectation has it. */
function plainReported(field: string, shown: string): Plain {
  if (shown === '') return null;
  if (/cost|value|^template\.1\.2$/.test(field)) return plainAmount(shown);
  if (['asset_owner', 'attached_supplier', 'contract', 'category.name', 'country'].includes(field))
    return /\((\d+)\)$/.exec(shown)?.[1] ?? shown;
  return shown;
}

describe('a file with differences of every kind', { timeout: 300_000 }, () => {
  it('the data hold every kind, and the computation sees them', () => {
    expect(expected.rows.length).toBeGreaterThan(RECORDS * 0.97);
    expect(Object.fromEntries(EVERY.map((outcome) => [outcome, count(outcome) > 50]))).toEqual(
      Object.fromEntries(EVERY.map((outcome) => [outcome, true])),
    );
    expect(Object.keys(KINDS).length).toBeGreaterThanOrEqual(40);
    expect(new Set(differences().map((one) => one.field))).toEqual(
      new Set(FIELDS.filter((one) => one.compared !== false).map((one) => one.field)),
    );
    expect(new Set(differences().map((one) => one.action))).toEqual(new Set(['set', 'clear', 'kept']));
    expect(new Set(expected.rows.flatMap((one) => one.codes)).size).toBeGreaterThanOrEqual(9);
    expect(expected.orphans.length).toBeGreaterThan(150);
    expect(expected.scope.without_key).toBeGreaterThan(50);
    expect(expected.scope.outside).toBeGreaterThan(RECORDS * 0.15);
  });

  it('report-only: every row, difference and orphan is as computed, and no writing request is sent', async () => {
    const before = worldText(desk);
    reported = await desk.night(file, job);
    expect(reported.summary.reason).toBeUndefined();
    expect(reported.code, reported.err).toBe(3);
    expect(reported.writes).toBe(0);
    expect(worldText(desk)).toBe(before);
    expect(reported.summary).toMatchObject({ kind: 'reconcile', dry_run: true, status: 'partial' });
    expectRows(reported);
    expectDifferences(reported);
    expectOrphans(reported);
    expectSummary(reported);
  });

  it('--apply sends exactly the planned writes, and every other value of every record stands', async () => {
    const before = flatWorld();
    const night = await desk.night(file, job, { apply: true });
    expect(night.code, night.err).toBe(3);
    expect(night.summary).toMatchObject({ dry_run: false, status: 'partial' });
    expectRows(night);
    expectDifferences(night);
    expectOrphans(night);

    const updated = expected.rows.filter((one) => one.outcome === 'updated');
    const puts = night.commits.filter((one) => one.method === 'PUT').map((one) => one.id);
    expect(puts.sort((a, b) => a - b)).toEqual(updated.map((one) => one.id!).sort((a, b) => a - b));
    expect(night.commits.filter((one) => one.method === 'POST')).toHaveLength(count('created'));
    expect(night.commits).toHaveLength(updated.length + count('created'));
    expect(night.writes).toBe(night.commits.length);
    expect(night.summary.requests).toMatchObject({ total: night.requests, writes: night.writes });

    const after = flatWorld();
    for (const { id, differences: changes } of updated) {
      const record = before.get(id!)!;
      for (const { field, file: value, stands } of changes) if (stands === 'file') put(record, field, value);
    }
    const created = expected.rows.filter((one) => one.outcome === 'created');
    const ids = new Map(night.report('results.csv').map((line) => [line['key'], Number(line['id'])]));
    for (const { key, values } of created) {
      const record: Flat = { id: String(ids.get(key)), company: '1' };
      for (const [field, value] of Object.entries(values)) put(record, field, value);
      before.set(ids.get(key)!, record);
    }
    expect(after.size).toBe(RECORDS + doubles() + created.length);
    for (const [id, record] of after) expect(record).toEqual(before.get(id));
  });

  it('the second night, the same rows in another order: no writing request', async () => {
    const half = Math.floor(rows.length / 2);
    const turned = fileText([...rows.slice(half), ...rows.slice(0, half)]);
    const again = expectNight(desk, turned, desk.sandbox.records('asset', 1), SCOPE);
    expect(again.rows.filter((one) => ['updated', 'created'].includes(one.outcome))).toEqual([]);
    const before = worldText(desk);
    const night = await desk.night(await desk.file('erp2.csv', turned), job, { apply: true });
    expect(night.code, night.err).toBe(3);
    expect(night.writes).toBe(0);
    expect(worldText(desk)).toBe(before);
    const told = night.report('results.csv').map((line) => `${line['row']} ${line['outcome']}`);
    expect(told).toEqual(again.rows.map((one) => `${one.row} ${one.outcome}`));
    expect(orphanIds(night)).toEqual(again.orphans);
  });
});

function expectRows(night: Night): void {
  const lines = night.report('results.csv');
  const shown = lines.map((line) => ({
    row: line['row'],
    outcome: line['outcome'],
    key: line['key'],
    // What an invalid or ambiguous row names, or a new record is called, is not foretold.
    id: ['updated', 'unchanged', 'at_risk'].includes(line['outcome'] ?? '') ? line['id'] : '',
    fields: line['outcome'] === 'updated' ? listOf(line['changed_fields']) : [],
    codes: EVERY.slice(3).includes(line['outcome'] ?? '') ? [...new Set(listOf(line['codes']))] : [],
  }));
  const wanted = expected.rows.map(({ row, outcome, key, id, differences: changes, codes }) => ({
    row: String(row),
    outcome,
    key,
    id: id === undefined ? '' : String(id),
    fields:
      outcome === 'updated'
        ? changes.flatMap((one) => (one.stands === 'file' ? one.field : [])).sort((a, b) => a.localeCompare(b))
        : [],
    codes: [...codes].sort((a, b) => a.localeCompare(b)),
  }));
  expectSame(shown, wanted);
  const counts = Object.fromEntries(EVERY.map((outcome) => [outcome, count(outcome)]));
  expect(night.summary.rows).toMatchObject({ ...counts, total: expected.rows.length });
}

const listOf = (cell = ''): string[] =>
  cell
    .split(';')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .sort((a, b) => a.localeCompare(b));

/** As `toEqual`, and names the first few that differ instead of printing tens of thousands. */
function expectSame(shown: readonly object[], wanted: readonly object[]): void {
  const wrong = wanted.flatMap((one, at) => {
    const [a, b] = [JSON.stringify(shown[at]), JSON.stringify(one)];
    return a === b ? [] : [`${a} instead of ${b}`];
  });
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(shown).toHaveLength(wanted.length);
}

function expectDifferences(night: Night): void {
  const headings = new Map(FIELDS.map((one) => [one.field, one.heading]));
  const order = (a: object, b: object) => JSON.stringify(a).localeCompare(JSON.stringify(b));
  const shown = night.report('differences.csv').map((line) => ({
    row: line['row'],
    key: line['key'],
    id: line['id'],
    field: line['field'],
    column: line['column'],
    service: plainReported(line['field'] ?? '', line['service'] ?? ''),
    file: plainReported(line['field'] ?? '', line['file'] ?? ''),
    stands: line['stands'],
    action: line['action'],
    outcome: line['outcome'],
  }));
  const wanted = differing().flatMap(({ row, key, id, outcome, differences: changes }) =>
    changes.map(({ field, service, file: value, stands, action }) => ({
      row: String(row),
      key,
      id: String(id),
      field,
      column: headings.get(field),
      service,
      file: value,
      stands,
      action,
      outcome,
    })),
  );
  expectSame([...shown].sort(order), [...wanted].sort(order));
}

const orphanIds = (night: Night): number[] => night.report('orphans.csv').map((line: Line) => Number(line['id']));

function expectOrphans(night: Night): void {
  expect(orphanIds(night)).toEqual(expected.orphans);
  const records = new Map(desk.sandbox.records('asset').map((one) => [String(one['id']), one]));
  for (const line of night.report('orphans.csv')) {
    const record = records.get(line['id'] ?? '')!;
    expect(line).toMatchObject({ key: record['serial_number'], name: record['name'], state: 'report' });
  }
}

function expectSummary({ summary }: Night): void {
  const { reconcile } = summary;
  expect(reconcile.read).toMatchObject({ how: 'full', certified: true, records: RECORDS + doubles() });
  expect(reconcile.scope).toMatchObject(expected.scope);
  expect(reconcile.orphans).toMatchObject({ total: expected.orphans.length, acted: 0, action: 'report' });
  const all = differences();
  const file = all.filter((one) => one.stands === 'file');
  expect(reconcile.differences).toMatchObject({
    rows: differing().length,
    fields: all.length,
    file_stands: file.length,
    service_stands: all.length - file.length,
    cleared: all.filter((one) => one.action === 'clear').length,
  });
  const byField = new Map(reconcile.differences.by_field.map((one) => [one.field, one]));
  for (const field of new Set(all.map((one) => one.field))) {
    const own = all.filter((one) => one.field === field);
    expect(byField.get(field)).toMatchObject({
      file: own.filter((one) => one.stands === 'file').length,
      service: own.filter((one) => one.stands === 'service').length,
      cleared: own.filter((one) => one.action === 'clear').length,
    });
  }
  expect(summary.reports).toEqual(
    expect.arrayContaining(['summary.json', 'results.csv', 'differences.csv', 'orphans.csv', 'reconcile.xlsx']),
  );
}

/** Records that are there twice: two kinds of `KINDS`, one in every round each. */
const doubles = (): number => 2 * ROUNDS;

type Flat = Record<string, string>;

/** Every stored value of every asset by name, compound ones taken apart; amounts in one form. */
function flatWorld(): Map<number, Flat> {
  return new Map(desk.sandbox.raw('asset').map((raw) => [raw['id'] as number, flat(raw)]));
}

/** Custom fields as reports name them, by their ids. */
const REPORTED: Readonly<Record<string, string>> = {
  '1.1': 'template.Finance.Cost Centre',
  '1.2': 'template.Finance.Budget',
  '1.3': 'template.Finance.Approved On',
};

function flat(raw: Readonly<Record<string, unknown>>): Flat {
  const all: Flat = {};
  for (const [name, value] of Object.entries(raw)) {
    if (name === 'category') {
      const { category, subcategory } = value as { category: number; subcategory: string | null };
      all['category.name'] = String(category);
      if (subcategory !== null) all['category.subcategory'] = subcategory;
    } else if (name === 'template') {
      for (const one of value as { template: number; values: [number, unknown][] }[])
        for (const [field, held] of one.values)
          if (held !== null)
            all[REPORTED[`${one.template}.${field}`] ?? `template.${one.template}.${field}`] =
              field === 2 ? plainAmount(String(held)) : String(held);
    } else if (name === 'form_template') {
      const rows = value as { form: number; sequence: number; values: unknown }[];
      all[name] = JSON.stringify(rows.map(({ form, sequence, values }) => [form, sequence, values]));
    } else if (/cost|value|price|contract_service/.test(name)) all[name] = plainAmount(String(value));
    else all[name] = typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
  return all;
}

function put(record: Flat, field: string, value: Plain): void {
  if (value === null) delete record[field];
  else record[field] = value;
}
