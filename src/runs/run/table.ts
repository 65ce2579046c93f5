import { join } from 'node:path';
import { jsonMembers } from '../../files/ndjson.js';
import { openSource } from '../../files/open.js';
import type { Correction } from '../../model/correction.js';
import { errorText, RunError } from '../../model/error.js';
import { type RowsJob, targetsOf } from '../../model/job.js';
import type { Outcome } from '../../model/outcome.js';
import { displayText, isBlank, type SheetRow } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { foldText } from '../../model/value.js';
import { holdsCorrections, indexHeadings, isOwnHeading } from '../../pipeline/map/headings.js';
import { keyParts } from '../../pipeline/match/key.js';
import { type REJECTED_COLUMNS, rejectedLine } from '../../report/report-lines.js';
import { resultOf } from '../../report/results.js';
import { RunStore } from '../../store/run-store.js';
import { columnNames } from '../../suggest/column-names.js';
import { type RunFolder, runFolder } from './layout.js';
import { type RunInfo, readRunInfo, runIds } from './list.js';

export { columnNames };

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
  /** Its rows came back corrected: the run that handed them back, and what shows how the file that they are of is written. */
  readonly earlier?: { readonly run: string; readonly formats: readonly OpenSource[] };
}

type EarlierTable = Required<Table>;

/** What shows how amounts are written, in the order in which it counts: a table, before it those that its rows came back of. */
export const formatSourcesOf = (source: OpenSource, earlier: Table['earlier']): readonly OpenSource[] => [
  ...(earlier?.formats ?? []).map((formats) => inColumnsOf(source, formats)),
  source,
];

/** The rows of a table with the columns of another one. */
function inColumnsOf(source: OpenSource, formats: OpenSource): OpenSource {
  // People move columns, and add their own.
  const names = columnsOf(formats);
  const places = columnsOf(source).map((name) => (name === undefined ? -1 : names.indexOf(name)));
  async function* rows() {
    for await (const batch of formats.rows())
      yield batch.map(({ row, cells, noRecord, faults }) => ({
        ...{ row, cells: places.map((at) => cells[at] ?? '') },
        ...(noRecord && { noRecord }),
        ...(faults && { faults }),
      }));
  }
  return { meta: { ...formats.meta, headings: source.meta.headings }, rows };
}

/** What the columns of a table are called, as jobs may name them, however they are spelled; undefined for those of ours. */
const columnsOf = ({ meta: { headings } }: OpenSource): (string | undefined)[] =>
  columnNames(headings).map((name, at) =>
    name === undefined || isOwnHeading(headings[at] ?? '') ? undefined : foldText(name),
  );

/** Under this name stands in the store of a run of corrected rows which run handed them back. */
export const HANDED_BACK_BY = 'handed_back_by';
/** Under this name stands in the store in which encoding the file was read, where that is of the earlier run. */
const READ_ENCODING = 'read_in';
/** Runs of the job that are looked through for the one that handed rows back, and rows that it must know. */
const MAX_RUNS = 200;
const SAMPLE_ROWS = 50;

/**
 * Rows that an earlier run of this data folder handed back are read as that run read its file: alone they show less, and what
 * `1,250` means, or a letter beyond ASCII, must not change between two readings. Which run that was is kept in the store.
 * @throws RunError `failed` where the run that is kept there cannot be read any more.
 */
export async function withEarlierTable(
  home: string,
  run: RowsRunInfo,
  own: OpenSource,
  store: RunStore,
): Promise<Table> {
  if (run.jsonRows || !holdsCorrections(own.meta.headings)) return { source: own };
  const kept = store.getValue(HANDED_BACK_BY);
  const table =
    typeof kept === 'string'
      ? await withEarlier(home, run, own, kept).catch((error: unknown) => {
          throw notReadable(home, run.run, kept, error);
        })
      : await findEarlierRun(home, run, own);
  if (!table) return { source: { ...own, meta: { ...own.meta, warnings: [...own.meta.warnings, EARLIER_NOT_FOUND] } } };
  store.setValue(HANDED_BACK_BY, table.earlier.run);
  const { encoding } = table.source.meta;
  if (encoding !== own.meta.encoding) store.setValue(READ_ENCODING, encoding);
  return table;
}

const EARLIER_NOT_FOUND =
  'The file has the columns of rejected rows, and no one run of this data folder handed them back: what their amounts and letters mean is read from them alone. Look at a dry run before they are written.';

function notReadable(home: string, run: string, by: string, error: unknown): RunError {
  const { dir } = runFolder(home, by);
  return new RunError(
    'failed',
    `The run ${run} cannot go on: it reads its amounts and letters as the run ${by} read them, and the file of that run cannot be read any more. Nothing was sent. Put ${dir} back from a backup and resume it again. Without one, import the file anew where its rows have a key: those that are in already are left alone.`,
    [errorText(error)],
    { cause: error },
  );
}

/** How the file of a run is opened, so that it shows what the run read. */
export function sourceOptionsAsRead(job: RowsJob, store: RunStore | undefined): SourceOptions {
  const encoding = store?.getValue(READ_ENCODING);
  return { ...sourceOptions(job), ...(typeof encoding === 'string' && { encoding }) };
}

/** A run of rows, and what it was asked. */
interface RowsRunInfo extends Pick<RunInfo, 'kind' | 'jsonRows'> {
  readonly run: string;
  readonly source: string;
  readonly job: { readonly name: string; readonly job: RowsJob };
}

/** The table as it is read where a run handed its rows back. Rejects where that one cannot be read any more. */
async function withEarlier(
  home: string,
  { run, source: name, job: { job } }: RowsRunInfo,
  own: OpenSource,
  by: string,
): Promise<EarlierTable> {
  const earlier = await tableOf(home, by);
  const { encoding } = earlier.source.meta;
  const isGuessed = job.source.encoding === 'auto' && isCodePage(own.meta.encoding) && isCodePage(encoding);
  const source =
    isGuessed && encoding !== own.meta.encoding
      ? await openSource(join(runFolder(home, run).dir, 'work', name), { ...sourceOptions(job), encoding })
      : own;
  const evidence = `Amounts and letters are read as the run ${by} read them, which handed these rows back.`;
  const meta = { ...source.meta, evidence: [...source.meta.evidence, evidence] };
  const formats = formatSourcesOf(earlier.source, earlier.earlier);
  return { source: { ...source, meta }, earlier: { run: by, formats } };
}

/** One of those that can only be guessed. */
const isCodePage = (encoding: string | null): encoding is string => encoding !== null && !encoding.startsWith('utf-');

/** The table of a run that has ended, as it was read then. Rejects where it cannot be read any more. */
export async function tableOf(home: string, run: string): Promise<Table> {
  const folder = runFolder(home, run);
  const { source = '', job } = readRunInfo(folder);
  if (!job || !('match' in job.job)) throw new RunError('failed', `The run ${run} had no file.`);
  const info = { run, source, job: { name: job.name, job: job.job } };
  const own = await openSource(join(folder.dir, 'work', source), sourceOptions(job.job));
  const before = queryStore(folder, (store) => store.getValue(HANDED_BACK_BY) ?? null);
  if (before === undefined) throw new RunError('failed', `What became of the rows of the run ${run} cannot be read.`);
  return typeof before === 'string' ? withEarlier(home, info, own, before) : { source: own };
}

/** Asks the store of a run something that may be at work; undefined where there is none that can be read. */
export function queryStore<T>({ store }: RunFolder, question: (store: RunStore) => T): T | undefined {
  try {
    return RunStore.query(store, question, RunStore.openReadOnly);
  } catch {
    return undefined;
  }
}

interface ReturnedRow {
  readonly row: number;
  readonly outcome: string;
  readonly message: string;
  /** What stands in the columns that the key is mapped from. */
  readonly key: readonly string[];
}

/** The latest run of the same job that ended these rows so, under these keys. */
async function findEarlierRun(home: string, info: RowsRunInfo, own: OpenSource): Promise<EarlierTable | undefined> {
  const { job: jobSpec } = info.job;
  const keys = keyColumns(jobSpec);
  const rows = await firstRows(own, keys);
  if (rows.length === 0) return undefined;
  let searched = 0;
  for (const by of await runIds(home)) {
    const folder = runFolder(home, by);
    const { job, kind } = by < info.run ? readRunInfo(folder) : {};
    if (job?.name !== info.job.name || kind !== info.kind) continue;
    const ended = queryStore(folder, (store) => matchingOutcomes(store, rows));
    const table = ended && (await withEarlier(home, info, own, by).catch(() => undefined));
    // Their letters are known only now.
    if (ended && table && keysMatch(ended, await firstRows(table.source, keys), jobSpec.match.key.length)) return table;
    if (++searched === MAX_RUNS) break;
  }
  return undefined;
}

async function firstRows(source: OpenSource, keys: ReadonlySet<string>): Promise<ReturnedRow[]> {
  const own = source.meta.headings.map(foldText);
  const columns = columnsOf(source);
  const found: ReturnedRow[] = [];
  for await (const batch of source.rows()) {
    for (const { cells } of batch) {
      const ours = (name: (typeof REJECTED_COLUMNS)[number]) => displayText(cells[own.lastIndexOf(name)]).trim();
      const row = rowNumber(ours('_row'));
      if (row === undefined) continue;
      const key = cells.filter((_, at) => keys.has(columns[at] ?? '')).map((cell) => foldText(displayText(cell)));
      found.push({ row, outcome: ours('_outcome'), message: ours('_message'), key });
      if (found.length >= SAMPLE_ROWS) return found;
    }
  }
  return found;
}

/** The number in a cell of `_row`; undefined of a row that somebody added. */
export function rowNumber(text: string): number | undefined {
  const row = Number(text);
  return Number.isSafeInteger(row) && row > 0 ? row : undefined;
}

/** How a run ended rows. */
interface EndedRows {
  readonly outcomes: ReadonlyMap<number, Outcome>;
  /** It has not ended all of its rows. */
  readonly isOpen: boolean;
}

/** Undefined where it ended one in another way than its cell says. A person may have emptied our cells. */
function matchingOutcomes(store: RunStore, rows: readonly ReturnedRow[]): EndedRows | undefined {
  const outcomes = new Map<number, Outcome>();
  for (const batch of store.rows.rows(`row in (${rows.map(({ row }) => row).join(',')})`))
    for (const one of batch) outcomes.set(one.row, resultOf(one, '').outcome);
  const differ = rows.some(
    ({ row, outcome }) => outcome !== '' && outcome !== (outcomes.get(row)?.kind ?? 'not_attempted'),
  );
  return differ ? undefined : { outcomes, isOpen: store.getValue('finished') === undefined };
}

/**
 * Whether at least three quarters of the rows have the keys under which they ended, or are among those that a run has not ended; one
 * without a key is known by what was said of it.
 */
function keysMatch({ outcomes, isOpen }: EndedRows, rows: readonly ReturnedRow[], fields: number): boolean {
  const alike = rows.filter(({ row, message, key }) => {
    const outcome = outcomes.get(row);
    const parts = outcome?.key ? (keyParts(outcome.key, fields) ?? []).map(foldText) : [];
    if (parts.length > 0 && key.length > 0) return key.some((part) => parts.includes(part));
    return !outcome || outcome.kind === 'not_attempted' ? isOpen : message === rejectedLine(outcome)[3];
  });
  return alike.length * 4 >= rows.length * 3;
}

/** What the columns are called that the key is mapped from. */
function keyColumns({ columns, match }: RowsJob): ReadonlySet<string> {
  const key = new Set(match.key.map(foldText));
  const names = Object.entries(columns).flatMap(([heading, target]) =>
    targetsOf(target).some(({ field }) => key.has(foldText(field))) ? [foldText(heading)] : [],
  );
  return new Set(names);
}

type Overlay = ReturnType<typeof overlayOf>;

/**
 * The corrections of a table, by the place of their column. Of several corrections of a cell the last counts, and one that names the row before one that names what the cell shows.
 * @throws RunError `usage` for a column that the table lacks.
 */
export function overlayOf(corrections: readonly Correction[], { headings }: Pick<SourceMeta, 'headings'>) {
  const index = indexHeadings(headings);
  /** By the place of the column, with the row or with what the cell shows. */
  const wanted = new Map<string, Correction>();
  const columns = new Set<number>();
  const missing = new Set<string>();
  for (const one of corrections) {
    const { column, row, from } = one;
    const positions = index.positions(column);
    if (positions.length === 0) missing.add(column);
    if (row === undefined && from === undefined) continue;
    for (const at of positions) {
      columns.add(at);
      wanted.set(row === undefined ? `${at} "${from}` : `${at} ${row}`, one);
    }
  }
  if (missing.size > 0) {
    const faults = [...missing].map((column) => `\`${column}\`: ${index.missingHint(column)}`);
    throw new RunError('usage', 'Corrections name columns that the file does not have.', faults);
  }
  const used = new Set<Correction>();
  return {
    /** What is to stand in a cell that shows `shown`; undefined where it stays. */
    at(row: number, column: number, shown: string): string | undefined {
      const [own, alike] = [wanted.get(`${column} ${row}`), wanted.get(`${column} "${shown}`)];
      if (own) used.add(own);
      if (alike) used.add(alike);
      return (own ?? alike)?.value;
    },
    /** How many no cell has met that was asked for. */
    unused: () => new Set(wanted.values()).size - used.size,
    /** 0-based positions of the columns that have corrections. */
    columns: [...columns].sort((a, b) => a - b),
  };
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
    const unused = overlay.unused();
    if (unused > 0)
      warn(
        `Corrections that met no cell of the table, and changed nothing: ${unused}. Look at the rows as the run shows them, and correct what is there.`,
      );
  }
  return { meta: source.meta, rows };
}

function correctedRow(row: SheetRow, overlay: Overlay, { headings }: SourceMeta): SheetRow {
  const values = new Map<number, string>();
  for (const at of overlay.columns) {
    const value = overlay.at(row.row, at, displayText(row.cells[at]));
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
