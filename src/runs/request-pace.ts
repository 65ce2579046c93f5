import type { Clock } from '../service/clock.js';
import type { Observe } from '../service/transport/send.js';

/** How fast the service has answered a run so far. */
export interface RequestPace {
  /** Sees every exchange as it ends. */
  readonly observe: Observe;
  /**
   * Requests a second that can be expected with so many in flight; undefined before the first answer. Where about so many were
   * in flight, or the service held the run back, it is what was reached; else so many divided by the time of an answer.
   */
  perSecond(inFlight: number): number | undefined;
}

/** Exchanges by which the past counts half. */
const MEMORY = 256;
/** The first answers of a run wait for a connection: of so few the quickest tells most. */
const FEW = 16;
/** Statuses by which a service says that it is asked too often. */
const TOO_MANY: readonly (number | undefined)[] = [429, 503];

export function requestPace(clock: Clock): RequestPace {
  let exchanges = 0;
  /** The sum of their times, and the time in which at least one was under way; milliseconds. */
  let summed = 0;
  let busy = 0;
  let heldBack = 0;
  let quickest = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  return {
    observe({ ms, status }) {
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
    },
    perSecond(inFlight) {
      if (exchanges === 0) return undefined;
      // Answers within a millisecond are told apart by nobody.
      const reached = (exchanges * 1000) / Math.max(busy, 1);
      const usual = exchanges < FEW ? quickest : summed / exchanges;
      const possible = (1000 * inFlight) / Math.max(usual, 1);
      return heldBack > 0 || summed >= (busy * inFlight) / 2 ? reached : possible;
    },
  };
}
