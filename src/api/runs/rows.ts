import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { jsonMembers } from '../../files/ndjson.js';
import type { DiffText } from '../../model/change.js';
import { ISSUE_CODES, type IssueCode } from '../../model/issue.js';
import { GROUP_OF_OUTCOME, OUTCOMES, type OutcomeKind } from '../../model/outcome.js';
import { faultsOf } from '../../report/report-lines.js';
import { fieldNamer, isNew, resultOf } from '../../report/results.js';
import { plannedValues } from '../../runs/rows/outcomes.js';
import { findRow } from '../../runs/rows/row-files.js';
import { readRequest } from '../../runs/run/earlier-run.js';
import { runFolder } from '../../runs/run/layout.js';
import { brakesOf, type Summary } from '../../runs/run/present.js';
import type { StoredRequest } from '../../runs/run/run.js';
import { overlayOf, sourceOptionsAsRead } from '../../runs/run/table.js';
import { BRAKE_PREFIX, type EndedRow, type RowResult, RunStore } from '../../store/run-store.js';
import type { SqlValue } from '../../store/sqlite.js';
import { Cache } from '../cache.js';
import type { DeepReadonly } from '../operation.js';
import type { FaultGroup, Plan, Row, Rows, RowsQuery, Story } from '../schema.js';
import { type FoundRun, isAtWork } from './find.js';
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

  async page(run: FoundRun, { after = '0', offset, limit, ...what }: RowsQuery): Promise<DeepReadonly<Rows>> {
    const store = this.store(run);
    if (!store) return { rows: [], total: 0, next: null };
    try {
      const filter = filterOf(what, isEnded(run));
      const { windows, total } = await this.countWindows(run, filter);
      const place = windows.findLast((one) => one.before <= (offset ?? -1)) ?? {
        from: Number(after),
        before: offset ?? 0,
      };
      const { rows, next } = await pickRows(store, filter, place.from, (offset ?? 0) - place.before, limit);
      const table = what.cells ? await this.table(run, store) : undefined;
      const cells = await table?.index.cells(rows);
      const known = outcomesOf(store, rows);
      const readResult = resultReader(store);
      return {
        rows: rows.map((row, at) => ({
          ...rowOf(row, known.get(row), isEnded(run), readResult),
          ...(table && { cells: table.corrected(row, cells?.[at] ?? []) }),
        })),
        ...(table && { headings: table.index.headings }),
        total,
        next: next === undefined ? null : String(next),
      };
    } finally {
      store.close();
    }
  }

  /** How many rows a filter lets through, and how many stand before each window. */
  private countWindows(run: FoundRun, { sql, values }: Filter) {
    return this.computeOnce(run, JSON.stringify([sql, values]), async (store) => {
      const windows: { readonly before: number; readonly from: number }[] = [];
      let total = 0;
      const select = store.prepare(`select count(*) as n from rows where row > ? and row <= ? and (${sql})`);
      for (const from of windowsOf(store)) {
        windows.push({ before: total, from });
        total += Number(select.get(from, from + WINDOW_ROWS, ...values)?.['n']);
        await yieldLoop();
      }
      return { windows, total };
    });
  }

  /** Everything about one row, as JSON: the record keeps its digits. Undefined where the run has no such row. */
  async story(run: FoundRun, number: number): Promise<string | undefined> {
    const store = this.store(run);
    try {
      const [whole] = store?.rows.fullRows(`row = ${number}`).next().value ?? [];
      if (!store || !whole) return undefined;
      const readResult = resultReader(store);
      const table = await this.table(run, store);
      const [cells = []] = (await table?.index.cells([number])) ?? [];
      const shown = table?.corrected(number, cells) ?? [];
      const result = whole.result || isEnded(run) ? readResult(whole) : undefined;
      const details: DeepReadonly<Omit<Story, 'found'>> = {
        ...rowOf(number, whole, isEnded(run), readResult),
        cells: shown,
        headings: table?.index.meta.headings ?? [],
        corrected: shown.flatMap((cell, at) => (cell !== cells[at] ? [at] : [])),
        changes: result ? this.changes(run, result, store) : [],
        sent:
          whole.op === undefined
            ? null
            : {
                operation: whole.op,
                times: Math.max(whole.sent, result?.outcome.attempts ?? 0),
                at: whole.at === undefined ? null : new Date(whole.at).toISOString(),
              },
      };
      const record = whole.before && jsonMembers(whole.before).find(({ name }) => name === 'record')?.text;
      const found = record ? `{"id":${whole.record ?? whole.id ?? 0},${record}}` : 'null';
      return `${JSON.stringify(details).slice(0, -1)},"found":${found}}`;
    } finally {
      store?.close();
    }
  }

  /** Faults of rows that need a person, alike ones together; the most frequent first. */
  async faults(run: FoundRun): Promise<FaultGroup[]> {
    if (!run.entry || !existsSync(this.folder(run).store)) return [];
    // A row that the run stopped before has no fault.
    const where = `result is not null and kind in (${quoted(NEED_PERSON.filter((kind) => kind !== 'not_attempted'))})`;
    const groups = await this.computeOnce(run, 'faults', async (store) => {
      const found = new Map<string, FaultGroup>();
      const readResult = resultReader(store);
      await eachRow(store, where, (row) => {
        for (const { code, column, field, value, message } of faultsOf(readResult(row).outcome)) {
          const alike = found.size < MOST_GROUPS ? (value ?? null) : null;
          const name = JSON.stringify([code, column, field, alike]);
          const group = found.get(name);
          if (group) group.rows++;
          else {
            const place = { column: column ?? null, field: field ?? null, value: alike };
            const meaning = ISSUE_CODES[code as IssueCode] ?? '';
            found.set(name, { code, meaning, ...place, message, rows: 1, first: row.row });
          }
        }
      });
      return found;
    });
    const sorted = [...groups.values()].sort((one, other) => other.rows - one.rows || one.first - other.first);
    return sorted.slice(0, MOST_FAULTS);
  }

  /** What it writes, or would; undefined where the run has no rows. */
  async plan(run: FoundRun, summary: Summary | undefined): Promise<DeepReadonly<Plan> | undefined> {
    const request = readRequest(this.folder(run));
    if (!request?.job || !existsSync(this.folder(run).store)) return undefined;
    const planned = await this.computeOnce(run, 'plan', async (store) => {
      const found = new PlanTotals();
      // Of most rows only their number is told; the others say which fields they change.
      const counted = store.prepare(
        `select kind, count(*) as n from rows where kind in ('created', 'unchanged', 'at_risk') group by kind`,
      );
      for (const { kind, n } of counted.all()) found.counts[kind as CountedKind] += Number(n);
      const { rows } = await pickRows(store, { sql: `kind = 'created'`, values: [] }, 0, 0, MOST_FIRST);
      const readResult = resultReader(store);
      await eachRow(store, `kind in ('updated', 'not_attempted') or row in (${rows.join(', ')})`, (row) =>
        found.see(readResult(row), (result) => this.changes(run, result, store)),
      );
      return found;
    });
    const brakes = brakesOf(request.job.job, {
      rows: summary?.rows,
      updates: planned.counts.updated,
      creates: planned.counts.created,
      cleared: planned.clearedRows,
      reconcile: summary?.reconcile,
    });
    const store = this.store(run);
    const tripped = (store?.getValuesByPrefix(BRAKE_PREFIX) ?? new Map()) as ReadonlyMap<string, string>;
    store?.close();
    // A person let them pass, with force or an approval.
    const passed = summary?.status !== 'braked';
    const brakeView = (name: string, limit: string, found: string, trips: boolean) => ({
      ...{ name, limit, found, tripped: trips && !passed },
      ...(trips && passed && { overridden: true }),
    });
    const others = [...tripped].filter(([name]) => !brakes.some((one) => one.name === name));
    return {
      ...planned.counts,
      brakes: [
        ...brakes.map(({ name, limit, found }) =>
          brakeView(name, limit, tripped.get(name) ?? found, tripped.has(name)),
        ),
        ...others.map(([name, found]) => brakeView(name, '', found, true)),
      ],
      fields: [...planned.fields.values()].sort((one, other) => other.records - one.records),
      creates: planned.creates,
      warnings: summary?.warnings ?? [],
    };
  }

  /** Of a new record, what it got, or would get, too. */
  private changes(run: FoundRun, { outcome, diff }: RowResult, { names }: RunStore): readonly DiffText[] {
    const { resolved } = this.folder(run);
    const row = isNew(outcome) && existsSync(resolved) ? findRow(resolved, outcome.ref.row) : undefined;
    const values = row ? plannedValues(row, names) : [];
    return [...values.filter(({ field }) => !diff.some((one) => one.field === field)), ...diff];
  }

  private folder = ({ id }: FoundRun) => runFolder(this.home, id);

  private store(run: FoundRun): RunStore | undefined {
    return run.entry ? RunStore.openReadOnly(this.folder(run).store) : undefined;
  }

  /** The file of a run, as far as it is still there. */
  private async table(run: FoundRun, store: RunStore | undefined) {
    const folder = this.folder(run);
    const request: StoredRequest | undefined = run.entry && readRequest(folder);
    if (!request?.source) return undefined;
    const file = path.join(folder.dir, 'work', request.source);
    if (!existsSync(file)) return undefined;
    const index = await this.tables.openTable(
      file,
      sourceOptionsAsRead(request.job.job, store),
      path.join(folder.dir, 'work', '.tables'),
    );
    const overlay = request.corrections && overlayOf(request.corrections, index.meta);
    const corrected = (row: number, cells: readonly string[]): string[] =>
      cells.map((cell, at) => overlay?.at(row, at, cell) ?? cell);
    return { index, corrected };
  }

  /** Finds something out over all rows, once for all who ask; of a run at work anew after a while. */
  private computeOnce<T>(run: FoundRun, what: string, work: (store: RunStore) => Promise<T>): Promise<T> {
    const { mtimeMs } = statSync(this.folder(run).store, { throwIfNoEntry: false }) ?? {};
    const name = JSON.stringify([run.id, run.status, isEnded(run) && mtimeMs, what]);
    const find = async () => {
      const store = this.store(run);
      if (!store) throw new Error(`the run ${run.id} has no rows`);
      return work(store).finally(() => store.close());
    };
    return this.cache.get(name, find, isEnded(run) ? undefined : () => FRESH_MS) as Promise<T>;
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
  see(result: RowResult, changesOf: (result: RowResult) => readonly DiffText[]): void {
    const { outcome, diff } = result;
    const { kind, key, ref } = outcome;
    if (isNew(outcome)) {
      if (kind !== 'created') this.counts.created++;
      if (this.creates.length >= MOST_FIRST) return;
      const values = changesOf(result).map((one) => ({ field: one.field, value: one.new }));
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

const isEnded = (run: FoundRun) => !isAtWork(run);
const quoted = (kinds: readonly string[]) => kinds.map((kind) => `'${kind}'`).join(', ');
const yieldLoop = () => new Promise((resolve) => setImmediate(resolve));

function filterOf({ outcome, code, column, key }: Partial<RowsQuery>, ended: boolean): Filter {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (outcome !== undefined) {
    const words = new Set(outcome.split(','));
    const kinds = OUTCOMES.filter((kind) => words.has(kind) || words.has(GROUP_OF_OUTCOME[kind]));
    const open = (kind: OutcomeKind) => ended && kinds.includes(kind);
    conditions.push(
      [
        `kind in (${quoted(kinds)})`,
        // What the store does not say of a run that ended, its reports say so.
        ...(open('not_attempted') ? ['(kind is null and op is null)'] : []),
        ...(open('unknown') ? ['(kind is null and op is not null)'] : []),
      ].join(' or '),
    );
  }
  if (code !== undefined || column !== undefined) {
    const parts = [
      ...(code === undefined ? [] : [`one.value ->> '$.code' = ?`]),
      ...(column === undefined ? [] : [`one.value ->> '$.column' = ?`]),
    ];
    conditions.push(`exists (select 1 from json_each(result, '$.issues') as one where ${parts.join(' and ')})`);
    values.push(...[code, column].filter((text) => text !== undefined));
  }
  if (key !== undefined && key !== '') {
    conditions.push(`lower(substr(coalesce(key ->> '$', ''), 1, length(?))) = lower(?)`);
    values.push(key, key);
  }
  return { sql: conditions.map((one) => `(${one})`).join(' and ') || '1', values };
}

function* windowsOf(store: RunStore, from = 0): Generator<number> {
  const { lastRow: last } = store.rows;
  for (let at = from; at < last; at += WINDOW_ROWS) yield at;
}

/** Numbers of the rows that a filter lets through, behind a row; `skip`: so many of the first are passed over. */
async function pickRows(
  store: RunStore,
  { sql, values }: Filter,
  from: number,
  skip: number,
  limit: number,
): Promise<{ readonly rows: number[]; readonly next: number | undefined }> {
  const select = store.prepare(
    `select row from rows where row > ? and row <= ? and (${sql}) order by row limit ? offset ?`,
  );
  const rows: number[] = [];
  for (const at of windowsOf(store, from)) {
    const passed = at === from ? skip : 0;
    const found = select.all(at, at + WINDOW_ROWS, ...values, limit + 1 - rows.length, passed);
    for (const { row } of found) rows.push(Number(row));
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] };
    await yieldLoop();
  }
  return { rows, next: undefined };
}

const outcomesOf = (store: RunStore, rows: readonly number[]): ReadonlyMap<number, EndedRow> =>
  new Map([...store.rows.endedRows(`row in (${rows.join(', ')})`)].flat().map((one) => [one.row, one]));

async function eachRow(store: RunStore, where: string, see: (row: EndedRow) => void): Promise<void> {
  for (const from of windowsOf(store)) {
    for (const batch of store.rows.endedRows(`row <= ${from + WINDOW_ROWS} and (${where})`, from)) {
      batch.forEach(see);
      await yieldLoop();
    }
  }
}

/** How its rows ended, with fields by the names that people read. */
function resultReader(store: RunStore): (row: EndedRow) => RowResult {
  const name = fieldNamer(store.names);
  return (row) => name(resultOf(row, ''));
}

function rowOf(
  row: number,
  known: EndedRow | undefined,
  ended: boolean,
  readResult: (row: EndedRow) => RowResult,
): DeepReadonly<Row> {
  if (!known || !(known.result || ended)) {
    return { row, outcome: null, key: known?.open?.key ?? '', id: null, changed: [], issues: [] };
  }
  const { kind, key, id, changed, issues } = readResult(known).outcome;
  return {
    ...{ row, outcome: kind, key, id: id ?? null, changed },
    issues: issues.filter(({ code, message }) => code !== 'run_stopped' || message !== ''),
  };
}
