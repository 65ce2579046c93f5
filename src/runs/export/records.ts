import type { WholeList } from '../../service/lists/whole-list.js';

/** What was read, on disk; each record once. */
export interface Records extends WholeList {
  /** Customers: that the list is never whole is said, and is no fault of this run. */
  readonly neverWhole?: true;
}
