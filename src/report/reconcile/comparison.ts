import { GOOD_OUTCOMES, type Outcome } from '../../model/outcome.js';
import type { OrphanLine, ReconcileFacts } from '../../model/reconcile.js';
import type { RowResult } from '../outcome-index.js';
import type { Compared } from '../summary.js';
import { type Difference, differencesOf } from './differences.js';
import type { ReconcileInput } from './input.js';
import { createRowSet, type RowSet } from './row-set.js';

/** What the page shows of the records, gathered as they pass. */
export interface ReconcileSamples {
  readonly differences: readonly Difference[];
  readonly created: readonly Outcome[];
  readonly orphans: readonly OrphanLine[];
}

/** What is counted and kept of a reconciliation's rows and orphans as they pass; counts are never capped, samples are. */
export interface Comparison {
  readonly compared: Compared;
  /** Rows with differences. */
  readonly differing: RowSet;
  readonly samples: ReconcileSamples;
  /** Counts a row and returns its differences. */
  add(result: RowResult): readonly Difference[];
  addOrphan(orphan: OrphanLine): void;
  /**
   * Called when all rows have passed: rows that differed when they were planned and whose differences are in no journal,
   * because the run stopped before them, count as not put right.
   */
  settle(planned: ReconcileFacts['differences']): void;
}

/** A row that was made into a record, or would have been if the run had not stopped before it. */
export function isNew({ kind, id, changed }: Outcome): boolean {
  return kind === 'created' || (kind === 'not_attempted' && id === undefined && changed.length > 0);
}

const DIFFERENCES = 60;
/** New rows that the page shows. */
export const CREATED = 20;
const ORPHANS = 30;

/** What a person wants to see first. */
const ORDER: readonly OrphanLine['state'][] = ['held', 'act', 'wait', 'report', 'done'];

export function createComparison(columnOf: ReconcileInput['columnOf']): Comparison {
  const compared = {
    agree: 0,
    differ: 0,
    put_right: 0,
    left_to_service: 0,
    not_put_right: 0,
    orphans_acted: 0,
    orphans_for_person: 0,
  };
  const differing = createRowSet();
  const differences: Difference[] = [];
  const created: Outcome[] = [];
  const orphans = new Map<OrphanLine['state'], OrphanLine[]>();
  return {
    compared,
    differing,
    samples: {
      differences,
      created,
      get orphans() {
        return ORDER.flatMap((state) => orphans.get(state) ?? []).slice(0, ORPHANS);
      },
    },
    add(result) {
      const { kind, ref } = result.outcome;
      if (isNew(result.outcome) && created.length < CREATED) created.push(result.outcome);
      const found = differencesOf(result, columnOf);
      if (found.length === 0) {
        if (kind === 'unchanged') compared.agree++;
        return found;
      }
      differing.add(ref.row);
      compared.differ++;
      if (kind === 'updated') compared.put_right++;
      else if (kind === 'unchanged') compared.left_to_service++;
      else compared.not_put_right++;
      for (const one of found) if (differences.length < DIFFERENCES) differences.push(one);
      return found;
    },
    addOrphan(orphan) {
      const { outcome } = orphan;
      if (outcome === 'updated' || outcome === 'unchanged') compared.orphans_acted++;
      if (outcome && outcome !== 'not_attempted' && !GOOD_OUTCOMES.has(outcome)) compared.orphans_for_person++;
      const of = orphans.get(orphan.state);
      if (!of) orphans.set(orphan.state, [orphan]);
      else if (of.length < ORPHANS) of.push(orphan);
    },
    settle({ rows }) {
      const missing = rows - compared.differ;
      if (missing <= 0) return;
      compared.differ += missing;
      compared.not_put_right += missing;
    },
  };
}
