import { setMaxListeners } from 'node:events';

/** Time as the service client sees it; tests pass their own. All durations are milliseconds. */
export interface Clock {
  /** Monotonic: unmoved by changes of the system's clock. */
  now(): number;
  /** Milliseconds since 1970; only for dates that others wrote. */
  wall(): number;
  /** Runs something later; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** The system's clock must be ahead by so much before it counts as put forward. */
const JUMP_MS = 1_000;

/**
 * For the ages of what was read: milliseconds since 1970 that never go back, whatever happens to the system's clock. Where
 * that is put forward, or the machine has slept, what was read before counts as old.
 */
export function readingClock(clock: Clock): () => number {
  let ahead = clock.wall() - clock.now();
  return () => {
    const offset = clock.wall() - clock.now();
    if (offset > ahead + JUMP_MS) ahead = offset;
    return clock.now() + ahead;
  };
}

/** Waits; false where the signal was given first. */
export function wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve(false);
      return;
    }
    const stop = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(Math.max(0, ms), () => {
      signal?.removeEventListener('abort', stop);
      resolve(true);
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The same by the system's clock. */
export const pause = (ms: number, signal: AbortSignal): Promise<boolean> => wait(systemClock, ms, signal);

/** One signal for many: any number may listen to it, and each of those given is listened to once, until `release`. */
export interface StopSignal {
  readonly signal: AbortSignal;
  /** Gives the signal. */
  stop(): void;
  /** Lets go of the signals that were given. */
  release(): void;
}

/** A signal that is given with the first of these. */
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): StopSignal {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const stop = (): void => stopping.abort();
  for (const signal of signals) {
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  }
  return {
    signal: stopping.signal,
    stop,
    release() {
      for (const signal of signals) signal?.removeEventListener('abort', stop);
    },
  };
}

/** What the promise comes to, or undefined as soon as the signal is given. */
export function unlessStopped<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
