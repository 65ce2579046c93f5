import type { Issue } from './issue.js';
import type { RowRef } from './row.js';

/** Every outcome a row can end in. The order is the order of reports. */
export const OUTCOMES = [
  'created',
  'updated',
  'unchanged',
  'skipped',
  'invalid',
  'duplicate',
  'ambiguous',
  'at_risk',
  'conflict',
  'rejected',
  'failed',
  'unknown',
  'not_attempted',
] as const;

export type OutcomeKind = (typeof OUTCOMES)[number];

/** Outcomes that ask nothing of anybody; every other one makes the exit code 3. */
export const GOOD_OUTCOMES: ReadonlySet<OutcomeKind> = new Set(['created', 'updated', 'unchanged', 'skipped']);

/** What people see first of an outcome: the row is in, was left as it is, waits for other cells, or for somebody's eyes. */
export const OUTCOME_GROUPS = ['in', 'unchanged', 'to_correct', 'to_look_at'] as const;
export type OutcomeGroup = (typeof OUTCOME_GROUPS)[number];

export const GROUP_OF_OUTCOME: Readonly<Record<OutcomeKind, OutcomeGroup>> = {
  created: 'in',
  updated: 'in',
  unchanged: 'unchanged',
  skipped: 'unchanged',
  invalid: 'to_correct',
  duplicate: 'to_correct',
  ambiguous: 'to_correct',
  conflict: 'to_correct',
  rejected: 'to_correct',
  at_risk: 'to_look_at',
  failed: 'to_look_at',
  unknown: 'to_look_at',
  not_attempted: 'to_look_at',
};

/** How one row ended. A row has exactly one. */
export interface Outcome {
  readonly ref: RowRef;
  readonly kind: OutcomeKind;
  /** The natural key as the file has it; '' where the row has none. */
  readonly key: string;
  /** The record's id in the service, where it is known. */
  readonly id?: number;
  readonly attempts: number;
  readonly issues: readonly Issue[];
  /** Fields that were (or in a dry run would be) written, as job files name them. */
  readonly changed: readonly string[];
}

export type OutcomeCounts = Record<OutcomeKind, number>;

export function noOutcomes(): OutcomeCounts {
  return Object.fromEntries(OUTCOMES.map((kind) => [kind, 0])) as OutcomeCounts;
}

/** Whether what became of an unknown row cannot be looked up: it has no key, or the service does not show such records. */
export function isUnverifiable({
  append,
  resource,
}: {
  readonly append?: boolean;
  readonly resource: string;
}): boolean {
  return append === true || resource === 'customer';
}
