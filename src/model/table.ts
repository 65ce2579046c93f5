/**
 * A table as it is written to a file: columns known before the first row, rows of text. The kind of a column says what
 * its text means, so that each file format can show it in its own way; text that does not have the form of its kind is
 * written as text, never changed.
 *
 * - `text`: as it is.
 * - `id`: a whole number that is a name, not an amount: text in workbooks, a number in NDJSON.
 * - `integer`, `decimal`, `money`: plain decimal notation as `model/decimal.ts` has it (`-12.5`, no exponent, any length).
 * - `date`: `yyyy-MM-dd`. `boolean`: `true` or `false`.
 * - `json`: JSON text: a list or an object. Text in CSV and workbooks, the value itself in NDJSON.
 */
export type TableKind = 'text' | 'id' | 'integer' | 'decimal' | 'money' | 'date' | 'boolean' | 'json';

export interface TableColumn {
  /** Unique in its table. */
  readonly heading: string;
  readonly kind: TableKind;
  /** Values that a cell may have, offered as a drop-down list in workbooks. */
  readonly choices?: readonly string[];
  /** Marked in workbooks as a column that is for information: a change in it is ignored. */
  readonly readOnly?: boolean;
  /** One line for people: what the column holds, its rule, why it cannot be changed. */
  readonly note?: string;
}

/** Rows in batches; a row has one text for each column, `''` for a blank cell. */
export type TableRows = AsyncIterable<readonly (readonly string[])[]>;

/** What a table is and where it is from, for the formats that can carry it beside the rows. */
export interface TableAbout {
  /** Name of the sheet, e.g. `Assets`. */
  readonly title: string;
  /** Facts for people, in order: `['Records', '1,204']`. */
  readonly facts: readonly (readonly [label: string, value: string])[];
}
