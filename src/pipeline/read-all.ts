import type { Json, Page, Readable } from '../service/port.js';

/**
 * Reads every record of a list, in any order of pages. `first`: page 1 where the caller has just read it.
 * `certified`: ids ascended without repeats and the count held, so no record was missed.
 */
export type ReadAll = (
  resource: Readable,
  visit: (records: readonly Json[]) => void | Promise<void>,
  first?: Page,
) => Promise<{ readonly certified: boolean }>;
