import type { RowFault } from '../../model/row.js';
import { columnName } from '../table/header.js';

/**
 * A quotation mark too many opens a cell that goes on to the next quotation mark, however many rows away: RFC 4180 reads
 * all of them as one cell. It shows by its text, whose lines are cut into as many cells as rows of the table.
 */

/** Lines within a cell that must look like rows. */
const FEWEST = 3;
/** Bytes of one record that are looked at. */
const LOOKED_AT = 1024 * 1024;
/** Rows remembered; a file with more is damaged throughout, and its rows are faults of other kinds. */
export const MOST_SWALLOWED = 1_000;

/**
 * How many lines within the record look like rows of a table `width` cells wide; 0 where it looks like one row. Text
 * of several lines holds delimiters too, but not the same number of them in nearly every line.
 */
export function swallowedLines(record: Buffer, delimiter: string, width: number): number {
  if (width < 2) return 0;
  const lines = record.toString('latin1', 0, LOOKED_AT).split(/\r\n|[\r\n]/);
  const inner = lines.slice(1, -2).filter((line) => line.trim() !== '');
  if (inner.length < FEWEST) return 0;
  const alike = inner.filter((line) => line.split(delimiter).length === width).length;
  return alike >= FEWEST && alike >= inner.length * 0.8 ? inner.length : 0;
}

/** The fault of a row that holds others. `cells` are those of the row. */
export function swallowedFault(cells: readonly unknown[]): RowFault {
  const index = cells.findIndex((cell) => typeof cell === 'string' && /[\r\n]/.test(cell));
  const text = String(cells[index] ?? '');
  const lines = text.split(/\r\n|[\r\n]/);
  const last = (lines.at(-1) ?? '').slice(0, 40);
  return {
    code: 'stray_quote',
    ...(index >= 0 ? { index } : {}),
    message:
      `A quotation mark opens the cell in column ${columnName(Math.max(0, index))} and is closed only ${lines.length - 1} lines ` +
      `further down${last.trim() ? ` (after "${last}")` : ''}; the lines between look like rows of their own. ` +
      'Remove the quotation mark, or close it in its own row.',
  };
}
