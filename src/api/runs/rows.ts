import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as breath } from 'node:timers/promises';
import { jsonMembers } from '../../files/ndjson.js';
import type { DiffText } from '../../model/change.js';
import { ISSUE_CODES, type IssueCode } from '../../model/issue.js';
import { GROUP_OF_OUTCOME, OUTCOMES } from '../../model/outcome.js';
import { faultsOf } from '../../report/report-lines.js';
import { fieldNamer, isNew, resultOf } from '../../report/results.js';
import { plannedValues } from '../../runs/rows/outcomes.js';
import { findRow } from '../../runs/rows/row-files.js';
import { readRequest } from '../../runs/run/earlier-run.js';
import { runFolder } from '../../runs/run/layout.js';
import { brakesOf, type Summary } from '../../runs/run/present.js';
import { overlayOf, sourceOptionsAsRead } from '../../runs/run/table.js';
import { BRAKE_PREFIX, type RowResult, RunStore, type StoredRow } from '../../store/run-store.js';
import type { SqlValue } from '../../store/sqlite.js';
import { Cache } from '../cache.js';
import type { DeepReadonly } from '../operation.js';
import type { FaultGroup, Plan, Row, Rows, RowsQuery, Story } from '../schema.js';
import { type FoundRun, isAtWork } from './queued.js';
import { Tables } from './table-index.js';

/** Row numbers that are looked through without others getting their turn: some 15 ms of a filter by fault. */
const WINDOW_ROWS = 2_000;
/** What is found out over all rows of a run at work is asked anew after so long. */
const FRESH_MS = 2_000;
/** Of runs whose rows were counted; the one that was asked for longest ago goes. */
const MOST_KEPT = 64;
const MOST_GROUPS = 20_000;
const MOST_FAULTS = 500;
/** Of each field, and of the new records: so many are shown. */
const MOST_FIRST = 20;
const MOST_FIELDS = 200;

/** A condition on the rows of a run. */
interface Filter {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The rows of runs, as their stores and files have them: nothing is held but the page that is asked for. */
export class RunRows {
  /** What was found out over all rows of a run, by what and for which of its states. */
  private readonly cache = new Cache<unknown>(MOST_KEPT);
  private readonly tables = new Tables();

  constructor(private readonly home: string) {}

  close(): Promise<void> {
    return this.tables.close();
  }

  async page(found: FoundRun, { after = '0', offset, limit, ...what }: RowsQuery): Promise<DeepReadonly<Rows>> {
    const ended = isEnded(found);
    const filter = filterOf(what, ended);
    const { windows, total } = (await this.countWindows(found, filter)) ?? { windows: [], total: 0 };
    const place = windows.findLast(({ before }) => before <= (offset ?? -1));
    const { from, before } = place ?? { from: Number(after), before: offset ?? 0 };
    const page = await this.ask(found, async (store) => {
      const { rows, next } = await pickRows(store, filter, from, (offset ?? 0) - before, limit);
      const table = what.cells ? await this.table(found, store) : undefined;
      const cells = await table?.index.cells(rows);
      const readResult = resultReader(store);
      const picked = [...store.rows.rows(`row in (${rows.join(', ')})`)].flat();
      return {
        rows: picked.map((one, at) => ({
          ...rowOf(one, ended, readResult),
          ...(table && { cells: table.corrected(one.row, cells?.[at] ?? []) }),
        })),
        ...(table && { headings: table.index.headings }),
        next: next === undefined ? null : String(next),
      };
    });
    return { rows: [], next: null, ...page, total };
  }

  /** How many rows a filter lets through, and how many stand before each window. */
  private countWindows(found: FoundRun, { sql, values }: Filter) {
    return this.computeOnce(found, JSON.stringify([sql, values]), async (store) => {
      const windows: { readonly before: number; readonly from: number }[] = [];
      let total = 0;
      const select = store.prepare(`select count(*) as n from rows where row > ? and row <= ? and (${sql})`);
      for await (const from of windowsOf(store)) {
        windows.push({ before: total, from });
        total += Number(select.get(from, from + WINDOW_ROWS, ...values)?.['n']);
      }
      return { windows, total };
    });
  }

  /** Everything about one row, as JSON: the record keeps its digits. Undefined where the run has no such row. */
  story(found: FoundRun, number: number): Promise<string | undefined> {
    return this.ask(found, async (store) => {
      const [whole] = store.rows.rows(`row = ${number}`, { before: true }).next().value ?? [];
      if (!whole) return undefined;
      const { op, at, sent, before } = whole;
      const ended = isEnded(found);
      const readResult = resultReader(store);
      const table = await this.table(found, store);
      const [cells = []] = (await table?.index.cells([number])) ?? [];
      const shown = table?.corrected(number, cells) ?? [];
      const result = whole.result || ended ? readResult(whole) : undefined;
      const times = Math.max(sent, result?.outcome.attempts ?? 0);
      const details: DeepReadonly<Omit<Story, 'found'>> = {
        ...rowOf(whole, ended, readResult),
        cells: shown,
        headings: table?.index.meta.headings ?? [],
        corrected: shown.flatMap((cell, position) => (cell !== cells[position] ? [position] : [])),
        changes: result ? this.changes(found, result, store) : [],
        sent:
          op === undefined ? null : { operation: op, times, at: at === undefined ? null : new Date(at).toISOString() },
      };
      const record = before && jsonMembers(before).find(({ name }) => name === 'record')?.text;
      const earlier = record ? `{"id":${whole.record ?? whole.id ?? 0},${record}}` : 'null';
      return `${JSON.stringify(details).slice(0, -1)},"found":${earlier}}`;
    });
  }

  /** Faults of rows that need a person, alike ones together; the most frequent first. */
  async faults(found: FoundRun): Promise<FaultGroup[]> {
    // A row that the run stopped before has no fault.
    const where = `result is not null and kind in (${quoted(NEED_PERSON.filter((kind) => kind !== 'not_attempted'))})`;
    const groups = await this.computeOnce(found, 'faults', async (store) => {
      const groups = new Map<string, FaultGroup>();
      await eachResult(store, where, ({ outcome }) => {
        for (const { code, column = null, field = null, value = null, message } of faultsOf(outcome)) {
          const alike = groups.size < MOST_GROUPS ? value : null;
          const name = JSON.stringify([code, column, field, alike]);
          const group = groups.get(name);
          if (group) group.rows++;
          else {
            const meaning = ISSUE_CODES[code as IssueCode] ?? '';
            const about = { code, meaning, column, field, value: alike, message };
            groups.set(name, { ...about, rows: 1, first: outcome.ref.row });
          }
        }
      });
      return [...groups.values()].sort((one, other) => other.rows - one.rows || one.first - other.first);
    });
    return groups?.slice(0, MOST_FAULTS) ?? [];
  }

  /** What it writes, or would; undefined where the run has no rows. */
  async plan(found: FoundRun, summary: Summary | undefined): Promise<DeepReadonly<Plan> | undefined> {
    const request = readRequest(this.folder(found));
    if (!request?.job) return undefined;
    const planned = await this.computeOnce(found, 'plan', async (store) => {
      const totals = new PlanTotals();
      // Of most rows only their number is told; the others say which fields they change.
      const counted = store.prepare(
        `select kind, count(*) as n from rows where kind in ('created', 'unchanged', 'at_risk') group by kind`,
      );
      for (const { kind, n } of counted.all()) totals.counts[kind as CountedKind] += Number(n);
      const { rows } = await pickRows(store, { sql: `kind = 'created'`, values: [] }, 0, 0, MOST_FIRST);
      await eachResult(store, `kind in ('updated', 'not_attempted') or row in (${rows.join(', ')})`, (result) =>
        totals.see(result, () => this.changes(found, result, store)),
      );
      return { totals, tripped: store.getValuesByPrefix(BRAKE_PREFIX) as ReadonlyMap<string, string> };
    });
    if (!planned) return undefined;
    const { totals, tripped } = planned;
    const brakes = brakesOf(request.job.job, {
      rows: summary?.rows,
      updates: totals.counts.updated,
      creates: totals.counts.created,
      cleared: totals.clearedRows,
      reconcile: summary?.reconcile,
    });
    const others = [...tripped.keys()].filter((name) => !brakes.some((one) => one.name === name));
    // A person let them pass, with force or an approval.
    const passed = summary?.status !== 'braked';
    return {
      ...totals.counts,
      brakes: [...brakes, ...others.map((name) => ({ name, limit: '', found: '' }))].map((brake) => ({
        ...brake,
        found: tripped.get(brake.name) ?? brake.found,
        tripped: tripped.has(brake.name) && !passed,
        ...(tripped.has(brake.name) && passed && { overridden: true }),
      })),
      fields: [...totals.fields.values()].sort((one, other) => other.records - one.records),
      creates: totals.creates,
      warnings: summary?.warnings ?? [],
    };
  }

  /** Of a new record, what it got, or would get, too. */
  private changes(found: FoundRun, { outcome, diff }: RowResult, { names }: RunStore): readonly DiffText[] {
    const { resolved } = this.folder(found);
    const row = isNew(outcome) && existsSync(resolved) ? findRow(resolved, outcome.ref.row) : undefined;
    const values = row ? plannedValues(row, names) : [];
    return [...values.filter(({ field }) => !diff.some((one) => one.field === field)), ...diff];
  }

  private folder = ({ run }: FoundRun) => runFolder(this.home, run.id);

  /** The file of a run, as far as it is still there. */
  private async table(found: FoundRun, store: RunStore) {
    const folder = this.folder(found);
    const request = readRequest(folder);
    if (!request?.source) return undefined;
    const file = path.join(folder.dir, 'work', request.source);
    if (!existsSync(file)) return undefined;
    const options = sourceOptionsAsRead(request.job.job, store);
    const index = await this.tables.openTable(file, options, path.join(folder.dir, 'work', '.tables'));
    const overlay = request.corrections && overlayOf(request.corrections, index.meta);
    const corrected = (row: number, cells: readonly string[]): string[] =>
      cells.map((cell, at) => overlay?.at(row, at, cell) ?? cell);
    return { index, corrected };
  }

  /** Undefined where the run has no rows. */
  private async ask<T>(found: FoundRun, question: (store: RunStore) => Promise<T>): Promise<T | undefined> {
    const store = found.entry && RunStore.openReadOnly(this.folder(found).store);
    try {
      return store && (await question(store));
    } finally {
      store?.close();
    }
  }

  /** Finds something out over all rows, once for all who ask; of a run at work anew after a while. */
  private computeOnce<T>(found: FoundRun, what: string, work: (store: RunStore) => Promise<T>): Promise<T | undefined> {
    const { id, status } = found.run;
    const { mtimeMs } = statSync(this.folder(found).store, { throwIfNoEntry: false }) ?? {};
    const key = JSON.stringify([id, status, isEnded(found) && mtimeMs, what]);
    const answer = this.cache.get(key, () => this.ask(found, work), isEnded(found) ? undefined : () => FRESH_MS);
    return answer as Promise<T | undefined>;
  }
}

/** Kinds whose rows are counted by the store. */
type CountedKind = 'created' | 'unchanged' | 'at_risk';

/** What the rows of a run come to, as they were planned. */
class PlanTotals {
  readonly counts = { created: 0, updated: 0, unchanged: 0, cleared: 0, at_risk: 0 };
  clearedRows = 0;
  readonly creates: Plan['creates'] = [];
  readonly fields = new Map<string, Plan['fields'][number]>();

  /** A row that is not `CountedKind`, or one of the first that are created. */
  see({ outcome, diff }: RowResult, changes: () => readonly DiffText[]): void {
    const { kind, key, ref } = outcome;
    if (isNew(outcome)) {
      if (kind !== 'created') this.counts.created++;
      if (this.creates.length >= MOST_FIRST) return;
      const values = changes().map((one) => ({ field: one.field, value: one.new }));
      this.creates.push({ row: ref.row, key, values });
    } else if (kind === 'updated' || outcome.changed.length > 0) {
      this.counts.updated++;
      if (diff.some((one) => one.kind === 'clear')) this.clearedRows++;
      for (const change of diff)
        if (change.kind !== 'preserved' && change.kind !== 'kept') this.addChange(ref.row, key, change);
    }
  }

  private addChange(row: number, key: string, { field: name, old, new: now, kind }: DiffText): void {
    if (kind === 'clear') this.counts.cleared++;
    let field = this.fields.get(name);
    if (!field && this.fields.size < MOST_FIELDS) {
      field = { field: name, records: 0, first: [] };
      this.fields.set(name, field);
    }
    if (!field) return;
    field.records++;
    if (field.first.length < MOST_FIRST) field.first.push({ row, key, old, new: now, kind });
  }
}

const NEED_PERSON = OUTCOMES.filter((kind) => !['in', 'unchanged'].includes(GROUP_OF_OUTCOME[kind]));

const isEnded = ({ run }: FoundRun) => !isAtWork(run);
const quoted = (kinds: readonly string[]) => kinds.map((kind) => `'${kind}'`).join(', ');

/** How a row ended, as the reports of a run that ended say it, also where the store does not. */
const KIND_AT_END = `coalesce(kind, iif(op is null, 'not_attempted', 'unknown'))`;

const KEY_BEGINS = `lower(substr(coalesce(key ->> '$', ''), 1, length(?))) = lower(?)`;

function filterOf({ outcome, code, column, key }: Partial<RowsQuery>, ended: boolean): Filter {
  const conditions: Filter[] = [];
  if (outcome !== undefined) {
    const words = new Set(outcome.split(','));
    const kinds = OUTCOMES.filter((kind) => words.has(kind) || words.has(GROUP_OF_OUTCOME[kind]));
    conditions.push({ sql: `${ended ? KIND_AT_END : 'kind'} in (${quoted(kinds)})`, values: [] });
  }
  // What is not asked for is not read: there may be a million results.
  const asked = Object.entries({ code, column }).filter(([, text]) => text !== undefined);
  if (asked.length > 0) {
    const same = asked.map(([name]) => `one.value ->> '$.${name}' = ?`).join(' and ');
    const sql = `exists (select 1 from json_each(result, '$.issues') as one where ${same})`;
    conditions.push({ sql, values: asked.flatMap(([, text]) => text ?? []) });
  }
  if (key) conditions.push({ sql: KEY_BEGINS, values: [key, key] });
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' and ') || '1',
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Where each window of rows begins; others have their turn behind each. */
async function* windowsOf(store: RunStore, from = 0): AsyncGenerator<number> {
  const { lastRow: last } = store.rows;
  for (let at = from; at < last; at += WINDOW_ROWS) {
    yield at;
    await breath();
  }
}

/** Numbers of the rows that a filter lets through, behind a row; `skip`: so many of the first are passed over. */
async function pickRows(store: RunStore, { sql, values }: Filter, from: number, skip: number, limit: number) {
  const select = store.prepare(
    `select row from rows where row > ? and row <= ? and (${sql}) order by row limit ? offset ?`,
  );
  const rows: number[] = [];
  for await (const at of windowsOf(store, from)) {
    const passed = at === from ? skip : 0;
    const found = select.all(at, at + WINDOW_ROWS, ...values, limit + 1 - rows.length, passed);
    for (const { row } of found) rows.push(Number(row));
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] };
  }
  return { rows, next: undefined };
}

async function eachResult(store: RunStore, where: string, see: (result: RowResult) => void): Promise<void> {
  const readResult = resultReader(store);
  for await (const from of windowsOf(store)) {
    for (const batch of store.rows.rows(`row <= ${from + WINDOW_ROWS} and (${where})`, { after: from })) {
      for (const row of batch) see(readResult(row));
      await breath();
    }
  }
}

/** How its rows ended, with fields by the names that people read. */
function resultReader(store: RunStore): (row: StoredRow) => RowResult {
  const name = fieldNamer(store.names);
  return (row) => name(resultOf(row, ''));
}

function rowOf(known: StoredRow, ended: boolean, readResult: (row: StoredRow) => RowResult): DeepReadonly<Row> {
  const { row, result } = known;
  if (!result && !ended) return { row, outcome: null, key: known.key, id: null, changed: [], issues: [] };
  const { kind, key, id, changed, issues } = readResult(known).outcome;
  return {
    ...{ row, outcome: kind, key, id: id ?? null, changed },
    issues: issues.filter(({ code, message }) => code !== 'run_stopped' || message !== ''),
  };
}
