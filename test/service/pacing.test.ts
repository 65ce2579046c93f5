import { expect, test } from 'vitest';
import { wait } from '../../src/service/clock.js';
import { openPacer } from '../../src/service/pace/gate.js';
import { retryAfter } from '../../src/service/transport/answer.js';
import { seeded } from '../support/seeded.js';
import { simClock } from './sim-clock.js';
import { most, traffic, usage } from './traffic.js';

test.each([
  ['0', 1_000],
  ['-5', 1_000],
  ['3', 3_000],
  ['2.5', 2_500],
  ['99999999', 900_000],
  ['Wed, 01 May 2024 00:00:07 GMT', 7_000],
  ['Tue, 30 Apr 2024 00:00:00 GMT', 1_000],
  ['Fri, 01 May 2054 00:00:00 GMT', 900_000],
])('Retry-After %s is a pause of %i ms (9)', (value, ms) => {
  expect(retryAfter(value, undefined, simClock())).toBe(ms);
});

test('a Retry-After date is measured against the clock of the service (7)', () => {
  const date = 'Wed, 01 May 2024 01:00:00 GMT';
  expect(retryAfter('Wed, 01 May 2024 01:00:09 GMT', date, simClock())).toBe(9_000);
});

test('a Retry-After that cannot be read is none', () => {
  expect(retryAfter('soon', undefined, simClock())).toBeUndefined();
  expect(retryAfter(undefined, undefined, simClock())).toBeUndefined();
});

test.each([20, 200, 1_000])(
  'a hidden limit that moves 50 → 5 → 50 a second is found again, at %i ms (8)',
  async (latencyMs) => {
    const clock = simClock();
    const stop = new AbortController();
    const pacer = openPacer({ maxInFlight: 128, clock, random: seeded(1), signal: stop.signal });
    const limitAt = (now: number): number => (now < 120_000 ? 50 : now < 300_000 ? 5 : 50);
    const served = traffic(clock, latencyMs, limitAt).drive(pacer, 64);
    await clock.run(480_000);
    stop.abort();
    for (const [from, to, limit] of [
      [60_000, 120_000, 50],
      [180_000, 300_000, 5],
      [400_000, 480_000, 50],
    ] as const) {
      const { used, refused } = usage(served, from, to, limit);
      expect(used).toBeGreaterThan(0.85);
      expect(refused).toBeLessThan(latencyMs < 1_000 ? 0.02 : 0.03);
    }
  },
);

test('a burst of 429 with a stated pause, one after each pause, leaves the pace as the first of them set it', async () => {
  const clock = simClock();
  const stop = new AbortController();
  const pacer = openPacer({ maxInFlight: 8, clock, random: seeded(5), signal: stop.signal });
  let refuse = 7;
  let served = 0;
  const sender = async (): Promise<void> => {
    for (let again = false; await pacer.enter(again); ) {
      const enteredAt = clock.now();
      await wait(clock, 20);
      again = refuse-- > 0;
      if (again) pacer.hold(1_000);
      else served++;
      pacer.leave(again ? 'throttled' : 'fine', enteredAt);
    }
  };
  void sender();
  await clock.run(7_500);
  expect(refuse).toBeLessThanOrEqual(0);
  const before = served;
  await clock.run(9_500);
  expect(served - before).toBeGreaterThan(14);
  stop.abort();
});

test.each([0.5, 2])('a limit of %d a second behind stated pauses is still found', async (limit) => {
  const clock = simClock();
  const stop = new AbortController();
  const pacer = openPacer({ maxInFlight: 8, clock, random: seeded(6), signal: stop.signal });
  let tokens = 1;
  let filledAt = 0;
  const answers: boolean[] = [];
  const sender = async (): Promise<void> => {
    for (let again = false; await pacer.enter(again); ) {
      const enteredAt = clock.now();
      await wait(clock, 20);
      tokens = Math.min(1, tokens + ((clock.now() - filledAt) / 1000) * limit);
      filledAt = clock.now();
      again = tokens < 1;
      if (again) pacer.hold(1_000);
      else tokens--;
      answers.push(!again);
      pacer.leave(again ? 'throttled' : 'fine', enteredAt);
    }
  };
  for (let i = 0; i < 4; i++) void sender();
  await clock.run(300_000);
  const start = answers.length;
  await clock.run(600_000);
  stop.abort();
  const late = answers.slice(start);
  const good = late.filter(Boolean).length;
  expect(good / (300 * limit)).toBeGreaterThan(0.7);
  expect(1 - good / late.length).toBeLessThan(0.1);
});

test('without a limit of the service the requests in flight grow to the most allowed', async () => {
  const clock = simClock();
  const stop = new AbortController();
  const pacer = openPacer({ maxInFlight: 256, clock, random: seeded(1), signal: stop.signal });
  expect(pacer.inFlightLimit).toBe(8);
  traffic(clock, 20, () => 1e9).drive(pacer, 300);
  await clock.run(400);
  expect(pacer.inFlightLimit).toBe(256);
  stop.abort();
});

test('overload lowers the limit once per round trip, and answers raise it by about one per round trip', async () => {
  const clock = simClock();
  const pacer = openPacer({ maxInFlight: 100, clock, random: seeded(1) });
  await clock.run(10);
  for (let i = 0; i < 8; i++) expect(pacer.enter(false)).toBe(true);
  await clock.run(20);
  for (let i = 0; i < 8; i++) pacer.leave('overloaded', 10);
  expect(pacer.inFlightLimit).toBe(5);
  for (let trip = 1; trip <= 5; trip++) {
    const enteredAt = clock.now();
    const limit = pacer.inFlightLimit;
    for (let i = 0; i < limit; i++) expect(pacer.enter(false)).toBe(true);
    await clock.run(enteredAt + 10);
    for (let i = 0; i < limit; i++) pacer.leave('fine', enteredAt);
  }
  expect(pacer.inFlightLimit).toBeGreaterThanOrEqual(7);
  expect(pacer.inFlightLimit).toBeLessThanOrEqual(11);
});

test('a fixed ceiling of requests per second is kept in every second', async () => {
  const clock = simClock();
  const stop = new AbortController();
  const pacer = openPacer({ maxInFlight: 64, maxRps: 40, clock, random: seeded(2), signal: stop.signal });
  const served = traffic(clock, 30, () => 1e9).drive(pacer, 64);
  await clock.run(20_000);
  stop.abort();
  expect(most(served, 0, 20_000, 1_000)).toBeLessThanOrEqual(41);
  expect(served.length).toBeGreaterThan(0.97 * 40 * 20);
});

test('nobody passes before a stated pause is over, and a repetition passes first (7)', async () => {
  const clock = simClock();
  const pacer = openPacer({ maxInFlight: 1, clock, random: seeded(3) });
  const order: string[] = [];
  pacer.hold(5_000);
  void Promise.resolve(pacer.enter(false)).then(() => order.push(`fresh ${clock.now()}`));
  void Promise.resolve(pacer.enter(true)).then(() => order.push(`again ${clock.now()}`));
  await clock.run(4_999);
  expect(order).toEqual([]);
  await clock.run(5_010);
  pacer.leave('fine', 5_000);
  await clock.run(5_020);
  expect(order).toEqual(['again 5000', 'fresh 5010']);
});

test('backoff grows up to its cap, is random, and a burst of repetitions is spread over time', async () => {
  const clock = simClock();
  const low = openPacer({ maxInFlight: 1, clock, random: () => 0 });
  const high = openPacer({ maxInFlight: 1, clock, random: () => 0.999999 });
  expect(Math.round(high.backoff(1))).toBe(500);
  expect(Math.round(high.backoff(2))).toBe(1_000);
  expect(Math.round(high.backoff(40))).toBe(30_000);
  const waits = Array.from({ length: 60 }, () => low.backoff(1));
  expect(waits.slice(0, 10)).toEqual(Array(10).fill(0));
  expect(waits.at(-1)).toBe(10_000);
});

test('the stop signal ends every wait at the gate', async () => {
  const stop = new AbortController();
  const pacer = openPacer({ maxInFlight: 1, clock: simClock(), random: seeded(4), signal: stop.signal });
  expect(pacer.enter(false)).toBe(true);
  const waiting = [pacer.enter(false), pacer.enter(true)];
  stop.abort();
  expect(await Promise.all(waiting)).toEqual([false, false]);
  expect(await pacer.enter(false)).toBe(false);
});
