import type { Json } from '../port.js';

export interface MirrorOptions {
  /** Folder of the mirror of this list; made. Holds the last certain reading: records (NDJSON), what was known of it. */
  readonly dir: string;
  /** Reads whole at least every so many readings (1: always whole). Also when the last full reading is older than 14 days. */
  readonly fullEvery: number;
  /** Most pages in flight; default 16, never more than the service's own limit of the moment. */
  readonly parallel?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Every record as it comes from the service, once a page. */
  readonly onRecords?: (records: readonly Json[]) => void;
  readonly onProgress?: (done: number, total: number) => void;
}
