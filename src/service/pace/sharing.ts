import type { PaceReport, PaceState, SharedPace } from '../../model/pace.js';
import type { Clock } from '../clock.js';

type Sums = Pick<PaceState, 'successes' | 'throttled' | 'overloaded'>;

/** What the requests of the other processes came to since this one last heard of them. */
interface News extends Sums {
  /** When it was last heard of them; what is told happened since. */
  readonly since: number;
}

interface SharingOptions {
  readonly shared: SharedPace;
  readonly clock: Clock;
  /** Requests in flight or waiting: while there are none, nothing is told and nothing is asked. */
  active(): boolean;
  /** No news: there is nothing to compare the sums with. */
  heard(news: News | undefined, state: PaceState): void;
  /** An exchange has ended: whoever waits may look again. */
  wake(): void;
}

/** This process's part in a pace that several share. */
export type Sharing = ReturnType<typeof openSharing>;

const BEAT_MS = 100;
/** After such a time without an exchange the others may have been told to pause. */
const QUIET_MS = 1_000;
/** An answer that takes longer is not waited for. */
const IMPATIENT_MS = 250;
/** An exchange that never ends must not keep this process alone for ever. */
const ABANDON_MS = 10_000;
/** Older sums are not compared with: what happened in such a time says nothing of now. */
const STALE_MS = 5_000;

/**
 *   quiet → (a request comes) → exchange, at once and every 100 ms, sooner where a slowdown is to be told
 *         → (nothing in flight, nothing waiting, nothing to tell) → quiet
 *
 * One exchange at a time. What a failed one would have told is dropped, save the pause: by then it is old news. The rate is
 * shared evenly: while the shared place does not answer, by as many processes as there were.
 */
export function openSharing(options: SharingOptions) {
  const { clock } = options;
  const untold = { successes: 0, throttled: 0, overloaded: 0 };
  let beating = false;
  let stopped = false;
  /** Something is to be told at once. */
  let urgent = false;
  let endPause = (): void => undefined;
  let cancelTimer: (() => void) | undefined;
  let heldUntil = 0;
  /** Until when the first word after a quiet time is waited for. */
  let listeningUntil = Number.NEGATIVE_INFINITY;
  let endedAt = Number.NEGATIVE_INFINITY;
  let members = 1;
  let heard: { readonly state: PaceState; readonly at: number } | undefined;

  async function beat(): Promise<void> {
    do {
      // Whatever else happens in this moment travels along.
      await undefined;
      urgent = false;
      await exchange();
      if (stopped) return;
      endedAt = clock.now();
      listeningUntil = Number.NEGATIVE_INFINITY;
      options.wake();
      if (!urgent) await pause();
    } while (options.active() || Object.values(untold).some((sum) => sum > 0));
    beating = false;
  }

  async function pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      endPause = resolve;
      cancelTimer = clock.after(BEAT_MS, resolve);
    });
    cancelTimer?.();
  }

  async function exchange(): Promise<void> {
    const sentAt = clock.now();
    const told = { ...untold };
    const toldHold = heldUntil;
    Object.assign(untold, { successes: 0, throttled: 0, overloaded: 0 });
    const state = await answerTo({ ...told, ...(heldUntil > sentAt ? { holdMs: Math.ceil(heldUntil - sentAt) } : {}) });
    if (state && !stopped) {
      if (heldUntil === toldHold) heldUntil = 0;
      listen(state, told, sentAt);
    } else heard = undefined;
  }

  /** Undefined where the exchange fails or does not end. */
  async function answerTo(report: PaceReport): Promise<PaceState | undefined> {
    const abandoned = new Promise<undefined>((resolve) => {
      cancelTimer = clock.after(ABANDON_MS, () => resolve(undefined));
    });
    const answer = options.shared.exchange(report).catch(() => undefined);
    const state = await Promise.race([answer, abandoned]);
    cancelTimer?.();
    return state;
  }

  function listen(state: PaceState, told: Sums, sentAt: number): void {
    members = Math.max(1, state.members);
    const base = heard && sentAt - heard.at < STALE_MS ? heard : undefined;
    heard = { state, at: clock.now() };
    const others = (sum: keyof Sums): number => (base ? state[sum] - base.state[sum] - told[sum] : 0);
    const news = { successes: others('successes'), throttled: others('throttled'), overloaded: others('overloaded') };
    const forgotten = news.successes < 0 || news.throttled < 0 || news.overloaded < 0;
    options.heard(base === undefined || forgotten ? undefined : { ...news, since: base.at }, state);
  }

  function tellNow(): void {
    urgent = true;
    endPause();
  }

  return {
    /** Processes that share the rate, this one among them. */
    get members(): number {
      return members;
    },
    /** A request is at the gate: tell and ask regularly until there are none. */
    stir(): void {
      if (beating || stopped) return;
      beating = true;
      const now = clock.now();
      if (now - endedAt > QUIET_MS) listeningUntil = now + IMPATIENT_MS;
      void beat();
    },
    /** Milliseconds to wait for the first word after a quiet time, which may be of a pause; 0 for none. */
    listeningMs: (now: number): number => Math.max(0, listeningUntil - now),
    succeeded(): void {
      untold.successes++;
    },
    /** One episode, at most one a round trip; told at once. */
    slowed(how: 'throttled' | 'overloaded'): void {
      untold[how]++;
      tellNow();
    },
    /** A pause the service named to this process; told at once. */
    hold(until: number): void {
      heldUntil = Math.max(heldUntil, until);
      tellNow();
    },
    stop(): void {
      stopped = true;
      cancelTimer?.();
    },
  };
}
