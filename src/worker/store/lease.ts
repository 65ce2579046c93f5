import type { Lease } from './port.js';
import type { Primitives } from './primitives.js';

/**
 *   held → (renewed every third of the time) → held
 *        → (somebody else has it, or it was not renewed in time) → lost
 *        → (released) → over
 *
 * Its time is reckoned on the monotonic clock from the moment before the last successful renewal was sent, so it ends
 * here no later than in the store: a process that was paused knows, as soon as it runs, that its right has ended.
 */
export function keepLease(
  store: Pick<Primitives, 'renew' | 'release'>,
  taken: { readonly name: string; readonly token: string; readonly epoch: number; readonly sentAt: number },
  ttlMs: number,
  failed: (error: unknown) => void,
): Lease {
  const lost = new AbortController();
  let until = taken.sentAt + ttlMs;
  let over = false;
  let renewal: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  const stop = () => {
    over = true;
    clearTimeout(renewal);
    clearTimeout(expiry);
  };
  const lose = () => {
    if (over) return;
    stop();
    lost.abort(new Error(`The lease ${taken.name} is lost.`));
  };
  const armExpiry = () => {
    clearTimeout(expiry);
    expiry = setTimeout(() => (performance.now() < until ? armExpiry() : lose()), until - performance.now());
    expiry.unref();
  };
  const armRenewal = (delayMs: number) => {
    renewal = setTimeout(renew, delayMs);
    renewal.unref();
  };

  async function renew(): Promise<void> {
    const sentAt = performance.now();
    // One that has ended may have been somebody else's meanwhile.
    if (sentAt >= until) return lose();
    try {
      const still = await store.renew(taken.name, taken.token, taken.epoch, ttlMs);
      if (over) return;
      if (!still) return lose();
      until = sentAt + ttlMs;
      armExpiry();
      armRenewal(Math.max(0, sentAt + ttlMs / 3 - performance.now()));
    } catch (error) {
      if (over) return;
      failed(error);
      armRenewal(Math.min(1_000, ttlMs / 10));
    }
  }

  armExpiry();
  armRenewal(ttlMs / 3);
  return {
    epoch: taken.epoch,
    get valid() {
      return !over && performance.now() < until;
    },
    lost: lost.signal,
    async release() {
      if (over) return;
      stop();
      await store.release(taken.name, taken.token);
    },
  };
}
