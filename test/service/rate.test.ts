import { expect, test } from 'vitest';
import { wait } from '../../src/service/clock.js';
import { openPacer } from '../../src/service/pace/gate.js';
import { seeded } from '../support/seeded.js';
import { simClock } from './sim-clock.js';
import { traffic, usage } from './traffic.js';

/** Answers per second of a service without a limit that refuses at times, while 64 senders want to send. */
function against(refuses: (now: number, nth: number) => boolean, pauseMs: number | undefined) {
  const clock = simClock();
  const stop = new AbortController();
  const pacer = openPacer({ maxInFlight: 16, clock, random: seeded(3), signal: stop.signal });
  const served: number[] = [];
  let refused = 0;
  let nth = 0;
  const sender = async (): Promise<void> => {
    for (let repetition = 0; ; ) {
      const gate = pacer.enter(repetition > 0);
      if (gate !== true && !(await gate)) return;
      const enteredAt = clock.now();
      await wait(clock, 100);
      const again = refuses(clock.now(), ++nth);
      if (again) refused++;
      else served.push(clock.now());
      if (again && pauseMs !== undefined) pacer.hold(pauseMs);
      pacer.leave(again ? 'throttled' : 'fine', enteredAt);
      if (!again) repetition = 0;
      else if (pauseMs === undefined) await wait(clock, pacer.backoff(++repetition));
      else repetition++;
    }
  };
  for (let i = 0; i < 64; i++) void sender();
  return {
    clock,
    stop: () => stop.abort(),
    refused: () => refused,
    perSecond: (from: number, to: number) => served.filter((at) => at >= from && at < to).length / ((to - from) / 1000),
  };
}

test.each([undefined, 1_000])(
  'after a time in which everything was refused, stated pause %s ms, the pace is back within twenty seconds (7, 8)',
  async (pauseMs) => {
    for (const blockedMs of [1_000, 3_000, 10_000]) {
      const service = against((now) => now > 5_000 && now < 5_000 + blockedMs, pauseMs);
      await service.clock.run(60_000);
      expect(service.perSecond(0, 5_000)).toBeGreaterThan(140);
      const back = 5_000 + blockedMs + 20_000;
      expect(service.perSecond(back, 60_000)).toBeGreaterThan(140);
      service.stop();
    }
  },
);

test.each([undefined, 1_000])(
  'refusals among few answers, stated pause %s ms, do not leave a crawl behind (7, 8)',
  async (pauseMs) => {
    // For half a minute three of four requests are refused.
    const service = against((now, nth) => now > 5_000 && now < 35_000 && nth % 4 !== 0, pauseMs);
    await service.clock.run(240_000);
    expect(service.perSecond(200_000, 240_000)).toBeGreaterThan(140);
    service.stop();
  },
);

test.each([
  [undefined, 140],
  [1_000, 40],
])(
  'a service that refuses every 61st request, stated pause %s ms, is not crawled at (7, 8)',
  async (pauseMs, least) => {
    for (const blockedMs of [0, 1_000]) {
      const service = against((now, nth) => nth % 61 === 0 || (now > 5_000 && now < 5_000 + blockedMs), pauseMs);
      await service.clock.run(240_000);
      expect(service.perSecond(180_000, 240_000)).toBeGreaterThan(least);
      service.stop();
    }
  },
);

test.each([20, 100])(
  'a hidden limit that moves 50 → 5 → 50 is found again within 45 seconds, 16 in flight at %i ms (8)',
  async (latencyMs) => {
    const clock = simClock();
    const stop = new AbortController();
    const pacer = openPacer({ maxInFlight: 16, clock, random: seeded(1), signal: stop.signal });
    const limitAt = (now: number): number => (now < 60_000 ? 50 : now < 150_000 ? 5 : 50);
    const served = traffic(clock, latencyMs, limitAt).drive(pacer, 16);
    await clock.run(240_000);
    stop.abort();
    for (const [from, to, limit] of [
      [15_000, 60_000, 50],
      [80_000, 150_000, 5],
      [195_000, 240_000, 50],
    ] as const) {
      const { used, refused } = usage(served, from, to, limit);
      expect(used).toBeGreaterThan(0.85);
      expect(refused).toBeLessThan(0.02);
    }
  },
);
