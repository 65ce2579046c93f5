import type { FileHandle } from 'node:fs/promises';
import type { Outcome, OutcomeKind } from '../../model/outcome.js';
import type { OrphanLine } from '../../model/reconcile.js';
import { type JournalIndex, PER_READ, type RowResult, readResults } from '../outcome-index.js';
import type { RowPlace } from '../row-index.js';
import { type Comparison, isNew } from './comparison.js';
import { type Difference, differencesOf } from './differences.js';
import type { ReconcileInput } from './input.js';

/** What a reconciliation found out, to be read as often as there are reports of it. Nothing of it is held in memory. */
export interface Found {
  differences(): AsyncIterable<readonly Difference[]>;
  /** Rows without a record of theirs, which were created or would be. */
  created(): AsyncIterable<readonly Outcome[]>;
  /** Rows that ended in one of the outcomes, in input order. */
  outcomes(wanted: (kind: OutcomeKind) => boolean): AsyncIterable<readonly Outcome[]>;
  orphans(): AsyncIterable<readonly OrphanLine[]>;
}

/** Where the results of the rows are read from. */
export interface Results {
  readonly file: FileHandle;
  readonly journal: string;
  readonly index: JournalIndex;
  readonly stopped: string;
}

export function foundIn(results: Results, input: ReconcileInput, comparison: Comparison): Found {
  async function* rows(wanted: (place: RowPlace) => boolean): AsyncGenerator<readonly RowResult[]> {
    const { file, journal, index, stopped } = results;
    let held: RowPlace[] = [];
    for (const places of index.batches(PER_READ)) {
      for (const place of places) if (wanted(place)) held.push(place);
      if (held.length < PER_READ / 2) continue;
      yield await readResults(file, journal, held, stopped, index.ids);
      held = [];
    }
    if (held.length > 0) yield await readResults(file, journal, held, stopped, index.ids);
  }
  return {
    async *differences() {
      for await (const batch of rows(({ row }) => comparison.differing.has(row)))
        yield batch.flatMap((result) => differencesOf(result, input.columnOf));
    },
    async *created() {
      for await (const batch of rows(({ state }) => state === 'created' || state === 'not_attempted'))
        yield batch.map(({ outcome }) => outcome).filter(isNew);
    },
    async *outcomes(wanted) {
      for await (const batch of rows(({ state }) => state !== 'none' && state !== 'open' && wanted(state)))
        yield batch.map(({ outcome }) => outcome);
    },
    orphans: () => input.orphans(),
  };
}
