import { RunError } from '../../model/error.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import type { SourceLimits } from '../limits.js';
import type { WorkbookFile } from '../package/zip.js';
import { type BookRow, openSheet } from '../table/open-sheet.js';
import { CONTENT, OdsScan, type OdsSheet } from './sheets.js';

/**
 * Opens one sheet of an OpenDocument spreadsheet (.ods, .ots). All sheets lie in one part, which is scanned once to its
 * end before anything else: the sheets are listed, and a damaged file is refused before a row is handed out. Memory
 * holds a row. Throws `RunError`.
 */
export async function openOds(
  { path, gzip, archive }: WorkbookFile,
  options: SourceOptions,
  limits: SourceLimits,
): Promise<OpenSource> {
  if (!archive.has(CONTENT)) {
    throw new RunError(
      'failed',
      `${path}: the OpenDocument file lacks its part ${CONTENT}. It was refused whole, nothing was sent. Save it again.`,
    );
  }
  const index = new OdsScan({ what: `${path}: ${CONTENT}`, limits });
  for await (const chunk of archive.stream(CONTENT)) index.push(chunk);
  index.finish();
  if (index.sheets.length === 0) {
    throw new RunError(
      'failed',
      `${path}: this OpenDocument file holds no sheet. Save the table again as .ods or .xlsx.`,
    );
  }
  const book = {
    path,
    format: 'ods' as const,
    gzip,
    limits,
    sheets: index.sheets,
    evidence: [],
    stream: () => pieces(archive.stream(CONTENT)),
    scan: ({ name, place }: OdsSheet, onRow: (row: BookRow) => void) =>
      new OdsScan({ what: `${path}: sheet "${name}"`, limits, place, onRow }),
  };
  return openSheet(book, options);
}

const PIECE = 32 * 1024;

/** Few bytes may stand for many cells, so that rows are handed on after few bytes. */
async function* pieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE) yield chunk.subarray(at, at + PIECE);
  }
}
