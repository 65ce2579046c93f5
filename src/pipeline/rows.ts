import type { After } from '../model/change.js';
import { fault, type Issue } from '../model/issue.js';
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

/**
 * What an export wrote for a field, which the record held then: the merge base of the cell. Once an import has sent the field,
 * or told of its conflict, the base is what the record held then, or what was sent: whether that arrived is not known here.
 */
export interface Exported {
  readonly text: string;
  /** What the text means; absent where nothing can be made of it. */
  readonly value?: StagedValue;
  readonly held?: Value;
  readonly sent?: Value;
}

/** Whether a row was recognised as no record: it sets nothing, and is skipped. */
export function isNoRecord({ issues }: Pick<StagedRow, 'issues'>): boolean {
  return issues.some(({ code }) => code === 'not_a_record');
}

/** Whether a row is skipped because it repeats an earlier one, as its job says. */
export function isRepeated({ issues }: Pick<StagedRow, 'issues'>): boolean {
  return issues.some(({ code, severity }) => code === 'duplicate_row' && severity === 'warning');
}

export function isNamed(value: StagedValue | undefined): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'named' in value;
}

/** The row it refers to has no id that could be sent. */
export function parentNotWritten(after: After): Issue {
  return fault(
    'parent_not_written',
    `Row ${after.row} of this file, which this row refers to, was not written, or its id could not be found out. Put that row right and import both again.`,
    place(after),
  );
}

/** Rows that refer to one another can none of them be written first. */
export function referenceCycle(row: number, after: After): Issue {
  const how =
    after.row === row
      ? 'This row refers to itself.'
      : `This row refers to row ${after.row}, which leads back to it: neither can be written first.`;
  return fault('reference_cycle', `${how} Correct the cell.`, place(after));
}

function place({ field, column }: After): Partial<Issue> {
  return column === undefined ? { field } : { field, column };
}

/** Makes what rows set, by field, of values in the order of the fields; undefined where a row does not set one. */
export function setMaker<V>(fields: readonly string[]): (values: readonly (V | undefined)[]) => Record<string, V> {
  return (values) => {
    const set: Record<string, V> = {};
    for (let i = 0; i < fields.length; i++) {
      const value = values[i];
      if (value !== undefined) set[fields[i]!] = value;
    }
    return set;
  };
}
