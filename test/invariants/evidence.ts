import type { Commit } from '../../src/sandbox/service.js';

/** What a promise is judged by: the file, the service's own books, and what the runs told. */
export interface Evidence {
  readonly resource: 'asset' | 'contract' | 'supplier' | 'customer';
  /** The stored field that is the key, e.g. `serial_number`. */
  readonly keyField: string;
  /** `sandbox.raw(resource)` before the first run. */
  readonly before: readonly Record<string, unknown>[];
  /** `sandbox.raw(resource)` at the end. */
  readonly after: readonly Record<string, unknown>[];
  /** `sandbox.commits` since `before`. */
  readonly commits: readonly Commit[];
  /** What others changed meanwhile, as it was given to `sandbox.edit`; when does not matter. */
  readonly edits?: readonly { readonly id: number; readonly changes: Record<string, unknown> }[];
  /** Ids that others added. */
  readonly inserted?: readonly number[];
  /** Ids that others removed. */
  readonly removed?: readonly number[];
  /** Path of the CSV. */
  readonly input: string;
  /** Heading → stored field, of what the job maps; `category` covers all of it, `category.subcategory` that part. */
  readonly columns: Readonly<Record<string, string>>;
  /** Report folders of finished runs on this input, in order. A resumed run has one. */
  readonly runs: readonly string[];
  /** Those of them that took up some rows of an earlier one, and tell of no others. */
  readonly retries?: readonly string[];
  /** Whether all runs were rehearsals, also such as told nothing. */
  readonly dryRun?: boolean;
  /** What a blank cell does. Default: keep. */
  readonly blank?: 'keep' | 'clear';
  /** Stored fields that the job itself sets (constants, defaults), whatever their value. */
  readonly constants?: readonly string[];
  /** Stored field → text of a cell → what is stored for it: names that stand for ids, words that stand for others. */
  readonly stands?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Stored fields whose loss was accepted (`at_risk: warn`), or that the service is known to keep or to alter by itself. */
  readonly mayLose?: readonly string[];
  /** Writing requests whose effect the service left open, and processes killed while writing. Absent: not known. */
  readonly open?: number;
}

export interface Violation {
  readonly rule: string;
  readonly row?: number;
  readonly text: string;
}
