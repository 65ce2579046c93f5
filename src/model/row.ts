/**
 * Bytes of a record of the service, and of a row of a file, as JSON. A larger row, or answer, is refused before anything
 * of it is written.
 */
export const MAX_RECORD_BYTES = 32 << 20;

/** Where a row stands: the sheet (workbooks only) and the row number the spreadsheet program shows. */
export interface RowRef {
  readonly sheet?: string;
  readonly row: number;
}

/**
 * One cell as a reader hands it over. CSV cells are always text. `''` is a blank cell.
 * Typed cells come from workbooks (and from NDJSON, numbers and booleans):
 * `n` number: `value` is plain decimal notation with at most 15 significant digits, `shown` the text a person sees;
 * `d` date: `value` is `yyyy-MM-dd` or `yyyy-MM-ddTHH:mm:ss`, a calendar date, never an instant;
 * `format` is the workbook's number format code, so that a report can show the cell as it was;
 * `b` boolean; `e` an error cell such as `#REF!`; `f` a formula that carries no cached value.
 */
export type Cell =
  | string
  | { readonly t: 'n'; readonly value: string; readonly shown: string; readonly format?: string }
  | { readonly t: 'd'; readonly value: string; readonly shown: string; readonly format?: string }
  | { readonly t: 'b'; readonly value: boolean }
  | { readonly t: 'e'; readonly value: string }
  | { readonly t: 'f'; readonly formula: string };

/** The cell as a person sees it; this is what reports quote. */
export function displayText(cell: Cell | undefined): string {
  if (cell === undefined) return '';
  if (typeof cell === 'string') return cell;
  switch (cell.t) {
    case 'n':
    case 'd':
      return cell.shown;
    case 'b':
      return cell.value ? 'TRUE' : 'FALSE';
    case 'e':
      return cell.value;
    case 'f':
      return `=${cell.formula}`;
  }
}

export function isBlank(cell: Cell | undefined): boolean {
  return cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}

/**
 * One data row: cells stand in the order of the headings; a short row is padded by the reader. Cells beyond the
 * headings follow them; the row then has the fault `ragged_row`.
 */
export interface SheetRow {
  readonly row: number;
  readonly cells: readonly Cell[];
  /** What the row looks like, where it seems to be no record of the table. */
  readonly noRecord?: NoRecord;
  /** Faults of the row itself, e.g. `ragged_row`; the row is then reported, never sent. */
  readonly faults?: readonly RowFault[];
  /** CSV: 0-based positions of cells that begin with one more apostrophe in the file, ascending. */
  readonly escaped?: readonly number[];
  /** NDJSON: the line as it stands in the file, without its line end. */
  readonly line?: string;
}

export interface NoRecord {
  /** As reports word it: the row looks like …. `nothing`: a person emptied all its cells. */
  readonly like: 'a total' | 'a note' | 'the heading again' | 'nothing';
  /** It may be a record all the same: it is one where it holds what the job needs of a record. */
  readonly doubtful: boolean;
}

/** A fault a reader finds in a row, before any column has a meaning. */
export interface RowFault {
  readonly code: 'ragged_row' | 'stray_quote' | 'nul_character' | 'invalid_encoding' | 'cell_too_long';
  readonly message: string;
  /** 0-based position in the headings, where one cell is to blame. */
  readonly index?: number;
  /** The whole text of that cell, where the row's cell holds only its beginning. */
  readonly text?: string;
}

/** Errors that a workbook may hold; what other programs show stands for `#VALUE!`. */
export const SPREADSHEET_ERRORS: ReadonlySet<string> = new Set([
  '#NULL!',
  '#DIV/0!',
  '#VALUE!',
  '#REF!',
  '#NAME?',
  '#NUM!',
  '#N/A',
  '#GETTING_DATA',
]);
