import type { OpenSource, SourceOptions } from '../../model/source.js';
import type { SourceLimits } from '../limits.js';
import type { Archive } from '../package/zip.js';
import type { WorkbookFile } from '../package/zip-kind.js';
import type { Book } from '../table/book-source.js';
import { openSheet } from '../table/open-sheet.js';
import { NO_STRINGS, readSharedStrings } from './shared-strings.js';
import { createSheetScan } from './sheet-scan.js';
import { readWorkbook, type WorkbookSheet } from './workbook.js';

/** A workbook whose zip file is open. */
type XlsxFile = WorkbookFile & { readonly archive: Archive };

/**
 * Opens one sheet of a workbook. The sheet is scanned once to its end, so that a damaged file is refused before a row
 * is handed out. Shared strings are kept as long as the source is: in memory, or in a file where they are too many.
 * Throws `RunError`.
 */
export async function openXlsx(file: XlsxFile, options: SourceOptions, limits: SourceLimits): Promise<OpenSource> {
  return openSheet(await openBook(file, limits), options);
}

async function openBook({ path, gzip, archive }: XlsxFile, limits: SourceLimits): Promise<Book<WorkbookSheet>> {
  const { sheets, date1904, formats, sharedStringsPart: part } = await readWorkbook(path, archive);
  const strings = part ? await readSharedStrings(path, archive.stream(part), limits) : NO_STRINGS;
  return {
    path,
    format: 'xlsx',
    gzip,
    limits,
    sheets,
    evidence: date1904 ? ['Dates are counted from 1904.'] : [],
    stream: (sheet) => archive.stream(sheet.part!),
    scan: (sheet, onRow) =>
      createSheetScan({ what: `${path}: sheet "${sheet.name}"`, strings, formats, date1904, limits, onRow }),
  };
}
