import { escapeFormula } from '../files/formula.js';

/**
 * One CSV line by RFC 4180, line end included. Text that a spreadsheet program would run is written so that it is not
 * run; the reader gives the original back.
 */
export function csvLine(cells: readonly string[], delimiter = ',', newline = '\r\n'): string {
  let line = '';
  for (let at = 0; at < cells.length; at++) {
    const cell = escapeFormula(cells[at] ?? '');
    const text = NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
    line += at === 0 ? text : delimiter + text;
  }
  // A line of one blank cell would read as no line at all.
  return (cells.length === 1 && line === '' ? '""' : line) + newline;
}

const NEEDS_QUOTES = /["\r\n\u2028\u2029]|^[\s]|[\s]$/u;
