import { join } from 'node:path';
import { openSource } from '../../files/open.js';
import { RunError } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import { isBlank, shownText } from '../../model/row.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import { holdsCorrections } from '../../pipeline/map/headings.js';
import { RunStore } from '../../store/run-store.js';
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
  async function* rows() {
    yield* (earlier as OpenSource).rows();
    yield* source.rows();
  }
  return { meta: source.meta, rows };
}

const KEPT = 'handed_back_by';
/** Under this name stands in the store in which encoding the file was read, where that is of the earlier run. */
const READ_IN = 'read_in';
/** Runs that are looked through for the one that handed rows back, and rows that must be known to it. */
const MOST_RUNS = 200;
const LOOKED_AT = 50;
/** Corrected rows of corrected rows of … */
const MOST_TIMES = 8;

/**
 * Rows that an earlier run of this data folder handed back are read as that run read its file: alone they show less, and what
 * `1,250` or `03/04/2025` means, or a letter beyond ASCII, must not change between two readings. Which run that was is kept in the store.
 */
export async function asHandedBack(home: string, run: Asking, own: OpenSource, store: RunStore): Promise<Table> {
  if (run.jsonRows || !holdsCorrections(own.meta.headings)) return { source: own };
  const kept = store.kept(KEPT);
  const found =
    typeof kept === 'string'
      ? { by: kept, table: await joined(home, run, own, await ifThere(tableOf(home, kept))) }
      : await findEarlier(home, run, own);
  if (!found) return { source: own };
  store.keep(KEPT, found.by);
  const { encoding } = found.table.source.meta;
  if (encoding !== own.meta.encoding) store.keep(READ_IN, encoding);
  return found.table;
}

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
  const before = look(folder, (store) => store.kept(KEPT));
  const earlier = typeof before === 'string' && times > 0 ? await ifThere(tableOf(home, before, times - 1)) : undefined;
  return { run, ...(await joined(home, asking, own, earlier)) };
}

const ifThere = (table: Promise<Earlier>): Promise<Earlier | undefined> => table.catch(() => undefined);

/** Asks the store of a run something that may be at work; undefined where there is none that can be read. */
function look<T>({ store }: RunFolder, question: (store: RunStore) => T): T | undefined {
  try {
    return RunStore.ask(store, question, RunStore.reading);
  } catch {
    return undefined;
  }
}

interface Row {
  readonly row: number;
  readonly outcome: string;
  /** As a person sees them, without our own. */
  readonly cells: readonly string[];
}

/** The latest run of the same job that has these rows, with these outcomes and headings. */
async function findEarlier(
  home: string,
  asking: Asking,
  own: OpenSource,
): Promise<{ readonly by: string; readonly table: Table } | undefined> {
  const rows = await firstRows(own);
  if (rows.length === 0) return undefined;
  const earlierRuns = (await runIds(home)).filter((id) => id < asking.run).slice(0, MOST_RUNS);
  for (const by of earlierRuns) {
    const folder = runFolder(home, by);
    const { job, kind } = askedOf(folder);
    if (job?.name !== asking.job.name || kind !== asking.kind) continue;
    if (!look(folder, (store) => endedSo(store, rows))) continue;
    const earlier = await ifThere(tableOf(home, by));
    const table = earlier && (await joined(home, asking, own, earlier));
    if (table && (await isOf(table.source, earlier.source))) return { by, table };
  }
  return undefined;
}

async function firstRows(source: OpenSource): Promise<Row[]> {
  const { headings } = source.meta;
  const [at, outcomeAt] = [headings.lastIndexOf('_row'), headings.lastIndexOf('_outcome')];
  const found: Row[] = [];
  for await (const batch of source.rows()) {
    for (const { cells } of batch) {
      const row = Number(shownText(cells[at]));
      if (!Number.isSafeInteger(row) || row < 1) continue;
      found.push({ row, outcome: shownText(cells[outcomeAt]), cells: cells.slice(0, at).map(shownText) });
      if (found.length >= LOOKED_AT) return found;
    }
  }
  return found;
}

/** Whether a run ended these rows as they say. A person may have emptied the cell. */
function endedSo({ rows: stored }: RunStore, rows: readonly Row[]): boolean {
  const kinds = new Map<number, string>();
  const list = rows.map(({ row }) => row).join(',');
  for (const batch of stored.rows(`row in (${list})`))
    for (const { row, kind } of batch) if (kind) kinds.set(row, kind);
  return rows.every(({ row, outcome }) => outcome === '' || outcome === (kinds.get(row) ?? 'not_attempted'));
}

/** Whether the first row is of that file: it has the same headings, and a cell is as it was, unless there was but one. */
async function isOf(source: OpenSource, whole: OpenSource): Promise<boolean> {
  const [first] = await firstRows(source);
  if (!first) return false;
  const { row, cells } = first;
  if (cells.some((_, at) => source.meta.headings[at] !== whole.meta.headings[at])) return false;
  for await (const batch of whole.rows()) {
    const found = batch.find((one) => one.row === row);
    if (!found) continue;
    const filled = cells.flatMap((cell, at) => (isBlank(cell) ? [] : [shownText(found.cells[at]) === cell]));
    return filled.length < 2 || filled.includes(true);
  }
  return false;
}
