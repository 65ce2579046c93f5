import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../files/atomic-write.js';
import { makeFolder } from '../files/make-folder.js';
import { visibleJson } from '../model/control-characters.js';
import { runFailure } from '../model/error.js';
import type { OpenSource } from '../model/source.js';
import type { RowResult, RowStore, RunStore } from '../store/run-store.js';
import { reached } from '../trace/milestones.js';
import { Changes, type ColumnOf } from './changes.js';
import { reportPage, verdictOf } from './html.js';
import { Comparison, differencesOf, type ReconcileInput } from './reconcile/compare.js';
import { writeWorkbook } from './reconcile/workbook.js';
import { type RejectedOptions, type RejectedRow, rejectedName, writeRejected } from './rejected.js';
import {
  csvLine,
  DIFFERENCE_COLUMNS,
  differenceLine,
  FAULT_COLUMNS,
  faultLines,
  ORPHAN_COLUMNS,
  orphanLine,
  PLAN_COLUMNS,
  planLines,
  REFERENCE_COLUMNS,
  RESULT_COLUMNS,
  referenceLine,
  resultLine,
} from './report-lines.js';
import { assertComplete, outcomesForPerson, results } from './results.js';
import {
  type NewRecord,
  REPORT_NAMES,
  type ReferenceSummary,
  type RunStatus,
  rowsForPerson,
  type Summary,
  totalRows,
} from './summary.js';
import { Losses, Tally } from './tally.js';

/** What the caller knows of a run; counts, faults and the list of reports are computed here. */
export type SummaryHead = Omit<Summary, 'status' | 'rows' | 'references' | 'top_faults' | 'reports'> & {
  /** How a run ended that did not finish, or `partial` where more than its rows needs a person; else the outcomes decide. */
  readonly status?: Extract<RunStatus, 'braked' | 'failed' | 'interrupted' | 'partial'>;
};

export interface ReportInput {
  /** The folder of the reports; made if it is missing. Reports of an earlier attempt are replaced or removed. */
  readonly dir: string;
  /** What became of the rows, and of the orphans of a reconciliation. */
  readonly store: RunStore;
  /** Adds to what is noted of the rows what stands elsewhere: the values of records that are only planned. */
  readonly addPlannedValues?: (results: Iterable<readonly RowResult[]>) => AsyncIterable<readonly RowResult[]>;
  /** The private copy of the input, read again for the rejected rows; absent where the run never got to open it. */
  readonly source?: OpenSource;
  /** How the rejected rows come back. */
  readonly rejected?: Omit<RejectedOptions, 'meta'>;
  /**
   * Why rows may lack an outcome, in one sentence, for a run that stopped early. They are then `not_attempted`, or
   * `unknown` where an intent was recorded. Without it, a row without an outcome is an error.
   */
  readonly stopReason?: string;
  /** Cells of the file were corrected: adds corrected.*, the file with them. */
  readonly corrected?: boolean;
  /** Fields go by their names without. */
  readonly columnOf?: ColumnOf;
  /** Reconciliations: what adds differences.csv, orphans.csv and reconcile.xlsx to the reports. */
  readonly reconcile?: ReconcileInput;
  /** What adds references.csv: records that were created because rows name them. */
  readonly references?: readonly ReferenceResult[];
  readonly summary: SummaryHead;
  /** Asked once the tables are written, which takes its share of a large run; `summary` says it without. */
  readonly timing?: () => Pick<Summary, 'finished_at' | 'seconds'>;
}

/** The same with all of them. */
export type ReferenceResult = Omit<ReferenceSummary, 'first'> & { readonly all: readonly NewRecord[] };

/** The report folder as messages speak of it. */
export const REPORT_FOLDER = { what: 'report folder', namedBy: '--report' } as const;

/** Of the records that rows name, so many are in the summary and on the page. */
const MAX_LISTED = 20;

/** Rows whose record a run has, or may have, changed. */
const MAYBE_WRITTEN = `(kind in ('updated', 'unknown') or (kind is null and op is not null))`;

const UNFINISHED = new RegExp(
  `^\\.(${REPORT_NAMES.map((name) => name.replace('.', '\\.')).join('|')})\\.[0-9a-f]{12}\\.tmp$`,
);

/**
 * Writes every report of contract section 6, in input order, from the store and the input; summary.json last, so its
 * presence means that all is there. Memory does not grow with the rows.
 * Throws a `RunError` when a row has two outcomes or none, or a report cannot be written. Can be repeated.
 */
export async function writeReports(input: ReportInput): Promise<Summary> {
  const { dir, store, source } = input;
  await makeFolder(dir, REPORT_FOLDER);
  await rm(join(dir, 'summary.json'), { force: true });
  const stoppedSource = input.stopReason === undefined ? undefined : source;
  const rows = await assertComplete(store.rows, store.path, input.summary.source?.rows, stoppedSource);

  const reports: string[] = [];
  const warnings = [...input.summary.warnings];
  const { reconcile } = input;
  const comparison = reconcile && new Comparison(reconcile);
  const losses = new Losses();
  const changes = new Changes();
  const tally = await writeCsvReports(dir, input, comparison, losses, changes);
  warnings.unshift(...losses.describe(input.summary.dry_run));
  reports.push('results.csv');
  if (source && rowsForPerson(tally.counts) > 0) {
    const name = rejectedName(source.meta.format);
    const all = () => rejectedRows(input, source);
    const warning = await writeRejected(join(dir, name), all, { meta: source.meta, ...input.rejected });
    if (warning) warnings.push(warning);
    reports.push(name);
  }
  if (source && input.corrected) {
    const name = rejectedName(source.meta.format, 'corrected');
    const form = { ...input.rejected, meta: source.meta, copy: true };
    const warning = await writeRejected(join(dir, name), () => copiedRows(source), form);
    if (warning) warnings.push(warning);
    reports.push(name);
  }
  reports.push('faults.csv', 'plan.csv');
  const { references = [] } = input;
  if (references.length > 0) {
    await writeCsvReport(join(dir, 'references.csv'), REFERENCE_COLUMNS, async (add) => {
      for (const { resource, all } of references)
        await add(all.map((one) => csvLine(referenceLine(resource, one))).join(''));
    });
    reports.push('references.csv');
  }
  if (comparison) {
    comparison.countMissing();
    await writeOrphans(dir, comparison);
    await writeWorkbook(join(dir, 'reconcile.xlsx'), differenceRows(input, comparison), orphanRows(comparison));
    reports.push('differences.csv', 'orphans.csv', 'reconcile.xlsx');
  }
  if (await writeBefore(join(dir, 'before.ndjson'), store)) reports.push('before.ndjson');
  reports.push('report.html', 'summary.json');

  const forPerson = rowsForPerson(tally.counts) + (comparison?.compared.orphans_for_person ?? 0);
  const draft: Summary = {
    ...input.summary,
    ...input.timing?.(),
    ...(input.summary.source ? { source: { ...input.summary.source, rows } } : {}),
    status: input.summary.status ?? (forPerson > 0 || losses.needsPerson ? 'partial' : 'succeeded'),
    ...(comparison ? { reconcile: comparison.result } : {}),
    rows: { ...tally.counts, total: totalRows(tally.counts) },
    ...(losses.rows ? { losses: losses.rows } : {}),
    ...(references.length > 0
      ? { references: references.map(({ all, ...one }) => ({ ...one, first: all.slice(0, MAX_LISTED) })) }
      : {}),
    warnings,
    top_faults: tally.topFaults,
    reports,
  };
  const [tone, verdict] = verdictOf(draft, changes.cleared);
  const summary = draft.status === 'succeeded' && tone === 'warn' ? { ...draft, verdict } : draft;
  const columnOf = input.columnOf ?? (() => undefined);
  const page = reportPage(summary, tally.samples, { changes, columnOf }, comparison);
  await writeAtomically(join(dir, 'report.html'), (write) => write(page));
  await removeStale(dir, reports);
  await writeSummary(dir, summary);
  reached('reports-written');
  return summary;
}

export function writeSummary(dir: string, summary: Summary): Promise<void> {
  return writeAtomically(join(dir, 'summary.json'), (write) =>
    write(`${visibleJson(JSON.stringify(summary, null, 2))}\n`),
  );
}

/** Writes before.ndjson: rows, then records that no row speaks of. False where there is none, and no file. */
async function writeBefore(path: string, { rows, orphans }: RunStore): Promise<boolean> {
  const [ofRows, ofOrphans] = [beforeLines(rows), beforeLines(orphans)];
  let next = ofRows.next();
  const first = next.done ? ofOrphans.next() : undefined;
  if (first?.done) return false;
  await writeAtomically(path, async (write) => {
    for (; !next.done; next = ofRows.next()) await write(`${next.value.join('\n')}\n`);
    for (let batch = first ?? ofOrphans.next(); !batch.done; batch = ofOrphans.next()) {
      await write(batch.value.map((line) => `${line.replace(/^\{"row":\d+,/, '{"row":null,')}\n`).join(''));
    }
  });
  return true;
}

function* beforeLines(rows: RowStore): Generator<readonly string[]> {
  for (const batch of rows.rows(`before is not null and (${MAYBE_WRITTEN})`, { before: true }))
    yield batch.flatMap(({ before }) => before ?? []);
}

/** orphans.csv; the orphans are looked at for the page on the way. */
function writeOrphans(dir: string, comparison: Comparison): Promise<void> {
  return writeCsvReport(join(dir, 'orphans.csv'), ORPHAN_COLUMNS, async (add) => {
    for await (const batch of comparison.input.orphans()) {
      for (const orphan of batch) comparison.addOrphan(orphan);
      await add(batch.map((orphan) => csvLine(orphanLine(orphan))).join(''));
    }
  });
}

async function* differenceRows({ store, stopReason = '' }: ReportInput, { input }: Comparison) {
  for (const batch of results(store.rows, stopReason))
    yield batch.flatMap((row) => differencesOf(row, input.columnOf).map(differenceLine));
}

async function* orphanRows({ input }: Comparison) {
  for await (const batch of input.orphans()) yield batch.map(orphanLine);
}

/** results.csv, faults.csv, plan.csv and differences.csv in one pass over the rows, which is also when they are counted. */
async function writeCsvReports(
  dir: string,
  { store, stopReason = '', addPlannedValues }: ReportInput,
  comparison: Comparison | undefined,
  losses: Losses,
  changes: Changes,
): Promise<Tally> {
  const tally = new Tally();
  const fill = async (resultLines: AddLines, faults: AddLines, plan: AddLines, differences?: AddLines) => {
    const rowResults = results(store.rows, stopReason);
    for await (const batch of addPlannedValues?.(rowResults) ?? rowResults) {
      for (const result of batch) {
        const { outcome, diff } = result;
        tally.add(outcome);
        losses.add(outcome, diff);
        changes.add(result);
      }
      await resultLines(batch.map(({ outcome }) => csvLine(resultLine(outcome))).join(''));
      await faults(batch.flatMap(({ outcome }) => faultLines(outcome).map(csvLine)).join(''));
      await plan(batch.map(({ outcome, diff }) => planLines(outcome, diff)).join(''));
      if (comparison)
        await differences?.(
          batch.flatMap((row) => comparison.add(row).map((one) => csvLine(differenceLine(one)))).join(''),
        );
    }
  };
  await writeCsvReport(join(dir, 'results.csv'), RESULT_COLUMNS, (resultLines) =>
    writeCsvReport(join(dir, 'faults.csv'), FAULT_COLUMNS, (faults) =>
      writeCsvReport(join(dir, 'plan.csv'), PLAN_COLUMNS, (plan) =>
        comparison
          ? writeCsvReport(join(dir, 'differences.csv'), DIFFERENCE_COLUMNS, (lines) =>
              fill(resultLines, faults, plan, lines),
            )
          : fill(resultLines, faults, plan),
      ),
    ),
  );
  return tally;
}

async function* copiedRows(source: OpenSource): AsyncGenerator<readonly RejectedRow[]> {
  for await (const batch of source.rows()) yield batch.map((row) => ({ row }));
}

/** The rows of the input that need a person, with their outcomes, in input order. Stops reading behind the last one. */
async function* rejectedRows(
  { store, stopReason = '' }: ReportInput,
  source: OpenSource,
): AsyncGenerator<readonly RejectedRow[]> {
  const outcomes = outcomesForPerson(store.rows, stopReason);
  let next = outcomes.next();
  for await (const batch of source.rows()) {
    const found: RejectedRow[] = [];
    for (const row of batch) {
      if (next.done || next.value.ref.row !== row.row) continue;
      found.push({ row, outcome: next.value });
      next = outcomes.next();
    }
    if (found.length > 0) yield found;
    if (next.done) return;
  }
  if (next.done) return;
  throw runFailure(
    `Row ${next.value.ref.row} has an outcome in ${store.path} and is not in the file that was read. ` +
      'The file is not the one of this run; restore it and write the reports again.',
  );
}

async function removeStale(dir: string, reports: readonly string[]): Promise<void> {
  for (const name of REPORT_NAMES) {
    if (!reports.includes(name)) await rm(join(dir, name), { force: true });
  }
  // What a process that was killed while it wrote reports has left.
  for (const name of await readdir(dir)) {
    if (UNFINISHED.test(name)) await rm(join(dir, name), { force: true });
  }
}

type AddLines = (lines: string) => Promise<void>;

/** A CSV report in UTF-8; the heading is there even where no line is. */
function writeCsvReport(
  path: string,
  columns: readonly string[],
  fill: (add: AddLines) => Promise<void>,
): Promise<void> {
  return writeAtomically(path, async (write) => {
    await write(csvLine(columns));
    await fill((lines) => write(lines));
  });
}
