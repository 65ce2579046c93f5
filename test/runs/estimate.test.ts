import { describe, expect, it } from 'vitest';
import {
  estimateOf,
  estimateText,
  openOutlook,
  requestPace,
  requestsText,
  timeText,
} from '../../src/runs/run/outlook.js';
import type { Clock } from '../../src/service/clock.js';

/** A clock that stands still until it is put on. */
function handClock(): Clock & { tick(ms: number): void } {
  let now = 5_000;
  return {
    now: () => now,
    wall: () => now,
    after: () => () => undefined,
    tick(ms) {
      now += ms;
    },
  };
}

const counts = (reads: number, writes = 0) => ({ total: reads + writes, reads, writes, retries: 0 });
const FRESH = 60_000;

describe('the words of an estimate', () => {
  it.each([
    [1, 'one request'],
    [2, '2 requests'],
    [87, '87 requests'],
    [1_234, '1,230 requests'],
    [12_418, '12,400 requests'],
    [1_005_200, '1,010,000 requests'],
  ])('%d is %s', (requests, text) => {
    expect(requestsText(requests)).toBe(text);
  });

  it.each([
    [0, 'a few seconds'],
    [8, '10 seconds'],
    [57, '55 seconds'],
    [58, 'a minute'],
    [89, 'a minute'],
    [91, '2 minutes'],
    [541, '9 minutes'],
    [19 * 60, '19 minutes'],
    [23 * 60, '25 minutes'],
    [58 * 60, 'an hour'],
    [80 * 60, '1.5 hours'],
    [3 * 3600, '3 hours'],
    [9.9 * 3600, '10 hours'],
    [30 * 3600, '30 hours'],
    [80 * 3600, '3 days'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(timeText(seconds)).toBe(text);
  });

  it('say how sure they are', () => {
    expect(estimateText({ requests: 12_418, seconds: 541 })).toBe(
      'about 12,400 requests, 9 minutes at the current pace',
    );
    expect(estimateText({ requests: 12_418, seconds: 541 }, true)).toMatch(/^at most 12,400 requests, /);
  });
});

describe('the requests that writes take', () => {
  it('are one each, and the first update is read back', () => {
    expect(estimateOf({ creates: 50, updates: 0, freshMs: FRESH }, 100)).toEqual({ requests: 50, seconds: 0.5 });
    expect(estimateOf({ creates: 0, updates: 50, freshMs: FRESH }, 100).requests).toBe(51);
  });

  it('are two where the record was read too long ago', () => {
    // 6,000 of 10,000 are sent within the minute.
    expect(estimateOf({ creates: 0, updates: 10_000, freshMs: FRESH }, 100).requests).toBe(14_001);
    expect(estimateOf({ creates: 0, updates: 10, freshMs: 0 }, 100).requests).toBe(21);
  });
});

describe('the pace of a run', () => {
  const read = (ms: number, status = 200) => ({ kind: 'read', status, ms, repetition: false }) as const;

  it('is not known before the first answer', () => {
    expect(requestPace(handClock()).perSecond(16)).toBeUndefined();
  });

  it('is what was reached, where many requests were in flight', () => {
    const clock = handClock();
    const pace = requestPace(clock);
    // 16 in flight, each 160 ms: one ends every 10 ms.
    for (let i = 0; i < 1_000; i++) {
      clock.tick(10);
      pace.observe(read(160));
    }
    expect(pace.perSecond(16)).toBeCloseTo(100, -1);
  });

  it('is told by the time of an answer, where they came one after the other', () => {
    const clock = handClock();
    const pace = requestPace(clock);
    for (let i = 0; i < 5; i++) {
      // The run does other things between them.
      clock.tick(700);
      clock.tick(20);
      pace.observe(read(20));
    }
    expect(pace.perSecond(16)).toBeCloseTo(800, 0);
    expect(pace.perSecond(1)).toBeCloseTo(50, 0);
  });

  it('does not take the first answers, which wait for a connection, for the usual ones', () => {
    const clock = handClock();
    const pace = requestPace(clock);
    for (const ms of [400, 20, 25]) {
      clock.tick(ms);
      pace.observe(read(ms));
    }
    expect(pace.perSecond(16)).toBeCloseTo(800, 0);
  });

  it('is what was reached, where the service holds the run back', () => {
    const clock = handClock();
    const pace = requestPace(clock);
    for (let i = 0; i < 2_000; i++) {
      clock.tick(100);
      pace.observe(read(20, i % 50 === 0 ? 429 : 200));
    }
    expect(pace.perSecond(16)).toBeCloseTo(10, 0);
  });

  it('forgets what was long ago', () => {
    const clock = handClock();
    const pace = requestPace(clock);
    for (let i = 0; i < 500; i++) {
      clock.tick(1_000);
      pace.observe(read(1_000));
    }
    for (let i = 0; i < 3_000; i++) {
      clock.tick(10);
      pace.observe(read(10));
    }
    expect(pace.perSecond(1)).toBeGreaterThan(90);
  });
});

describe('what is ahead of a run', () => {
  /** 10 requests a second, one at a time. */
  function opened(concurrency = 1, maxRps?: number) {
    const clock = handClock();
    const outlook = openOutlook({ clock, concurrency, ...(maxRps === undefined ? {} : { maxRps }) });
    for (let i = 0; i < 20; i++) {
      clock.tick(100);
      outlook.observe({ kind: 'read', status: 200, ms: 100, repetition: false });
    }
    return { clock, outlook };
  }

  it('is nothing that could be told before an answer came, or before the plan', () => {
    const outlook = openOutlook({ clock: handClock(), concurrency: 16 });
    expect(outlook.plan({ creates: 5, updates: 0, freshMs: FRESH }, 5, undefined)).toBeUndefined();
    expect(outlook.ahead(counts(5))).toBeUndefined();
    expect(outlook.summary({ dryRun: false, requests: counts(5) })).toBeUndefined();
  });

  it('is estimated by the pace, and by the ceiling', () => {
    expect(opened().outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, 1_000, counts(20))).toEqual({
      requests: 600,
      seconds: 60,
    });
    const slow = opened(16, 2).outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, 1_000, counts(20));
    expect(slow?.seconds).toBe(300);
  });

  it('shrinks with every row, and ends at nothing', () => {
    const { outlook } = opened();
    outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, 1_000, counts(20));
    expect(outlook.ahead(counts(20))).toEqual({ made: 20, left: 600 });
    for (let row = 0; row < 1_000; row++) {
      outlook.decided(row < 600);
      if (row < 600) outlook.ended();
      if (row === 199) expect(outlook.ahead(counts(20, 200))).toEqual({ made: 220, left: 400 });
    }
    expect(outlook.ahead(counts(20, 600))).toEqual({ made: 620, left: 0 });
  });

  it('counts the reads that the writes turn out to take', () => {
    const { outlook } = opened();
    outlook.plan({ creates: 0, updates: 1_000, freshMs: FRESH }, 1_000, counts(20));
    for (let row = 0; row < 500; row++) {
      outlook.decided(true);
      outlook.ended();
    }
    expect(outlook.ahead(counts(520, 500))?.left).toBe(1_000);
  });

  it('is a bound until enough rows have been compared, and goes by their share then', () => {
    const { outlook } = opened();
    outlook.plan({ creates: 0, updates: 10_000, atMost: true, freshMs: 10 ** 9 }, 10_000, counts(20));
    expect(outlook.ahead(counts(20))).toEqual({ made: 20, left: 10_001, atMost: true });
    for (let row = 0; row < 1_000; row++) {
      outlook.decided(row % 100 === 0);
      if (row % 100 === 0) outlook.ended();
    }
    expect(outlook.ahead(counts(20, 10))).toEqual({ made: 30, left: 90 });
    for (let row = 1_000; row < 10_000; row++) outlook.decided(false);
    expect(outlook.ahead(counts(20, 10))?.left).toBe(0);
  });

  it('stands in the summary beside what it came to', () => {
    const { clock, outlook } = opened();
    outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, 1_000, counts(20));
    clock.tick(75_000);
    const requests = counts(23, 598);
    expect(outlook.summary({ dryRun: false, requests })).toEqual({
      requests: 600,
      seconds: 60,
      came_to: { requests: 601, seconds: 75 },
    });
    expect(outlook.summary({ dryRun: false, requests: undefined })).toEqual({ requests: 600, seconds: 60 });
    // The real run reads what the rehearsal has read: 20 requests in 2 seconds.
    expect(outlook.summary({ dryRun: true, requests })).toEqual({ requests: 620, seconds: 62 });
  });
});
