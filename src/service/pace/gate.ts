import type { SharedPace } from '../../model/pace.js';
import type { Clock } from '../clock.js';
import { Breaker, type Outage } from './breaker.js';
import { learnRate } from './rate.js';
import { openSharing, type Sharing, SLOW_INTERVAL_MS } from './sharing.js';

/** What an exchange says about the pace; `unsent`: there was none. */
export type Load = 'fine' | 'throttled' | 'overloaded' | 'unclear' | 'unsent';

export interface Report {
  /** Of the request that went out as a probe. */
  readonly probe?: boolean;
  /** Why the service may be away. */
  readonly outageReason?: string | undefined;
  /** A failure of this request says nothing of the others. */
  readonly isolated?: boolean;
}

export interface PacerOptions {
  /** Most requests in flight. Contract, section 2: `ROWFERRY_CONCURRENCY`. */
  readonly maxInFlight: number;
  /** A fixed ceiling of requests per second. Contract, section 2: `ROWFERRY_MAX_RPS`. */
  readonly maxRps?: number;
  /** The pace shared with other processes; the ceiling is then that of all together. */
  readonly shared?: SharedPace;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  /** Sends everybody away, and lets nobody in any more. */
  readonly signal?: AbortSignal;
}

export type Pacer = ReturnType<typeof openPacer>;

/** How a run takes it that the service is away. */
export interface Patience {
  /** Longer than this it does not wait, as it stands at the moment: from the beginning of the outage, or of the run where that was later. */
  readonly ms: number;
  /** Called when the service went away, after each probe in vain, and with undefined when it is back. */
  readonly notify?: (outage: Outage | undefined) => void;
}

export interface Lane {
  /** True: go now. A promise: wait, see `Pass`. A repetition goes before fresh requests. */
  enter(repetition: boolean): true | Promise<Pass>;
  /** Sends away who still waits, and lets go of the signal. */
  close(): void;
}

const FIRST_LIMIT = 8;
/** A service that has just come back is not met with everything that waited for it. */
const LIMIT_AFTER_OUTAGE = 2;
const DECREASE = 0.7;
/** Timers are coarse; a request that is late by this much may be made up for, unless requests are far apart. */
const SLACK_MS = 10;
/** How late word of the others comes, about. */
const REPORT_DELAY_MS = 100;

/**
 * The one gate every request passes, first try or not.
 *
 *   in flight: starts at min(8, max); grows by half a round trip's answers until the first sign of overload, afterwards by
 *   one per round trip; ×0.7 on 429, 503 and time-outs, at most once per round trip (AIMD)
 *   rate: a fixed ceiling, and one learned from 429 answers
 *   shared: with other processes, one rate, one pause, and everybody's 429 and 503 as if they were met here (`sharing.ts`)
 *   hold: until a moment the service named (Retry-After) nobody passes
 *   breaker: while the service is away nobody passes but one probe at a time, at growing intervals (`breaker.ts`)
 *   retries: a budget of ten, refilled by successes and time, so that a failing service is not flooded with repetitions
 */
export function openPacer(options: PacerOptions) {
  const { clock, signal } = options;
  const max = Math.max(1, options.maxInFlight);
  const rate = learnRate();
  const retries = retryBudget(clock, options.random);
  let limit = Math.min(FIRST_LIMIT, max);
  let inFlight = 0;
  let everOverloaded = false;
  let decreasedAt = Number.NEGATIVE_INFINITY;
  let roundTrip = 0;
  let heldUntil = 0;
  let nextSlot = 0;
  let cancelTimer: (() => void) | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  const lines = new WaitingLines();
  /** One for each open lane: looks whether the outage lasts too long for it. */
  const watchers = new Set<(changed: boolean) => void>();
  const breaker = new Breaker(clock, options.random, () => {
    if (!breaker.outage) limit = Math.min(limit, LIMIT_AFTER_OUTAGE);
    for (const watch of watchers) watch(true);
  });
  const sharing: Sharing | undefined =
    options.shared &&
    openSharing({
      shared: options.shared,
      clock,
      active: () => inFlight + lines.size > 0,
      demand: () => Math.min(lines.size, breaker.outage ? Number(breaker.probeInMs(clock.now()) === 0) : headroom()),
      intervalMs,
      heldMs: () => Math.max(0, heldUntil - clock.now()),
      onState(update, state) {
        const now = clock.now();
        if (state.heldMs > 0) heldUntil = Math.max(heldUntil, now + state.heldMs);
        if (!update) return;
        if (update.successes > 0) rate.succeeded(now, update.successes, update.since);
        // The others were slowed down by what they sent a round trip before; this process may have been by the same.
        if (decreasedAt >= update.since - Math.max(roundTrip, REPORT_DELAY_MS)) return;
        if (update.throttled > 0) slowDown('throttled', now);
        else if (update.overloaded > 0) slowDown('overloaded', now);
      },
      wake: drain,
    });

  /** Where nobody waits there is nothing to wake for; a timer would keep the process alive. */
  function cancelIdleTimer(): void {
    if (lines.size > 0) return;
    cancelTimer?.();
    cancelTimer = undefined;
  }

  signal?.addEventListener(
    'abort',
    () => {
      for (let waiter = lines.next(); waiter; waiter = lines.next()) waiter(false);
      cancelIdleTimer();
      sharing?.stop();
    },
    { once: true },
  );
  if (signal?.aborted) sharing?.stop();

  function openLane(runSignal?: AbortSignal, patience?: Patience): Lane {
    const line = {};
    const openedAt = clock.now();
    let closed = false;
    let cancelPatience: (() => void) | undefined;
    const dismiss = (pass: false | 'away' = false): void => {
      lines.dismiss(line, pass);
      cancelIdleTimer();
    };
    const onStop = (): void => dismiss();
    /** Milliseconds for which the service may still be away. */
    const patienceLeft = ({ since }: Outage): number =>
      Math.max(since, openedAt) + (patience?.ms ?? Number.POSITIVE_INFINITY) - clock.now();
    const watch = (changed: boolean): void => {
      const { outage } = breaker;
      if (changed) patience?.notify?.(outage);
      cancelPatience?.();
      const remaining = outage ? patienceLeft(outage) : Number.POSITIVE_INFINITY;
      cancelPatience =
        remaining === Number.POSITIVE_INFINITY
          ? undefined
          : clock.after(Math.max(0, remaining) + 1, () => dismiss('away'));
    };
    if (patience) {
      watchers.add(watch);
      watch(false);
    }
    runSignal?.addEventListener('abort', onStop, { once: true });
    return {
      enter(repetition) {
        if (closed || runSignal?.aborted || signal?.aborted) return Promise.resolve(false);
        if (breaker.outage && patienceLeft(breaker.outage) <= 0) return Promise.resolve('away');
        sharing?.activate();
        const pass = lines.size === 0 && mayGo(clock.now());
        if (pass === 'probe') return Promise.resolve(enter(pass));
        if (pass) return enter(pass);
        return new Promise<Pass>((resolve) => lines.put(line, resolve, repetition));
      },
      close() {
        closed = true;
        watchers.delete(watch);
        cancelPatience?.();
        runSignal?.removeEventListener('abort', onStop);
        dismiss();
      },
    };
  }

  function enter<P extends true | 'probe'>(pass: P): P {
    inFlight++;
    if (pass === 'probe') breaker.startProbe();
    return pass;
  }

  /** Between two requests at the rate in force; 0 where there is none. */
  function intervalMs(): number {
    return 1000 / Math.min(options.maxRps ?? Number.POSITIVE_INFINITY, rate.perSecond);
  }

  /** Milliseconds until the rate allows another request; takes the slot where it is now. */
  function takeSlot(now: number): number {
    const interval = intervalMs();
    if (interval === 0) return 0;
    if (sharing) return sharing.takeSlot(now);
    const slack = interval > SLOW_INTERVAL_MS ? 0 : SLACK_MS;
    const early = nextSlot - now;
    if (early > slack / 2) return early;
    nextSlot = Math.max(nextSlot, now - slack) + interval;
    return 0;
  }

  function mayGo(now: number): false | true | 'probe' {
    const probeInMs = breaker.outage ? breaker.probeInMs(now) : 0;
    // A probe goes also where requests without an answer fill the limit.
    if (probeInMs === undefined || inFlight >= (breaker.outage ? max : Math.floor(limit))) return false;
    const delay = Math.max(heldUntil - now, probeInMs) || sharing?.listeningMs(now) || takeSlot(now);
    if (delay <= 0) return breaker.outage ? 'probe' : true;
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
    while (lines.size > 0) {
      const pass = mayGo(clock.now());
      if (!pass) return;
      lines.next()?.(enter(pass));
    }
  }

  /** Where a learned rate is the bottleneck: the requests in flight that keep it busy, with room to grow. */
  function busyLimit(): number {
    return rate.perSecond === Number.POSITIVE_INFINITY ? 0 : 1 + (1.5 * rate.perSecond * roundTrip) / 1000;
  }

  /** Once per round trip: the decrease, and what was sent before it says nothing more. */
  function slowDown(load: 'throttled' | 'overloaded', now: number): void {
    if (load === 'throttled' && !rate.throttled(now, roundTrip, Math.max(0, heldUntil - now))) return;
    everOverloaded = true;
    decreasedAt = now;
    if (load === 'throttled') {
      nextSlot = Math.max(nextSlot, now + 1000 / rate.perSecond);
      sharing?.dropSlots();
      // Until the others know, they send as before; what is met meanwhile says nothing of the new rate.
      if (sharing) decreasedAt = now + REPORT_DELAY_MS;
    }
    limit = Math.max(1, limit * DECREASE, load === 'throttled' ? Math.min(limit, busyLimit()) : 0);
  }

  /** Requests that the limit lets pass within the next 100 ms. */
  function headroom(): number {
    return Math.floor(limit) - inFlight + Math.ceil((limit * 100) / Math.max(20, roundTrip));
  }

  return {
    get inFlightLimit(): number {
      return Math.floor(limit);
    },
    get inFlight(): number {
      return inFlight;
    },
    get waiting(): number {
      return lines.size;
    },
    /** Whether anything was answered well yet. */
    get answered(): boolean {
      return roundTrip > 0;
    },
    /** Requests per second, of all workers that share the pace; undefined where no 429 taught one. */
    get learnedRate(): number | undefined {
      return rate.perSecond === Number.POSITIVE_INFINITY ? undefined : rate.perSecond;
    },
    /** Milliseconds within which nobody passes, because the service named a pause; 0 for none. */
    get heldMs(): number {
      return Math.max(0, heldUntil - clock.now());
    },
    get outage(): Outage | undefined {
      return breaker.outage;
    },
    /** Milliseconds since when the service does not answer; undefined where it does. */
    get awayMs(): number | undefined {
      return breaker.outage && clock.now() - breaker.outage.since;
    },
    enter: openLane().enter,
    /** A run's own way in. Runs take turns; its signal sends away, at once, whoever waits in this lane, and nobody else. */
    lane: openLane,
    leave(load: Load, enteredAt: number, { probe = false, outageReason, isolated = false }: Report = {}): void {
      const now = clock.now();
      if (load === 'unsent') {
        if (probe) breaker.cancelProbe();
      } else if (outageReason === undefined) breaker.onAnswer(probe);
      else if (!isolated) breaker.onFailure(outageReason, probe);
      // A limit that is not made use of proves nothing.
      const used = inFlight * 2 >= limit;
      inFlight--;
      if (load === 'fine') {
        roundTrip = roundTrip === 0 ? now - enteredAt : roundTrip * 0.9 + (now - enteredAt) * 0.1;
        rate.succeeded(now);
        sharing?.succeeded();
        retries.succeeded();
        if (used) limit = Math.min(max, limit + (everOverloaded && limit >= busyLimit() ? 1 / limit : 0.5));
      } else if (load !== 'unclear' && load !== 'unsent' && enteredAt > decreasedAt) {
        slowDown(load, now);
        sharing?.slowed(load);
      }
      drain();
    },
    /** Nobody passes before this much time is over. */
    hold(ms: number): void {
      heldUntil = Math.max(heldUntil, clock.now() + ms);
      sharing?.hold(heldUntil);
    },
    backoff: retries.backoff,
  };
}

/**
 * How somebody comes out of the wait at the gate: `true` to go, `false` where the run was stopped, `probe` to go as the one
 * who finds out whether the service is back, `away` where the service has been away for longer than the run's patience.
 */
export type Pass = boolean | 'probe' | 'away';

/** Called once. */
type Waiter = (pass: Pass) => void;

/** So many repetitions in a row, and a fresh request goes, if one waits: a run that only fails must not hold up the others. */
const REPETITIONS_IN_A_ROW = 4;

/** The lines that have waiters of one kind, in the order of their turns. A line is known by its run. */
type Round = Map<object, Waiter[]>;

/**
 * Who waits at the gate: one line for each run, each with its repetitions and its fresh requests. Repetitions go before fresh
 * requests; among each kind the runs take turns, and within a run the first comes first. So a run with thousands of
 * waiters delays another one by one request at a time.
 */
export class WaitingLines {
  size = 0;
  readonly #again: Round = new Map();
  readonly #fresh: Round = new Map();
  #inARow = 0;

  put(line: object, waiter: Waiter, repetition: boolean): void {
    const round = repetition ? this.#again : this.#fresh;
    const waiters = round.get(line);
    if (waiters) waiters.push(waiter);
    else round.set(line, [waiter]);
    this.size++;
  }

  /** Sends everybody in this line away. The line can be used again. */
  dismiss(line: object, pass: Extract<Pass, false | 'away'>): void {
    const waiters = [...(this.#again.get(line) ?? []), ...(this.#fresh.get(line) ?? [])];
    this.#again.delete(line);
    this.#fresh.delete(line);
    this.size -= waiters.length;
    for (const waiter of waiters) waiter(pass);
  }

  /** Takes out the waiter whose turn it is. */
  next(): Waiter | undefined {
    const repetition = this.#inARow < REPETITIONS_IN_A_ROW ? takeTurn(this.#again) : undefined;
    const waiter = repetition ?? takeTurn(this.#fresh) ?? takeTurn(this.#again);
    this.#inARow = repetition === undefined ? 0 : this.#inARow + 1;
    if (waiter) this.size--;
    return waiter;
  }
}

/** The first waiter of the line whose turn it is; the line goes to the end of the round. */
function takeTurn(round: Round): Waiter | undefined {
  const [first] = round;
  if (!first) return undefined;
  const [line, waiters] = first;
  const waiter = waiters.shift();
  round.delete(line);
  if (waiters.length > 0) round.set(line, waiters);
  return waiter;
}

const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 30_000;
const RETRY_BUDGET = 10;
const RETRIES_PER_SECOND = 5;
const RETRIES_PER_SUCCESS = 0.2;

/** When a request goes out again: full jitter, and a budget that all requests share. `random`: 0 ≤ x < 1. */
function retryBudget(clock: Clock, random: () => number) {
  let budget = RETRY_BUDGET;
  let refilledAt = clock.now();
  return {
    /** Every success pays for a part of a repetition. */
    succeeded(): void {
      budget = Math.min(RETRY_BUDGET, budget + RETRIES_PER_SUCCESS);
    },
    /** Milliseconds to wait before the given repetition, from 1. */
    backoff(repetition: number): number {
      const now = clock.now();
      budget = Math.min(RETRY_BUDGET, budget + ((now - refilledAt) / 1000) * RETRIES_PER_SECOND);
      refilledAt = now;
      budget--;
      const forBudget = budget < 0 ? (-budget / RETRIES_PER_SECOND) * 1000 : 0;
      const ceiling = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(20, repetition));
      return Math.max(random() * ceiling, Math.min(forBudget, BACKOFF_CAP_MS));
    },
  };
}
