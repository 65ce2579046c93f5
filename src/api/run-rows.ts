import { stat } from 'node:fs/promises';
import path from 'node:path';
import { jsonMembers } from '../files/json-line.js';
import { ISSUE_CODES, type IssueCode } from '../model/issue.js';
import { FOUR_OF, OUTCOMES, type OutcomeKind } from '../model/outcome.js';
import { foldText } from '../model/value.js';
import { faultsOf } from '../report/report-lines.js';
import { isNew, resultOf } from '../report/results.js';
import { columnNames } from '../runs/map-file.js';
import { brakesOf } from '../runs/run/brakes.js';
import { overlayOf } from '../runs/run/corrections.js';
import { readRequest } from '../runs/run/earlier-run.js';
import { runFolder } from '../runs/run/layout.js';
import type { Summary } from '../runs/run/present.js';
import { type StoredRequest, sourceOptions } from '../runs/run/run.js';
import { type EndedRow, RunStore } from '../store/run-store.js';
import type { SqlValue } from '../store/sqlite.js';
import type { ApiParts } from './app.js';
import type { Cursors } from './cursor.js';
import { type FoundRun, isAtWork } from './run-find.js';
import type { FaultGroup, Plan, Row, Rows, RowsQuery, Story } from './schema.js';
import type { TableIndex } from './table-index.js';

/** Row numbers that are looked through without others getting their turn. */
const WINDOW = 10_000;
/** So long a page is looked for; where rows are far between it ends earlier, and says where the next begins. */
const PATIENCE_MS = 1_500;
/** What is found out over all rows of a run at work is asked anew after so long. */
const FRESH_MS = 2_000;
/** Of runs whose rows were counted; the one that was asked for longest ago goes. */
const MOST_KEPT = 64;
const MOST_GROUPS = 20_000;
const MOST_FAULTS = 500;
/** Of each field, and of the new records: so many are shown. */
const FIRST = 20;
const MOST_FIELDS = 200;

/** A condition on the rows of a run. */
interface Filter {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The rows of runs, as their stores and files have them: nothing is held but the page that is asked for. */
export class RunRows {
  /** What was found out over all rows of a run, by what and for which of its states. */
  private readonly kept = new Map<string, { readonly at: number; readonly found: Promise<unknown> }>();

  constructor(
    private readonly parts: ApiParts,
    private readonly cursors: Cursors,
  ) {}

  /** Throws a problem for a cursor of another list. */
  async page(run: FoundRun, asked: RowsQuery): Promise<Rows> {
    const { after, offset, limit, ...what } = asked;
    const list = JSON.stringify(['rows', run.id, what.outcome, what.code, what.column, what.key]);
    const from = after === undefined ? 0 : Number(this.cursors.open(list, after));
    const filter = filterOf(what, isEnded(run));
    const table = what.cells || !filter ? await this.table(run) : undefined;
    const store = this.store(run);
    try {
      const seal = (row: number | undefined) => (row === undefined ? null : this.cursors.seal(list, String(row)));
      const headings = what.cells && table ? { headings: namedApart(table.index.meta.headings) } : {};
      if (!filter && table) {
        const { index } = table;
        const grid = await index.page(offset === undefined ? { after: from } : { place: offset }, limit);
        const known = outcomesOf(
          store,
          grid.map(({ row }) => row),
        );
        const rows = grid.map(({ row, cells }) => ({
          ...rowOf(row, known.get(row), isEnded(run)),
          ...(what.cells && { cells: table.corrected(row, cells) }),
        }));
        const more = rows.length === limit || !index.whole;
        return {
          rows,
          ...headings,
          total: index.rows,
          next: more ? seal(rows.at(-1)?.row ?? (from || undefined)) : null,
        };
      }
      if (!store) return { rows: [], ...headings, total: 0, next: null };
      const where = filter ?? ALL;
      const counts = await this.counted(run, list, where);
      const found =
        offset === undefined
          ? await numbersAfter(store, where, from, limit)
          : await numbersAt(store, where, counts.windows, offset, limit);
      const known = outcomesOf(store, found.rows);
      const cells = what.cells && table ? await table.index.cells(found.rows) : undefined;
      const rows = found.rows.map((row) => {
        const own = cells?.get(row);
        return {
          ...rowOf(row, known.get(row), isEnded(run)),
          ...(own && table && { cells: table.corrected(row, own) }),
        };
      });
      return { rows, ...headings, total: counts.total, next: seal(found.next) };
    } finally {
      store?.close();
    }
  }

  /** Everything about one row, as JSON: the record keeps its digits. Undefined where the run has no such row. */
  async story(run: FoundRun, number: number): Promise<string | undefined> {
    const table = await this.table(run);
    const store = this.store(run);
    try {
      const [whole] = store?.rows.whole(`row = ${number}`).next().value ?? [];
      const cells = (await table?.index.cells([number]))?.get(number);
      if (!whole && !cells) return undefined;
      const shown = cells && table ? table.corrected(number, cells) : [];
      const { outcome, diff = [] } = whole && (whole.result || isEnded(run)) ? resultOf(whole, '') : {};
      const told: Omit<Story, 'found'> = {
        ...rowOf(number, whole, isEnded(run)),
        cells: shown,
        headings: [...(table?.index.meta.headings ?? [])],
        corrected: shown.flatMap((cell, at) => (cells && cell !== cells[at] ? [at] : [])),
        changes: [...diff],
        sent:
          whole?.op === undefined
            ? null
            : {
                operation: whole.op,
                times: Math.max(whole.sent, outcome?.attempts ?? 0),
                at: whole.at === undefined ? null : new Date(whole.at).toISOString(),
              },
      };
      const record = whole?.before && jsonMembers(whole.before).find(({ name }) => name === 'record')?.text;
      const found = record ? `{"id":${whole?.record ?? whole?.id ?? 0},${record}}` : 'null';
      return `${JSON.stringify(told).slice(0, -1)},"found":${found}}`;
    } finally {
      store?.close();
    }
  }

  /** Faults of rows that need a person, alike ones together; the most frequent first. */
  faults(run: FoundRun): Promise<FaultGroup[]> {
    return this.over(run, 'faults', async (store) => {
      const groups = new Map<string, FaultGroup>();
      // A row that the run stopped before has no fault.
      const where = `result is not null and kind in (${quoted(NEED_PERSON.filter((kind) => kind !== 'not_attempted'))})`;
      await eachRow(store, where, (row) => {
        for (const { code, column, field, value, message } of faultsOf(resultOf(row, '').outcome)) {
          const alike = groups.size < MOST_GROUPS ? (value ?? null) : null;
          const name = JSON.stringify([code, column, field, alike]);
          const group = groups.get(name);
          if (group) groups.set(name, { ...group, rows: group.rows + 1 });
          else {
            const place = { column: column ?? null, field: field ?? null, value: alike };
            const meaning = ISSUE_CODES[code as IssueCode] ?? '';
            groups.set(name, { code, meaning, ...place, message, rows: 1, first: row.row });
          }
        }
      });
      const sorted = [...groups.values()].sort((one, other) => other.rows - one.rows || one.first - other.first);
      return sorted.slice(0, MOST_FAULTS);
    }).then((found) => found ?? []);
  }

  /** What it writes, or would; undefined where the run has no rows. */
  async plan(run: FoundRun, summary: Summary | undefined): Promise<Plan | undefined> {
    const request = await readRequest(this.folder(run));
    const found = await this.over(run, 'plan', async (store) => {
      const fields = new Map<string, Plan['fields'][number]>();
      const creates: Plan['creates'] = [];
      const counts = { created: 0, updated: 0, unchanged: 0, cleared: 0, at_risk: 0 };
      let clearedRows = 0;
      await eachRow(store, `kind in ('created', 'updated', 'unchanged', 'at_risk', 'not_attempted')`, (row) => {
        const { outcome, diff } = resultOf(row, '');
        const { kind, key } = outcome;
        if (kind === 'unchanged') counts.unchanged++;
        if (kind === 'at_risk') counts.at_risk++;
        if (isNew(outcome)) {
          counts.created++;
          if (creates.length < FIRST) {
            const values = diff.filter((one) => one.new !== '').map((one) => ({ field: one.field, value: one.new }));
            creates.push({ row: row.row, key, values });
          }
        } else if (kind === 'updated' || (kind === 'not_attempted' && outcome.changed.length > 0)) {
          counts.updated++;
          if (diff.some((one) => one.kind === 'clear')) clearedRows++;
        } else if (kind !== 'at_risk') return;
        if (isNew(outcome)) return;
        for (const change of diff) {
          if (change.kind === 'preserved' || change.kind === 'kept') continue;
          if (change.kind === 'clear') counts.cleared++;
          let field = fields.get(change.field);
          if (!field && fields.size < MOST_FIELDS) {
            field = { field: change.field, records: 0, first: [] };
            fields.set(change.field, field);
          }
          if (!field) continue;
          field.records++;
          const { old, new: now, kind: how } = change;
          if (field.first.length < FIRST) field.first.push({ row: row.row, key, old, new: now, kind: how });
        }
      });
      const sorted = [...fields.values()].sort((one, other) => other.records - one.records);
      return { counts, clearedRows, fields: sorted, creates };
    });
    if (!found || !request?.job) return undefined;
    const { counts, clearedRows, fields, creates } = found;
    const told = [summary?.reason ?? '', ...(summary?.warnings ?? [])];
    // A sentence ends with a full stop that is not one of a number.
    const sentences = told.flatMap((text) => [...text.matchAll(/(?:^|\s)([a-z_]+): (.+?)(?=;|\.(?:\s|$)|$)/g)]);
    const sentenceOf = (name: string) => sentences.find(([, said]) => said === name)?.[2];
    const ofNights = ['same_file', 'unknown_keys'].flatMap((name) => {
      const found = sentenceOf(name);
      return found === undefined ? [] : [{ name, limit: '', found, tripped: true }];
    });
    const brakes = brakesOf(request.job.job, {
      rows: summary?.rows,
      updates: counts.updated,
      creates: counts.created,
      cleared: clearedRows,
      reconcile: summary?.reconcile,
    }).map(({ name, limit, found: count }) => {
      const sentence = sentenceOf(name);
      return { name, limit, found: sentence ?? count, tripped: sentence !== undefined };
    });
    return { ...counts, brakes: [...brakes, ...ofNights], fields, creates, warnings: [...(summary?.warnings ?? [])] };
  }

  private folder = ({ id }: FoundRun) => runFolder(this.parts.settings.home, id);

  private store(run: FoundRun): RunStore | undefined {
    return run.entry ? RunStore.reading(this.folder(run).store) : undefined;
  }

  /** The file of a run, as far as it is still there. */
  private async table(run: FoundRun) {
    const folder = this.folder(run);
    const request: StoredRequest | undefined = run.entry && (await readRequest(folder));
    if (!request?.source) return undefined;
    const file = path.join(folder.dir, 'work', request.source);
    if (!(await stat(file).catch(() => undefined))) return undefined;
    const options = sourceOptions(request.job.job);
    const index: TableIndex = await this.parts.tables.of({
      ...{ file, options },
      folder: path.join(folder.dir, 'work', '.tables'),
    });
    const overlay = request.corrections && overlayOf(request.corrections, index.meta);
    const corrected = (row: number, cells: readonly string[]): string[] =>
      cells.map((cell, at) => overlay?.at(row, at, cell) ?? cell);
    return { index, corrected };
  }

  private async counted(run: FoundRun, list: string, filter: Filter) {
    const found = await this.over(run, list, async (store) => {
      const windows: { readonly before: number; readonly from: number }[] = [];
      let total = 0;
      const count = store.prepare(`select count(*) as n from rows where row > ? and row <= ? and (${filter.sql})`);
      for (const from of windowsOf(store)) {
        windows.push({ before: total, from });
        total += Number(count.get(from, from + WINDOW, ...filter.values)?.['n']);
        await breath();
      }
      return { windows, total };
    });
    return found ?? { windows: [], total: 0 };
  }

  /** Finds something out over all rows, once for all who ask; of a run at work anew after a while. */
  private async over<T>(run: FoundRun, what: string, work: (store: RunStore) => Promise<T>): Promise<T | undefined> {
    const summary = await stat(path.join(this.folder(run).dir, 'run.db')).catch(() => undefined);
    if (!summary) return undefined;
    const name = JSON.stringify([run.id, run.status, isEnded(run) && summary.mtimeMs, what]);
    let known = this.kept.get(name);
    this.kept.delete(name);
    if (!known || (!isEnded(run) && performance.now() - known.at > FRESH_MS)) {
      const found = (async () => {
        const store = this.store(run);
        try {
          return store && (await work(store));
        } finally {
          store?.close();
        }
      })();
      known = { at: performance.now(), found };
      found.catch(() => this.kept.delete(name));
    }
    this.kept.set(name, known);
    for (const [oldest] of [...this.kept].slice(0, -MOST_KEPT)) this.kept.delete(oldest);
    return known.found as Promise<T | undefined>;
  }
}

const ALL: Filter = { sql: '1', values: [] };
const NEED_PERSON = OUTCOMES.filter((kind) => !['in', 'unchanged'].includes(FOUR_OF[kind]));

/** Headings as the file has them; a blank one, and those that are alike, as a job names them, so that a correction means one column. */
function namedApart(headings: readonly string[]): string[] {
  const names = columnNames(headings);
  return headings.map((heading, at) => {
    const name = names[at] ?? heading;
    return foldText(name) === foldText(heading) ? heading : name;
  });
}

const isEnded = (run: FoundRun) => !isAtWork(run);
const quoted = (kinds: readonly string[]) => kinds.map((kind) => `'${kind}'`).join(', ');
const breath = () => new Promise((resolve) => setImmediate(resolve));

/** Undefined where every row is meant. */
function filterOf({ outcome, code, column, key }: Partial<RowsQuery>, ended: boolean): Filter | undefined {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (outcome !== undefined) {
    const words = new Set(outcome.split(','));
    const kinds = OUTCOMES.filter((kind) => words.has(kind) || words.has(FOUR_OF[kind]));
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
    conditions.push(`exists (select 1 from json_each(result, '$.outcome.issues') as one where ${parts.join(' and ')})`);
    values.push(...[code, column].filter((text) => text !== undefined));
  }
  if (key !== undefined && key !== '') {
    conditions.push(`lower(substr(coalesce(result ->> '$.outcome.key', key ->> '$', ''), 1, length(?))) = lower(?)`);
    values.push(key, key);
  }
  if (conditions.length === 0) return undefined;
  return { sql: conditions.map((one) => `(${one})`).join(' and '), values };
}

function* windowsOf(store: RunStore, from = 0): Generator<number> {
  const { last } = store.rows;
  for (let at = from; at < last; at += WINDOW) yield at;
}

interface Numbers {
  readonly rows: number[];
  /** Behind which row the next ones come; undefined where there are none. */
  readonly next: number | undefined;
}

async function numbersAfter(store: RunStore, { sql, values }: Filter, from: number, limit: number): Promise<Numbers> {
  const select = store.prepare(`select row from rows where row > ? and row <= ? and (${sql}) order by row limit ?`);
  const rows: number[] = [];
  const end = performance.now() + PATIENCE_MS;
  for (const at of windowsOf(store, from)) {
    for (const { row } of select.all(at, at + WINDOW, ...values, limit + 1 - rows.length)) rows.push(Number(row));
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] };
    if (performance.now() > end) return { rows, next: at + WINDOW };
    await breath();
  }
  return { rows, next: undefined };
}

async function numbersAt(
  store: RunStore,
  { sql, values }: Filter,
  windows: readonly { readonly before: number; readonly from: number }[],
  offset: number,
  limit: number,
): Promise<Numbers> {
  const window = windows.findLast(({ before }) => before <= offset);
  if (!window) return { rows: [], next: undefined };
  const select = store.prepare(
    `select row from rows where row > ? and row <= ? and (${sql}) order by row limit 1 offset ?`,
  );
  const first = select.get(window.from, window.from + WINDOW, ...values, offset - window.before)?.['row'];
  return first === undefined
    ? { rows: [], next: undefined }
    : numbersAfter(store, { sql, values }, Number(first) - 1, limit);
}

function outcomesOf(store: RunStore | undefined, rows: readonly number[]): ReadonlyMap<number, EndedRow> {
  const found = new Map<number, EndedRow>();
  if (!store || rows.length === 0) return found;
  for (const batch of store.rows.ended(`row in (${rows.join(', ')})`)) for (const one of batch) found.set(one.row, one);
  return found;
}

async function eachRow(store: RunStore, where: string, see: (row: EndedRow) => void): Promise<void> {
  for (const from of windowsOf(store)) {
    for (const batch of store.rows.ended(`row > ${from} and row <= ${from + WINDOW} and (${where})`)) {
      batch.forEach(see);
      await breath();
    }
  }
}

function rowOf(row: number, known: EndedRow | undefined, ended: boolean): Row {
  if (!known || !(known.result || ended)) {
    return { row, outcome: null, key: known?.open?.key ?? '', id: null, changed: [], issues: [] };
  }
  const { kind, key, id, changed, issues } = resultOf(known, '').outcome;
  return {
    ...{ row, outcome: kind, key, id: id ?? null },
    changed: [...changed],
    issues: issues.filter(({ code, message }) => code !== 'run_stopped' || message !== '').map((one) => ({ ...one })),
  };
}
