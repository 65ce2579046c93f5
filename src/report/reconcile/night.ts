import { OUTCOMES } from '../../model/outcome.js';
import type { Night, ReconcileFacts } from '../../model/reconcile.js';
import type { Summary } from '../summary.js';

/** Nights that report.html shows. */
const NIGHTS = 14;

/** A run as the job's history has it. `differences`: rows that differ. `facts`: undefined where the run did not come so far. */
export function nightOf(summary: Summary, facts: ReconcileFacts | undefined): Night {
  const present = OUTCOMES.filter((kind) => summary.rows[kind] > 0);
  return {
    run: summary.run,
    at: summary.finished_at,
    apply: facts?.apply ?? !summary.dry_run,
    status: summary.status,
    rows: summary.rows.total,
    outcomes: Object.fromEntries(present.map((kind) => [kind, summary.rows[kind]])),
    differences: facts?.differences.rows ?? 0,
    orphans: facts?.orphans.total ?? 0,
    requests: summary.requests.total,
    writes: summary.requests.writes,
    seconds: summary.seconds,
  };
}

const GOOD: ReadonlySet<string> = new Set(['created', 'updated', 'unchanged', 'skipped', 'not_attempted']);

/** Rows that somebody has to look at. Rows that a run did not reach say nothing of the rows. */
export function forPerson({ outcomes }: Night): number {
  return Object.entries(outcomes).reduce((sum, [kind, rows]) => (GOOD.has(kind) ? sum : sum + rows), 0);
}

/** Whether a brake, a fault or a signal stopped the run. */
export function isStopped(status: string): boolean {
  return status !== 'succeeded' && status !== 'partial';
}

/** The last nights with this run as the newest, newest last; a run that is in the history already is not shown twice. */
export function lastNights(history: readonly Night[], own: Night): readonly Night[] {
  return [...history.filter(({ run }) => run !== own.run), own].slice(-NIGHTS);
}
