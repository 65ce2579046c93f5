import { pause } from '../runs/pause.js';
import { isAway } from './store/faults.js';
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
      if (!isAway(error)) throw error;
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
      if (lease) await given(AbortSignal.any([lease.lost, signal]));
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
export function given(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Does something again and again until the answer is called; never twice at the same time. It must not reject. */
export function every(ms: number, work: () => Promise<unknown>): () => void {
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
