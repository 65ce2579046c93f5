import { describe, expect, it } from 'vitest';
import { pace, progressLine } from '../../src/cli/telling.js';
import { noOutcomes } from '../../src/model/outcome.js';
import type { Progress } from '../../src/runs/run/context.js';

const at = (done: number, requests?: Progress['requests'], total = 1_000): Progress => ({
  run: 'r',
  phase: 'writing',
  done,
  total,
  outcomes: noOutcomes(),
  ...(requests ? { requests } : {}),
});

/** Notes the states, one a second. */
function after(...states: readonly Progress[]): string {
  const speed = pace();
  states.forEach((state, second) => {
    speed.note(state, second * 1_000);
  });
  return progressLine(states.at(-1) as Progress, speed, 200);
}

describe('the requests left in the progress line', () => {
  it('are shown with the time they take at the pace of the last seconds', () => {
    const line = after(at(0, { made: 800, left: 12_400 }), at(10, { made: 820, left: 12_380 }));
    expect(line).toBe('writing    ░░░░░░░░░░░░░░░░░░░░ 10/1,000 rows · 10 rows/s · 12,380 requests, 10:19 left');
  });

  it('follow a slow-down, smoothed', () => {
    const quick = Array.from({ length: 11 }, (_, s) => at(s, { made: s * 100, left: 5_000 - s * 100 }));
    const slow = Array.from({ length: 11 }, (_, s) => at(10 + s, { made: 1_000 + s * 10, left: 4_000 - s * 10 }));
    const left = (line: string) => /requests, (.*) left/.exec(line)?.[1];
    expect(left(after(...quick))).toBe('0:40');
    // One second of ten tells a little, all of them tell the new pace.
    expect(left(after(...quick, ...slow.slice(1, 2)))).toBe('0:44');
    expect(left(after(...quick, ...slow.slice(1)))).toBe('6:30');
  });

  it('are bounds while the plan is not known, and the rows tell the time', () => {
    const line = after(at(0, { made: 5, left: 900, atMost: true }), at(100, { made: 10, left: 890, atMost: true }));
    expect(line).toContain('· 100 rows/s · at most 890 requests, 0:09 left');
  });

  it('are one or many, and no time is invented before there is a pace', () => {
    expect(after(at(0, { made: 5, left: 1 }))).toMatch(/0\/1,000 rows · one request left$/);
    expect(after(at(0, { made: 5, left: 2 }))).toMatch(/ · 2 requests left$/);
  });

  it('are left out where nothing is to be sent, and at the end of the rows', () => {
    expect(after(at(0, { made: 5, left: 0 }), at(500, { made: 5, left: 0 }))).toMatch(/ · 500 rows\/s · 0:01 left$/);
    expect(after(at(999, { made: 5, left: 3 }), at(1_000, { made: 8, left: 0 }))).not.toContain('left');
  });
});
