import type { EndedRun } from './ended.js';
import type { ScheduleEvent } from './notifier-port.js';

/**
 * Body of the webhook and line of the file. Scripts read it: names are never changed, only added to. Times are ISO 8601
 * in UTC. Holds counts, never rows or values. docs/worker-operations.md lists the fields; a test compares the two.
 */
export interface Notification {
  /** The same over all tries of one notification. */
  readonly id: string;
  readonly event: 'failing' | 'recovered' | 'worse' | 'late' | 'overlap';
  readonly job: string;
  readonly at: string;
  /** The whole in one sentence or two; chat tools show it as it is. */
  readonly text: string;
  readonly run?: string;
  readonly status?: EndedRun['status'];
  readonly trigger?: EndedRun['trigger'];
  readonly company?: number;
  /** When the first of the failing runs ended. */
  readonly since?: string;
  /** Runs that failed one after another. */
  readonly failures?: number;
  /** Why the run failed. */
  readonly reason?: string;
  /** Of a reconciliation: rows that need a person, and orphans, now and at its last run. */
  readonly needs_person?: number;
  readonly needs_person_before?: number;
  readonly orphans?: number;
  readonly orphans_before?: number;
  /** Rows per outcome, without the outcomes no row has. */
  readonly rows?: Readonly<Record<string, number>>;
  /** Folder of the reports. */
  readonly reports?: string;
  /** Of `late` and `overlap`: the slot, and when it was due. */
  readonly slot?: string;
  readonly due_at?: string;
}

/** A row of runs of a job that failed one after another. */
export interface Failing {
  /** Milliseconds since 1970: when the first of them ended. */
  readonly since: number;
  readonly failures: number;
}

/** Longer ones are cut: chat tools refuse or hide long messages. */
const LONGEST_REASON = 500;

export function failingNotification(id: string, at: number, run: EndedRun, failing: Failing): Notification {
  const reason = run.reason && oneLine(run.reason, LONGEST_REASON);
  const again = failing.failures > 1 ? ` This is failure ${failing.failures} since ${minute(failing.since)}.` : '';
  return {
    ...head(id, 'failing', at, run),
    text: `${run.job} ${run.doubtful ? DOUBTFUL : WAYS[run.status]}${reason ? `: ${reason}` : '.'}${again}${whereabouts(run)}`,
    since: iso(failing.since),
    failures: failing.failures,
    ...(reason && { reason }),
  };
}

export function recoveredNotification(id: string, at: number, run: EndedRun, failing: Failing): Notification {
  const times = failing.failures === 1 ? 'once' : `${failing.failures} times`;
  return {
    ...head(id, 'recovered', at, run),
    text: `${run.job} works again, after it failed ${times} over ${span(at - failing.since)}.${whereabouts(run)}`,
    since: iso(failing.since),
    failures: failing.failures,
  };
}

/** What a run of a reconcile job found, as far as it is told. */
export interface Found {
  /** Rows that need a person. */
  readonly needsPerson: number;
  /** Undefined where no run could tell them yet. */
  readonly orphans?: number;
  /** Something needs a person: rows, or orphans that the run was to deal with and could not. */
  readonly open: boolean;
}

/** `before`: at the last run of the job; undefined at its first. */
export function nightNotification(
  id: string,
  at: number,
  run: EndedRun,
  { event, before, now }: { readonly event: 'worse' | 'recovered'; readonly before?: Found; readonly now: Found },
): Notification {
  const { needsPerson, orphans, open } = now;
  const rows =
    needsPerson === 0
      ? 'no row needs a person'
      : needsPerson === 1
        ? '1 row needs a person'
        : `${needsPerson} rows need a person`;
  const facts = [`${rows}${earlier(needsPerson, before?.needsPerson)}`];
  if (orphans !== undefined) {
    facts.push(`${orphans} ${orphans === 1 ? 'orphan' : 'orphans'}${earlier(orphans, before?.orphans)}`);
  }
  if (open && needsPerson === 0) facts.push('some of which need a person');
  const lead =
    event === 'recovered'
      ? 'is well again'
      : before
        ? 'is worse than at its last run'
        : 'needs a look after its first run';
  return {
    ...head(id, event, at, run),
    text: `${run.job} ${lead}: ${facts.join(', ')}.${whereabouts(run)}`,
    needs_person: needsPerson,
    ...(before && { needs_person_before: before.needsPerson }),
    ...(orphans !== undefined && { orphans }),
    ...(before?.orphans !== undefined && { orphans_before: before.orphans }),
  };
}

function earlier(now: number, before: number | undefined): string {
  return before === undefined || before === now ? '' : ` (before: ${before})`;
}

export function scheduleNotification(
  id: string,
  at: number,
  { event, job, slot, dueAt, run }: ScheduleEvent,
): Notification {
  const due = `due ${minute(dueAt)}`;
  return {
    id,
    event,
    job,
    at: iso(at),
    text:
      event === 'late'
        ? `${job}: the run ${due} was begun ${span(at - dueAt)} late.`
        : `${job}: the run ${due} was left out, as the run before it had not ended.`,
    ...(run !== undefined && { run }),
    slot,
    due_at: iso(dueAt),
  };
}

const WAYS: Record<EndedRun['status'], string> = {
  failed: 'failed',
  braked: 'was stopped by a brake',
  refused: 'was refused',
  interrupted: 'was interrupted',
  succeeded: 'succeeded',
  partial: 'finished; some rows need a person',
};

/** Of an export with `doubtful`. */
const DOUBTFUL = 'wrote a file that may not be complete';

function head(id: string, event: Notification['event'], at: number, run: EndedRun) {
  const rows = Object.fromEntries(Object.entries(run.counts ?? {}).filter(([, count]) => count > 0));
  return {
    id,
    event,
    job: run.job,
    at: iso(at),
    ...(run.run !== undefined && { run: run.run }),
    status: run.status,
    trigger: run.trigger,
    ...(run.company !== undefined && { company: run.company }),
    ...(run.counts && { rows }),
    ...(run.reports !== undefined && { reports: run.reports }),
  };
}

function whereabouts({ run, reports }: EndedRun): string {
  return `${run === undefined ? '' : ` Run ${run}.`}${reports === undefined ? '' : ` Reports: ${reports}`}`;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** `2026-11-21 02:00 UTC` */
const minute = (ms: number): string => `${iso(ms).slice(0, 16).replace('T', ' ')} UTC`;

function span(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Without control characters: the text reaches chat tools and terminals. */
function oneLine(text: string, longest: number): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}
