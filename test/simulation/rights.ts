import type { Right } from '../../src/runs/run/context.js';
import type { Handle, Owner, Timeline } from './timeline.js';

/** Rights that one process of all machines holds at a time: leases with epochs, as a queue's store gives them. */
export interface Rights {
  exclusive(name: string, signal: AbortSignal): Promise<Right | undefined>;
  /** The holder's lease is not renewed any more: it ends, and he hears of it some time later. */
  lose(): void;
  /** A process is gone: its leases end by themselves. */
  abandoned(owner: Owner): void;
  /** Of the one that was given last. */
  readonly epoch: number;
}

const LEASE_MS = 15_000;
/** A holder stops believing in his lease so much before the store gives it to somebody else. */
const SAFETY_MS = 3_000;
const ASK_EVERY_MS = 300;

interface Lease {
  readonly name: string;
  readonly owner: Owner;
  /** For the store. */
  until: number;
  end(): void;
}

/** `settleMs`: so long after it was sent, a request may still take effect. */
export function openRights(timeline: Timeline, random: () => number, settleMs: number): Rights {
  /** Rights whose holder has not given them back in order, as `src/worker/writing-right.ts` marks them. */
  const marked = new Set<string>();
  const leases = new Map<string, Lease>();
  let epoch = 0;

  function take(name: string): Right | undefined {
    const held = leases.get(name);
    if (held && held.until > timeline.now) return undefined;
    const lost = new AbortController();
    const { owner } = timeline;
    let renewing = true;
    let valid = true;
    epoch++;
    let timer: Handle | undefined;
    const lease: Lease = {
      name,
      owner,
      until: timeline.now + LEASE_MS,
      end() {
        renewing = false;
        lease.until = timeline.now + SAFETY_MS;
        valid = false;
        // The signal is a timer of a process that may be busy or paused: late.
        timeline.after(random() * 5_000, () => lost.abort(), owner);
      },
    };
    const renew = (): void => {
      timer = timeline.after(
        LEASE_MS / 3,
        () => {
          if (!renewing) return;
          lease.until = timeline.now + LEASE_MS;
          renew();
        },
        owner,
      );
      timer.background(true);
    };
    renew();
    leases.set(name, lease);
    return {
      get valid() {
        return valid;
      },
      lost: lost.signal,
      async release(open = false) {
        if (valid && !open) marked.delete(name);
        renewing = false;
        timer?.cancel();
        if (leases.get(name) === lease && valid) leases.delete(name);
      },
    };
  }

  return {
    async exclusive(name, signal) {
      while (!signal.aborted) {
        const right = take(name);
        if (right && marked.has(name)) await new Promise<void>((resolve) => void timeline.after(settleMs, resolve));
        if (right?.valid) {
          marked.add(name);
          return right;
        }
        await new Promise<void>((resolve) => void timeline.after(ASK_EVERY_MS, resolve));
      }
      return undefined;
    },
    lose() {
      for (const lease of leases.values()) lease.end();
    },
    abandoned(owner) {
      for (const lease of leases.values()) {
        if (lease.owner === owner) lease.until = Math.min(lease.until, timeline.now + LEASE_MS);
      }
    },
    get epoch() {
      return epoch;
    },
  };
}
