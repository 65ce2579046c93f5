import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../files/make-folder.js';
import { writeSafely } from '../files/safe-write.js';
import { RunError } from '../model/error.js';
import { GOOD_OUTCOMES, type OutcomeKind } from '../model/outcome.js';
import type { OpenSource } from '../model/source.js';
import { visibleJson } from '../model/visible.js';
import { reached } from '../trace/milestones.js';
import { type BeforeLog, writeBefore } from './before.js';
import { type AddLines, writeTable } from './csv-table.js';
import { reportPage } from './html.js';
import {
  assertComplete,
  indexOutcomes,
  type JournalIndex,
  PER_READ,
  readResults,
  settleRest,
} from './outcome-index.js';
import {
  type Comparison,
  createComparison,
  DIFFERENCE_COLUMNS,
  differenceLine,
  foundIn,
  lastNights,
  nightOf,
  ORPHAN_COLUMNS,
  orphanLine,
  type ReconcileInput,
} from './reconcile/compare.js';
import type { ReconcilePage } from './reconcile/page.js';
import { type RejectedOptions, type RejectedRow, rejectedName, writeRejected } from './rejected.js';
import { FAULT_COLUMNS, faultLines, PLAN_COLUMNS, planLines, RESULT_COLUMNS, resultLine } from './report-lines.js';
import type { RowIndex } from './row-index.js';
import { type RunStatus, rowsForPerson, type Summary, totalRows } from './summary.js';
import { createLosses, createTally, type Losses, type Tally } from './tally.js';

/** What the caller knows of a run; counts, faults and the list of reports are computed here. */
export type SummaryHead = Omit<Summary, 'status' | 'rows' | 'top_faults' | 'reports'> & {
  /** How a run ended that did not finish, or `partial` where more than its rows needs a person; else the outcomes decide. */
  readonly status?: Extract<RunStatus, 'braked' | 'failed' | 'interrupted' | 'partial'>;
};

export interface ReportInput {
  /** The folder of the reports; made if it is missing. Reports of an earlier attempt are replaced or removed. */
  readonly dir: string;
  /** The run's journal; closed or flushed. */
  readonly journal: string;
  /** The run's log of records before their update, one `BeforeEntry` a line; need not exist. */
  readonly before?: string;
  /** The private copy of the input, read again for the rejected rows; absent where the run never got to open it. */
  readonly source?: OpenSource;
  /** How the rejected rows come back. */
  readonly rejected?: Omit<RejectedOptions, 'meta'>;
  /**
   * Why rows may lack an outcome, in one sentence, for a run that stopped early. They are then `not_attempted`, or
   * `unknown` where an intent was recorded. Without it, a row without an outcome is an error.
   */
  readonly stopped?: string;
  /** Reconciliations: what adds differences.csv, orphans.csv and reconcile.xlsx to the reports. */
  readonly reconcile?: ReconcileInput;
  readonly summary: SummaryHead;
}

/** The report folder as messages speak of it. */
export const REPORTS = { what: 'report folder', namedBy: '--report' } as const;

/** Outcomes of rows whose record a run has, or may have, changed. */
const WRITTEN: ReadonlySet<string> = new Set<OutcomeKind>(['updated', 'unknown']);

const ALL_REPORTS = [
  'results.csv',
  'rejected.csv',
  'rejected.xlsx',
  'rejected.ndjson',
  'faults.csv',
  'plan.csv',
  'differences.csv',
  'orphans.csv',
  'before.ndjson',
  'reconcile.xlsx',
  'report.html',
  'summary.json',
];

const UNFINISHED = new RegExp(
  `^\\.(${ALL_REPORTS.map((name) => name.replace('.', '\\.')).join('|')})\\.[0-9a-f]{12}\\.tmp$`,
);

/**
 * Writes every report of contract section 6, in input order, from the journal and the input; summary.json last, so its
 * presence means that all is there. Memory does not grow with what the rows hold (13 bytes a row for their places, and
 * the numbers of those that differ).
 * Throws a `RunError` when a row has two outcomes or none, or a report cannot be written. Can be repeated.
 */
export async function writeReports(input: ReportInput): Promise<Summary> {
  const { dir, journal, source } = input;
  await makeFolder(dir, REPORTS);
  await rm(join(dir, 'summary.json'), { force: true });

  const index = await indexOutcomes(journal);
  const rows = input.stopped !== undefined && source ? await settleRest(index, source) : input.summary.source?.rows;
  assertComplete(index, rows ?? index.size, journal);

  const reports: string[] = [];
  const warnings = [...input.summary.warnings];
  const { reconcile } = input;
  const comparison = reconcile && createComparison(reconcile.columnOf);
  const file = await open(journal, 'r');
  try {
    const losses = createLosses();
    const tally = await writeTables(dir, file, input, index, comparison, losses);
    warnings.unshift(...losses.told(input.summary.dry_run));
    reports.push('results.csv');
    if (source && rowsForPerson(tally.counts) > 0) {
      const name = rejectedName(source.meta.format);
      const all = () => rejectedRows(file, input, source, index);
      const warning = await writeRejected(join(dir, name), all, { meta: source.meta, ...input.rejected });
      if (warning) warnings.push(warning);
      reports.push(name);
    }
    reports.push('faults.csv', 'plan.csv');
    if (reconcile) comparison?.settle(reconcile.facts.differences);
    const orphans = reconcile && comparison && (await writeOrphans(dir, reconcile, comparison));
    if (orphans) reports.push('differences.csv', 'orphans.csv');
    if ((await writeBefore(join(dir, 'before.ndjson'), ...beforeLogs(input, index, orphans))) > 0) {
      reports.push('before.ndjson');
    }
    if (reconcile) reports.push('reconcile.xlsx');
    reports.push('report.html', 'summary.json');

    const forPerson = rowsForPerson(tally.counts) + (comparison?.compared.orphans_for_person ?? 0);
    const summary: Summary = {
      ...input.summary,
      ...(input.summary.source && rows !== undefined ? { source: { ...input.summary.source, rows } } : {}),
      status: input.summary.status ?? (forPerson > 0 ? 'partial' : 'succeeded'),
      ...(reconcile && comparison ? { reconcile: { ...reconcile.facts, compared: comparison.compared } } : {}),
      rows: { ...tally.counts, total: totalRows(tally.counts) },
      ...(losses.rows ? { losses: losses.rows } : {}),
      warnings,
      top_faults: tally.topFaults,
      reports,
    };
    let found: ReconcilePage | undefined;
    if (reconcile && comparison) {
      const nights = lastNights(reconcile.history, nightOf(summary, reconcile.facts));
      const results = { file, journal, index, stopped: input.stopped ?? '' };
      const { writeBook } = await import('./reconcile/workbook.js');
      await writeBook(join(dir, 'reconcile.xlsx'), summary, foundIn(results, reconcile, comparison));
      found = { nights, samples: comparison.samples, columnOf: reconcile.columnOf };
    }
    await writeSafely(join(dir, 'report.html'), (write) => write(reportPage(summary, tally.samples, found)));
    await removeStale(dir, reports, input.before);
    await writeSafely(join(dir, 'summary.json'), (write) =>
      write(`${visibleJson(JSON.stringify(summary, null, 2))}\n`),
    );
    reached('reports-written');
    return summary;
  } finally {
    await file.close();
  }
}

function beforeLogs(
  { before, reconcile }: ReportInput,
  index: JournalIndex,
  orphans: ReadonlySet<number> | undefined,
): BeforeLog[] {
  const logs: BeforeLog[] = [];
  if (before !== undefined) logs.push({ path: before, by: 'row', wanted: (row) => WRITTEN.has(index.get(row).state) });
  if (reconcile?.orphansBefore !== undefined && orphans)
    logs.push({ path: reconcile.orphansBefore, by: 'id', wanted: (id) => orphans.has(id) });
  return logs;
}

/** orphans.csv; the orphans are looked at for the page on the way. Returns the ids of those that were, or may have been, changed. */
async function writeOrphans(dir: string, input: ReconcileInput, comparison: Comparison): Promise<ReadonlySet<number>> {
  const written = new Set<number>();
  await writeTable(join(dir, 'orphans.csv'), ORPHAN_COLUMNS, async (add) => {
    for await (const batch of input.orphans()) {
      for (const orphan of batch) {
        comparison.addOrphan(orphan);
        if (WRITTEN.has(orphan.outcome ?? '')) written.add(orphan.id);
      }
      await add(batch.map(orphanLine));
    }
  });
  return written;
}

/** results.csv, faults.csv, plan.csv and differences.csv in one pass over the rows, which is also when they are counted. */
async function writeTables(
  dir: string,
  file: FileHandle,
  input: ReportInput,
  index: JournalIndex,
  comparison: Comparison | undefined,
  losses: Losses,
): Promise<Tally> {
  const tally = createTally();
  const fill = async (results: AddLines, faults: AddLines, plan: AddLines, differences?: AddLines) => {
    for (const places of index.batches(PER_READ)) {
      const batch = await readResults(file, input.journal, places, input.stopped ?? '', index.ids, index.late);
      for (const { outcome, diff } of batch) {
        tally.add(outcome);
        losses.add(outcome, diff);
      }
      await results(batch.map(({ outcome }) => resultLine(outcome)));
      await faults(batch.flatMap(({ outcome }) => faultLines(outcome)));
      await plan(batch.flatMap(({ outcome, diff }) => planLines(outcome, diff)));
      if (comparison) await differences?.(batch.flatMap((row) => comparison.add(row).map(differenceLine)));
    }
  };
  await writeTable(join(dir, 'results.csv'), RESULT_COLUMNS, (results) =>
    writeTable(join(dir, 'faults.csv'), FAULT_COLUMNS, (faults) =>
      writeTable(join(dir, 'plan.csv'), PLAN_COLUMNS, (plan) =>
        comparison
          ? writeTable(join(dir, 'differences.csv'), DIFFERENCE_COLUMNS, (lines) => fill(results, faults, plan, lines))
          : fill(results, faults, plan),
      ),
    ),
  );
  return tally;
}

/** The rows of the input that need a person, with their outcomes, in input order. Stops reading behind the last one. */
async function* rejectedRows(
  file: FileHandle,
  input: ReportInput,
  source: OpenSource,
  index: RowIndex,
): AsyncGenerator<readonly RejectedRow[]> {
  let left = 0;
  for (const places of index.batches(PER_READ)) for (const { state } of places) if (isRejected(state)) left++;
  for await (const batch of source.rows()) {
    const wanted = batch.filter(({ row }) => isRejected(stateOf(index, row, input.journal)));
    if (wanted.length === 0) continue;
    const places = wanted.map(({ row }) => index.get(row));
    const results = await readResults(file, input.journal, places, input.stopped ?? '');
    yield wanted.flatMap((row, at) => {
      const outcome = results[at]?.outcome;
      return outcome ? [{ row, outcome }] : [];
    });
    left -= wanted.length;
    if (left === 0) return;
  }
  throw new RunError(
    'failed',
    `${left} rows have an outcome in ${input.journal} and are not in the file that was read. ` +
      'The file is not the one of this run; restore it and write the reports again.',
  );
}

function stateOf(index: RowIndex, row: number, journal: string): OutcomeKind {
  const { state } = index.get(row);
  if (state !== 'none' && state !== 'open') return state;
  throw new RunError(
    'failed',
    `Row ${row} of the file has no outcome in ${journal}. The file is not the one of this run.`,
  );
}

function isRejected(state: string): boolean {
  return !GOOD_OUTCOMES.has(state as OutcomeKind);
}

async function removeStale(dir: string, reports: readonly string[], before: string | undefined): Promise<void> {
  const kept = before === undefined ? undefined : resolve(before);
  for (const name of ALL_REPORTS) {
    const path = join(dir, name);
    if (!reports.includes(name) && resolve(path) !== kept) await rm(path, { force: true });
  }
  // What a process that was killed while it wrote reports has left.
  for (const name of await readdir(dir)) {
    if (UNFINISHED.test(name)) await rm(join(dir, name), { force: true });
  }
}
