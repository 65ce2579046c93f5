import { existsSync } from 'node:fs';
import type { DiffText } from '../model/change.js';
import { type RunError, runFailure } from '../model/error.js';
import type { Issue } from '../model/issue.js';
import type { Outcome, OutcomeKind } from '../model/outcome.js';
import type { RequestCounts } from '../model/progress.js';
import { reached } from '../trace/milestones.js';
import { type Database, openDatabase, type SqlValue, type Statement } from './sqlite.js';

/** A writing request that is about to be sent; `at` is milliseconds since 1970. */
export interface RowIntent {
  readonly row: number;
  readonly op: 'create' | 'update';
  readonly key: string;
  readonly id?: number;
  readonly at: number;
}

/** An outcome with the changes that were planned for the row. */
export interface RowResult {
  readonly outcome: Outcome;
  readonly diff: readonly DiffText[];
}

/**
 * A row as it stands in the store:
 *
 *   nothing → intent (`op`, no `kind`: open, the request may have taken effect) → outcome (`kind`)
 *   outcome `failed` or `not_attempted`, known not to be written → intent → outcome, when the run is resumed
 *
 * Any other outcome is final; a second one is refused.
 */
export interface StoredRow {
  readonly row: number;
  /** How often a request was about to be sent. */
  readonly sent: number;
  /** The last of these requests. */
  readonly op?: 'create' | 'update';
  readonly at?: number;
  /** Updates: the record. */
  readonly record?: number;
  readonly key: string;
  readonly kind?: OutcomeKind;
  /** Of the record that was written, also where it was learned later. */
  readonly id?: number;
  /** How it ended, as reports tell it. */
  readonly result?: RowResult;
  /** What the record told once its id was learned. */
  readonly late: readonly Issue[];
  /** The record as it was before its update, a line of before.ndjson; read where it is asked for. */
  readonly before?: string;
}

/** Rows that are read and held at a time; with their records, which are much larger, fewer. */
const PAGE_ROWS = 1000;
const PAGE_RECORDS = 100;
/** Entries that wait at most; more are written without being asked for, so that noting alone does not fill the memory. */
const MAX_PENDING = 1000;
/** Nor do they wait longer: whoever looks at the run sees what became of its rows, and a kill leaves less to be looked up. */
const FLUSH_AFTER_MS = 1_000;
/** Characters of the entries that one statement writes, unless a single one has more. */
const MAX_STATEMENT_CHARS = 1 << 20;
const VERSION = 4;

/** Texts of people are kept as JSON: SQLite ends a plain one at a NUL, and knows no half of a surrogate pair. */
const tableSql = (name: string) => `create table ${name} (
  row integer primary key, sent integer not null default 0, op text, at real, record integer, before text,
  kind text, key text, id integer, result text, late text
) strict;`;

const SCHEMA = `
  ${tableSql('rows')}
  ${tableSql('orphans')}
  create table process (
    number integer primary key, at real not null, ended integer not null default 0,
    total integer not null default 0, reads integer not null default 0, writes integer not null default 0, retries integer not null default 0
  ) strict;
  create table kept (name text primary key, value text not null) strict;
  create table warned (number integer primary key, text text not null unique) strict;
`;

/** Under names that begin so: what a brake found that tripped. */
export const BRAKE_PREFIX = 'brake.';
/** Names of records that rows refer to, once they are being created: the plan that needs them stands. */
export const REFERENCES_BEGUN = 'references-begun';

/** Requests of most rows: where there is nothing more to say of them, they have no `result`. */
const DEFAULT_ATTEMPTS: Partial<Record<OutcomeKind, number>> = { created: 1, unchanged: 0 };

/** The column `result`: what an outcome has beyond its row, its kind, its key and its id. */
interface StoredResult extends Pick<Outcome, 'attempts' | 'issues' | 'changed'> {
  /** Without `old` and `kind`: set where there was nothing, as are all fields of a new record. */
  readonly diff: readonly (readonly [field: string, now: string, old?: string, kind?: DiffText['kind']])[];
}

/** A statement over a list of entries, each JSON; `value` is one of them. */
const insertEach = (what: string, of: string, more = '') =>
  `insert ${what} select ${of} from json_each(?) where true ${more}`;
const jsonOrNull = (column: string) => `coalesce(${column}, 'null')`;
/** A `RowTuple` as JSON: put together as text, because SQLite would take all JSON apart for it. */
const ROW_JSON = `'[' || concat_ws(',', row, sent, json_quote(op), ${jsonOrNull('at')}, ${jsonOrNull('record')}, ${jsonOrNull('key')},
  json_quote(kind), ${jsonOrNull('id')}, ${jsonOrNull('result')}, ${jsonOrNull('late')}`;

/** What a run notes of one set of rows: those of its file, or the orphans of a reconciliation. */
export class RowStore {
  readonly store: RunStore;
  readonly #table: string;
  readonly #intend: TableChange;
  readonly #outcome: TableChange;
  readonly #before: TableChange;
  readonly #learn: TableChange;
  readonly #late: TableChange;
  readonly #see: TableChange;

  constructor(store: RunStore, table: 'rows' | 'orphans') {
    this.store = store;
    this.#table = table;
    const upsert = (columns: string, values: string, set: string, where = '') =>
      insertEach(`into ${table} (${columns})`, values, `on conflict (row) do update set ${set} ${where}`);
    const replaceable = `where kind is null or kind in ('failed', 'not_attempted')`;
    this.#intend = {
      sql: upsert(
        'row, sent, op, key, record, at',
        `value ->> 0, 1, value ->> 1, value -> 2, value ->> 3, value ->> 4`,
        `sent = sent + 1, op = excluded.op, key = excluded.key, record = excluded.record, at = excluded.at,
           kind = null, id = null, result = null`,
        replaceable,
      ),
      refusal: (entry) => this.#ended((entry as readonly [number])[0], 'it was about to be sent again'),
    };
    this.#outcome = {
      sql: upsert(
        'row, kind, key, id, result',
        'value ->> 0, value ->> 1, value -> 2, value ->> 3, value -> 4',
        'kind = excluded.kind, key = excluded.key, id = excluded.id, result = excluded.result',
        replaceable,
      ),
      refusal: (entry) => {
        const [row, kind] = entry as readonly [number, OutcomeKind];
        return this.#ended(row, `a second outcome is ${kind}`);
      },
    };
    const upsertValue = (column: string, value: string) => ({
      sql: upsert(`row, ${column}`, `value ->> 0, value ${value} 1`, `${column} = excluded.${column}`),
    });
    this.#before = upsertValue('before', '->>');
    this.#learn = upsertValue('id', '->>');
    this.#late = upsertValue('late', '->');
    this.#see = { sql: insertEach(`or ignore into ${table} (row)`, 'value') };
  }

  /** What is about to be sent, and the records as they are before, each a line of before.ndjson. Durable once flushed. */
  addIntents(
    intents: readonly RowIntent[],
    before: readonly { readonly row: number; readonly line: string }[] = [],
  ): void {
    for (const { row, op, key, id, at } of intents) this.store.queueChange(this.#intend, [row, op, key, id, at]);
    for (const { row, line } of before) this.store.queueChange(this.#before, [row, line]);
  }

  addOutcome({ outcome, diff }: RowResult): void {
    const { ref, kind, key, id, attempts, issues, changed } = outcome;
    const isDefault = attempts === DEFAULT_ATTEMPTS[kind] && issues.length + changed.length + diff.length === 0;
    const result: StoredResult = {
      attempts,
      issues,
      changed,
      diff: diff.map(({ field, old, new: now, kind }) =>
        old === '' && kind === 'set' ? [field, now] : [field, now, old, kind],
      ),
    };
    this.store.queueChange(this.#outcome, [ref.row, kind, key, id, ...(isDefault ? [] : [result])]);
  }

  /** Ids that were learned after their rows were written: answers to writes may be empty. `issues`: what the records then told. */
  addIds(
    ids: Iterable<readonly [row: number, id: number]>,
    issues: Iterable<readonly [row: number, issues: readonly Issue[]]>,
  ): void {
    for (const one of ids) this.store.queueChange(this.#learn, one);
    for (const one of issues) this.store.queueChange(this.#late, one);
  }

  /** Makes known that these rows are in the file, whether or not the run gets to them. */
  addRows(rows: readonly number[]): void {
    for (const row of rows) this.store.queueChange(this.#see, row);
  }

  /** The rows that are known to be in the file. `where`: as for `rows`. */
  rowNumbers(where = '1'): ReadonlySet<number> {
    return new Set([...this.rows(where)].flatMap((batch) => batch.map(({ row }) => row)));
  }

  /** Leaves nothing of outcomes; to be asked where nothing was sent. */
  clearOutcomes(): void {
    this.store.prepare(`update ${this.#table} set kind = null, id = null, result = null, late = null`).run();
  }

  /**
   * The rows that are known, ascending. `where`: a condition on the columns of the table; `after`: those behind this row;
   * `before`: with the records as they were.
   */
  *rows(where = '1', { after = 0, before = false } = {}): Generator<readonly StoredRow[]> {
    this.store.write();
    const json = `${ROW_JSON}${before ? ', json_quote(before)' : ''}) || ']'`;
    // Many rows as one text: a row at a time costs more to hand over than to read.
    const page = this.store.prepare(
      `select '[' || coalesce(group_concat(json), '') || ']' as page from (
         select ${json} as json from ${this.#table} where row > ? and (${where}) order by row limit ${before ? PAGE_RECORDS : PAGE_ROWS})`,
    );
    // SQLite goes by one lower bound: with another one in the condition it would look at all rows before it.
    for (let last = after; ; ) {
      const rows = (parseValue(page.get(last)?.['page']) as RowTuple[]).map(toStoredRow);
      if (rows.length === 0) return;
      yield rows;
      last = rows[rows.length - 1]!.row;
    }
  }

  /** The id of the record that a row created or updated, once that is in the file. */
  writtenId(row: number): number | undefined {
    const sql = `select id from ${this.#table} where row = ? and kind in ('created', 'updated')`;
    return (this.store.prepare(sql).get(row)?.['id'] ?? undefined) as number | undefined;
  }

  /** The highest row that is known; 0 where none is. */
  get lastRow(): number {
    return Number(this.store.prepare(`select coalesce(max(row), 0) as last from ${this.#table}`).get()?.['last']);
  }

  count(where = '1'): number {
    this.store.write();
    return Number(this.store.prepare(`select count(*) as n from ${this.#table} where ${where}`).get()?.['n']);
  }

  #ended(row: number, what: string): RunError {
    const found = this.store.prepare(`select kind from ${this.#table} where row = ?`).get(row);
    return runFailure(
      `The journal ${this.store.path} has the outcome ${found?.['kind']} for row ${row}, and ${what}. ` +
        'The totals would not be the truth, so the run is stopped. Check whether two processes ran this run at once.',
    );
  }
}

const parseValue = (value: SqlValue | undefined): unknown => JSON.parse(String(value));

type RowTuple = readonly [
  row: number,
  sent: number,
  op: 'create' | 'update' | null,
  at: number | null,
  record: number | null,
  key: string | null,
  kind: OutcomeKind | null,
  id: number | null,
  result: StoredResult | null,
  late: readonly Issue[] | null,
  before?: string | null,
];

const EMPTY: readonly never[] = [];

function toStoredRow([row, sent, op, at, record, key, kind, id, result, late, before]: RowTuple): StoredRow {
  return {
    row,
    sent,
    ...(op !== null && { op }),
    ...(at !== null && { at }),
    ...(record !== null && { record }),
    key: key ?? '',
    ...(kind !== null && { kind, result: toResult(row, kind, key ?? '', id, result) }),
    ...(id !== null && { id }),
    late: late ?? EMPTY,
    ...(typeof before === 'string' && { before }),
  };
}

function toResult(
  row: number,
  kind: OutcomeKind,
  key: string,
  id: number | null,
  stored: StoredResult | null,
): RowResult {
  const none = { attempts: DEFAULT_ATTEMPTS[kind] ?? 0, issues: EMPTY, changed: EMPTY, diff: EMPTY };
  const { diff, ...details } = stored ?? none;
  return {
    outcome: { ref: { row }, kind, key, ...(id !== null && { id }), ...details },
    diff: diff.map(([field, now, old = '', kind = 'set']) => ({ field, old, new: now, kind })),
  };
}

/** What earlier processes of a run left. */
export interface Processes {
  readonly begun: boolean;
  /** One was killed: requests that it had under way are not counted. */
  readonly killed: boolean;
  readonly requests: RequestCounts;
}

/** A change to the tables of a store that is made for many entries at once. */
interface TableChange {
  /** Its one parameter is the list of entries as JSON. */
  readonly sql: string;
  /** The fault of an entry that changes nothing; absent where that is none. */
  readonly refusal?: (entry: unknown) => RunError;
}

const BEGIN_PROCESS: TableChange = { sql: insertEach('into process (number, at)', 'value ->> 0, value ->> 1') };
const END_PROCESS: TableChange = {
  sql: 'update process set ended = 1 where number in (select value from json_each(?))',
};
/** Under this name stands how the run reads its file. */
export const READ_AS = 'read_as';
/** Under this name: the reason why brakes stopped the run. */
export const BRAKED = 'braked';
const SET_VALUE: TableChange = { sql: insertEach('or replace into kept (name, value)', 'value ->> 0, value -> 1') };
const ADD_WARNING: TableChange = { sql: insertEach('or ignore into warned (text)', 'value -> 0') };

/**
 * Everything that a run must not lose, in one file of its folder: what it was about to send, what became of each row, how it
 * went. Entries wait until they are flushed; a flush writes all that wait in one transaction, so a thousand callers in one turn
 * cost one write to the disk. Once a write has failed every later one fails: what cannot be recorded must not be sent.
 */
export class RunStore {
  #names: RunStore['names'] | undefined;
  readonly rows: RowStore;
  readonly orphans: RowStore;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  /** In the order in which they were noted; neighbours with the same change share a statement. */
  #waiting: { readonly change: TableChange; readonly entries: string[]; length: number }[] = [];
  #count = 0;
  #flushing: Promise<void> | undefined;
  #soon: NodeJS.Timeout | undefined;
  #failure: RunError | undefined;
  #process: number | undefined;
  #requests: (() => RequestCounts | undefined) | undefined;
  #noted = -1;
  #closed = false;

  /**
   * `durable`: false where nothing depends on its surviving a power cut, as in a run that sends nothing. `readOnly`: nothing is
   * written.
   */
  constructor(
    readonly path: string,
    { durable = true, readOnly = false }: { readonly durable?: boolean; readonly readOnly?: boolean } = {},
  ) {
    this.#database = openDatabase(path, {
      label: 'The journal',
      schema: SCHEMA,
      version: VERSION,
      durable,
      readOnly,
      remedy:
        'What was sent cannot be told with certainty, so the run is not continued. Restore the file from a backup, use the version that began the run, ' +
        'or import the spreadsheet again: rows that are in already will be found unchanged.',
    });
    this.rows = new RowStore(this, 'rows');
    this.orphans = new RowStore(this, 'orphans');
  }

  /** Of a run that came so far; undefined where it has none. */
  static openExisting(path: string): RunStore | undefined {
    return existsSync(path) ? new RunStore(path) : undefined;
  }

  /** The same for a look at it, also while the run is at work: not read through, and left in the form it has. */
  static openReadOnly(path: string): RunStore | undefined {
    return existsSync(path) ? new RunStore(path, { readOnly: true }) : undefined;
  }

  /** Asks one thing of a run that came so far; undefined where it has none. */
  static query<T>(path: string, question: (store: RunStore) => T, open = RunStore.openExisting): T | undefined {
    const store = open(path);
    try {
      return store && question(store);
    } finally {
      store?.close();
    }
  }

  /** For the tables of this store. */
  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Lets a change wait for the next flush. */
  queueChange(change: TableChange, entry: unknown): void {
    if (this.#failure) throw this.#failure;
    if (this.#closed) throw new Error(`${this.path} is closed`);
    const text = JSON.stringify(entry);
    let last = this.#waiting.at(-1);
    if (last?.change !== change || last.length + text.length > MAX_STATEMENT_CHARS) {
      last = { change, entries: [], length: 0 };
      this.#waiting.push(last);
    }
    last.entries.push(text);
    last.length += text.length;
    if (++this.#count >= MAX_PENDING) this.write();
    else this.#soon ??= setTimeout(() => this.#writeSoon(), FLUSH_AFTER_MS).unref();
  }

  /** Everything noted before the call is on the disk when it resolves; calls of one turn share one write. */
  flush(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#count === 0) return Promise.resolve();
    this.#flushing ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#flushing = undefined;
        try {
          this.write();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return this.#flushing;
  }

  #writeSoon(): void {
    this.#soon = undefined;
    try {
      if (!this.#closed) this.write();
    } catch {
      // Kept: whatever is noted next fails with it.
    }
  }

  /** The same at once. */
  write(): void {
    if (this.#failure) throw this.#failure;
    if (this.#count === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#count = 0;
    try {
      this.#database.transaction(() => {
        for (const { change, entries } of waiting) this.#make(change, entries);
        this.#noteRequests();
        reached('lines-written');
      });
    } catch (error) {
      this.#failure = error as RunError;
      throw error;
    }
    reached('lines-durable');
  }

  #make({ sql, refusal }: TableChange, entries: readonly string[]): void {
    const apply = (some: readonly string[]) => Number(this.prepare(sql).run(`[${some.join(',')}]`).changes);
    if (!refusal) {
      apply(entries);
      return;
    }
    this.prepare('savepoint entries').run();
    if (apply(entries) < entries.length) {
      // Which one it is shows when they are made one by one.
      this.prepare('rollback to entries').run();
      for (const entry of entries) if (apply([entry]) === 0) throw refusal(JSON.parse(entry));
    }
    this.prepare('release entries').run();
  }

  #noteRequests(): void {
    const counts = this.#requests?.();
    if (this.#process === undefined || !counts || counts.total === this.#noted) return;
    const { total, reads, writes, retries } = counts;
    this.prepare('update process set at = ?, total = ?, reads = ?, writes = ?, retries = ? where number = ?').run(
      Date.now(),
      total,
      reads,
      writes,
      retries,
      this.#process,
    );
    this.#noted = total;
  }

  /** What earlier processes of the run left; to be asked before `begin`. */
  get processes(): Processes {
    const { n, cut, total, reads, writes, retries } = this.prepare(
      `select count(*) as n, total(ended = 0) as cut, total(total) as total, total(reads) as reads,
         total(writes) as writes, total(retries) as retries from process`,
    ).get() as unknown as { n: number; cut: number } & RequestCounts;
    return { begun: n > 0, killed: cut > 0, requests: { total, reads, writes, retries } };
  }

  /** Whether anything was sent, or was about to be, for a row or an orphan. */
  get hasSent(): boolean {
    const any = (table: string) => `exists (select 1 from ${table} where op is not null)`;
    return Number(this.prepare(`select ${any('rows')} or ${any('orphans')} as sent`).get()?.['sent']) === 1;
  }

  /** A process takes the run up. `requests`: what it has sent; noted with every write where it has changed. */
  begin(requests: () => RequestCounts | undefined): void {
    this.#process = Number(this.prepare('select coalesce(max(number), 0) + 1 as n from process').get()?.['n']);
    this.#requests = requests;
    this.queueChange(BEGIN_PROCESS, [this.#process, Date.now()]);
  }

  /** The process ends in order; all its requests are counted. */
  end(): void {
    this.queueChange(END_PROCESS, this.#process ?? 0);
  }

  /** Of a run that sent nothing: it is planned anew from its first row. How it reads its file, what stopped it, how often it was begun, and its requests stay. */
  forget(): void {
    this.write();
    this.#database.transaction(() => {
      this.rows.clearOutcomes();
      this.prepare('delete from kept where name not in (?, ?)').run(READ_AS, BRAKED);
      this.prepare('delete from warned').run();
    });
  }

  /** A value by its name, as JSON; `undefined` where none is kept. */
  getValue(name: string): unknown {
    const value = this.prepare('select value from kept where name = ?').get(name)?.['value'];
    return value === undefined ? undefined : JSON.parse(String(value));
  }

  /** What is kept under names that begin so, by the rest of the name. */
  getValuesByPrefix(prefix: string): ReadonlyMap<string, unknown> {
    const all = this.prepare('select name, value from kept where substr(name, 1, length(?1)) = ?1').all(prefix);
    return new Map(all.map(({ name, value }) => [String(name).slice(prefix.length), parseValue(value)]));
  }

  setValue(name: string, value: unknown): void {
    this.queueChange(SET_VALUE, [name, value]);
  }

  addWarning(text: string): void {
    this.queueChange(ADD_WARNING, [text]);
  }

  get warnings(): readonly string[] {
    return this.prepare('select text from warned order by number')
      .all()
      .map(({ text }) => JSON.parse(String(text)) as string);
  }

  /** How job files name custom fields of templates, by their canonical names, and custom forms, by `form.<id>`. */
  get names(): Readonly<Record<string, string>> {
    this.#names ??= (this.getValue('names') ?? {}) as Record<string, string>;
    return this.#names;
  }

  addNames(names: RunStore['names']): void {
    this.#names = { ...this.names, ...names };
    this.setValue('names', this.#names);
  }

  /** Writes what waits, and closes. */
  close(): void {
    if (this.#closed) return;
    clearTimeout(this.#soon);
    try {
      this.write();
    } finally {
      this.#closed = true;
      this.#statements.clear();
      this.#database.close();
    }
  }
}
