import { pause, type Right } from '../runs/run/context.js';
import type { Settings } from '../runs/settings.js';
import { isStoreUnavailable } from './store/faults.js';
import type { Lease, Store } from './store/port.js';

const ASK_EVERY_MS = 300;

/** Waits for a lease, also while the store is away; undefined where the signal was given first. */
export async function waitForLease(
  store: Pick<Store, 'lease'>,
  name: string,
  leaseMs: number,
  signal: AbortSignal,
): Promise<Lease | undefined> {
  while (!signal.aborted) {
    const lease = await store.lease(name, leaseMs).catch((error: unknown) => {
      if (!isStoreUnavailable(error)) throw error;
      return undefined;
    });
    if (lease && signal.aborted) await lease.release();
    else if (lease) return lease;
    await pause(ASK_EVERY_MS, signal);
  }
  return undefined;
}

/** Holds a lease whenever nobody else does, until closed. */
export function keepLease(store: Pick<Store, 'lease'>, name: string, leaseMs: number): () => Promise<void> {
  const closing = new AbortController();
  const { signal } = closing;
  let lease: Lease | undefined;
  const keep = (async () => {
    while (!signal.aborted) {
      lease = await waitForLease(store, name, leaseMs, signal).catch(() => undefined);
      if (lease) await whenAborted(AbortSignal.any([lease.lost, signal]));
      else await pause(ASK_EVERY_MS, signal);
    }
  })();
  return async () => {
    closing.abort();
    await keep;
    await lease?.release();
  };
}

/** Resolves when the signal is given. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What has the same name is done one after the other, in the order in which it came. */
export function openTurns() {
  const last = new Map<string, Promise<unknown>>();
  return {
    take<T>(name: string, work: () => Promise<T>): Promise<T> {
      const done = (last.get(name) ?? Promise.resolve()).then(work);
      const ended: Promise<unknown> = done
        .catch(() => undefined)
        .finally(() => {
          if (last.get(name) === ended) last.delete(name);
        });
      last.set(name, ended);
      return done;
    },
    /** Resolves when all is done that has come so far. */
    ended: (): Promise<unknown> => Promise.all(last.values()),
  };
}

/** Does something again and again until the answer is called; never twice at the same time. It must not reject. */
export function repeatEvery(ms: number, work: () => Promise<unknown>): () => void {
  let working = false;
  const timer = setInterval(() => {
    if (working) return;
    working = true;
    void work().finally(() => {
      working = false;
    });
  }, ms);
  timer.unref();
  return () => clearInterval(timer);
}

interface RightOptions {
  readonly store: Pick<Store, 'lease' | 'read' | 'update'>;
  readonly name: string;
  /** Runs whose open requests the new holder settles itself, or has given their time: its own, and the one it replaces. */
  readonly runs: readonly [own: string, ...others: (string | undefined)[]];
  readonly leaseMs: number;
  /** So long after it was sent, in milliseconds, a request may still take effect. */
  readonly settleMs: number;
  readonly signal: AbortSignal;
  readonly notify: (text: string) => void;
}

/** An answer is waited for this long, and an effect looked for over the window after it; what was sent takes none later. */
export function settledAfterMs({ timeoutMs, settleWindowMs }: Pick<Settings, 'timeoutMs' | 'settleWindowMs'>): number {
  return timeoutMs + (settleWindowMs.at(-1) ?? 0);
}

/** A wait that takes longer is told. */
const NOTIFY_AFTER_MS = 1_000;
const BUSY_TEXT = 'Another run writes records of this kind for this company. This one goes on when it has ended.';

/** A try that failed because the store was away is made again after so long. */
const RETRY_AFTER_MS = 500;

/**
 * The right to write, and with it the certainty that nothing is on its way any more from whoever had it before. A lease ends
 * for a holder that died or was paused; what it had sent by then may take effect later, and a look-up would miss it.
 *
 *   lease taken → no mark, or one of these runs ─────────────→ marked → held → mark gone → lease released
 *               → the mark of another run: wait `settleMs` ──↗        → lost, or left with open requests: the mark stays
 *
 * Undefined where the signal was given first.
 */
export async function waitForRight(options: RightOptions): Promise<Right | undefined> {
  const { store, name, leaseMs, signal } = options;
  while (!signal.aborted) {
    const late = setTimeout(() => options.notify(BUSY_TEXT), NOTIFY_AFTER_MS);
    const lease = await waitForLease(store, name, leaseMs, signal).finally(() => clearTimeout(late));
    if (!lease) return undefined;
    try {
      if (await setMark(lease, options)) return makeRight(lease, options);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
    }
    await lease.release().catch(() => undefined);
    await pause(RETRY_AFTER_MS, signal);
  }
  return undefined;
}

const markName = (name: string): string => `mark.${name}`;

async function setMark(lease: Lease, options: RightOptions): Promise<boolean> {
  const { store, name, runs, settleMs, signal, notify } = options;
  const before = await store.read(markName(name));
  if (before && !runs.includes(before)) {
    const seconds = Math.ceil(settleMs / 1000);
    notify(
      `The run ${before}, which wrote these records last, ended without a word: what it sent may still take effect. This one goes on in ${seconds} s.`,
    );
    await pause(settleMs, AbortSignal.any([signal, lease.lost]));
  }
  // The earlier mark stands until this point: who dies while it waits leaves the waiting to the next.
  if (signal.aborted || !lease.valid) return false;
  await store.update(markName(name), () => runs[0]);
  return lease.valid;
}

function makeRight(lease: Lease, { store, name, runs: [run], signal }: RightOptions): Right {
  return {
    get valid() {
      return lease.valid;
    },
    lost: lease.lost,
    async release(open = signal.aborted) {
      // Left for the resumption of the run, and for whoever comes before it. Of another run: it has got the right this moment.
      const unmark = () => store.update(markName(name), (was) => (was === run ? '' : undefined));
      if (lease.valid && !open) await unmark().catch(() => undefined);
      await lease.release();
    },
  };
}

/**
 * What comes of some work within a time, in milliseconds; undefined where nothing did. What goes wrong with it later is
 * nobody's.
 */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
