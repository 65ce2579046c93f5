import type { SheetRow } from './row.js';

export type SourceFormat = 'csv' | 'xlsx' | 'ods' | 'ndjson';

/** What a job may say about its file; everything is optional, `auto` means detect. */
export interface SourceOptions {
  readonly format?: SourceFormat | 'auto';
  readonly sheet?: string | number;
  /** `none`: the columns have no headings, and go by their letters. */
  readonly header_row?: number | 'auto' | 'none';
  /** The headings a job maps: they tell the heading row where the table leaves it open. */
  readonly expect?: readonly string[];
  /** Totals, notes and repeated headings among the rows: `auto` marks them as no records, `keep` reads them as data. */
  readonly footer?: 'auto' | 'keep';
  readonly encoding?: string;
  readonly delimiter?: string;
}

/** What was found out about a file, as the summary states it. */
export interface SourceMeta {
  readonly format: SourceFormat;
  readonly gzip: boolean;
  /** Null for formats without one. */
  readonly encoding: string | null;
  /** Whether the encoding may be another one: characters beyond ASCII are not certain. */
  readonly guessed?: boolean | undefined;
  /** Whether a text file begins with a byte order mark. */
  readonly bom?: boolean;
  readonly delimiter: string | null;
  /** Whether the first line of a CSV file names its delimiter for spreadsheet programs (`sep=;`); it has no row number. */
  readonly hinted?: boolean;
  readonly sheet: string | null;
  /** Visible sheets of a workbook, in its order. */
  readonly sheets?: readonly string[];
  /** Number of the heading row as the spreadsheet program shows it; null for NDJSON, and where there is none. */
  readonly header_row: number | null;
  /** The headings as the file has them, in order. Blank headings are ''. */
  readonly headings: readonly string[];
  /** Line end of a CSV file, for writing the rejected rows in the same form. */
  readonly newline: string | null;
  /** What spoke for each thing that was detected, one sentence each. */
  readonly evidence: readonly string[];
  /** Things a person should know: hidden rows, further sheets, skipped title rows. */
  readonly warnings: readonly string[];
}

/** An opened file. `rows` may be called several times; each call reads from the start. */
export interface OpenSource {
  readonly meta: SourceMeta;
  /** Data rows in file order, in batches; blank rows are left out but keep their number. */
  rows(): AsyncIterable<readonly SheetRow[]>;
}
