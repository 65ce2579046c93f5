import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { openPacer, type Pass, WaitingLines } from '../../src/service/pace/gate.js';
import { seeded } from '../support/seeded.js';
import { simClock } from './sim-clock.js';

/** Names of the waiters in the order in which they get their turn. */
function order(waiting: readonly (readonly [line: number, name: string, repetition: boolean])[]): string[] {
  const lines = new WaitingLines();
  const open = [{}, {}, {}];
  const out: string[] = [];
  for (const [line, name, repetition] of waiting) lines.put(open[line] ?? {}, () => out.push(name), repetition);
  for (let next = lines.next(); next; next = lines.next()) next(true);
  expect(lines.size).toBe(0);
  return out;
}

test('runs take turns, and within a run the first comes first', () => {
  const many = Array.from({ length: 5 }, (_, i) => [0, `a${i}`, false] as const);
  expect(order([...many, [1, 'b0', false], [2, 'c0', false], [1, 'b1', false]])).toEqual(
    'a0 b0 c0 a1 b1 a2 a3 a4'.split(' '),
  );
});

test("a repetition goes before everybody's fresh requests, yet not for ever", () => {
  const repetitions = Array.from({ length: 6 }, (_, i) => [0, `again${i}`, true] as const);
  expect(order([[1, 'fresh0', false], [0, 'fresh1', false], ...repetitions])).toEqual(
    'again0 again1 again2 again3 fresh0 again4 again5 fresh1'.split(' '),
  );
});

test('a run that comes late gets every other turn, however many wait before it', async () => {
  const clock = simClock();
  const pacer = openPacer({ maxInFlight: 1, clock, random: seeded(1) });
  const crowd = pacer.lane();
  const late = pacer.lane();
  expect(crowd.enter(false)).toBe(true);
  const went: string[] = [];
  const into = (name: string) => (go: Pass) => went.push(go ? name : 'away');
  for (let i = 0; i < 5_000; i++) void Promise.resolve(crowd.enter(false)).then(into('crowd'));
  for (let i = 0; i < 3; i++) void Promise.resolve(late.enter(false)).then(into('late'));
  for (let i = 0; i < 8; i++) {
    pacer.leave('fine', clock.now());
    await clock.run(clock.now() + 1);
  }
  expect(went.join(' ')).toBe('crowd late crowd late crowd late crowd crowd');
});

test.each([
  ['a stated pause', { maxInFlight: 100 }, 60_000],
  ['the rate', { maxInFlight: 100, maxRps: 0.1 }, 0],
  ['the requests in flight', { maxInFlight: 1 }, 0],
] as const)(
  'a run that is stopped leaves the wait for %s at once, with one listener and for itself alone',
  async (_, limits, holdMs) => {
    const clock = simClock();
    const pacer = openPacer({ ...limits, clock, random: seeded(1) });
    if (holdMs > 0) pacer.hold(holdMs);
    else expect(pacer.enter(false)).toBe(true);
    const stop = new AbortController();
    const stopped = pacer.lane(stop.signal);
    const other = pacer.lane();
    const waiting = Array.from({ length: 3_000 }, (_, i) => stopped.enter(i % 7 === 0));
    let passed: Pass | undefined;
    void Promise.resolve(other.enter(false)).then((go) => {
      passed = go;
    });
    expect(getEventListeners(stop.signal, 'abort').length).toBe(1);
    stop.abort();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
    expect(await stopped.enter(false)).toBe(false);
    expect(clock.now()).toBe(0);
    expect(passed).toBeUndefined();
    if (holdMs === 0) pacer.leave('fine', 0);
    await clock.run(61_000);
    expect(passed).toBe(true);
    stopped.close();
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  },
);

test('a lane that was closed lets nobody in, and its waiters go', async () => {
  const pacer = openPacer({ maxInFlight: 1, clock: simClock(), random: seeded(1) });
  const lane = pacer.lane();
  expect(lane.enter(false)).toBe(true);
  const waiting = lane.enter(false);
  lane.close();
  expect(await waiting).toBe(false);
  expect(await lane.enter(true)).toBe(false);
  pacer.leave('fine', 0);
  expect(pacer.enter(false)).toBe(true);
});
