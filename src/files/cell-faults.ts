import { formatNumber } from '../model/count-text.js';
import type { RowFault } from '../model/row.js';
import { columnName } from './table/cell-range.js';

const CELL_FAULTS = {
  nul_character: () => 'holds a NUL character, which no text may. Type the value again.',
  invalid_encoding: () =>
    'holds bytes that are not text in the encoding of the file, or U+FFFD, the mark for such. ' +
    'Type the value again, or state the right source.encoding in the job.',
  cell_too_long: (limit: number) =>
    `is longer than ${formatNumber(limit)} characters, the most a cell may hold. Shorten it.`,
};

export type CellFaultCode = keyof typeof CELL_FAULTS;

/** The fault of one cell, in words. `index` is its 0-based position. */
export function cellFault(code: CellFaultCode, index: number, limit: number): RowFault {
  return { code, index, message: `The cell in column ${columnName(index)} ${CELL_FAULTS[code](limit)}` };
}

/** The replacement character, or half of a surrogate pair. */
const UNDECODABLE = /[\ufffd\p{Surrogate}]/u;

/** The fault of text that came from a workbook or JSON, or undefined. */
export function textFault(text: string, index: number, limit: number): RowFault | undefined {
  if (text.length > limit) return cellFault('cell_too_long', index, limit);
  if (text.includes('\0')) return cellFault('nul_character', index, limit);
  if (UNDECODABLE.test(text)) return cellFault('invalid_encoding', index, limit);
  return undefined;
}

/** The text of a cell at fault as far as it is kept, with the replacement character for halves of surrogate pairs. */
export function truncatedText(text: string, limit: number): string {
  return text.slice(0, limit).replace(/\p{Surrogate}/gu, '\ufffd');
}

/** What `escapeInvalidUtf8` spells out. */
const ESCAPED_BYTE = /(?<!\ufffd)\\x[0-9A-F]{2}/g;

/**
 * Bytes that were spelled out are marked by the replacement character, which no value may hold: read again, the text is
 * refused until somebody has typed the value.
 */
export function markEscapedBytes(text: string): string {
  return text.replace(ESCAPED_BYTE, '\ufffd$&');
}

/** `width`: cells of the heading; a cell beyond them is not named. */
export function strayQuoteFault(index: number, width: number): RowFault {
  const message =
    'A quotation mark stands where none may stand, so the row cannot be split into cells with certainty. ' +
    'Double the quotation marks inside a quoted cell, or remove them.';
  return { code: 'stray_quote', message, ...(index < width ? { index } : {}) };
}

/**
 * Stands behind the columns of a rejected row whose fault would be gone once it is written again, so that the row is
 * refused until a person has looked at it. Free of the characters that separate cells.
 */
export const REVIEW_MARKER = 'delete this cell when the row is right';

/**
 * Member of an object in a file of rejected rows: the row was refused for the form of its line. Holds the line where it
 * is no object. It counts only beside `_outcome`, because a file may have a key of that name itself.
 */
export const LINE_KEY = '_line';

/** The key of a rejected line under which stand those keys of its file that it does not give. */
export const LACKS_KEY = '_lacks';

export const UNREVIEWED_FAULT: RowFault = {
  code: 'ragged_row',
  message:
    `The line was refused before for its form, and its member "${LINE_KEY}" still stands. ` +
    `See that every key stands once, with its value, then delete "${LINE_KEY}".`,
};

/** Too many or too few cells. `extra` are the cells beyond the heading; `measure`: what has so many as `width`. */
export function raggedRowFault(
  cells: number,
  width: number,
  extra: readonly string[],
  measure: 'the heading' | 'most rows',
): RowFault {
  const filled = extra.filter((text) => text.trim() !== '');
  if (cells > width && filled.length > 0 && filled.every((text) => text.trim() === REVIEW_MARKER)) {
    return {
      code: 'ragged_row',
      message:
        `The row was refused before for its form, and the cell "${REVIEW_MARKER}" still stands at its end. ` +
        'See that every value stands under its heading, then delete that cell.',
    };
  }
  const surplus = filled
    .slice(0, 5)
    .map((text) => `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`)
    .join(', ');
  const what = cells > width ? 'more' : 'fewer';
  return {
    code: 'ragged_row',
    message:
      `The row has ${cells} ${cells === 1 ? 'cell' : 'cells'}, ${what} than the ${width} of ${measure}` +
      `${surplus ? ` (beyond it: ${surplus})` : ''}. A delimiter is ${cells > width ? 'too many, or a value that holds one is not in quotation marks' : 'missing'}. Correct the row.`,
  };
}
