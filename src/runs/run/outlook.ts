import { counted } from '../../model/grouped.js';
import type { Summary } from '../../report/summary.js';
import type { Clock } from '../../service/clock.js';
import type { RequestCounts } from '../../service/port.js';
import type { Observe } from '../../service/transport/send.js';
import type { Progress } from './context.js';

interface OutlookOptions {
  readonly clock: Clock;
  /** Most requests in flight, and a second. */
  readonly concurrency: number;
  readonly maxRps?: number | undefined;
}

export type Outlook = ReturnType<typeof openOutlook>;

/** What is still ahead of a run in requests: estimated once the plan is known, by the pace of the service so far. */
export function openOutlook({ clock, concurrency, maxRps = Number.POSITIVE_INFINITY }: OutlookOptions) {
  const pace = requestPace(clock);
  const openedAt = clock.now();
  let plan: { effort: Effort; atMost: boolean; at: number; made: number } | undefined;
  return {
    observe: pace.observe,
    /** Before the first write. Undefined while no answer of the service has told its pace. */
    plan(planned: PlannedWrites, requests: Readonly<RequestCounts> | undefined): Effort | undefined {
      const perSecond = pace.perSecond(concurrency);
      if (perSecond === undefined) return undefined;
      const effort = estimateOf(planned, Math.min(perSecond, maxRps));
      plan = { effort, atMost: planned.atMost === true, at: clock.now(), made: requests?.total ?? 0 };
      return effort;
    },
    /** For the progress; undefined before the plan. */
    ahead(requests: Readonly<RequestCounts> | undefined): Progress['requests'] {
      if (!plan || !requests) return undefined;
      const left = Math.max(0, plan.effort.requests - (requests.total - plan.made));
      return { made: requests.total, left, ...(plan.atMost ? { atMost: true } : {}) };
    },
    /** For the summary; undefined where the run did not come so far. `finished`: the requests of a run that did its work. */
    summary(dryRun: boolean, finished: Readonly<RequestCounts> | undefined): Summary['estimate'] {
      if (!plan) return undefined;
      const { effort, made, at, atMost } = plan;
      // The real run reads what its rehearsal has read.
      const before = dryRun ? { requests: made, seconds: (at - openedAt) / 1000 } : { requests: 0, seconds: 0 };
      return {
        requests: before.requests + effort.requests,
        seconds: tenths(before.seconds + effort.seconds),
        ...(atMost ? { at_most: true } : {}),
        ...(dryRun || !finished
          ? {}
          : { came_to: { requests: finished.total - made, seconds: tenths((clock.now() - at) / 1000) } }),
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

/** `about 12,418 requests, 9 minutes at the current pace` */
export function estimateText({ requests, seconds }: Effort, atMost = false): string {
  return `${atMost ? 'at most' : 'about'} ${counted(requests, 'request')}, ${timeText(seconds)} at the current pace`;
}

/** `a few seconds`, `25 seconds`, `9 minutes`, `3 hours`. */
function timeText(seconds: number): string {
  if (seconds < 7.5) return 'a few seconds';
  if (seconds < 90) return `${Math.round(seconds / 5) * 5} seconds`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3_600)} hours`;
}

/** How fast the service has answered a run so far. */
function requestPace(clock: Clock) {
  let exchanges = 0;
  /** The sum of their times, and the time in which at least one was under way; milliseconds. */
  let summed = 0;
  let busy = 0;
  let heldBack = false;
  let last = clock.now();
  return {
    /** Sees every exchange as it ends. */
    observe: (({ ms, status }) => {
      heldBack ||= status === 429 || status === 503;
      const now = clock.now();
      // A pause of the run is not the service's, unless it asked for it.
      busy += heldBack ? now - last : Math.min(ms, now - last);
      last = now;
      summed += ms;
      exchanges++;
    }) satisfies Observe,
    /**
     * Requests a second that can be expected with so many in flight; undefined before the first answer. Where about so many
     * were in flight, or the service held the run back, it is what was reached; else so many divided by the time of an answer.
     */
    perSecond(inFlight: number): number | undefined {
      if (exchanges === 0) return undefined;
      // Answers within a millisecond are told apart by nobody.
      if (heldBack || summed >= (busy * inFlight) / 2) return (exchanges * 1000) / Math.max(busy, 1);
      return (exchanges * 1000 * inFlight) / Math.max(summed, exchanges);
    },
  };
}
