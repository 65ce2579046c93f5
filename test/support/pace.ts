import type { PaceReport, PaceState, SharedPace } from '../../src/model/pace.js';
import type { Clock } from '../../src/service/clock.js';
import { wait } from '../../src/service/clock.js';

const MEMBER_MS = 5_000;

/** A pace shared within one process: what a store does, without one. */
export interface PlainPace {
  /** The pace as one more member sees it. */
  member(): SharedPace;
  /** Exchanges so far, of all members. */
  readonly exchanges: number;
  /** `down`: exchanges fail. `stuck`: they never end. */
  state: 'up' | 'down' | 'stuck';
  /** How long an exchange takes. */
  delayMs: number;
  /** The sums begin at 0 again. */
  forget(): void;
}

export function plainPace(clock: Clock): PlainPace {
  let sums = { successes: 0, throttled: 0, overloaded: 0 };
  let heldUntil = 0;
  let nextSlot = 0;
  let exchanges = 0;
  const seen = new Map<symbol, number>();

  function add(report: PaceReport, member: symbol): PaceState {
    const now = clock.now();
    seen.set(member, now);
    sums = {
      successes: sums.successes + report.successes,
      throttled: sums.throttled + report.throttled,
      overloaded: sums.overloaded + report.overloaded,
    };
    heldUntil = Math.max(heldUntil, now + (report.holdMs ?? 0));
    let slotInMs: number | undefined;
    if (report.slots) {
      nextSlot = Math.max(nextSlot, now);
      slotInMs = nextSlot - now;
      nextSlot += report.slots.count * report.slots.intervalMs;
    }
    return {
      ...sums,
      heldMs: Math.max(0, heldUntil - now),
      members: [...seen.values()].filter((at) => now - at < MEMBER_MS).length,
      ...(slotInMs === undefined ? {} : { slotInMs }),
    };
  }

  const pace: PlainPace = {
    member() {
      const member = Symbol();
      return {
        async exchange(report) {
          exchanges++;
          if (pace.delayMs > 0) await wait(clock, pace.delayMs / 2);
          if (pace.state === 'down') throw new Error('the shared place cannot be reached');
          if (pace.state === 'stuck') await new Promise(() => undefined);
          const state = add(report, member);
          if (pace.delayMs > 0) await wait(clock, pace.delayMs / 2);
          return state;
        },
      };
    },
    get exchanges() {
      return exchanges;
    },
    state: 'up',
    delayMs: 0,
    forget() {
      sums = { successes: 0, throttled: 0, overloaded: 0 };
    },
  };
  return pace;
}
