import type { ResourceName } from '../resources/spec.js';

/** What `map` makes of a file: everything the job text, the table for people and `--json` are written from. */
export interface Suggestion {
  readonly resource: ResourceName;
  /** Data rows of the file. */
  readonly rows: number;
  /** In the order of the file. */
  readonly columns: readonly SuggestedColumn[];
  /** Undefined where nothing can be a key; there is no job then. */
  readonly key: SuggestedKey | undefined;
  /** Dates of the whole file, where all date columns agree. */
  readonly dates: readonly string[];
  readonly decimal: { readonly sign: '.' | ',' | undefined; readonly why: string } | undefined;
  /** Required fields that no column gives. */
  readonly missing: readonly MissingField[];
  readonly warnings: readonly string[];
}

export type Confidence = 'high' | 'medium' | 'none';

export interface SuggestedColumn {
  readonly heading: string;
  /** 0-based position in the file. */
  readonly index: number;
  /** Undefined: not mapped. Custom fields as the job names them. */
  readonly field: string | undefined;
  readonly confidence: Confidence;
  /** What spoke for the field, one clause each. */
  readonly evidence: readonly string[];
  /** What a person should know or decide about the mapped column, one sentence each. */
  readonly remarks: readonly string[];
  /** Why the column is not mapped; '' for a mapped one. */
  readonly why: string;
  /** Fields it may mean instead, the best first. */
  readonly alternatives: readonly { readonly field: string; readonly why: string }[];
  readonly options: ColumnOptions;
  /** False where a job cannot name the heading: it is blank, begins with `_`, or is one that no job may hold. */
  readonly nameable: boolean;
}

export interface ColumnOptions {
  readonly dates?: readonly string[];
  readonly decimal?: '.' | ',';
  /** Cell text → value, each certain. */
  readonly values?: ReadonlyMap<string, string>;
  /** Cell texts that a person must translate, with the number of rows. */
  readonly openValues?: readonly { readonly text: string; readonly rows: number }[];
  /** What such texts may become. */
  readonly accepted?: readonly string[];
  /** Ways to read the dates, of which a person must choose one. */
  readonly openDates?: readonly (readonly string[])[];
}

export interface SuggestedKey {
  readonly field: string;
  readonly heading: string;
  /** Further fields of a key of several, in its order; the counts below are then of the fields together. */
  readonly also: readonly { readonly field: string; readonly heading: string }[];
  /** Rows that repeat a whole earlier row; counted for a key of several fields, which leaves them aside. */
  readonly wholeRepeats: number;
  /** Cells that cannot be read without loss. */
  readonly unreadable: number;
  /** Rows that have a key of their own, of all rows. */
  readonly usable: number;
  readonly blank: number;
  readonly repeats: number;
  /** Filled cells among which repeats were counted: all, or those before a bound. */
  readonly counted: number;
  readonly fits: boolean;
  /** Whether the field is a natural key of the resource. */
  readonly natural: boolean;
  readonly uniqueField: 'name' | 'serial_number' | undefined;
}

export interface MissingField {
  readonly field: string;
  /** The rule, for people. */
  readonly rule: string;
  /** What a constant may say; undefined where a constant makes no sense (a name, a number). */
  readonly constant: string | undefined;
  /** Columns that may hold it. */
  readonly columns: readonly string[];
}
