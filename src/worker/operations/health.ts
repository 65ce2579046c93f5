import type { EventLoopWatch } from './event-loop.js';

export interface Health {
  readonly ok: boolean;
  /** One short line a part, for people: anybody who reaches the port reads them. */
  readonly details: Readonly<Record<string, string>>;
}

/** Blocked longer, a worker loses its leases, and others take its work. */
const LONGEST_LAG_MS = 5000;
/** Within what the usual probes wait. */
const PATIENCE_MS = 3000;
/** Probes that come faster hear the same answer, and the store is not asked for each. */
const FRESH_MS = 1000;

/** The process works: what `live` says, and an event loop that was not blocked for long of late. */
export function liveness(live: () => Health, loop: EventLoopWatch): Health {
  const lag = loop.lagMs();
  const { ok, details } = live();
  const blocked = lag > LONGEST_LAG_MS;
  return {
    ok: ok && !blocked,
    details: { ...details, event_loop: `${blocked ? 'blocked' : 'ok'}, longest wait ${lag} ms` },
  };
}

/** The worker can be used: bounded in time, whatever `ready` waits for, and never a rejection. */
export function readiness(ready: () => Promise<Health>): () => Promise<Health> {
  let last: { readonly at: number; readonly health: Health } | undefined;
  let asking: Promise<Health> | undefined;

  return async () => {
    if (last && performance.now() - last.at < FRESH_MS) return last.health;
    asking ??= settled(ready).then((health) => {
      last = { at: performance.now(), health };
      asking = undefined;
      return health;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Health>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS, { ok: false, details: { check: `no answer within ${PATIENCE_MS} ms` } });
    });
    try {
      return await Promise.race([asking, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

async function settled(ready: () => Promise<Health>): Promise<Health> {
  try {
    return await ready();
  } catch (error) {
    return { ok: false, details: { check: error instanceof Error ? error.message : 'failed' } };
  }
}
