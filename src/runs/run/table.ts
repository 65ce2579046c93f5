import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileBytes, headBytes, isGzip } from '../../files/bytes.js';
import { DEFAULT_LIMITS } from '../../files/limits.js';
import { jsonMembers } from '../../files/ndjson.js';
import { openSource } from '../../files/open.js';
import type { Correction } from '../../model/correction.js';
import { usageError } from '../../model/error.js';
import type { Issue } from '../../model/issue.js';
import { type RowsJob, targetsOf } from '../../model/job.js';
import type { Outcome } from '../../model/outcome.js';
import { type Cell, displayText, isBlank, type SheetRow } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { foldText } from '../../model/value.js';
import { type DecimalSurvey, showsAmounts } from '../../pipeline/map/amounts.js';
import { savedForm } from '../../pipeline/map/cell-text.js';
import { holdsCorrections, indexHeadings, isOwnHeading } from '../../pipeline/map/headings.js';
import { keyParts } from '../../pipeline/match/key.js';
import { type REJECTED_COLUMNS, rejectedLine } from '../../report/report-lines.js';
import { resultOf } from '../../report/results.js';
import { READ_AS, RunStore } from '../../store/run-store.js';
import { columnNames } from '../../suggest/column-names.js';
import { type RunFolder, runFolder } from './layout.js';
import { type RunInfo, readRunInfo, runIds } from './list.js';
import { rowFinder, withOriginalTexts } from './original-texts.js';

export { columnNames };

/** SHA-256 of the file of a run; of a packed one that of what is packed: both hold the same rows. */
export async function contentHash(run: {
  readonly folder: RunFolder;
  readonly request: { readonly source: string; readonly sha256: string };
}): Promise<string> {
  const { source, sha256 } = run.request;
  const path = join(run.folder.dir, 'work', source);
  if (!isGzip(await headBytes(path, 3))) return sha256;
  const hash = createHash('sha256');
  try {
    for await (const chunk of fileBytes(path, true, DEFAULT_LIMITS)) hash.update(chunk);
  } catch {
    // Whoever reads its rows says what is wrong with it.
    return sha256;
  }
  return hash.digest('hex');
}

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

/** What the columns of a table are called, as jobs may name them, however they are spelled; undefined for those of ours. */
const columnsOf = ({ meta: { headings } }: OpenSource): (string | undefined)[] =>
  columnNames(headings).map((name, at) =>
    name === undefined || isOwnHeading(headings[at] ?? '') ? undefined : foldText(name),
  );

/** How a run read its file: what no later run of it, or of rows that come back from it, decides anew. */
export interface ReadAs {
  /** Of corrected rows: the run that handed them back. */
  readonly handedBackBy?: string;
  /** Where it is not the one that the file shows by itself. */
  readonly encoding?: string;
  readonly decimal?: DecimalSurvey;
}

export const readAsOf = (store: RunStore): ReadAs => (store.getValue(READ_AS) ?? {}) as ReadAs;

/** Runs of the job that are looked through for the one that handed rows back, and rows that it must know. */
const MAX_RUNS = 200;
const SAMPLE_ROWS = 50;

/**
 * Rows that an earlier run of this data folder handed back are read as that run read its file: alone they show less, and what
 * `1,250` means, or a letter beyond ASCII, must not change between two readings. What that run decided is kept in the store.
 */
export async function readAsEarlier(
  home: string,
  run: RowsRunInfo,
  own: OpenSource,
  store: RunStore,
): Promise<OpenSource> {
  if (run.jsonRows || !holdsCorrections(own.meta.headings)) return own;
  const kept = store.getValue(READ_AS) as ReadAs | undefined;
  const { handedBackBy, ...more } = kept ?? (await findEarlierRun(home, run, own));
  if (handedBackBy === undefined)
    return { ...own, meta: { ...own.meta, warnings: [...own.meta.warnings, EARLIER_NOT_FOUND] } };
  store.setValue(READ_AS, { handedBackBy, ...more });
  store.write();
  const source = await inEncoding(home, run, own, more.encoding);
  const evidence = `Amounts and letters are read as the run ${handedBackBy} read them, which handed these rows back.`;
  return { ...source, meta: { ...source.meta, evidence: [...source.meta.evidence, evidence] } };
}

const EARLIER_NOT_FOUND =
  'The file has the columns of rejected rows, and no one run of this data folder handed them back: what their amounts and letters mean is read from them alone. Look at a dry run before they are written.';

/** How the file of a run is opened, so that it shows what the run read. */
export function sourceOptionsAsRead(job: RowsJob, store: RunStore | undefined): SourceOptions {
  const { encoding } = store ? readAsOf(store) : {};
  return { ...sourceOptions(job), ...(encoding !== undefined && { encoding }) };
}

/** A run of rows, and what it was asked. */
interface RowsRunInfo extends Pick<RunInfo, 'kind' | 'jsonRows'> {
  readonly run: string;
  readonly source: string;
  readonly job: { readonly name: string; readonly job: RowsJob };
}

/** The file of a run in an encoding that it does not show by itself. */
async function inEncoding(
  home: string,
  { run, source, job: { job } }: RowsRunInfo,
  own: OpenSource,
  encoding: string | undefined,
): Promise<OpenSource> {
  if (encoding === undefined) return own;
  return openSource(join(runFolder(home, run).dir, 'work', source), { ...sourceOptions(job), encoding });
}

/** The encoding of an earlier file, for rows of it whose own is another one and can only be guessed. */
function earlierEncoding({ source }: RowsJob, own: OpenSource, earlier: OpenSource): string | undefined {
  const { encoding } = earlier.meta;
  if (source.encoding !== 'auto' || encoding === own.meta.encoding) return undefined;
  return isCodePage(own.meta.encoding) && isCodePage(encoding) ? encoding : undefined;
}

/** One of those that can only be guessed. */
const isCodePage = (encoding: string | null): encoding is string => encoding !== null && !encoding.startsWith('utf-');

/** The file of a run that has ended, as it was read then; undefined where it cannot be read any more. */
async function sourceOf(home: string, run: string): Promise<OpenSource | undefined> {
  const folder = runFolder(home, run);
  const { source = '', job, corrections } = readRunInfo(folder);
  if (!job || !('match' in job.job)) return undefined;
  const rowsJob = job.job;
  const asked = queryStore(folder, (store) => ({ options: sourceOptionsAsRead(rowsJob, store), ...readAsOf(store) }));
  const opened = asked && (await openSource(join(folder.dir, 'work', source), asked.options).catch(() => undefined));
  return opened && withHandedBackTexts(home, withCorrections(opened, corrections), asked.handedBackBy);
}

/** Corrected rows with the texts that the run which handed them back had read, where these were lost on the way. */
export async function withHandedBackTexts(
  home: string,
  source: OpenSource,
  by: string | undefined,
  warn: (text: string) => void = () => undefined,
): Promise<OpenSource> {
  const { headings, format } = source.meta;
  const earlier = by === undefined || format === 'ndjson' ? undefined : await sourceOf(home, by);
  if (by === undefined || !earlier) return source;
  const rowAt = headings.map(foldText).lastIndexOf('_row');
  const before = columnsOf(earlier);
  const { positions } = indexHeadings(earlier.meta.headings);
  return withOriginalTexts(
    source,
    {
      source: earlier,
      numberOf: ({ cells }) => rowNumber(displayText(cells[rowAt])),
      columns: columnsOf(source).map((name) => (name === undefined ? -1 : before.indexOf(name))),
      faulty(rows) {
        const outcomes = queryStore(runFolder(home, by), (store) => outcomesOf(store, rows)) ?? [];
        const stood = ({ column = '' }: Issue) => positions(column);
        return new Map(outcomes.map(({ ref, issues }) => [ref.row, new Set(issues.flatMap(stood))]));
      },
    },
    warn,
  );
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
  readonly cells: readonly Cell[];
}

/** How the latest run of the same job read its file that ended these rows so, under these keys; empty where there is none. */
async function findEarlierRun(home: string, info: RowsRunInfo, own: OpenSource): Promise<ReadAs> {
  const { job: jobSpec } = info.job;
  const keys = keyColumns(jobSpec);
  const rows = await firstRows(own, keys);
  if (rows.length === 0) return {};
  let searched = 0;
  for (const by of await runIds(home)) {
    const folder = runFolder(home, by);
    const { job, kind } = by < info.run ? readRunInfo(folder) : {};
    if (job?.name !== info.job.name || kind !== info.kind) continue;
    const ended = queryStore(folder, (store) => matchingOutcomes(store, rows));
    const source = ended && (await sourceOf(home, by));
    if (source) {
      const encoding = earlierEncoding(jobSpec, own, source);
      // Their letters are known only now.
      const sameRows = await firstRows(await inEncoding(home, info, own, encoding), keys);
      if (await keysMatch(ended, sameRows, jobSpec.match.key.length, source))
        return { handedBackBy: by, ...(encoding && { encoding }), ...(ended.decimal && { decimal: ended.decimal }) };
    }
    if (++searched === MAX_RUNS) break;
  }
  return {};
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
      const key = cells.filter((_, at) => keys.has(columns[at] ?? '')).map((cell) => keyForm(displayText(cell)));
      found.push({ row, outcome: ours('_outcome'), message: ours('_message'), key, cells });
      if (found.length >= SAMPLE_ROWS) return found;
    }
  }
  return found;
}

async function originalRows(source: OpenSource, rows: readonly ReturnedRow[]): Promise<ReadonlyMap<number, SheetRow>> {
  const originals = rowFinder(source);
  const found = await originals.find(new Set(rows.map(({ row }) => row)));
  await originals.close();
  return found;
}

/** Whether half of what stood in a row stands in it still, but for what was at fault. Dates come back in forms of their own. */
function isAlike(cells: readonly Cell[], { issues }: Outcome, original: SheetRow | undefined): boolean {
  const faulty = issues.map(({ value = '' }) => keyForm(value));
  const texts = cells.map((cell) => keyForm(displayText(cell)));
  const dates = cells.filter((cell) => typeof cell === 'object' && cell.t === 'd').length;
  const before = original?.cells
    .map((cell) => keyForm(displayText(cell)))
    .filter((text) => text && !faulty.includes(text));
  return !before || (before.filter((text) => texts.includes(text)).length + dates) * 2 >= before.length;
}

/** Keys are compared as a spreadsheet program may have saved them. */
const keyForm = (text: string): string => savedForm(foldText(text));

/** The number in a cell of `_row`; undefined of a row that somebody added. */
function rowNumber(text: string): number | undefined {
  const row = Number(text);
  return Number.isSafeInteger(row) && row > 0 ? row : undefined;
}

/** How a run ended rows. */
interface EndedRows {
  readonly outcomes: ReadonlyMap<number, Outcome>;
  /** It has not ended all of its rows. */
  readonly isOpen: boolean;
  /** What its file showed of the decimal sign, if anything. */
  readonly decimal: DecimalSurvey | undefined;
}

const outcomesOf = (store: RunStore, rows: readonly number[]): Outcome[] =>
  [...store.rows.rows(`row in (${rows.join(',')})`)].flatMap((batch) => batch.map((one) => resultOf(one, '').outcome));

/** Undefined where it ended one in another way than its cell says. A person may have emptied our cells. */
function matchingOutcomes(store: RunStore, rows: readonly ReturnedRow[]): EndedRows | undefined {
  const ended = outcomesOf(
    store,
    rows.map(({ row }) => row),
  ).map((one) => [one.ref.row, one] as const);
  const outcomes = new Map(ended);
  const differ = rows.some(
    ({ row, outcome }) => outcome !== '' && outcome !== (outcomes.get(row)?.kind ?? 'not_attempted'),
  );
  if (differ) return undefined;
  const { decimal } = readAsOf(store);
  const isOpen = store.getValue('finished') === undefined;
  return { outcomes, isOpen, decimal: decimal && showsAmounts(decimal) ? decimal : undefined };
}

/**
 * Whether at least three quarters of the rows have the keys under which they ended, or are among those that a run has not ended; one
 * without a key is known by what was said of it and what else it holds.
 */
async function keysMatch(
  { outcomes, isOpen }: EndedRows,
  rows: readonly ReturnedRow[],
  fields: number,
  source: OpenSource,
): Promise<boolean> {
  const told = new Map<ReturnedRow, Outcome>();
  const known = rows.filter((one) => {
    const outcome = outcomes.get(one.row);
    const parts = outcome?.key ? (keyParts(outcome.key, fields) ?? []).map(keyForm) : [];
    if (parts.length > 0 && one.key.length > 0) return one.key.some((part) => parts.includes(part));
    if (!outcome || outcome.kind === 'not_attempted') return isOpen;
    if (one.message === rejectedLine(outcome)[3]) told.set(one, outcome);
    return false;
  });
  const originals = await originalRows(source, [...told.keys()]);
  const alike = [...told].filter(([{ row, cells }, outcome]) => isAlike(cells, outcome, originals.get(row)));
  return (known.length + alike.length) * 4 >= rows.length * 3;
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
  /** By the place of the column, with the row or with what the cell shows, without the blanks around it. */
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
      wanted.set(row === undefined ? `${at} "${from?.trim()}` : `${at} ${row}`, one);
    }
  }
  if (missing.size > 0) {
    const faults = [...missing].map((column) => `\`${column}\`: ${index.missingHint(column)}`);
    throw usageError('Corrections name columns that the file does not have.', faults);
  }
  const used = new Set<Correction>();
  return {
    /** What is to stand in a cell that shows `shown`; undefined where it stays. */
    at(row: number, column: number, shown: string): string | undefined {
      const [own, alike] = [wanted.get(`${column} ${row}`), wanted.get(`${column} "${shown.trim()}`)];
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
