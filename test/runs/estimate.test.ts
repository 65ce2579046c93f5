import { describe, expect, it } from 'vitest';
import { estimateOf, estimateText, openOutlook } from '../../src/runs/run/outlook.js';
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

it('the words of an estimate say how sure they are', () => {
  const words = (seconds: number) => estimateText({ requests: 12_418, seconds });
  expect(words(3)).toBe('about 12,418 requests, a few seconds at the current pace');
  expect(words(57)).toContain(' 55 seconds ');
  expect(words(541)).toContain(' 9 minutes ');
  expect(words(9_000)).toContain(' 3 hours ');
  expect(estimateText({ requests: 12_418, seconds: 541 }, true)).toMatch(/^at most 12,418 requests, /);
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
    expect(outlook.plan({ creates: 5, updates: 0, freshMs: FRESH }, undefined)).toBeUndefined();
    expect(outlook.ahead(counts(5))).toBeUndefined();
    expect(outlook.summary(false, counts(5))).toBeUndefined();
  });

  it('is estimated by the pace, and by the ceiling', () => {
    expect(opened().outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, counts(20))).toEqual({
      requests: 600,
      seconds: 60,
    });
    const slow = opened(16, 2).outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, counts(20));
    expect(slow?.seconds).toBe(300);
  });

  it('shrinks with every request, and ends at nothing', () => {
    const { outlook } = opened();
    outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, counts(20));
    expect(outlook.ahead(counts(20))).toEqual({ made: 20, left: 600 });
    expect(outlook.ahead(counts(20, 200))).toEqual({ made: 220, left: 400 });
    expect(outlook.ahead(counts(45, 600))).toEqual({ made: 645, left: 0 });
  });

  it('is a bound where rows are compared while others are written', () => {
    const { outlook } = opened();
    outlook.plan({ creates: 0, updates: 10_000, atMost: true, freshMs: 10 ** 9 }, counts(20));
    expect(outlook.ahead(counts(20))).toEqual({ made: 20, left: 10_001, atMost: true });
  });

  it('goes by the time of an answer, where they came one after the other', () => {
    const clock = handClock();
    const outlook = openOutlook({ clock, concurrency: 16 });
    for (let i = 0; i < 5; i++) {
      // The run does other things between them.
      clock.tick(720);
      outlook.observe({ kind: 'read', status: 200, ms: 20, repetition: false });
    }
    expect(outlook.plan({ creates: 800, updates: 0, freshMs: FRESH }, counts(5))?.seconds).toBe(1);
  });

  it('goes by what was reached, where the service holds the run back', () => {
    const clock = handClock();
    const outlook = openOutlook({ clock, concurrency: 16 });
    for (let i = 0; i < 100; i++) {
      clock.tick(100);
      outlook.observe({ kind: 'read', status: i === 0 ? 429 : 200, ms: 20, repetition: false });
    }
    expect(outlook.plan({ creates: 800, updates: 0, freshMs: FRESH }, counts(100))?.seconds).toBe(80);
  });

  it('stands in the summary beside what it came to', () => {
    const { clock, outlook } = opened();
    outlook.plan({ creates: 600, updates: 0, freshMs: FRESH }, counts(20));
    clock.tick(75_000);
    const requests = counts(23, 598);
    expect(outlook.summary(false, requests)).toEqual({
      requests: 600,
      seconds: 60,
      came_to: { requests: 601, seconds: 75 },
    });
    expect(outlook.summary(false, undefined)).toEqual({ requests: 600, seconds: 60 });
    // The real run reads what the rehearsal has read: 20 requests in 2 seconds.
    expect(outlook.summary(true, requests)).toEqual({ requests: 620, seconds: 62 });
  });
});
