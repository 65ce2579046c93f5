import type { Brakes } from '../model/job.js';

/** What a plan would do, counted in rows; `cleared`: rows in which a value would be emptied. */
export interface PlanCounts {
  rows: number;
  invalid: number;
  creates: number;
  updates: number;
  cleared: number;
}

/** Whether a job must be planned whole before its first write. */
export function brakesOnPlan(brakes: Brakes): boolean {
  return [brakes.max_invalid, brakes.max_updates, brakes.max_creates, brakes.max_cleared, brakes.max_change].some(
    (limit) => limit !== undefined,
  );
}

/** One sentence for each brake the plan trips; none: the run may write. Contract, section 8. */
export function trippedByPlan(brakes: Brakes, plan: PlanCounts, previousRows: number | undefined): string[] {
  const sentences: string[] = [];
  const check = (name: keyof Brakes, count: number, what: string) => {
    const limit = brakes[name];
    if (limit !== undefined && exceeds(limit, count, plan.rows)) {
      sentences.push(`${name}: ${count} of ${plan.rows} rows ${what}, the job allows ${limit}.`);
    }
  };
  if (plan.rows < brakes.min_rows) {
    sentences.push(`min_rows: the file has ${plan.rows} data rows, the job asks for at least ${brakes.min_rows}.`);
  }
  check('max_invalid', plan.invalid, 'cannot be imported as they are');
  check('max_updates', plan.updates, 'would be updated');
  check('max_creates', plan.creates, 'would be created');
  check('max_cleared', plan.cleared, 'would have a value cleared');
  if (brakes.max_change !== undefined && previousRows !== undefined) {
    const change = Math.abs(plan.rows - previousRows);
    if (exceeds(brakes.max_change, change, previousRows)) {
      sentences.push(
        `max_change: the file has ${plan.rows} rows, the last successful run had ${previousRows}; the job allows a change of ${brakes.max_change}.`,
      );
    }
  }
  return sentences;
}

/** The brake that works while writing. */
export function trippedByRejections(brakes: Brakes, rejected: number, rows: number): string | undefined {
  if (brakes.max_rejected === undefined || !exceeds(brakes.max_rejected, rejected, rows)) return undefined;
  return `max_rejected: the service refused ${rejected} of ${rows} rows, the job allows ${brakes.max_rejected}.`;
}

function exceeds(limit: string | number, count: number, of: number): boolean {
  const text = String(limit);
  if (!text.endsWith('%')) return count > Number(text);
  // In whole numbers: 0.57% of 10,000 is 57, not 56.99999999999999.
  const [whole = '', fraction = ''] = text.slice(0, -1).split('.');
  return BigInt(count) * 10n ** BigInt(fraction.length + 2) > BigInt(whole + fraction) * BigInt(of);
}
