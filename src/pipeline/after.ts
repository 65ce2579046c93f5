import { fault, type Issue } from '../model/issue.js';

/** A row of the file that must be written before the row that refers to it. */
export interface After {
  readonly field: string;
  readonly row: number;
  /** Heading of the cell that names it. */
  readonly column?: string;
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
