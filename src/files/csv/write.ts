import { visibleLines } from '../../model/visible.js';
import { canonicalEncoding, encodeText } from '../encoding/encoding.js';
import { escapeFormulaFor } from '../formula.js';
import { writeSafely } from '../safe-write.js';

export { encodable } from '../encoding/encoding.js';

/** The form of a CSV file; what is left out is UTF-8 without mark, comma, LF. */
export interface CsvStyle {
  readonly encoding?: string | null;
  readonly delimiter?: string | null;
  readonly newline?: string | null;
  /** Begin with a byte order mark (Unicode encodings only). */
  readonly bom?: boolean;
  /** Write text that a spreadsheet program would run so that it is not run; on unless stated otherwise. */
  readonly escapeFormulas?: boolean;
  /** Show control characters as pictures: the file is for people, and nothing is read back from it. */
  readonly visible?: boolean;
}

/**
 * Turns rows of text into the bytes of a CSV file (RFC 4180), piece by piece; the first piece carries the mark.
 * Characters that the encoding cannot hold come out as `?`: ask `encodable` before and choose UTF-8 with a mark.
 */
export function csvEncoder(style: CsvStyle = {}): (rows: readonly (readonly string[])[]) => Buffer {
  const encoding = canonicalEncoding(style.encoding ?? 'utf-8');
  const mark = style.bom === true && encoding.startsWith('utf-');
  const [delimiter, newline] = [style.delimiter ?? ',', style.newline ?? '\n'];
  const write = cellWriter(delimiter, style.escapeFormulas ?? true);
  const plain = PLAIN.test(`a${delimiter}a`) ? NOTHING : PLAIN;
  let started = false;
  return (rows) => {
    let text = !started && mark ? '\ufeff' : '';
    started = true;
    for (const row of rows) {
      // A blank cell alone on its line would be read as a blank line.
      if (row.length === 1 && row[0] === '') text += '""';
      for (let at = 0; at < row.length; at++) {
        const cell = row[at] as string;
        if (at > 0) text += delimiter;
        if (plain.test(cell)) text += cell;
        else if (cell !== '') text += write(style.visible ? visibleLines(cell) : cell);
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

function cellWriter(delimiter: string, escapeFormulas: boolean): (cell: string) => string {
  const protect = escapeFormulas ? escapeFormulaFor(delimiter) : (cell: string) => cell;
  // Of a longer delimiter, a part of it at the end of a cell would run into the delimiter.
  const parts = [...delimiter];
  return (cell) => {
    const safe = protect(cell);
    const quoted =
      NEEDS_QUOTES.test(safe) ||
      (parts.length === 1 ? safe.includes(delimiter) : parts.some((part) => safe.includes(part)));
    return quoted ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
}

/** Writes a whole CSV file so that it appears complete or not at all. `batches` are rows of text, headings excluded. */
export async function writeCsv(
  path: string,
  headings: readonly string[],
  batches: AsyncIterable<readonly (readonly string[])[]> | Iterable<readonly (readonly string[])[]>,
  style: CsvStyle = {},
): Promise<void> {
  const encode = csvEncoder(style);
  await writeSafely(path, async (write) => {
    await write(encode([headings]));
    for await (const batch of batches) if (batch.length > 0) await write(encode(batch));
  });
}
