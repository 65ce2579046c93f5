import type { OutcomeKind } from '../../model/outcome.js';
import type { OrphanLine, ReconcileFacts } from '../../model/reconcile.js';
import { outcomeWords } from '../outcome-words.js';
import { count, isRehearsal, type Summary } from '../summary.js';
import type { Difference } from './differences.js';

/** How the reports of a reconciliation say things. `dry`: a report-only run, in which things would be. */

type Facts = NonNullable<Summary['reconcile']>;

/** What became of a difference. */
export function resultOf({ action, outcome }: Difference, dry: boolean): string {
  if (action === 'kept') return 'Left to the service';
  if (outcome === 'updated') {
    if (action === 'clear') return dry ? 'Would be cleared' : 'Cleared';
    return dry ? 'Would be put right' : 'Put right';
  }
  return outcomeWords(outcome, dry, 'reconcile').label;
}

/** Whether the service's value becomes, or would become, the file's. */
export function changes({ action, outcome }: Difference): boolean {
  return action !== 'kept' && (outcome === 'updated' || outcome === 'not_attempted');
}

export function standsWord({ stands }: Difference): string {
  return stands === 'file' ? 'the file’s' : 'the service’s';
}

export function orphanState({ state, outcome }: OrphanLine): string {
  switch (state) {
    case 'report':
      return 'Reported only';
    case 'wait':
      return 'Waits: not missing often enough yet';
    case 'done':
      return 'Settled: has the values already';
    case 'held':
      return 'Held back';
    case 'act':
      return outcome === undefined ? 'Would be acted on' : orphanOutcome(outcome);
  }
}

function orphanOutcome(outcome: OutcomeKind): string {
  if (outcome === 'updated') return 'Acted on';
  return outcomeWords(outcome, false, 'reconcile').label;
}

/** What the job does with orphans, in one sentence. */
export function orphanRule({ action, after }: ReconcileFacts['orphans']): string {
  if (action === 'report') return 'The job reports orphans and leaves them alone.';
  const what = action === 'archive' ? 'archives' : 'sets the job’s values in';
  const nights = after === 1 ? 'at once' : `after ${after} runs in a row without it, each with another file`;
  return `The job ${what} an orphan ${nights}.`;
}

/** What became of the orphans that a run was to act on. */
export interface ActedOrphans {
  /** They have the job's values now. */
  readonly acted: number;
  /** They could not be acted on, and need a person. */
  readonly refused: number;
  /** Nothing was done to them. */
  readonly left: number;
  /** Nothing was to be written, or the run stopped before the first of them: those that are left would be acted on. */
  readonly planned: boolean;
}

export function actedOrphans(summary: Pick<Summary, 'dry_run' | 'status'>, { orphans, compared }: Facts): ActedOrphans {
  const refused = compared?.orphans_for_person ?? 0;
  const acted = compared?.orphans_acted ?? 0;
  const left = Math.max(orphans.acted - acted - refused, 0);
  return { acted, refused, left, planned: isRehearsal(summary) && acted + refused === 0 };
}

/** `10 acted on`, `2 need a person` */
export function actedParts({ acted, refused, left, planned }: ActedOrphans): string[] {
  return [
    ...(acted > 0 ? [`${count(acted)} acted on`] : []),
    ...(refused > 0 ? [`${count(refused)} ${refused === 1 ? 'needs' : 'need'} a person`] : []),
    ...(left > 0 ? [`${count(left)} ${planned ? 'would be acted on' : 'not acted on'}`] : []),
  ];
}

/** `10 acted on, 30 wait, 4 held back` */
export function orphanParts(summary: Summary, facts: Facts): string {
  const { waiting, settled, held } = facts.orphans;
  return [
    ...actedParts(actedOrphans(summary, facts)),
    ...(waiting > 0 ? [`${count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`] : []),
    ...(held > 0 ? [`${count(held)} held back`] : []),
    ...(settled > 0 ? [`${count(settled)} settled already`] : []),
  ].join(', ');
}

/** Where the records of the service went: all, outside the scope, without a key; '' where every one can be meant. */
export function scopeSentence({ scope, read }: ReconcileFacts): string {
  const parts: string[] = [];
  if (read.records !== scope.records) parts.push(`${count(read.records)} read`);
  if (scope.outside > 0)
    parts.push(`${count(scope.outside)} outside the job’s scope${scope.described ? ` (${scope.described})` : ''}`);
  else if (scope.described) parts.push(`scope: ${scope.described}`);
  if (scope.without_key > 0)
    parts.push(`${count(scope.without_key)} without a value in the key, so that no row can mean them`);
  return parts.length > 0 ? `${parts.join('; ')}.` : '';
}
