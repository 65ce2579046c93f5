import type { PaceReport, PaceState, SharedPace } from '../../model/pace.js';
import type { Clock } from '../clock.js';

type Sums = Pick<PaceState, 'successes' | 'throttled' | 'overloaded'>;
const noSums = () => ({ successes: 0, throttled: 0, overloaded: 0 });

/** What the requests of the other processes came to since this one last heard of them. */
interface PaceUpdate extends Sums {
  /** When it was last heard of them; what is told happened since. */
  readonly since: number;
}

interface SharingOptions {
  readonly shared: SharedPace;
  readonly clock: Clock;
  /** Requests in flight or waiting: while there are none, nothing is told and nothing is asked. */
  active(): boolean;
  /** Waiting requests that could go within the next 100 ms if there were slots for them. */
  demand(): number;
  /** Milliseconds between two requests at the common rate in force; 0 for none. */
  intervalMs(): number;
  /** Milliseconds within which nobody passes here. */
  heldMs(): number;
  /** No news: there is nothing to compare the sums with. */
  onState(update: PaceUpdate | undefined, state: PaceState): void;
  /** Slots, a pause or news came: whoever waits may look again. */
  wake(): void;
}

/** This process's part in a pace that several share. */
export type Sharing = ReturnType<typeof openSharing>;

const BEAT_MS = 100;
const PAUSED_BEAT_MS = 1_000;
const BATCH_MS = 100;
/** With so little left the next slots are asked for. */
const AHEAD_MS = 60;
/** After such a time without an exchange the others may have been told to pause. */
const QUIET_MS = 1_000;
/** An answer that takes longer is not waited for. */
const IMPATIENT_MS = 250;
/** An exchange that never ends must not keep this process alone for ever. */
const ABANDON_MS = 10_000;
const UNREACHED_BEAT_MS = 500;
/** Older sums are not compared with: what happened in such a time says nothing of now. */
const STALE_MS = 5_000;
/** Slots that lie so far ahead are asked for by others too. */
const CONTENDED_MS = 20;

/**
 *   quiet → (a request comes) → exchange, at once and every 100 ms, sooner where slots are needed or a slowdown is to be
 *   told → (nothing in flight, nothing waiting, nothing to tell) → quiet
 *   reached → (an exchange fails or takes too long) → alone, with this process's share of the rate → (one succeeds) → reached
 *
 * One exchange at a time. What a failed one would have told is dropped, save the pause: by then it is old news.
 */
export function openSharing(options: SharingOptions) {
  const { clock } = options;
  const slots = grantedSlots();
  let beating = false;
  let stopped = false;
  let reached = true;
  /** The exchange under way. */
  let exchanging: object | undefined;
  let exchangeDue = false;
  let cancelTimer: (() => void) | undefined;
  /** What is to be told. */
  let sums = noSums();
  let heldUntil = 0;
  /** Since when somebody waits for a slot, and none is granted. */
  let starvedSince: number | undefined;
  /** Since when the first word after a quiet time is waited for. */
  let listeningSince: number | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;
  let contended = false;
  let members = 1;
  let passed = 0;
  let passedBefore = 0;
  let beatAt = Number.NEGATIVE_INFINITY;
  let lastState: { readonly state: PaceState; readonly at: number } | undefined;

  function exchangeSoon(): void {
    if (stopped) return;
    if (exchanging) {
      exchangeDue = true;
      return;
    }
    exchangeDue = false;
    cancelTimer?.();
    const current = {};
    exchanging = current;
    // Whatever else happens in this moment travels along.
    void Promise.resolve().then(() => exchange(current));
  }

  async function exchange(current: object): Promise<void> {
    if (stopped) return;
    const sentAt = clock.now();
    if (sentAt - beatAt >= BEAT_MS) {
      passedBefore = passed;
      passed = 0;
      beatAt = sentAt;
    }
    const wanted = options.demand() > 0 ? slotsWanted(sentAt) : undefined;
    const reported = sums;
    const report: PaceReport = {
      ...reported,
      ...(heldUntil > sentAt ? { holdMs: Math.ceil(heldUntil - sentAt) } : {}),
      ...(wanted ? { slots: wanted } : {}),
    };
    const reportedHold = heldUntil;
    sums = noSums();
    cancelTimer = clock.after(ABANDON_MS, () => ended(current, false));
    try {
      const state = await options.shared.exchange(report);
      if (exchanging !== current || stopped) return;
      if (heldUntil === reportedHold) heldUntil = 0;
      applyState(state, reported, sentAt);
      ended(current, wanted === undefined || grant(state, wanted, sentAt));
    } catch {
      if (exchanging === current) lastState = undefined;
      ended(current, false);
    }
  }

  /** False where the slots came too late: it is not known for when they were meant. */
  function grant(state: PaceState, wanted: NonNullable<PaceReport['slots']>, sentAt: number): boolean {
    const now = clock.now();
    if (state.slotInMs === undefined || now - sentAt >= IMPATIENT_MS) return false;
    contended = state.slotInMs > CONTENDED_MS;
    slots.add(now + state.slotInMs, wanted.count, wanted.intervalMs);
    return true;
  }

  function applyState(state: PaceState, reported: Sums, sentAt: number): void {
    members = Math.max(1, state.members);
    const base = lastState && sentAt - lastState.at < STALE_MS ? lastState : undefined;
    lastState = { state, at: clock.now() };
    const others = (sum: keyof Sums): number => (base ? state[sum] - base.state[sum] - reported[sum] : 0);
    const update = { successes: others('successes'), throttled: others('throttled'), overloaded: others('overloaded') };
    const wasReset = update.successes < 0 || update.throttled < 0 || update.overloaded < 0;
    options.onState(base === undefined || wasReset ? undefined : { ...update, since: base.at }, state);
  }

  function ended(current: object, ok: boolean): void {
    if (exchanging !== current) return;
    exchanging = undefined;
    cancelTimer?.();
    if (stopped) return;
    reached = ok;
    starvedSince = undefined;
    listeningSince = undefined;
    endedAt = clock.now();
    options.wake();
    if (exchanging) return;
    if (ok && exchangeDue) exchangeSoon();
    else cancelTimer = clock.after(ok ? beatMs() : UNREACHED_BEAT_MS, beat);
  }

  /** In a pause nothing is sent; it is enough to hear that it grew longer. */
  function beatMs(): number {
    return Math.max(BEAT_MS, Math.min(PAUSED_BEAT_MS, options.heldMs() - BEAT_MS));
  }

  function beat(): void {
    if (options.active() || sums.successes + sums.throttled + sums.overloaded > 0) exchangeSoon();
    else beating = false;
  }

  function slotsWanted(now: number): PaceReport['slots'] {
    const intervalMs = options.intervalMs();
    if (intervalMs === 0 || slots.until(now) - now > AHEAD_MS) return undefined;
    const batch = Math.max(1, Math.ceil(BATCH_MS / intervalMs / members));
    // Where nobody else needs them, slots for what went out lately spare every request an exchange of its own.
    const need = contended ? options.demand() : Math.max(options.demand(), passedBefore);
    const count = Math.min(batch, Math.max(starvedSince === undefined ? 0 : 1, need) - slots.size);
    // Not for a few, while there are some: every exchange costs the shared place a little.
    return count > 0 && (slots.size === 0 || count * 2 >= batch) ? { count, intervalMs } : undefined;
  }

  return {
    /** A request is at the gate: tell and ask regularly until there are none. */
    activate(): void {
      if (beating || stopped) return;
      beating = true;
      const now = clock.now();
      if (reached && now - endedAt > QUIET_MS) listeningSince = now;
      exchangeSoon();
    },
    /** Milliseconds to wait for the first word after a quiet time, which may be of a pause; 0 for none. */
    listeningMs(now: number): number {
      return reached && listeningSince !== undefined ? Math.max(0, listeningSince + IMPATIENT_MS - now) : 0;
    },
    succeeded(): void {
      sums.successes++;
    },
    /** One episode, at most one a round trip; told at once. */
    slowed(how: 'throttled' | 'overloaded'): void {
      sums[how]++;
      if (reached) exchangeSoon();
    },
    /** A pause the service named to this process; told at once. */
    hold(until: number): void {
      heldUntil = Math.max(heldUntil, until);
      if (reached) exchangeSoon();
    },
    /**
     * Milliseconds until there may be a slot of the common rate; 0: now, and it is used. Where the shared place does not
     * answer, the last known number of processes share the rate evenly.
     */
    takeSlot(now: number): number {
      const delay = slots.take(now);
      if (delay === 0) passed++;
      if (delay === undefined) starvedSince ??= now;
      if (reached && !exchanging && slotsWanted(now)) exchangeSoon();
      if (delay !== undefined) return delay;
      const waited = now - (starvedSince ?? now);
      if (reached && waited < IMPATIENT_MS) return IMPATIENT_MS - waited;
      return slots.takeAlone(now, options.intervalMs() * members);
    },
    /** The common rate came down: the slots that were granted at the rate before are given up. */
    dropSlots: slots.clear,
    stop(): void {
      stopped = true;
      cancelTimer?.();
    },
  };
}

/** Timers are coarse: a slot may be used so much too early. */
const EARLY_MS = 5;
/** Afterwards a slot has lapsed. A process that was busy otherwise makes up for this much. */
const LATE_MS = 40;
/** Where requests are far apart a service that counts strictly would refuse an early one, and one after a late one. */
export const SLOW_INTERVAL_MS = 50;
const SLOW_LATE_MS = 25;

/** A moment at which this process may send a request. `slow`: the next one is far away. */
interface Slot {
  readonly at: number;
  readonly slow: boolean;
}

/** Slots of the common rate that were granted and not used yet. */
function grantedSlots() {
  let slots: Slot[] = [];
  let aloneAt = Number.NEGATIVE_INFINITY;
  /** What was sent alone stands for the slots up to here. */
  let usedUntil = Number.NEGATIVE_INFINITY;

  return {
    /** Those that lapsed since the last `take` among them. */
    get size() {
      return slots.length;
    },
    /** When the last slot is; `now` where there is none. */
    until: (now: number): number => Math.max(now, slots.at(-1)?.at ?? now),
    add(from: number, count: number, intervalMs: number): void {
      const slow = intervalMs > SLOW_INTERVAL_MS;
      for (let index = 0; index < count; index++) slots.push({ at: from + index * intervalMs, slow });
    },
    /** 0: there is a slot now, and it is used. Else milliseconds until the next; undefined where there is none. */
    take(now: number): number | undefined {
      const hasLapsed = ({ at, slow }: Slot) => at < Math.max(usedUntil, now - (slow ? SLOW_LATE_MS : LATE_MS));
      const first = slots.findIndex((slot) => !hasLapsed(slot));
      slots.splice(0, first < 0 ? slots.length : first);
      const [next] = slots;
      if (!next) return undefined;
      if (next.at - now > (next.slow ? 0 : EARLY_MS)) return next.at - now;
      slots.shift();
      aloneAt = Math.max(aloneAt, now);
      return 0;
    },
    clear(): void {
      slots = [];
    },
    /** The same as `take` by this process's own reckoning, where the shared place cannot be asked. `intervalMs` is its own share. */
    takeAlone(now: number, intervalMs: number): number {
      const early = Math.max(aloneAt, usedUntil) - now;
      if (early > 0) return early;
      aloneAt = now + intervalMs;
      usedUntil = aloneAt;
      return 0;
    },
  };
}
