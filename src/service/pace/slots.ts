/** Slots of a rate that several processes share: moments at which this one may send a request each. */
export interface GrantedSlots {
  /** Slots that have not been used, those that lapsed since the last `take` among them. */
  readonly size: number;
  /** When the last slot is; `now` where there is none. */
  until(now: number): number;
  add(at: number, count: number, intervalMs: number): void;
  /** 0: there is a slot now, and it is used. Else milliseconds until the next; undefined where there is none. */
  take(now: number): number | undefined;
  /** Gives up the next slot and, of those after it, all but this part. */
  thin(keep: number): void;
  /** The same as `take` by this process's own reckoning, where the shared place cannot be asked. `intervalMs` is its own share. */
  takeAlone(now: number, intervalMs: number): number;
}

/** Timers are coarse: a slot may be used so much too early. */
const EARLY_MS = 5;
/** Afterwards a slot has lapsed. A process that was busy otherwise makes up for this much. */
const LATE_MS = 40;
/** Where requests are far apart a service that counts strictly would refuse an early one, and one after a late one. */
export const SLOW_INTERVAL_MS = 50;
const SLOW_LATE_MS = 25;

interface Grant {
  at: number;
  count: number;
  readonly intervalMs: number;
  /** The part of the slots that is used, and what adds up to the next one that is not. */
  keep: number;
  carry: number;
}

export function grantedSlots(): GrantedSlots {
  const grants: Grant[] = [];
  let size = 0;
  let aloneAt = Number.NEGATIVE_INFINITY;
  /** What was sent alone stands for the slots up to here. */
  let usedUntil = Number.NEGATIVE_INFINITY;

  /** The first grant whose first slot has not lapsed. */
  function first(now: number): Grant | undefined {
    for (let grant = grants[0]; grant; grant = grants[0]) {
      const oldest = Math.max(usedUntil, now - (grant.intervalMs > SLOW_INTERVAL_MS ? SLOW_LATE_MS : LATE_MS));
      const lapsed = Math.min(grant.count, Math.max(0, Math.ceil((oldest - grant.at) / grant.intervalMs)));
      drop(grant, lapsed);
      if (grant.count > 0 && grant.carry >= 1) {
        grant.carry--;
        drop(grant, 1);
      }
      if (grant.count > 0) return grant;
      grants.shift();
    }
    return undefined;
  }

  function drop(grant: Grant, slots: number): void {
    grant.at += slots * grant.intervalMs;
    grant.count -= slots;
    size -= slots;
  }

  return {
    get size() {
      return size;
    },
    until(now) {
      const last = grants.at(-1);
      return last && last.count > 0 ? Math.max(now, last.at + (last.count - 1) * last.intervalMs) : now;
    },
    add(at, count, intervalMs) {
      grants.push({ at, count, intervalMs, keep: 1, carry: 0 });
      size += count;
    },
    take(now) {
      const grant = first(now);
      if (!grant) return undefined;
      const early = grant.at - now;
      if (early > (grant.intervalMs > SLOW_INTERVAL_MS ? 0 : EARLY_MS)) return early;
      grant.carry += 1 - grant.keep;
      drop(grant, 1);
      aloneAt = Math.max(aloneAt, now);
      return 0;
    },
    thin(keep) {
      for (const grant of grants) grant.keep *= keep;
      const next = grants[0];
      if (next) next.carry = Math.max(1, next.carry);
    },
    takeAlone(now, intervalMs) {
      const early = Math.max(aloneAt, usedUntil) - now;
      if (early > 0) return early;
      aloneAt = now + intervalMs;
      usedUntil = aloneAt;
      return 0;
    },
  };
}
