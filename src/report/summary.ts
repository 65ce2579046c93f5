import { countText, formatNumber } from '../model/count-text.js';
import type { RunError } from '../model/error.js';
import type { IssueCode } from '../model/issue.js';
import { GOOD_OUTCOMES, GROUP_OF_OUTCOME, OUTCOMES, type OutcomeCounts, type OutcomeKind } from '../model/outcome.js';
import type { RequestCounts } from '../model/progress.js';
import type { ReconcileFacts } from '../model/reconcile.js';
import type { Creatable } from '../model/resource-names.js';
import type { SourceFormat } from '../model/source.js';

export { countText, formatNumber, setNumberFormat } from '../model/count-text.js';

export type RunKind = 'import' | 'export' | 'reconcile' | 'undo';

/**
 * `succeeded`: every row ended well. `partial`: finished, some rows need a person. `braked`: a brake stopped it.
 * `failed`: it could not do its work. `interrupted`: stopped by a signal, `runs resume` continues it.
 */
export type RunStatus = 'succeeded' | 'partial' | 'braked' | 'failed' | 'interrupted';

/** The file of the run: what was said or found out about it, and its data rows. */
interface SummarySource {
  readonly path: string;
  readonly sha256: string;
  readonly format: SourceFormat;
  readonly encoding: string | null;
  readonly delimiter: string | null;
  readonly sheet: string | null;
  readonly header_row: number | null;
  readonly rows: number;
}

/** One fault and how often it occurred, over all rows; `example` is the first value it was found in. */
export interface TopFault {
  readonly code: IssueCode;
  readonly count: number;
  readonly column?: string;
  /** Where no column is to blame: the field as job files name it. */
  readonly field?: string;
  readonly example?: string;
}

/** The file of an export. What follows its format is there once it was written. */
export interface SummaryTarget {
  readonly path: string;
  readonly format: SourceFormat;
  readonly gzip: boolean;
  readonly sha256?: string;
  readonly bytes?: number;
  readonly columns?: number;
  /** Sheets with records, of a workbook. */
  readonly sheets?: readonly string[];
  /** The job file that imports it again (`--editable`). */
  readonly job?: string;
}

/**
 * How whole an export is. `verified`: two passes over the list agreed, so no record that was there all the time is
 * missing and none is there twice. `partial`: that could not be established.
 */
export type Consistency = 'verified' | 'partial';

/**
 * What the comparison came to, in rows; each row that is neither new nor faulty is one of `agree` and `differ`, and
 * `differ` is the sum of the three below it.
 */
export interface Compared {
  /** The same in every field that is compared. */
  readonly agree: number;
  readonly differ: number;
  /** The file's values were written; in a report-only run: would be. */
  readonly put_right: number;
  /** Differ only in fields where the service's value stands. */
  readonly left_to_service: number;
  /** Held back, in conflict, refused, not reached. */
  readonly not_put_right: number;
  /** Orphans that were to be acted on and now have the job's values. */
  readonly orphans_acted: number;
  /** Orphans that were to be acted on and ended in an outcome that needs a person; they make a run `partial`, too. */
  readonly orphans_for_person: number;
}

/** In rows. */
export interface LostRows {
  /** Updates that destroyed values which the row does not set; in a dry run: would. */
  readonly destroyed: number;
  /** Created without values that were sent. */
  readonly missing: number;
  /** A value was stored in another form. */
  readonly other_form: number;
}

/** Records of a resource that a run created because its rows refer to them; `references: { missing: create }`. */
export interface ReferenceSummary extends Partial<OutcomeCounts> {
  readonly resource: Creatable;
  /** The run inside this one that created them. */
  readonly run?: string;
  readonly total: number;
  /** The first of them, in the order of the rows; all of them are in references.csv. */
  readonly first: readonly NewRecord[];
}

/** A record that rows name: how many of them, and the first. */
export interface NewRecord {
  readonly name: string;
  readonly outcome: OutcomeKind;
  readonly rows: number;
  readonly row: number;
  readonly id?: number;
  readonly message?: string;
}

/** Everything that a run may write into a report folder. */
export const REPORT_NAMES = [
  'results.csv',
  'rejected.csv',
  'rejected.xlsx',
  'rejected.ndjson',
  'corrected.csv',
  'corrected.xlsx',
  'corrected.ndjson',
  'faults.csv',
  'plan.csv',
  'differences.csv',
  'orphans.csv',
  'reconcile.xlsx',
  'references.csv',
  'before.ndjson',
  'report.html',
  'summary.json',
];

/** Whether a file of this name in a report folder is replaced, or removed, by the reports of the next run. */
export const isReportName = (name: string): boolean => REPORT_NAMES.includes(name.toLowerCase());

/** summary.json: scripts read it, so names are never changed, only added to. Times are ISO 8601 in UTC. */
export interface Summary {
  readonly run: string;
  readonly job: string;
  readonly kind: RunKind;
  readonly resource: string;
  readonly company: number;
  readonly dry_run: boolean;
  readonly status: RunStatus;
  /** Why a run was braked, failed or interrupted, in one sentence. */
  readonly reason?: string;
  /** Address of the service, without any secret. */
  readonly service?: string;
  /** Null where a run reads no file. */
  readonly source: SummarySource | null;
  /** Of a run that ended before it began: the name of the file that it was to read. */
  readonly file?: string;
  /** Exports only. */
  readonly target?: SummaryTarget;
  /** Exports only: records in the file; absent where it was not written. */
  readonly records?: number;
  /** Exports only: how often the list was read. */
  readonly passes?: number;
  /** Exports only. */
  readonly consistency?: Consistency;
  /** Undo only: records that the run created because its rows refer to them, and that stay. Absent where none does. */
  readonly stay?: number;
  /** Records that were created because rows refer to them, by resource; they are no rows. Absent where there are none. */
  readonly references?: readonly ReferenceSummary[];
  /** Reconciliations only. */
  readonly reconcile?: ReconcileFacts & { readonly compared?: Compared };
  /** The earlier run that this one retries, undoes or carries out. */
  readonly of_run?: string;
  /** One count per outcome, and `total`, which is their sum. */
  readonly rows: Readonly<OutcomeCounts & { total: number }>;
  readonly requests: Readonly<RequestCounts>;
  /** Rows that ended well, and whose values are not all as they were sent or were before; absent where there are none. */
  readonly losses?: LostRows;
  /** The rows have no key: each was to become a record (`match: { key: none }`). */
  readonly append?: true;
  /** Why a run that succeeded is not all well, in some words: `Texts were cut`. */
  readonly verdict?: string;
  readonly warnings: readonly string[];
  /** What was found out by looking (encoding, heading row, how records were looked up), one sentence each. */
  readonly detected?: readonly string[];
  /** The most frequent faults, at most 10, by code and column, or field where there is no column. */
  readonly top_faults: readonly TopFault[];
  readonly started_at: string;
  readonly finished_at: string;
  readonly seconds: number;
  /** File names in the report folder. */
  readonly reports: readonly string[];
}

/** How a run ended. */
export interface RunResult {
  readonly summary: Summary;
  readonly exitCode: number;
  readonly reportDir: string;
  /** Why a run ended as `failed` or `braked`, for programs; `summary.reason` says it in words. */
  readonly error?: RunError;
}

/** Outcomes that put a row's values into the service, or found them there. */
const IN_PLACE: ReadonlySet<OutcomeKind> = new Set(['created', 'updated', 'unchanged']);

function sum(counts: Readonly<OutcomeCounts>, wanted: (kind: OutcomeKind) => boolean): number {
  return OUTCOMES.reduce((total, kind) => (wanted(kind) ? total + counts[kind] : total), 0);
}

/** Rows whose values are in the service now (in a dry run: would be). */
export function rowsInPlace(counts: Readonly<OutcomeCounts>): number {
  return sum(counts, (kind) => IN_PLACE.has(kind));
}

/** The faults that people are shown. That a night stopped before its rows is told once, not as the fault of each. */
export function visibleFaults({ kind, top_faults: faults }: Pick<Summary, 'kind' | 'top_faults'>): readonly TopFault[] {
  return kind === 'reconcile' ? faults.filter(({ code }) => code !== 'run_stopped') : faults;
}

/** Whether what was planned was not carried out, or not wholly: counts of a plan then read as what would be. */
export function isPlanOnly({ dry_run: dry, status }: Pick<Summary, 'dry_run' | 'status'>): boolean {
  return dry || status === 'braked' || status === 'failed' || status === 'interrupted';
}

/**
 * What a brake stopped. `plan`: what was planned, before anything was written. `refusals`: a run that was writing, because the
 * service refused too much of it.
 */
type BrakeStop = 'plan' | 'refusals';

/** Of a run whose status is `braked`: each kind asks for something else. */
export function brakeStop({ dry_run: dry, rows, reconcile }: Summary): BrakeStop {
  if (dry) return 'plan';
  return rows.rejected > 0 || (reconcile?.compared?.orphans_for_person ?? 0) > 0 ? 'refusals' : 'plan';
}

/** What stopped a run, without what is to be done about a brake: beside it that is said with the run's own id. */
export function stopCause({ reason }: Pick<Summary, 'reason'>): string | undefined {
  return reason?.split(' Nothing was written: look at the report first.')[0];
}

/** Rows whose cells, or the records they are about, somebody puts right before they are imported again. */
export function rowsToCorrect(counts: Readonly<OutcomeCounts>): number {
  return sum(counts, (kind) => GROUP_OF_OUTCOME[kind] === 'to_correct');
}

/** Rows that ended well by their outcome, and lost values. */
export function rowsWithLosses({ losses }: Pick<Summary, 'losses'>): number {
  return (losses?.destroyed ?? 0) + (losses?.missing ?? 0);
}

/** Rows somebody has to look at: every outcome that is not a good one. */
export function rowsForPerson(counts: Readonly<OutcomeCounts>): number {
  return sum(counts, (kind) => !GOOD_OUTCOMES.has(kind));
}

/** Those of them that the run came to. */
export function rowsToReview(counts: Readonly<OutcomeCounts>): number {
  return rowsForPerson(counts) - counts.not_attempted;
}

export function totalRows(counts: Readonly<OutcomeCounts>): number {
  return sum(counts, () => true);
}

/** `246 requests (27 reads, 219 writes, 0 retries)` */
export function requestsText({ total, reads, writes, retries }: Summary['requests']): string {
  const kinds = [countText(reads, 'read'), countText(writes, 'write'), countText(retries, 'retry', 'retries')];
  return `${countText(total, 'request')} (${kinds.join(', ')})`;
}

/** `0.4 s`, `48 s`, `3 min 05 s`, `2 h 10 min` */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${formatNumber(Math.floor(minutes / 60))} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** `2026-03-31 14:05 UTC` */
export function timeText(iso: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` : iso;
}

/** Whether a run failed before it began: its file was not read, and there is nothing to go on with. */
export const failedToBegin = ({ status, file }: Pick<Summary, 'status' | 'file'>): boolean =>
  status === 'failed' && file !== undefined;

/** The last part of a path, of whichever system. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).pop() || path;
}
