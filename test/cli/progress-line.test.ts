import { describe, expect, it } from 'vitest';
import { createRateMeter, progressLine } from '../../src/cli/messages.js';
import { noOutcomes } from '../../src/model/outcome.js';
import type { Progress } from '../../src/runs/run/context.js';

const at = (done: number, total = 1_000): Progress => ({
  run: 'r',
  phase: 'writing',
  done,
  total,
  outcomes: noOutcomes(),
});

/** Notes the states, one a second. */
function after(...states: readonly Progress[]): string {
  const speed = createRateMeter();
  states.forEach((state, second) => {
    speed.addPoint(state, second * 1_000);
  });
  return progressLine(states.at(-1) as Progress, speed, 200);
}

describe('the time left in the progress line', () => {
  it('is what the rows take at the pace of the last seconds', () => {
    expect(after(at(0), at(10))).toBe('writing    ░░░░░░░░░░░░░░░░░░░░ 10/1,000 rows · 10 rows/s · 1:39 left');
  });

  it('follows a slow-down, smoothed', () => {
    const quick = Array.from({ length: 11 }, (_, s) => at(s * 100, 5_000));
    const slow = Array.from({ length: 11 }, (_, s) => at(1_000 + s * 10, 5_000));
    const left = (line: string) => /· ([\d:]+) left/.exec(line)?.[1];
    expect(left(after(...quick))).toBe('0:40');
    // One second of ten tells a little, all of them tell the new pace.
    expect(left(after(...quick, ...slow.slice(1, 2)))).toBe('0:44');
    expect(left(after(...quick, ...slow.slice(1)))).toBe('6:30');
  });

  it('is not invented before there is a pace, and left out at the end of the rows', () => {
    expect(after(at(0))).toMatch(/0\/1,000 rows$/);
    expect(after(at(999), at(1_000))).not.toContain('left');
  });
});
