import type { Json } from '../../service/port.js';

/** What was read, on disk; each record once. */
export interface Records {
  readonly consistency: 'verified' | 'partial';
  /** Customers: that the list is never whole is said, and is no fault of this run. */
  readonly neverWhole?: true;
  readonly passes: number;
  readonly records: number;
  readonly problems: readonly string[];
  /** In the order of the list. */
  ids(): Iterable<number>;
  /** In the order of the list or of the ids; in batches. */
  read(ids?: Iterable<number>): AsyncIterable<readonly Json[]>;
  close(): Promise<void>;
}
