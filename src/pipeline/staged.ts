import type { Issue } from '../model/issue.js';
import type { RowRef } from '../model/row.js';
import type { Value } from '../model/value.js';
import type { ReferenceTarget } from '../resources/spec.js';

/** A reference by name that has not been looked up yet. */
export interface Named {
  readonly named: ReferenceTarget;
  readonly name: string;
  /** The heading, for the fault when the name is not found. */
  readonly column?: string;
}

export type StagedValue = Value | Named;

/** Whether a text may be the id of a record. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** A row after mapping and conversion; any issue with severity `error` makes it invalid. */
export interface StagedRow {
  readonly ref: RowRef;
  /** What the row sets, by field; null clears; absent fields are left as they are. */
  readonly set: Readonly<Record<string, StagedValue>>;
  readonly issues: readonly Issue[];
  /**
   * Cells as they stand in the file, by field, where the value does not tell: outer blanks, a currency, how
   * a date is written. What the record holds may be just that text, and the row then changes nothing. Absent where every
   * value tells.
   */
  readonly cells?: Readonly<Record<string, string>>;
  /**
   * CSV: texts as they stand in the file, by field, where reading took an apostrophe off. A spreadsheet program does not
   * put one there, so in a file that one has saved it is part of the text.
   */
  readonly escaped?: Readonly<Record<string, string>>;
  /** Files that an export wrote: what it wrote into the cells of the fields that a person changed, by field. */
  readonly edited?: Readonly<Record<string, Exported>>;
}

/** What an export wrote for a field, which the record held then: the merge base of the cell. */
export interface Exported {
  /** Position in the texts of the export. */
  readonly at: number;
  readonly text: string;
  /** What the text means; absent where nothing can be made of it. */
  readonly value?: StagedValue;
}

/** Whether a row was recognised as no record: it sets nothing, and is skipped. */
export function isNoRecord({ issues }: Pick<StagedRow, 'issues'>): boolean {
  return issues.some(({ code }) => code === 'not_a_record');
}

export function isNamed(value: StagedValue | undefined): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'named' in value;
}
