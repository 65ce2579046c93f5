import type { Json } from '../port.js';

/** A record of the service as it was read, and when (milliseconds since 1970). */
export interface MirrorRecord {
  readonly record: Json;
  readonly readAt: number;
  /** Its JSON, on one line. */
  readonly text: string;
}

export interface Recheck {
  readonly records: readonly MirrorRecord[];
  /** Whether all others are surely as they were read; else they are as likely as their age says. */
  readonly certain: boolean;
}

/**
 * All records of a list as the service holds them now, read the cheapest way that is certain. Performance page, "Delta
 * read"; interface, section 8.
 */
export interface Mirror {
  readonly how: 'full' | 'delta';
  /** Whether "not in the list" may be concluded. */
  readonly certified: boolean;
  /** What did not fit, in words; empty where certified. */
  readonly problems: readonly string[];
  /** How it was read, in one sentence for the summary: `read the whole list, 100,000 records on 4,000 pages`. */
  readonly described: string;
  readonly count: number;
  /** Ascending by id, in batches. May be called several times; shows what `recheck` has read, too. */
  records(): AsyncIterable<readonly MirrorRecord[]>;
  /**
   * What has changed or come since the reading (or the last `recheck`), for a request or two. Undefined where that cannot
   * be told so: every record must then be read again before it is written.
   */
  recheck(): Promise<Recheck | undefined>;
  /** These records are about to be written by this run: what is kept of them is not to be believed by the next reading. */
  written(ids: Iterable<number>): void;
  /** Keeps what was read for the next run, if it was certain. */
  close(): Promise<void>;
}
