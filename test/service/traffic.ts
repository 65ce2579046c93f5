import { wait } from '../../src/service/clock.js';
import type { Pacer } from '../../src/service/pace/gate.js';
import type { simClock } from './sim-clock.js';

export interface Served {
  readonly at: number;
  readonly throttled: boolean;
}

/** A service that answers after `latencyMs` and refuses what goes beyond its own rate. */
export interface Traffic {
  /** Every arrival so far. */
  readonly served: Served[];
  /** Sends for ever through this gate, so many at a time. */
  drive(pacer: Pick<Pacer, 'enter' | 'leave' | 'backoff'>, senders: number): Served[];
}

export function traffic(
  clock: ReturnType<typeof simClock>,
  latencyMs: number,
  limitAt: (now: number) => number,
): Traffic {
  const served: Served[] = [];
  let tokens = 5;
  let filledAt = 0;
  const allows = (): boolean => {
    const now = clock.now();
    const perSecond = limitAt(now);
    tokens = Math.min(Math.max(1, perSecond / 10), tokens + ((now - filledAt) / 1000) * perSecond);
    filledAt = now;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
  return {
    served,
    drive(pacer, senders) {
      const own: Served[] = [];
      const sender = async (): Promise<void> => {
        for (let repetition = 0; ; ) {
          const gate = pacer.enter(repetition > 0);
          if (gate !== true && !(await gate)) return;
          const enteredAt = clock.now();
          await wait(clock, latencyMs / 2);
          const one = { at: clock.now(), throttled: !allows() };
          served.push(one);
          own.push(one);
          await wait(clock, latencyMs / 2);
          pacer.leave(one.throttled ? 'throttled' : 'fine', enteredAt);
          if (!one.throttled) repetition = 0;
          else await wait(clock, pacer.backoff(++repetition));
        }
      };
      for (let i = 0; i < senders; i++) void sender();
      return own;
    },
  };
}

/** What part of a limit was used, and what part of the requests was refused, in a span of time. */
export function usage(served: readonly Served[], from: number, to: number, perSecond: number) {
  const part = served.filter(({ at }) => at >= from && at < to);
  const good = part.filter(({ throttled }) => !throttled).length;
  return { used: good / (((to - from) / 1000) * perSecond), refused: (part.length - good) / Math.max(1, part.length) };
}

/** The most arrivals in any span of `ms`, moved by a tenth of it. */
export function most(served: readonly { readonly at: number }[], from: number, to: number, ms: number): number {
  let found = 0;
  for (let start = from; start + ms <= to; start += ms / 10) {
    found = Math.max(found, served.filter(({ at }) => at >= start && at < start + ms).length);
  }
  return found;
}
