import type { Summary } from '../report/summary.js';
import type { Clock } from '../service/clock.js';
import type { RequestCounts } from '../service/port.js';
import type { Observe } from '../service/transport/send.js';
import { type Effort, estimateOf, type PlannedWrites } from './estimate.js';
import type { Progress } from './progress.js';
import { requestPace } from './request-pace.js';

/** What is still ahead of a run in requests: estimated once the plan is known, and kept up to date while rows are written. */
export interface Outlook {
  readonly observe: Observe;
  /**
   * Before the first write: what is to be written by `rows` rows that have no outcome yet. Undefined while no answer of the
   * service has told its pace.
   */
  plan(planned: PlannedWrites, rows: number, requests: Readonly<RequestCounts> | undefined): Effort | undefined;
  /** A row was decided while writing: whether it is sent. */
  decided(isSent: boolean): void;
  /** A row that was sent has its outcome. */
  ended(): void;
  /** For the progress; undefined before the plan. */
  ahead(requests: Readonly<RequestCounts> | undefined): Progress['requests'];
  /** For the summary; undefined where the run did not come so far. */
  summary(run: {
    readonly dryRun: boolean;
    readonly requests: Readonly<RequestCounts> | undefined;
  }): Summary['estimate'];
}

export interface OutlookOptions {
  readonly clock: Clock;
  /** Most requests in flight, and a second. */
  readonly concurrency: number;
  readonly maxRps?: number;
}

/** Rows that tell which share of the others is sent, and outcomes that tell what a row takes. */
const ENOUGH = 200;

export function openOutlook({ clock, concurrency, maxRps }: OutlookOptions): Outlook {
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
    plan(planned, rows, requests) {
      const perSecond = pace.perSecond(concurrency);
      if (perSecond === undefined) return undefined;
      const effort = estimateOf(planned, Math.min(perSecond, maxRps ?? Number.POSITIVE_INFINITY));
      plan = { ...planned, rows, effort, at: clock.now(), made: requests?.total ?? 0, reads: requests?.reads ?? 0 };
      return effort;
    },
    decided(isSent) {
      decided++;
      if (isSent) sent++;
    },
    ended() {
      ended++;
    },
    ahead(requests) {
      if (!plan || !requests) return undefined;
      const { rows, atMost } = rowsAhead(plan);
      const expected = plan.effort.requests / Math.max(1, plan.creates + plan.updates);
      const seen = ended < ENOUGH ? 1 : 1 + (requests.reads - plan.reads) / ended;
      const left = Math.round(rows * Math.max(1, expected, seen));
      return { made: requests.total, left, ...(atMost ? { atMost } : {}) };
    },
    summary({ dryRun, requests }) {
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
