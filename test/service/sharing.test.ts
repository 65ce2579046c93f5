import { expect, test } from 'vitest';
import type { PaceReport } from '../../src/model/pace.js';
import { openPacer, type Pacer, type PacerOptions, type Pass } from '../../src/service/pace/gate.js';
import { type PlainPace, plainPace } from '../support/pace.js';
import { seeded } from '../support/seeded.js';
import { simClock } from './sim-clock.js';
import { most, traffic, usage } from './traffic.js';

const NO_LIMIT = (): number => 1e9;

/** Gates of several processes on one shared pace. */
function processes(count: number, more: Partial<PacerOptions> = {}) {
  const clock = simClock();
  const stop = new AbortController();
  const pace = plainPace(clock);
  pace.delayMs = 2;
  const pacers = Array.from({ length: count }, (_, i) =>
    openPacer({
      maxInFlight: 64,
      clock,
      random: seeded(i + 1),
      signal: stop.signal,
      shared: pace.member(),
      ...more,
    }),
  );
  return { clock, stop, pace, pacers, [Symbol.dispose]: () => stop.abort() };
}

/** Through the gate, which may wait for the first word of the others. */
async function enter(clock: ReturnType<typeof simClock>, pacer: Pacer): Promise<Pass> {
  const gate = Promise.resolve(pacer.enter(false));
  await clock.run(clock.now() + 5);
  return gate;
}

test.each([
  [1, 5],
  [2, 50],
  [6, 50],
  [2, 300],
])('%i processes keep one ceiling of %i a second together, evenly and in full', async (count, maxRps) => {
  using all = processes(count, { maxRps });
  const { served, drive } = traffic(all.clock, 50, NO_LIMIT);
  const shares = all.pacers.map((pacer) => drive(pacer, 32));
  await all.clock.run(20_000);
  expect(most(served, 0, 20_000, 1_000)).toBeLessThanOrEqual(Math.ceil(maxRps * 1.02));
  expect(usage(served, 2_000, 20_000, maxRps).used).toBeGreaterThan(0.97);
  for (const share of shares) expect(share.length / (served.length / count)).toBeGreaterThan(0.8);
});

test('a process that has little to send leaves the ceiling to the other', async () => {
  using all = processes(2, { maxRps: 100 });
  const { served, drive } = traffic(all.clock, 200, NO_LIMIT);
  const [one, two] = all.pacers as [Pacer, Pacer];
  const few = drive(one, 1);
  drive(two, 64);
  await all.clock.run(10_000);
  expect(few.length).toBeGreaterThan(20);
  expect(usage(served, 1_000, 10_000, 100).used).toBeGreaterThan(0.95);
});

test.each([
  [2, 20],
  [2, 200],
  [6, 20],
  [6, 200],
])('%i processes find a hidden limit together, at %i ms', async (count, latencyMs) => {
  using all = processes(count);
  const { served, drive } = traffic(all.clock, latencyMs, () => 100);
  for (const pacer of all.pacers) drive(pacer, 32);
  await all.clock.run(70_000);
  const { used, refused } = usage(served, 10_000, 70_000, 100);
  expect(used).toBeGreaterThan(0.85);
  expect(refused).toBeLessThan(0.05);
});

test('a hidden limit that moves 50 → 5 → 50 is found again by two, and by a third that comes late', async () => {
  using all = processes(3);
  const limitAt = (now: number): number => (now < 60_000 ? 50 : now < 180_000 ? 5 : 50);
  const { served, drive } = traffic(all.clock, 200, limitAt);
  const [one, two, three] = all.pacers as [Pacer, Pacer, Pacer];
  drive(one, 32);
  drive(two, 32);
  await all.clock.run(300_000);
  drive(three, 32);
  await all.clock.run(360_000);
  for (const [from, to, limit, least] of [
    [20_000, 60_000, 50, 0.9],
    // A hundred successes until the next try upwards are half a minute at such a pace.
    [100_000, 180_000, 5, 0.65],
    [240_000, 300_000, 50, 0.9],
    [310_000, 360_000, 50, 0.9],
  ] as const) {
    const { used, refused } = usage(served, from, to, limit);
    expect(used).toBeGreaterThan(least);
    expect(refused).toBeLessThan(0.05);
  }
});

test('a pause the service names to one is kept by the other, by one that was quiet, and by one that comes later', async () => {
  using all = processes(3);
  const { clock } = all;
  const { drive } = traffic(clock, 10, NO_LIMIT);
  const [one, two, three] = all.pacers as [Pacer, Pacer, Pacer];
  const busy = drive(two, 4);
  expect(await enter(clock, one)).toBe(true);
  await clock.run(1_000);
  one.hold(5_000);
  one.leave('throttled', 0);
  await clock.run(1_150);
  const count = busy.length;
  const late = drive(three, 4);
  await clock.run(5_990);
  expect([busy.length, late.length]).toEqual([count, 0]);
  await clock.run(6_400);
  expect(busy.length).toBeGreaterThan(count);
  expect(late.length).toBeGreaterThan(0);
});

test('overload that others meet lowers the requests in flight, once per round trip', async () => {
  using all = processes(3);
  const { clock } = all;
  const [one, two, three] = all.pacers as [Pacer, Pacer, Pacer];
  for (const pacer of [one, two, three]) expect(await enter(clock, pacer)).toBe(true);
  const enteredAt = clock.now();
  await clock.run(500);
  expect(three.inFlightLimit).toBe(8);
  one.leave('overloaded', enteredAt);
  two.leave('overloaded', enteredAt);
  await clock.run(700);
  expect([one.inFlightLimit, two.inFlightLimit, three.inFlightLimit]).toEqual([5, 5, 5]);
});

test('sums that begin at 0 again are a fresh start', async () => {
  using all = processes(2);
  const { drive } = traffic(all.clock, 20, () => 100);
  for (const pacer of all.pacers) drive(pacer, 16);
  await all.clock.run(15_000);
  const before = all.pacers.map((pacer) => pacer.learnedRate ?? 0);
  all.pace.forget();
  await all.clock.run(15_250);
  all.pacers.forEach((pacer, i) => {
    expect((pacer.learnedRate ?? 0) / (before[i] ?? 0)).toBeGreaterThan(0.7);
  });
});

test.each<PlainPace['state']>(['down', 'stuck'])(
  'where the shared place is %s each process keeps to its share, and comes back by itself',
  async (state) => {
    using all = processes(4, { maxRps: 40 });
    const { served, drive } = traffic(all.clock, 20, NO_LIMIT);
    for (const pacer of all.pacers) drive(pacer, 8);
    await all.clock.run(5_000);
    all.pace.state = state;
    await all.clock.run(35_000);
    all.pace.state = 'up';
    await all.clock.run(60_000);
    expect(most(served, 0, 60_000, 1_000)).toBeLessThanOrEqual(46);
    expect(usage(served, 6_000, 35_000, 40).used).toBeGreaterThan(0.9);
    const exchanges = all.pace.exchanges;
    await all.clock.run(70_000);
    expect(usage(served, 60_000, 70_000, 40).used).toBeGreaterThan(0.95);
    expect(most(served, 60_000, 70_000, 1_000)).toBeLessThanOrEqual(41);
    expect(all.pace.exchanges - exchanges).toBeGreaterThan(200);
  },
);

test('a shared place that is slow is no reason to stand still', async () => {
  using all = processes(2, { maxRps: 40 });
  all.pace.delayMs = 600;
  const { served, drive } = traffic(all.clock, 20, NO_LIMIT);
  for (const pacer of all.pacers) drive(pacer, 8);
  await all.clock.run(20_000);
  expect(usage(served, 2_000, 20_000, 40).used).toBeGreaterThan(0.8);
  expect(most(served, 2_000, 20_000, 1_000)).toBeLessThanOrEqual(42);
});

test('word is exchanged only while requests are made, and everything is told', async () => {
  const clock = simClock();
  const reports: PaceReport[] = [];
  const shared = {
    async exchange(report: PaceReport) {
      reports.push(report);
      return { successes: 0, throttled: 0, overloaded: 0, heldMs: 0, members: 1 };
    },
  };
  const pacer = openPacer({ maxInFlight: 8, clock, random: seeded(1), shared });
  await clock.run(1_000);
  expect(reports.length).toBe(0);
  for (let i = 0; i < 10; i++) {
    expect(await pacer.enter(false)).toBe(true);
    const enteredAt = clock.now();
    await clock.run(clock.now() + 50);
    pacer.leave('fine', enteredAt);
  }
  await clock.run(60_000);
  expect(reports.reduce((sum, report) => sum + report.successes, 0)).toBe(10);
  expect(reports.length).toBeGreaterThanOrEqual(5);
  expect(reports.length).toBeLessThanOrEqual(8);
  expect(reports.every((report) => report.slots === undefined)).toBe(true);
});

test('the stop ends the exchange, also one that is under way', async () => {
  const all = processes(1, { maxRps: 10 });
  const [pacer] = all.pacers as [Pacer];
  all.pace.state = 'stuck';
  const waiting = [pacer.enter(false), pacer.enter(false)];
  await all.clock.run(20);
  all.stop.abort();
  expect(await Promise.all(waiting)).toEqual([false, false]);
  const { exchanges } = all.pace;
  await all.clock.run(60_000);
  expect(all.pace.exchanges).toBe(exchanges);
});
