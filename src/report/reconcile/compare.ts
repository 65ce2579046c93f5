import { GOOD_OUTCOMES, OUTCOMES, type OutcomeKind } from '../../model/outcome.js';
import type { Night, OrphanLine, ReconcileFacts } from '../../model/reconcile.js';
import type { RowResult } from '../../store/run-store.js';
import { isNew } from '../results.js';
import type { Compared, Summary } from '../summary.js';

/** What the caller knows of a reconciliation beyond the outcomes of its rows. */
export interface ReconcileInput {
  readonly facts: ReconcileFacts;
  /** Ascending by id, in batches. */
  readonly orphans: () => AsyncIterable<readonly OrphanLine[]>;
  /** What a field is called in the file: its heading. Undefined for fields that no column sets. */
  readonly columnOf: (field: string) => string | undefined;
}

/** One field in which a row and its record differ; a line of differences.csv. */
export interface Difference {
  readonly row: number;
  readonly key: string;
  readonly id?: number;
  readonly field: string;
  /** Its heading in the file, where a column sets it. */
  readonly column?: string;
  /** The service's value when the row was planned, and the file's, as texts. */
  readonly service: string;
  readonly file: string;
  /** Whose value stands by the job's own word (`compare.authority`). */
  readonly stands: 'file' | 'service';
  /** `kept`: the service's value stands. Whether `set` and `clear` were carried out says the outcome of the row. */
  readonly action: 'set' | 'clear' | 'kept';
  readonly outcome: OutcomeKind;
}

/** The fields in which a row differs. A new record differs from nothing. */
export function differencesOf(
  { outcome, diff }: RowResult,
  columnOf: ReconcileInput['columnOf'],
): readonly Difference[] {
  if (diff.length === 0 || isNew(outcome)) return [];
  return diff.flatMap(({ field, old, new: value, kind }): Difference[] => {
    if (kind === 'preserved' || kind === 'at_risk') return [];
    const column = columnOf(field);
    return [
      {
        row: outcome.ref.row,
        key: outcome.key,
        ...(outcome.id === undefined ? {} : { id: outcome.id }),
        field,
        ...(column === undefined ? {} : { column }),
        service: old,
        file: value,
        stands: kind === 'kept' ? 'service' : 'file',
        action: kind,
        outcome: outcome.kind,
      },
    ];
  });
}

const DIFFERENCES = 60;
const ORPHANS = 30;

/** What a person wants to see first. */
const ORDER: readonly OrphanLine['state'][] = ['held', 'act', 'wait', 'report', 'done'];

/** What is counted and kept of a reconciliation's rows and orphans as they pass; counts are never capped, samples are. */
export class Comparison {
  readonly compared = {
    agree: 0,
    differ: 0,
    put_right: 0,
    left_to_service: 0,
    not_put_right: 0,
    orphans_acted: 0,
    orphans_for_person: 0,
  } satisfies Compared;
  /** The first of them, for the page. */
  readonly differences: Difference[] = [];
  readonly #orphans = new Map<OrphanLine['state'], OrphanLine[]>();

  constructor(readonly input: ReconcileInput) {}

  get result() {
    const { compared, orphans, input } = this;
    const { facts } = input;
    return { ...facts, orphans: { ...facts.orphans, first: orphans }, compared };
  }

  get orphans(): readonly OrphanLine[] {
    return ORDER.flatMap((state) => this.#orphans.get(state) ?? []).slice(0, ORPHANS);
  }

  /** Counts a row and returns its differences. */
  add(result: RowResult): readonly Difference[] {
    const { compared, differences } = this;
    const { kind } = result.outcome;
    const found = differencesOf(result, this.input.columnOf);
    if (found.length === 0) {
      if (kind === 'unchanged') compared.agree++;
      return found;
    }
    compared.differ++;
    if (kind === 'updated') compared.put_right++;
    else if (kind === 'unchanged') compared.left_to_service++;
    else compared.not_put_right++;
    for (const one of found) if (differences.length < DIFFERENCES) differences.push(one);
    return found;
  }

  addOrphan(orphan: OrphanLine): void {
    const { outcome } = orphan;
    if (outcome === 'updated' || outcome === 'unchanged') this.compared.orphans_acted++;
    if (outcome && outcome !== 'not_attempted' && !GOOD_OUTCOMES.has(outcome)) this.compared.orphans_for_person++;
    const of = this.#orphans.get(orphan.state) ?? [];
    this.#orphans.set(orphan.state, of);
    if (of.length < ORPHANS) of.push(orphan);
  }

  /**
   * Called when all rows have passed: rows that differed when they were planned and whose differences are in no journal,
   * because the run stopped before them, count as not put right.
   */
  countMissing(): void {
    const missing = Math.max(this.input.facts.differences.rows - this.compared.differ, 0);
    this.compared.differ += missing;
    this.compared.not_put_right += missing;
  }
}

/** What the page shows of it. */
export type ReconcileSamples = Pick<Comparison, 'differences' | 'orphans'>;

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
