import type { Night, OrphanLine, ReconcileFacts } from '../../model/reconcile.js';

/** What the caller knows of a reconciliation beyond the outcomes of its rows. */
export interface ReconcileInput {
  readonly facts: ReconcileFacts;
  /** Ascending by id, in batches; called several times. */
  readonly orphans: () => AsyncIterable<readonly OrphanLine[]>;
  /** The job's earlier nights, newest last; this run is not among them. */
  readonly history: readonly Night[];
  /** What a field is called in the file: its heading. Undefined for fields that no column sets. */
  readonly columnOf: (field: string) => string | undefined;
  /**
   * The log of orphans before they were written: `BeforeEntry` lines with `"row": null`. Those of orphans that were (or may
   * have been) written follow the rows in before.ndjson. Need not exist.
   */
  readonly orphansBefore?: string;
}
