import { isDiskFull, RunError, systemCodes } from '../../model/error.js';
import { type RowsJob, targetsOf } from '../../model/job.js';
import { redactor } from '../../model/secret-forms.js';
import { foldText } from '../../model/value.js';
import { LockedError } from '../../runs/run/lock.js';
import type { Summary } from '../../runs/run/present.js';
import { UnrecoverableError } from '../store/port.js';
import type { JobKind } from './data.js';
import type { JobState } from './job.js';

/**
 * What a fault means for the job of the queue:
 *   `later`: another process of this machine works on the run at this moment
 *   `full`: the disk is, and the run goes on once there is space
 *   `retry`: may pass by itself, and the job has attempts left
 *   `final`: nothing will be different next time
 */
type FailureKind = 'later' | 'full' | 'retry' | 'final';

/**
 * The job is not to be done now: it is put back on the queue, to be taken up after so many milliseconds or before all others, by
 * whichever worker asks then. With a state that state is told.
 */
export class Requeue extends Error {
  override readonly name = 'Requeue';
  constructor(
    readonly after: number | 'first',
    readonly state?: JobState,
  ) {
    super('The job is put back on the queue.');
  }
}

/** At the head of the queue, for whichever worker asks next. */
export const requeueFirst = (state: JobState): Requeue => new Requeue('first', { ...state, handedBack: true });

/** The run came to an end as `failed`, and the job has attempts left: the next one continues it. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed';
}

/** What is said to the queue of a job that is not tried again. */
export function unrecoverable(text: string): UnrecoverableError {
  const error = new UnrecoverableError(text);
  // A stack would be kept in the queue and say nothing.
  error.stack = `UnrecoverableError: ${text}`;
  return error;
}

/** Why a job is given up over which worker after worker died. */
export function deathText(deaths: number, kind: JobKind): string {
  const file = kind === 'export' ? '' : ' FILE';
  return (
    `${deaths} workers died, one after another, while they worked on this job, and it came no further: it is not tried again. ` +
    'Look into the logs of the workers for how they ended (out of memory, killed, a crash), and run it by itself: ' +
    `rowferry ${kind}${file} --job JOB. What was written stays written, and is not written again.`
  );
}

/** Faults of the machine that pass. */
const TRANSIENT = new Set(['EMFILE', 'ENFILE', 'EIO', 'EBUSY', 'EAGAIN', 'ESTALE', 'ETIMEDOUT']);

export function failureKind(error: unknown, attemptsLeft: boolean): FailureKind {
  if (error instanceof LockedError) return 'later';
  if (isDiskFull(error)) return 'full';
  if (!attemptsLeft) return 'final';
  if (error instanceof RunError && !systemCodes(error).some((code) => TRANSIENT.has(code))) return 'final';
  return 'retry';
}

/** Message and details on lines of their own, without secrets. */
export function failureText(error: unknown, secrets: readonly string[]): string {
  if (error instanceof RunFailed) return error.message;
  const text =
    error instanceof RunError
      ? [error.message, ...error.details].join('\n')
      : error instanceof Error && 'syscall' in error
        ? `The system refused something: ${error.message}`
        : `unexpected ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}; this is a bug in rowferry`;
  // People know an uploaded file by the name they gave it.
  return redactor(secrets)(text.replace(/(?<!\S)\S*[/\\]uploads[/\\](?:[0-9a-f]{16}-|[0-9a-f]{24}[/\\])/g, ''));
}

/** What of a job may be quoted. */
type CellNames = Pick<RowsJob, 'columns'> & { readonly source: Pick<Partial<RowsJob['source']>, 'sheet'> };

/** Takes out of a text what is quoted from a file. */
export type RedactText = (text: string) => string;

/**
 * What leaves by a log, the queue, a webhook or a note quotes no cell: without a heading row cells are taken for headings. Only
 * what the job itself names is quoted; from the first other quotation on, all is left out up to the last quotation mark, as
 * a cell may hold such marks: an empty quotation is one that a cell ended, and so is one that a word follows.
 */
export function cellRedactor({ columns, source }: CellNames): RedactText {
  const targets = Object.values(columns).flatMap((target) => targetsOf(target).map(({ field }) => field));
  const names = [...Object.keys(columns), ...targets, ...targets.flatMap((field) => field.split('.'))];
  const allowed = new Set([...names, String(source.sheet ?? '')].map(foldText).filter((name) => name !== ''));
  return (text) => {
    const foreignQuote = [...text.matchAll(/"([^"]*)("(?![\p{L}\p{N}])|$)?/gu)].find(
      ([, quote = '', end]) => !end || !allowed.has(foldText(quote)),
    );
    return foreignQuote ? `${text.slice(0, foreignQuote.index)}"…"${text.slice(text.lastIndexOf('"') + 1)}` : text;
  };
}

/** The same fault, so told. What has a meaning of its own for the queue, such as an interruption, stays what it is. */
export function redactFault(error: unknown, redact: RedactText): unknown {
  if (!(error instanceof Error)) return error;
  if (Object.getPrototypeOf(error) === RunError.prototype) {
    const { kind, message, details, status } = error as RunError;
    return new RunError(kind, redact(message), details.map(redact), {
      cause: error,
      ...(status === undefined ? {} : { status }),
    });
  }
  error.message = redact(error.message);
  return error;
}

/** A summary as it leaves this machine, by the queue: what it quotes may be cells. The one on the disk is whole. */
export function redactSummary(summary: Partial<Summary>, redact: RedactText): object {
  const { reason, warnings, detected, top_faults: faults, references, reconcile } = summary;
  return {
    ...summary,
    ...(warnings && { warnings: warnings.map(redact) }),
    ...(detected && { detected: detected.map(redact) }),
    ...(faults && { top_faults: faults.map(({ example: _, ...fault }) => fault) }),
    ...(references && { references: references.map((one) => ({ ...one, first: [] })) }),
    ...(reconcile && { reconcile: { ...reconcile, orphans: { ...reconcile.orphans, first: [] } } }),
    ...(reason !== undefined && { reason: redact(reason) }),
  };
}
