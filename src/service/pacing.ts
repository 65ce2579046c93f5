import type { Clock } from './clock.js';
import { learnRate } from './rate.js';

/** What an answer says about the pace. */
export type Load = 'fine' | 'throttled' | 'overloaded' | 'unclear';

export interface PacerOptions {
  readonly maxInFlight: number;
  /** A fixed ceiling of requests per second. */
  readonly maxRps?: number;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly signal?: AbortSignal;
}

/**
 * The one gate every request passes, first try or not.
 *
 *   in flight: starts at min(8, max); grows by half a round trip's answers until the first sign of overload, afterwards by
 *   one per round trip; ×0.7 on 429, 503 and time-outs, at most once per round trip (AIMD)
 *   rate: a fixed ceiling, and one learned from 429 answers
 *   hold: until a moment the service named (Retry-After) nobody passes
 *   retries: a budget of ten, refilled by successes and time, so that a failing service is not flooded with repetitions
 */
export interface Pacer {
  readonly limit: number;
  /** True: go now. A promise: wait; false in the end where the run was stopped. A repetition goes before fresh requests. */
  enter(repetition: boolean): true | Promise<boolean>;
  leave(load: Load, enteredAt: number): void;
  /** Nobody passes before this much time is over. */
  hold(ms: number): void;
  /** How long to wait before the given repetition, from 1: full jitter, and the budget's delay. */
  backoff(repetition: number): number;
}

const FIRST_LIMIT = 8;
const DECREASE = 0.7;
const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 30_000;
const RETRY_BUDGET = 10;
const RETRIES_PER_SECOND = 5;
const RETRIES_PER_SUCCESS = 0.2;
/** Timers are coarse; a request that is late by this much may be made up for. */
const SLACK_MS = 10;
/** Not where requests are far apart: a service that counts strictly would refuse an early one. */
const SLOW_INTERVAL_MS = 50;

export function openPacer(options: PacerOptions): Pacer {
  const { clock, signal } = options;
  const max = Math.max(1, options.maxInFlight);
  const rate = learnRate();
  let limit = Math.min(FIRST_LIMIT, max);
  let inFlight = 0;
  let everOverloaded = false;
  let decreasedAt = Number.NEGATIVE_INFINITY;
  let roundTrip = 0;
  let heldUntil = 0;
  let nextSlot = 0;
  let budget = RETRY_BUDGET;
  let budgetAt = clock.now();
  let cancelTimer: (() => void) | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  type Waiter = (go: boolean) => void;
  const repetitions = queue<Waiter>();
  const fresh = queue<Waiter>();

  signal?.addEventListener(
    'abort',
    () => {
      cancelTimer?.();
      cancelTimer = undefined;
      for (const lane of [repetitions, fresh])
        for (let waiter = lane.take(); waiter; waiter = lane.take()) waiter(false);
    },
    { once: true },
  );

  /** Milliseconds until the rate allows another request; takes the slot where it is now. */
  function takeSlot(now: number): number {
    const perSecond = Math.min(options.maxRps ?? Number.POSITIVE_INFINITY, rate.perSecond);
    if (perSecond === Number.POSITIVE_INFINITY) return 0;
    const interval = 1000 / perSecond;
    const slack = interval > SLOW_INTERVAL_MS ? 0 : SLACK_MS;
    const early = nextSlot - now;
    if (early > slack / 2) return early;
    nextSlot = Math.max(nextSlot, now - slack) + interval;
    return 0;
  }

  function mayGo(now: number): boolean {
    if (inFlight >= Math.floor(limit)) return false;
    const delay = Math.max(heldUntil - now, 0) || takeSlot(now);
    if (delay <= 0) return true;
    wakeAt(now + delay);
    return false;
  }

  function wakeAt(at: number): void {
    if (cancelTimer && timerAt <= at) return;
    cancelTimer?.();
    timerAt = at;
    cancelTimer = clock.after(Math.max(1, at - clock.now()), () => {
      cancelTimer = undefined;
      drain();
    });
  }

  function drain(): void {
    while (repetitions.size + fresh.size > 0 && mayGo(clock.now())) {
      inFlight++;
      (repetitions.take() ?? fresh.take())?.(true);
    }
  }

  /** Where a learned rate is the bottleneck: the requests in flight that keep it busy, with room to grow. */
  function busy(): number {
    return rate.perSecond === Number.POSITIVE_INFINITY ? 0 : 1 + (1.5 * rate.perSecond * roundTrip) / 1000;
  }

  function refillBudget(now: number): void {
    budget = Math.min(RETRY_BUDGET, budget + ((now - budgetAt) / 1000) * RETRIES_PER_SECOND);
    budgetAt = now;
  }

  return {
    get limit() {
      return Math.floor(limit);
    },
    enter(repetition) {
      if (signal?.aborted) return Promise.resolve(false);
      if (repetitions.size + fresh.size === 0 && mayGo(clock.now())) {
        inFlight++;
        return true;
      }
      return new Promise<boolean>((resolve) => (repetition ? repetitions : fresh).put(resolve));
    },
    leave(load, enteredAt) {
      const now = clock.now();
      // A limit that is not made use of proves nothing.
      const used = inFlight * 2 >= limit;
      inFlight--;
      if (load === 'fine') {
        roundTrip = roundTrip === 0 ? now - enteredAt : roundTrip * 0.9 + (now - enteredAt) * 0.1;
        rate.succeeded(now);
        budget = Math.min(RETRY_BUDGET, budget + RETRIES_PER_SUCCESS);
        if (used) limit = Math.min(max, limit + (everOverloaded && limit >= busy() ? 1 / limit : 0.5));
      } else if (load !== 'unclear' && enteredAt > decreasedAt) {
        everOverloaded = true;
        decreasedAt = now;
        if (load === 'throttled') {
          rate.throttled(now, roundTrip, heldUntil > now);
          nextSlot = Math.max(nextSlot, now + 1000 / rate.perSecond);
        }
        limit = Math.max(1, limit * DECREASE, load === 'throttled' ? Math.min(limit, busy()) : 0);
      }
      drain();
    },
    hold(ms) {
      heldUntil = Math.max(heldUntil, clock.now() + ms);
    },
    backoff(repetition) {
      const now = clock.now();
      refillBudget(now);
      budget--;
      const forBudget = budget < 0 ? (-budget / RETRIES_PER_SECOND) * 1000 : 0;
      const ceiling = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(20, repetition));
      return Math.max(options.random() * ceiling, Math.min(forBudget, BACKOFF_CAP_MS));
    },
  };
}

const SHORTEST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 15 * 60_000;

/**
 * `Retry-After` in milliseconds, in seconds or as an HTTP date, clamped to 1 s – 15 min; undefined where there is none or
 * it cannot be read. A date is measured against the service's own `Date` where it sent one.
 */
export function retryAfter(value: string | undefined, date: string | undefined, clock: Clock): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  let ms: number;
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) ms = Number(text) * 1000;
  else {
    const then = Date.parse(text);
    if (Number.isNaN(then)) return undefined;
    const serviceNow = date === undefined ? Number.NaN : Date.parse(date);
    ms = then - (Number.isNaN(serviceNow) ? clock.wall() : serviceNow);
  }
  return Math.min(LONGEST_HOLD_MS, Math.max(SHORTEST_HOLD_MS, ms));
}

/** First in, first out, in constant time. */
function queue<T>() {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    get size() {
      return items.length - head;
    },
    put(item: T): void {
      items.push(item);
    },
    take(): T | undefined {
      if (head === items.length) return undefined;
      const item = items[head];
      items[head++] = undefined;
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
  };
}
