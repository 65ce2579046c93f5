import { visibleLines } from '../../model/visible.js';
import { encodeText } from '../encoding/encoding.js';
import { escapeFormulaFor } from '../formula.js';

/** The form of a CSV file; what is left out is UTF-8, comma, LF. */
interface CsvStyle {
  readonly encoding?: string;
  /** One character. */
  readonly delimiter?: string | null;
  readonly newline?: string;
  /** Show control characters as pictures: the file is for people, and nothing is read back from it. */
  readonly visible?: boolean;
}

/**
 * Turns rows of text into the bytes of a CSV file (RFC 4180), piece by piece, without a byte order mark. Text that a
 * spreadsheet program would run is written so that it is not run. Characters that the encoding cannot hold come out as `?`:
 * ask `encodable` before.
 */
export function csvEncoder(style: CsvStyle = {}): (rows: readonly (readonly string[])[]) => Buffer {
  const { encoding = 'utf-8', newline = '\n', visible = false } = style;
  const delimiter = style.delimiter ?? ',';
  const protect = escapeFormulaFor(delimiter);
  const written = (cell: string): string => {
    const safe = protect(visible ? visibleLines(cell) : cell);
    return NEEDS_QUOTES.test(safe) || safe.includes(delimiter) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const plain = PLAIN.test(`a${delimiter}a`) ? NOTHING : PLAIN;
  return (rows) => {
    let text = '';
    for (const row of rows) {
      // A blank cell alone on its line would be read as a blank line.
      if (row.length === 1 && row[0] === '') text += '""';
      for (let at = 0; at < row.length; at++) {
        const cell = row[at] as string;
        if (at > 0) text += delimiter;
        if (plain.test(cell)) text += cell;
        else if (cell !== '') text += written(cell);
      }
      text += newline;
    }
    return encodeText(text, encoding);
  };
}

/** Most cells; they stand as they are, unless a delimiter may be among these. */
const PLAIN = /^\w+(?:[ .:/-]\w+)*$/;
const NOTHING = /^(?!)/;

/** Every reader takes a quoted cell as it stands; unquoted, these would end a row, vanish or be misread. */
const NEEDS_QUOTES = /[\r\n"']|^[\s\ufeff]|[\s\ufeff]$/u;
