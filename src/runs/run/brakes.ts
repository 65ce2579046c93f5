import type { Brakes, RowsJob } from '../../model/job.js';
import type { OutcomeCounts } from '../../model/outcome.js';
import type { ReconcileFacts } from '../../model/reconcile.js';
import { RECONCILE_LIMITS } from '../../pipeline/plan/brakes.js';

/** What a run found of what brakes look at; absent where it did not come so far. */
interface Found {
  readonly rows: Readonly<OutcomeCounts & { total: number }> | undefined;
  readonly updates: number;
  readonly creates: number;
  /** Rows in which a value would be emptied. */
  readonly cleared: number;
  readonly reconcile: ReconcileFacts | undefined;
}

/** The brakes of a job, those that apply by default among them: what each allows, and what the run came to. */
export function brakesOf(
  { kind, brakes }: RowsJob,
  { rows, updates, creates, cleared, reconcile }: Found,
): { readonly name: keyof Brakes; readonly limit: string; readonly found: string }[] {
  const limits = { ...(kind === 'reconcile' ? RECONCILE_LIMITS : {}), ...given(brakes) };
  const total = rows?.total ?? 0;
  const of = (count: number) => (total === 0 ? String(count) : `${count} of ${total} rows`);
  const found: Readonly<Record<string, string>> = {
    max_invalid: of((rows?.invalid ?? 0) + (rows?.duplicate ?? 0) + (rows?.ambiguous ?? 0)),
    max_rejected: of(rows?.rejected ?? 0),
    max_updates: of(updates),
    max_creates: of(creates),
    max_cleared: of(cleared),
    max_orphans: reconcile ? `${reconcile.orphans.fresh} newly missing` : '',
    min_rows: `${total} rows`,
  };
  return NAMES.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [{ name, limit: String(limit), found: found[name] ?? '' }];
  });
}

/** Brakes that stop a run by what it would write. */
const NAMES = [
  'max_invalid',
  'max_rejected',
  'max_updates',
  'max_creates',
  'max_cleared',
  'max_orphans',
  'max_change',
  'min_rows',
] as const;

/** What a job leaves open does not take the place of a default. */
function given(brakes: Partial<Brakes>): Partial<Brakes> {
  return Object.fromEntries(Object.entries(brakes).filter(([, limit]) => limit !== undefined));
}
