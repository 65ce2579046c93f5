const DECREASE = 0.8;
/** One refusal among so many answers is no more than a limit that is kept well costs. */
const RARE_AFTER = 50;
const BACK_AFTER = 100;
/** The first guess rests on little, and so does one that was wrong at once; both are corrected soon. */
const UNSURE_BACK_AFTER = 10;
const FIRST_GUESS = 10;
/** So much time counts as one success. */
const SUCCESS_MS = 250;
const BACK_AFTER_ROUND_TRIPS = 3;
/**
 * Where the limit is what it was, the next refusal comes soon after the whole way back. As far again without one says that
 * the limit has moved up: from there the rate doubles every five seconds, where the curve alone would take longer.
 */
const MOVED = 2;
const DOUBLE_MS = 5_000;
/** Requests per second. */
const SLOW = 20;
const SLOWEST = 0.2;
/** Requests per second: from a very low rate the way back would be long in steps of its fifth. */
const LEAST_STEP = 0.5;
/** What was served is measured over at least this time, and this many answers. */
const WINDOW_MS = 1_000;
const WINDOW_ANSWERS = 25;
const LATEST = 16;

/**
 * A rate of requests per second that is learned from 429 answers, in place of the limit no document states.
 *
 *   unlimited → (first 429) limited → after each 429 down to 80% of what was really served → back up to it within a
 *   hundred successes, then on beyond it, slowly first, faster the longer nothing is refused (the cubic curve of TCP,
 *   in successes instead of seconds; in seconds where they are quicker)
 *
 * One refusal so costs at least a hundred successes before the next one. Where many requests are in flight, word of a
 * refusal comes late, and the way back is longer. Below four a second it is 25 seconds instead: a service that refused
 * everything for a while, limit or not, would be crawled at for minutes otherwise.
 *
 * A single refusal among many answers, on the way back to a rate that was served before, is not the limit's: the service
 * refuses now and then, whatever the rate. Such a rare one changes nothing, nor do the next ones while they stay rare.
 */
export function learnRate() {
  let rate = Number.POSITIVE_INFINITY;
  let lastGood = Number.POSITIVE_INFINITY;
  let backAfter = BACK_AFTER;
  let successes = 0;
  /** Successes since the latest refusal, be it a rare one. */
  let sinceRefusal = 0;
  /** Whether the latest refusal was a rare one; true before there was any. */
  let rare = true;
  /** When the way back began: after the latest refusal and the pause that came with it. */
  let backSince = 0;
  let movedAt: number | undefined;
  let afterPause = false;
  let windowStart = 0;
  let counted = 0;
  /** Successes per second in the last full window. */
  let served = 0;
  /** Answers that came together, the last ones first. */
  const latest: { readonly count: number; readonly since: number }[] = [];

  function roll(now: number): void {
    const ms = now - windowStart;
    if (ms < WINDOW_MS || (counted < WINDOW_ANSWERS && ms < 10 * WINDOW_MS)) return;
    served = (counted * 1000) / ms;
    counted = 0;
    windowStart = now;
  }

  /** Successes per second over the last few, which tells soonest where a limit has dropped to. */
  function recentRate(now: number): number {
    let answers = 0;
    let oldest = now;
    for (const { count, since } of latest) {
      answers += count;
      oldest = Math.min(oldest, since);
      if (answers >= LATEST) return (answers * 1000) / Math.max(1, now - oldest);
    }
    return 0;
  }

  /** How far on the way back; 1: at the rate before the refusal. */
  function progress(now: number): number {
    return Math.max(successes, (now - backSince) / SUCCESS_MS) / backAfter;
  }

  /** The pace that was really held lately. */
  function servedRate(now: number): number {
    return Math.max(served, (counted * 1000) / Math.max(WINDOW_MS, now - windowStart));
  }

  return {
    /** Requests per second; Infinity until the first 429. */
    get perSecond(): number {
      return rate;
    },
    /** `count` successes since `since`: what other processes report comes in lots. */
    succeeded(now: number, count = 1, since = now): void {
      roll(now);
      counted += count;
      sinceRefusal += count;
      latest.unshift({ count, since });
      latest.splice(LATEST);
      if (rate === Number.POSITIVE_INFINITY) return;
      successes += count;
      const progressed = progress(now);
      const cubic = lastGood + Math.max(lastGood * (1 - DECREASE), LEAST_STEP) * (progressed - 1) ** 3;
      // A guess that rests on little says nothing of where the limit was; and from a high rate the curve is quick enough.
      if (progressed >= MOVED && backAfter >= BACK_AFTER && lastGood < SLOW) movedAt ??= now;
      const curve = cubic * 2 ** Math.min(10, movedAt === undefined ? 0 : (now - movedAt) / DOUBLE_MS);
      // Never far above what is really sent: a limit that drops later must be found again from near it.
      rate = Math.max(rate, Math.min(curve, 2 * Math.max(servedRate(now), rate / 2) + 1));
    },
    /**
     * At most one 429 per round trip is reported; `roundTripMs` is the usual time of an answer. `pausedMs`: the service named
     * a pause, and nobody sends before it is over; 0 for none. Another 429 right after the pause, before anything was served,
     * says that the pause was too short, and nothing about the rate. False where the refusal is a rare one.
     */
    throttled(now: number, roundTripMs: number, pausedMs: number): boolean {
      roll(now);
      const first = rate === Number.POSITIVE_INFINITY;
      rare = sinceRefusal >= RARE_AFTER && (rare || successes < backAfter);
      sinceRefusal = 0;
      if (rare) {
        backSince += pausedMs;
        return false;
      }
      const tooEarly = afterPause && successes === 0;
      afterPause = pausedMs > 0;
      const unsure = first || progress(now) < 0.25;
      backSince = now + pausedMs;
      movedAt = undefined;
      if (tooEarly) return true;
      lastGood = first ? Math.max(FIRST_GUESS, servedRate(now)) : Math.max(SLOWEST, Math.min(rate, servedRate(now)));
      // While a limit drops, refusals of requests sent earlier keep coming in: not below what is being served.
      const floor = first ? 0 : Math.min(rate * 0.95, recentRate(now) * DECREASE);
      rate = Math.max(SLOWEST, lastGood * DECREASE, floor);
      const late = (BACK_AFTER_ROUND_TRIPS * lastGood * roundTripMs) / 1000;
      backAfter = unsure ? UNSURE_BACK_AFTER : Math.max(BACK_AFTER, late);
      successes = 0;
      return true;
    },
  };
}
