import { stringify } from 'csv-stringify/sync';
import { canonicalEncoding, encodeText } from './encoding.js';
import { escapeFormula } from './formula.js';
import { writeSafely } from './safe-write.js';

export { encodable } from './encoding.js';

/** The form of a CSV file; what is left out is UTF-8 without mark, comma, LF. */
export interface CsvStyle {
  readonly encoding?: string | null;
  readonly delimiter?: string | null;
  readonly newline?: string | null;
  /** Begin with a byte order mark (Unicode encodings only). */
  readonly bom?: boolean;
  /** Write text that a spreadsheet program would run so that it is not run; on unless stated otherwise. */
  readonly escapeFormulas?: boolean;
}

/**
 * Turns rows of text into the bytes of a CSV file (RFC 4180), piece by piece; the first piece carries the mark.
 * Characters that the encoding cannot hold come out as `?`: ask `encodable` before and choose UTF-8 with a mark.
 */
export function csvEncoder(style: CsvStyle = {}): (rows: readonly (readonly string[])[]) => Buffer {
  const encoding = canonicalEncoding(style.encoding ?? 'utf-8');
  const mark = style.bom === true && encoding.startsWith('utf-');
  const options = {
    delimiter: style.delimiter ?? ',',
    record_delimiter: style.newline ?? '\n',
    // Every reader takes a quoted cell as it stands; unquoted, these would end a row, vanish or be misread.
    quoted_match: /[\r\n"']|^[\s\ufeff]|[\s\ufeff]$/u,
    escape_formulas: false,
  };
  let started = false;
  return (rows) => {
    const escaped = style.escapeFormulas === false ? rows : rows.map((row) => row.map(escapeFormula));
    // A blank cell alone on its line would be read as a blank line.
    const text = stringify(escaped as string[][], {
      ...options,
      quoted_empty: escaped.some((row) => row.length === 1),
    });
    const first = !started && mark ? '\ufeff' : '';
    started = true;
    return encodeText(first + text, encoding);
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
