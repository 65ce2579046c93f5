import { visibleLines } from '../../model/control-characters.js';
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
 * ask `isEncodable` before.
 */
export function csvEncoder(style: CsvStyle = {}): (rows: readonly (readonly string[])[]) => Buffer {
  const { encoding = 'utf-8', newline = '\n' } = style;
  const delimiter = style.delimiter ?? ',';
  const cellText = csvCell(style);
  return (rows) => {
    let text = '';
    for (const row of rows) {
      // A blank cell alone on its line would be read as a blank line.
      if (row.length === 1 && row[0] === '') text += '""';
      for (let at = 0; at < row.length; at++) {
        if (at > 0) text += delimiter;
        text += cellText(row[at] as string);
      }
      text += newline;
    }
    return encodeText(text, encoding);
  };
}

/** Turns a text into a cell of a CSV file. */
export function csvCell(style: Pick<CsvStyle, 'delimiter' | 'visible'> = {}): (text: string) => string {
  const delimiter = style.delimiter ?? ',';
  const protect = escapeFormulaFor(delimiter);
  const plain = PLAIN.test(`a${delimiter}a`) ? NOTHING : PLAIN;
  return (text) => {
    if (text === '' || plain.test(text)) return text;
    const safe = protect(style.visible ? visibleLines(text) : text);
    return NEEDS_QUOTES.test(safe) || safe.includes(delimiter) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
}

/** Most cells: they stand as they are, unless the delimiter may be among these. */
const PLAIN = /^[\w\u00c0-\u024f](?:[\w .:/()&#\u00c0-\u024f-]*[\w.)\u00c0-\u024f])?$/;
const NOTHING = /^(?!)/;

/** Every reader takes a quoted cell as it stands; unquoted, these would end a row, vanish or be misread. */
const NEEDS_QUOTES = /[\r\n"']|^[\s\ufeff]|[\s\ufeff]$/u;
