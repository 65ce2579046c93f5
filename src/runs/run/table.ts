import { join } from 'node:path';
import { jsonMembers } from '../../files/ndjson.js';
import { openSource } from '../../files/open.js';
import type { Correction } from '../../model/correction.js';
import { RunError } from '../../model/error.js';
import { type RowsJob, targetsOf } from '../../model/job.js';
import type { Outcome } from '../../model/outcome.js';
import { isBlank, type SheetRow, shownText } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { foldText } from '../../model/value.js';
import { holdsCorrections, indexHeadings, isOwnHeading } from '../../pipeline/map/headings.js';
import { type REJECTED_COLUMNS, rejectedLine } from '../../report/report-lines.js';
import { resultOf } from '../../report/results.js';
import { RunStore } from '../../store/run-store.js';
import { columnNames } from '../../suggest/profile.js';
import { type RunFolder, runFolder } from './layout.js';
import { type Asked, askedOf, runIds } from './list.js';

/** How the file of a job is opened, before anything is known of it. */
export function sourceOptions({ source, columns }: RowsJob): SourceOptions {
  const { format, header_row, encoding, delimiter, sheet, footer } = source;
  return {
    format,
    header_row,
    expect: Object.entries(columns).flatMap(([heading, target]) => (target === null ? [] : [heading])),
    encoding,
    delimiter,
    ...(footer === undefined ? {} : { footer }),
    ...(sheet === undefined ? {} : { sheet }),
  };
}

/** The file of a run. */
export interface Table {
  readonly source: OpenSource;
  /** Its rows came back corrected: what shows how the file that they are of is written. */
  readonly earlier?: OpenSource;
}

/** What shows how dates and amounts are written: of rows that came back corrected the file that they are of, too. */
export function shownBy(source: OpenSource, earlier: OpenSource | undefined): OpenSource {
  if (!earlier) return source;
  // People move columns, and add their own.
  const names = columnsOf(earlier);
  const places = columnsOf(source).map((name) => (name === undefined ? -1 : names.indexOf(name)));
  async function* rows() {
    for await (const batch of (earlier as OpenSource).rows())
      yield batch.map(({ row, cells, noRecord, faults }) => ({
        ...{ row, cells: places.map((at) => cells[at] ?? '') },
        ...(noRecord && { noRecord }),
        ...(faults && { faults }),
      }));
    yield* source.rows();
  }
  return { meta: source.meta, rows };
}

/** What the columns of a table are called, as jobs may name them, however they are spelled; undefined for those of ours. */
const columnsOf = ({ meta: { headings } }: OpenSource): (string | undefined)[] =>
  columnNames(headings).map((name, at) =>
    name === undefined || isOwnHeading(headings[at] ?? '') ? undefined : foldText(name),
  );

/** Under this name stands in the store of a run of corrected rows which run handed them back. */
export const HANDED_BACK_BY = 'handed_back_by';
/** Under this name stands in the store in which encoding the file was read, where that is of the earlier run. */
const READ_IN = 'read_in';
/** Runs of the job that are looked through for the one that handed rows back, files that are read for it, and rows that it must know. */
const MOST_RUNS = 2_000;
const MOST_READ = 20;
const LOOKED_AT = 50;
/** Corrected rows of corrected rows of … */
const MOST_TIMES = 8;

/**
 * Rows that an earlier run of this data folder handed back are read as that run read its file: alone they show less, and what
 * `1,250` or `03/04/2025` means, or a letter beyond ASCII, must not change between two readings. Which run that was is kept in the store.
 */
export async function asHandedBack(home: string, run: Asking, own: OpenSource, store: RunStore): Promise<Table> {
  if (run.jsonRows || !holdsCorrections(own.meta.headings)) return { source: own };
  const kept = store.kept(HANDED_BACK_BY);
  const found =
    typeof kept === 'string'
      ? { by: kept, table: await joined(home, run, own, await ifThere(tableOf(home, kept))) }
      : await findEarlier(home, run, own);
  if (!found) return { source: { ...own, meta: { ...own.meta, warnings: [...own.meta.warnings, NOT_FOUND] } } };
  store.keep(HANDED_BACK_BY, found.by);
  const { encoding } = found.table.source.meta;
  if (encoding !== own.meta.encoding) store.keep(READ_IN, encoding);
  return found.table;
}

const NOT_FOUND =
  'The file has the columns of rejected rows, and no one run of this data folder handed them back: what their dates, amounts and letters mean is read from them alone. Look at a dry run before they are written.';

/** How the file of a run is opened, so that it shows what the run read. */
export function openedAs(job: RowsJob, store: RunStore | undefined): SourceOptions {
  const encoding = store?.kept(READ_IN);
  return { ...sourceOptions(job), ...(typeof encoding === 'string' && { encoding }) };
}

/** A run of rows, and what it was asked. */
interface Asking extends Pick<Asked, 'kind' | 'jsonRows'> {
  readonly run: string;
  readonly source: string;
  readonly job: { readonly name: string; readonly job: RowsJob };
}

interface Earlier extends Table {
  readonly run: string;
}

async function joined(
  home: string,
  { run, source: name, job: { job } }: Asking,
  own: OpenSource,
  earlier: Earlier | undefined,
): Promise<Table> {
  if (!earlier) return { source: own };
  const { encoding } = earlier.source.meta;
  const guessed = job.source.encoding === 'auto' && isCodePage(own.meta.encoding) && isCodePage(encoding);
  const source =
    guessed && encoding !== own.meta.encoding
      ? await openSource(join(runFolder(home, run).dir, 'work', name), { ...sourceOptions(job), encoding })
      : own;
  const evidence = `Dates, amounts and letters are read as the run ${earlier.run} read them, which handed these rows back.`;
  const meta = { ...source.meta, evidence: [...source.meta.evidence, evidence] };
  return { source: { ...source, meta }, earlier: shownBy(earlier.source, earlier.earlier) };
}

/** One of those that can only be guessed. */
const isCodePage = (encoding: string | null): encoding is string => encoding !== null && !encoding.startsWith('utf-');

/** The table of a run that has ended, as it was read then. Rejects where it cannot be read any more. */
export async function tableOf(home: string, run: string, times = MOST_TIMES): Promise<Earlier> {
  const folder = runFolder(home, run);
  const { source = '', job } = askedOf(folder);
  if (!job || !('match' in job.job)) throw new RunError('failed', `The run ${run} had no file.`);
  const asking = { run, source, job: { name: job.name, job: job.job } };
  const own = await openSource(join(folder.dir, 'work', source), sourceOptions(job.job));
  const before = look(folder, (store) => store.kept(HANDED_BACK_BY));
  const earlier = typeof before === 'string' && times > 0 ? await ifThere(tableOf(home, before, times - 1)) : undefined;
  return { run, ...(await joined(home, asking, own, earlier)) };
}

const ifThere = (table: Promise<Earlier>): Promise<Earlier | undefined> => table.catch(() => undefined);

/** Asks the store of a run something that may be at work; undefined where there is none that can be read. */
export function look<T>({ store }: RunFolder, question: (store: RunStore) => T): T | undefined {
  try {
    return RunStore.ask(store, question, RunStore.reading);
  } catch {
    return undefined;
  }
}

interface Row {
  readonly row: number;
  readonly outcome: string;
  readonly message: string;
  /** By column, as a person sees them, without our own. */
  readonly cells: ReadonlyMap<string, string>;
}

/** The run of the same job, the latest of several, that ended these rows so and whose file has them as they are but for what was corrected. */
async function findEarlier(
  home: string,
  asking: Asking,
  own: OpenSource,
): Promise<{ readonly by: string; readonly table: Table } | undefined> {
  const rows = await firstRows(own);
  if (rows.length === 0) return undefined;
  const runs: { readonly by: string; readonly ended: Ended }[] = [];
  let looked = 0;
  for (const by of await runIds(home)) {
    const folder = runFolder(home, by);
    const { job, kind } = by < asking.run ? askedOf(folder) : {};
    if (job?.name !== asking.job.name || kind !== asking.kind) continue;
    const ended = look(folder, (store) => endedSo(store, rows));
    if (ended) runs.push({ by, ended });
    if (++looked === MOST_RUNS) break;
  }
  const keys = keyColumns(asking.job.job);
  let best: { readonly by: string; readonly table: Table; readonly changed: number } | undefined;
  for (const { by, ended } of runs.sort((one, other) => other.ended.told - one.ended.told).slice(0, MOST_READ)) {
    const earlier = await ifThere(tableOf(home, by));
    const table = earlier && (await joined(home, asking, own, earlier));
    const changed = table && (await changedCells(await firstRows(table.source), earlier.source, ended, keys));
    if (table && changed !== undefined && changed < (best?.changed ?? Number.POSITIVE_INFINITY))
      best = { by, table, changed };
    if (best?.changed === 0) break;
  }
  return best;
}

async function firstRows(source: OpenSource): Promise<Row[]> {
  const own = source.meta.headings.map(foldText);
  const columns = columnsOf(source);
  const found: Row[] = [];
  for await (const batch of source.rows()) {
    for (const { cells } of batch) {
      const ours = (name: (typeof REJECTED_COLUMNS)[number]) => shownText(cells[own.lastIndexOf(name)]).trim();
      const row = Number(ours('_row'));
      if (!Number.isSafeInteger(row) || row < 1) continue;
      const texts = columns.flatMap((name, at): [string, string][] =>
        name === undefined ? [] : [[name, foldText(shownText(cells[at]))]],
      );
      found.push({ row, outcome: ours('_outcome'), message: ours('_message'), cells: new Map(texts) });
      if (found.length >= LOOKED_AT) return found;
    }
  }
  return found;
}

/** How a run ended rows. */
interface Ended {
  /** Rows of which it said the same. */
  readonly told: number;
  /** The columns of a row that were at fault. */
  readonly faulty: ReadonlyMap<number, ReadonlySet<string>>;
}

/** Undefined where a run ended the rows in another way. A person may have emptied our cells. */
function endedSo({ rows: stored }: RunStore, rows: readonly Row[]): Ended | undefined {
  const outcomes = new Map<number, Outcome>();
  for (const batch of stored.ended(`row in (${rows.map(({ row }) => row).join(',')})`))
    for (const one of batch) outcomes.set(one.row, resultOf(one, '').outcome);
  const faulty = new Map<number, ReadonlySet<string>>();
  let told = 0;
  for (const { row, outcome, message } of rows) {
    const ended = outcomes.get(row);
    if (outcome !== '' && outcome !== (ended?.kind ?? 'not_attempted')) return undefined;
    if (ended && message === rejectedLine(ended)[3]) told++;
    faulty.set(row, new Set(ended?.issues.map(({ column = '' }) => foldText(column))));
  }
  return { told, faulty };
}

/** What the columns are called that the key is mapped from. */
function keyColumns({ columns, match }: RowsJob): ReadonlySet<string> {
  const key = new Set(match.key.map(foldText));
  const names = Object.entries(columns).flatMap(([heading, target]) =>
    targetsOf(target).some(({ field }) => key.has(foldText(field))) ? [foldText(heading)] : [],
  );
  return new Set(names);
}

/**
 * How many cells differ from the file that the rows are said to be of, but for those at fault, which are meant to. Undefined where it
 * has not these rows, or more than a quarter of them have another key, or differ in more than a third of their cells: then it is
 * another file, or rows of several.
 */
async function changedCells(
  rows: readonly Row[],
  whole: OpenSource,
  { faulty }: Ended,
  keys: ReadonlySet<string>,
): Promise<number | undefined> {
  const wanted = new Set(rows.map(({ row }) => row));
  const found = new Map<number, readonly string[]>();
  for await (const batch of whole.rows()) {
    for (const { row, cells } of batch) if (wanted.has(row)) found.set(row, cells.map(shownText).map(foldText));
    if (found.size === wanted.size) break;
  }
  if (found.size < wanted.size) return undefined;
  const columns = columnsOf(whole);
  let [changed, alike] = [0, 0];
  for (const { row, cells } of rows) {
    const compared = columns.flatMap((name, at) => {
      if (name === undefined || faulty.get(row)?.has(name)) return [];
      const [now, before] = [cells.get(name), found.get(row)?.[at] ?? ''];
      return now === undefined || (now === '' && before === '') ? [] : [{ name, same: now === before }];
    });
    const different = compared.filter(({ same }) => !same);
    changed += different.length;
    if (different.length * 3 <= compared.length && !different.some(({ name }) => keys.has(name))) alike++;
  }
  return alike * 4 >= rows.length * 3 ? changed : undefined;
}

type Overlay = ReturnType<typeof overlayOf>;

/**
 * The corrections of a table, by the place of their column. Of several corrections of a cell the last counts, and one that names the row before one that names what the cell shows.
 * @throws RunError `usage` for a column that the table lacks.
 */
export function overlayOf(corrections: readonly Correction[], { headings }: Pick<SourceMeta, 'headings'>) {
  const index = indexHeadings(headings);
  const byRow = new Map<number, Map<number, Correction>>();
  const byText = new Map<number, Map<string, Correction>>();
  const missing = new Set<string>();
  for (const one of corrections) {
    const { column, row, from } = one;
    const positions = index.positions(column);
    if (positions.length === 0) missing.add(column);
    for (const at of positions) {
      if (row !== undefined) into(byRow, row, new Map<number, Correction>()).set(at, one);
      else if (from !== undefined) into(byText, at, new Map<string, Correction>()).set(from, one);
    }
  }
  if (missing.size > 0) {
    const faults = [...missing].map((column) => `"${column}": ${index.missing(column)}`);
    throw new RunError('usage', 'Corrections name columns that the file does not have.', faults);
  }
  const columns = new Set([...byText.keys(), ...[...byRow.values()].flatMap((cells) => [...cells.keys()])]);
  const met = new Set<Correction>();
  return {
    /** What is to stand in a cell that shows `shown`; undefined where it stays. */
    at(row: number, column: number, shown: string): string | undefined {
      const [own, alike] = [byRow.get(row)?.get(column), byText.get(column)?.get(shown)];
      if (own) met.add(own);
      if (alike) met.add(alike);
      return (own ?? alike)?.value;
    },
    /** Those that no cell has met that was asked for. */
    unmet: () =>
      [...new Set([...byRow.values(), ...byText.values()].flatMap((found) => [...found.values()]))].filter(
        (one) => !met.has(one),
      ),
    /** 0-based positions of the columns that have corrections. */
    columns: [...columns].sort((a, b) => a - b),
  };
}

function into<K, V>(map: Map<K, V>, key: K, fresh: V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  map.set(key, fresh);
  return fresh;
}

/**
 * The source with its corrections. Rows and their numbers stay; so does whatever is not corrected. `warn` is told of those that met
 * no cell once all rows were read.
 */
export function withCorrections(
  source: OpenSource,
  corrections: readonly Correction[] = [],
  warn: (text: string) => void = () => undefined,
): OpenSource {
  if (corrections.length === 0) return source;
  const overlay = overlayOf(corrections, source.meta);
  async function* rows() {
    for await (const batch of source.rows()) yield batch.map((row) => correctedRow(row, overlay, source.meta));
    const unmet = overlay.unmet();
    if (unmet.length > 0) warn(unmetText(unmet));
  }
  return { meta: source.meta, rows };
}

/** Corrections that a warning names. */
const NAMED = 5;

function unmetText(unmet: readonly Correction[]): string {
  const named = unmet
    .slice(0, NAMED)
    .map(({ column, row, from }) => `"${column}" ${row === undefined ? `where it shows "${from}"` : `in row ${row}`}`);
  const more = unmet.length > NAMED ? `, and ${unmet.length - NAMED} more` : '';
  const what = unmet.length === 1 ? 'One correction' : `${unmet.length} corrections`;
  return `${what} met no cell of the table, and changed nothing: ${named.join(', ')}${more}. Look at the rows as the run shows them, and correct what is there.`;
}

function correctedRow(row: SheetRow, overlay: Overlay, { headings }: SourceMeta): SheetRow {
  const values = new Map<number, string>();
  for (const at of overlay.columns) {
    const value = overlay.at(row.row, at, shownText(row.cells[at]));
    if (value !== undefined) values.set(at, value);
  }
  if (values.size === 0) return row;
  const cells = row.cells.map((cell, at) => values.get(at) ?? cell);
  return {
    ...row,
    cells,
    // As in a spreadsheet, where a row without a value is none.
    ...(cells.every(isBlank) && { noRecord: { like: 'nothing', doubtful: false } as const }),
    ...(row.faults && { faults: row.faults.filter(({ index }) => index === undefined || !values.has(index)) }),
    ...(row.escaped && { escaped: row.escaped.filter((at) => !values.has(at)) }),
    ...(row.line !== undefined && { line: correctedLine(row, row.line, values, headings) }),
  };
}

/** A line of NDJSON keeps its other members as they stand. One that was refused for its form stays whole. */
function correctedLine(
  { faults }: SheetRow,
  line: string,
  values: ReadonlyMap<number, string>,
  headings: readonly string[],
): string {
  if (faults?.some(({ code }) => code === 'ragged_row')) return line;
  const named = new Map([...values].map(([at, value]) => [headings[at] ?? '', value]));
  const kept = jsonMembers(line).filter(({ name }) => !named.has(name));
  const set = [...named].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${[...kept.map(({ text }) => text), ...set].join(',')}}`;
}
