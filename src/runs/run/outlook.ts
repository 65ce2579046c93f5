import { grouped } from '../../model/grouped.js';
import type { Summary } from '../../report/summary.js';
import type { Clock } from '../../service/clock.js';
import type { RequestCounts } from '../../service/port.js';
import type { Observe } from '../../service/transport/send.js';
import type { Progress } from './context.js';

interface OutlookOptions {
  readonly clock: Clock;
  /** Most requests in flight, and a second. */
  readonly concurrency: number;
  readonly maxRps?: number;
}

/** Rows that tell which share of the others is sent, and outcomes that tell what a row takes. */
const ENOUGH = 200;

export type Outlook = ReturnType<typeof openOutlook>;

/** What is still ahead of a run in requests: estimated once the plan is known, and kept up to date while rows are written. */
export function openOutlook({ clock, concurrency, maxRps }: OutlookOptions) {
  const pace = requestPace(clock);
  const openedAt = clock.now();
  let plan: (PlannedWrites & { rows: number; effort: Effort; at: number; made: number; reads: number }) | undefined;
  let decided = 0;
  let sent = 0;
  let ended = 0;

  /** Rows that will be sent and have no outcome yet; `atMost` where that is a bound. */
  function rowsAhead(planned: NonNullable<typeof plan>): { rows: number; atMost: boolean } {
    const undecided = Math.max(0, planned.rows - decided);
    const bound = Math.max(0, planned.creates + planned.updates - sent);
    if (undecided === 0) return { rows: sent - ended, atMost: false };
    if (!planned.atMost || decided < ENOUGH)
      return { rows: sent - ended + Math.min(bound, undecided), atMost: planned.atMost === true };
    return { rows: sent - ended + Math.min(bound, (undecided * sent) / decided), atMost: false };
  }

  return {
    observe: pace.observe,
    /**
     * Before the first write: what is to be written by `rows` rows that have no outcome yet. Undefined while no answer of the
     * service has told its pace.
     */
    plan(planned: PlannedWrites, rows: number, requests: Readonly<RequestCounts> | undefined): Effort | undefined {
      const perSecond = pace.perSecond(concurrency);
      if (perSecond === undefined) return undefined;
      const effort = estimateOf(planned, Math.min(perSecond, maxRps ?? Number.POSITIVE_INFINITY));
      plan = { ...planned, rows, effort, at: clock.now(), made: requests?.total ?? 0, reads: requests?.reads ?? 0 };
      return effort;
    },
    /** A row was decided while writing: whether it is sent. */
    decided(isSent: boolean): void {
      decided++;
      if (isSent) sent++;
    },
    /** A row that was sent has its outcome. */
    ended(): void {
      ended++;
    },
    /** For the progress; undefined before the plan. */
    ahead(requests: Readonly<RequestCounts> | undefined): Progress['requests'] {
      if (!plan || !requests) return undefined;
      const { rows, atMost } = rowsAhead(plan);
      const expected = plan.effort.requests / Math.max(1, plan.creates + plan.updates);
      const seen = ended < ENOUGH ? 1 : 1 + (requests.reads - plan.reads) / ended;
      const left = Math.round(rows * Math.max(1, expected, seen));
      return { made: requests.total, left, ...(atMost ? { atMost } : {}) };
    },
    /** For the summary; undefined where the run did not come so far. */
    summary({
      dryRun,
      requests,
    }: {
      readonly dryRun: boolean;
      readonly requests: Readonly<RequestCounts> | undefined;
    }): Summary['estimate'] {
      if (!plan) return undefined;
      const { effort, made, at, atMost } = plan;
      // The real run reads what its rehearsal has read.
      const before = dryRun ? { requests: made, seconds: (at - openedAt) / 1000 } : { requests: 0, seconds: 0 };
      return {
        requests: before.requests + effort.requests,
        seconds: tenths(before.seconds + effort.seconds),
        ...(atMost ? { at_most: true } : {}),
        ...(dryRun || !requests
          ? {}
          : { came_to: { requests: requests.total - made, seconds: tenths((clock.now() - at) / 1000) } }),
      };
    },
  };
}

const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;

/** Requests, and the seconds that they take. */
interface Effort {
  readonly requests: number;
  readonly seconds: number;
}

/** What is to be written. `atMost`: which of the records differ from their rows is not known yet. */
export interface PlannedWrites {
  readonly creates: number;
  readonly updates: number;
  readonly atMost?: boolean;
  /** So many milliseconds from now the records need not be read again before they are written. */
  readonly freshMs: number;
}

/** Requests for the writes and the reads that come with them, at so many requests a second. */
export function estimateOf(planned: PlannedWrites, perSecond: number): Effort {
  const { creates, updates, freshMs } = planned;
  const writes = creates + updates;
  // Records are read again where they were read longer ago; the first update is read back.
  const inTime = (perSecond * freshMs) / 1000;
  const stale = writes <= inTime ? 0 : updates * (1 - inTime / writes);
  const requests = Math.round(writes + stale + (updates > 0 ? 1 : 0));
  return { requests, seconds: requests / perSecond };
}

/** `about 12,400 requests, 9 minutes at the current pace` */
export function estimateText({ requests, seconds }: Effort, atMost = false): string {
  return `${atMost ? 'at most' : 'about'} ${requestsText(requests)}, ${timeText(seconds)} at the current pace`;
}

/** `one request`, `87 requests`, `12,400 requests`: three digits that count. */
export function requestsText(requests: number): string {
  if (Math.round(requests) === 1) return 'one request';
  return `${grouped(rounded(requests))} requests`;
}

function rounded(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 2);
  return Math.round(value / step) * step;
}

/** `a few seconds`, `25 seconds`, `a minute`, `9 minutes`, `an hour`, `2.5 hours`, `3 days`. */
export function timeText(seconds: number): string {
  if (seconds < 7.5) return 'a few seconds';
  if (seconds < 57.5) return `${Math.round(seconds / 5) * 5} seconds`;
  const minutes = seconds / 60;
  if (minutes < 1.5) return 'a minute';
  if (minutes < 19.5) return `${Math.round(minutes)} minutes`;
  if (minutes < 57.5) return `${Math.round(minutes / 5) * 5} minutes`;
  const hours = minutes / 60;
  if (hours < 1.25) return 'an hour';
  if (hours < 9.75) return `${Math.round(hours * 2) / 2} hours`;
  if (hours < 47.5) return `${Math.round(hours)} hours`;
  return `${Math.round(hours / 24)} days`;
}

/** Exchanges by which the past counts half. */
const MEMORY = 256;
/** The first answers of a run wait for a connection: of so few the quickest tells most. */
const FEW = 16;
/** Statuses by which a service says that it is asked too often. */
const TOO_MANY: readonly (number | undefined)[] = [429, 503];

/** How fast the service has answered a run so far. */
export function requestPace(clock: Clock) {
  let exchanges = 0;
  /** The sum of their times, and the time in which at least one was under way; milliseconds. */
  let summed = 0;
  let busy = 0;
  let heldBack = 0;
  let quickest = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  return {
    /** Sees every exchange as it ends. */
    observe: (({ ms, status }) => {
      const now = clock.now();
      // Where answers were waited for between two ends, and no longer: a pause of the run is not the service's.
      const waited = TOO_MANY.includes(status) || heldBack > 0 ? now - last : Math.min(ms, now - last);
      busy += Number.isFinite(waited) ? waited : ms;
      last = now;
      summed += ms;
      quickest = Math.min(quickest, ms);
      exchanges++;
      if (TOO_MANY.includes(status)) heldBack++;
      if (exchanges < MEMORY) return;
      [exchanges, summed, busy, heldBack] = [exchanges / 2, summed / 2, busy / 2, Math.floor(heldBack / 2)];
    }) satisfies Observe,
    /**
     * Requests a second that can be expected with so many in flight; undefined before the first answer. Where about so many
     * were in flight, or the service held the run back, it is what was reached; else so many divided by the time of an answer.
     */
    perSecond(inFlight: number): number | undefined {
      if (exchanges === 0) return undefined;
      // Answers within a millisecond are told apart by nobody.
      const reached = (exchanges * 1000) / Math.max(busy, 1);
      const usual = exchanges < FEW ? quickest : summed / exchanges;
      const possible = (1000 * inFlight) / Math.max(usual, 1);
      return heldBack > 0 || summed >= (busy * inFlight) / 2 ? reached : possible;
    },
  };
}
