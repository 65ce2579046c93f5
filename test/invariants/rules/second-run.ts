import type { Commit } from '../../../src/sandbox/service.js';
import type { Violation } from '../evidence.js';
import { readTold } from '../facts.js';
import { GOOD } from './outcomes.js';

/**
 * Contract, section 7: importing the same file again changes nothing. `commits`: those of the second run. What needed a
 * person the first time may need one again; what ended well is unchanged, or skipped by the job's own rule.
 */
export async function secondRunQuiet(
  first: string,
  second: string,
  commits: readonly Commit[],
): Promise<readonly Violation[]> {
  const rule = 'second-run-quiet';
  const [one, two] = await Promise.all([readTold(first), readTold(second)]);
  const found: Violation[] = commits.map(({ method, resource, id }) => ({
    rule,
    text: `the second run sent ${method} of ${resource} ${id}`,
  }));
  for (const { row, outcome } of one.lines) {
    const again = two.byRow.get(row)?.outcome ?? 'not there';
    if (GOOD.has(outcome) && again !== 'unchanged' && again !== 'skipped') {
      found.push({ rule, row, text: `was ${outcome} in the first run and is ${again} in the second` });
    }
  }
  return found;
}
