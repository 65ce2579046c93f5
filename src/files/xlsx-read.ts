import { closest } from 'fastest-levenshtein';
import { RunError } from '../model/error.js';
import { type Cell, isBlank, type RowFault, type SheetRow, shownText } from '../model/row.js';
import type { OpenSource, SourceOptions } from '../model/source.js';
import { fileBytes } from './bytes.js';
import { columnName, findHeading, HEADING_SAMPLE, headingTexts, type SampleRow } from './header.js';
import { type SourceLimits, sizeText } from './limits.js';
import { NO_STRINGS, readSharedStrings, type SharedStrings } from './shared-strings.js';
import { createSheetScan, type SheetScan, type StoredRow } from './sheet-scan.js';
import { withoutMeaning } from './stated.js';
import { readWorkbook, type Workbook, type WorkbookSheet } from './xlsx-workbook.js';
import { type Archive, openArchive } from './zip.js';

const BATCH = 500;

interface XlsxFile {
  readonly path: string;
  readonly gzip: boolean;
}

/** An opened workbook: what every pass over a sheet needs. */
interface Book extends Workbook {
  readonly path: string;
  readonly archive: Archive;
  readonly strings: SharedStrings;
  readonly limits: SourceLimits;
}

/**
 * Opens one sheet of a workbook. The sheet is scanned once to its end, so that a damaged file is refused before a row
 * is handed out. Shared strings stay in memory as long as the source does. Throws `RunError`.
 */
export async function openXlsx(file: XlsxFile, options: SourceOptions, limits: SourceLimits): Promise<OpenSource> {
  const book = await openBook(file, limits);
  const header = typeof options.header_row === 'number' ? options.header_row : undefined;
  const evidence = withoutMeaning(options, ['encoding', 'delimiter'], 'a workbook');
  const warnings: string[] = [];
  const { sheet, survey } = await chooseSheet(book, options.sheet, header ?? 1, evidence);

  const heading =
    header === undefined ? findHeading(survey.rows) : statedHeading(file.path, sheet, header, survey.rows);
  if (!heading) {
    throw new RunError('failed', `${file.path}: the sheet "${sheet.name}" holds no data. Name another sheet.`);
  }
  evidence.push(heading.evidence);
  warnings.push(...heading.warnings);
  if (survey.wide.has(heading.row)) {
    throw new RunError(
      'failed',
      `${file.path}: the heading in row ${heading.row} of "${sheet.name}" has more than ` +
        `${limits.columns.toLocaleString('en-US')} columns, the most that is read. Remove columns.`,
    );
  }
  const headings = headingTexts(survey.rows.find((row) => row.row === heading.row)!, survey.rows, false);
  warnings.push(...surveyWarnings(book, sheet, survey.scan, heading.row, headings, options.sheet !== undefined));
  if (book.date1904) evidence.push('Dates are counted from 1904.');

  return {
    meta: {
      format: 'xlsx',
      gzip: file.gzip,
      encoding: null,
      delimiter: null,
      sheet: sheet.name,
      header_row: heading.row,
      headings,
      newline: null,
      evidence,
      warnings,
    },
    rows: () => dataRows(book, sheet, heading.row, headings),
  };
}

async function openBook({ path, gzip }: XlsxFile, limits: SourceLimits): Promise<Book> {
  const archive = await openArchive(path, gzip ? await unpackedWhole(path, limits) : path, limits);
  const workbook = await readWorkbook(path, archive);
  const part = workbook.sharedStringsPart;
  const strings = part ? await readSharedStrings(path, archive.stream(part), limits) : NO_STRINGS;
  return { ...workbook, path, archive, strings, limits };
}

async function unpackedWhole(path: string, limits: SourceLimits): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of fileBytes(path, true, limits)) {
    parts.push(chunk);
    size += chunk.length;
    if (size > limits.gzippedWorkbookBytes) {
      throw new RunError(
        'failed',
        `${path}: the gzipped workbook unpacks to more than ${sizeText(limits.gzippedWorkbookBytes)}. Unpack it first.`,
      );
    }
  }
  return Buffer.concat(parts);
}

interface Survey {
  readonly rows: readonly SampleRow[];
  /** Rows of the sample with filled cells beyond the limit of columns. */
  readonly wide: ReadonlySet<number>;
  readonly scan: SheetScan;
}

/** One pass to the end of a sheet: the first non-blank rows from row `from` on, and what is to be said about it. */
async function surveySheet(book: Book, sheet: WorkbookSheet, from: number): Promise<Survey> {
  const rows: SampleRow[] = [];
  const wide = new Set<number>();
  const scan = scanOf(book, sheet, ({ row, cells, beyond }) => {
    if (row < from || (cells.every(isBlank) && !beyond) || rows.length >= HEADING_SAMPLE) return;
    rows.push({ row, cells });
    if (beyond) wide.add(row);
  });
  for await (const chunk of book.archive.stream(sheet.part!)) {
    scan.push(chunk);
    if (rows.length >= HEADING_SAMPLE) scan.skim = true;
  }
  scan.finish();
  return { rows, wide, scan };
}

function scanOf(book: Book, sheet: WorkbookSheet, onRow: (row: StoredRow) => void): SheetScan {
  return createSheetScan({
    what: `${book.path}: sheet "${sheet.name}"`,
    strings: book.strings,
    formats: book.formats,
    date1904: book.date1904,
    limits: book.limits,
    onRow,
  });
}

async function chooseSheet(
  book: Book,
  stated: string | number | undefined,
  from: number,
  evidence: string[],
): Promise<{ sheet: WorkbookSheet; survey: Survey }> {
  if (stated !== undefined) {
    const sheet = namedSheet(book, stated);
    evidence.push(`The sheet is "${sheet.name}", as stated.`);
    return { sheet, survey: await surveySheet(book, sheet, from) };
  }
  for (const sheet of book.sheets) {
    if (sheet.state !== 'visible' || !sheet.part) continue;
    const survey = await surveySheet(book, sheet, from);
    if (survey.rows.length === 0 && from === 1) continue;
    evidence.push(`The sheet is "${sheet.name}", the first visible one that holds data.`);
    return { sheet, survey };
  }
  const names = book.sheets.map((sheet) => `"${sheet.name}"`).join(', ');
  throw new RunError('failed', `${book.path}: no visible sheet holds data (sheets: ${names}). Nothing was sent.`);
}

const sheetKey = (name: string) => name.normalize('NFKC').trim().toLowerCase();

function namedSheet(book: Book, stated: string | number): WorkbookSheet {
  const sheets = book.sheets;
  const exact = sheets.find((sheet) => sheet.name === stated);
  const byName = exact ?? sheets.find((sheet) => sheetKey(sheet.name) === sheetKey(String(stated)));
  const number = Number(stated);
  const sheet = typeof stated === 'number' ? sheets[stated - 1] : (byName ?? sheets[number - 1]);
  const names = sheets.map(({ name }, i) => `${i + 1} "${name}"`).join(', ');
  if (!sheet) {
    const near = typeof stated === 'string' && sheets.length > 0 ? closestName(stated, sheets) : '';
    throw new RunError(
      'failed',
      `${book.path}: there is no sheet ${typeof stated === 'number' ? stated : `"${stated}"`}.${near} The sheets are ${names}.`,
    );
  }
  if (!sheet.part) {
    throw new RunError('failed', `${book.path}: the sheet "${sheet.name}" is a chart and holds no cells.`);
  }
  return sheet;
}

function closestName(stated: string, sheets: readonly WorkbookSheet[]): string {
  const keys = sheets.map(({ name }) => sheetKey(name));
  const at = keys.indexOf(closest(sheetKey(stated), keys));
  return ` Did you mean "${sheets[at]!.name}"?`;
}

function statedHeading(path: string, sheet: WorkbookSheet, row: number, rows: readonly SampleRow[]) {
  if (rows.length === 0) {
    throw new RunError('usage', `${path}: source.header_row is ${row}, but the sheet "${sheet.name}" ends before it.`);
  }
  if (rows[0]!.row !== row) {
    throw new RunError('usage', `${path}: source.header_row is ${row}, but that row of "${sheet.name}" is blank.`);
  }
  return { row, evidence: `Row ${row} is the heading, as stated.`, warnings: [] as string[] };
}

function surveyWarnings(
  book: Book,
  sheet: WorkbookSheet,
  scan: SheetScan,
  headerRow: number,
  headings: readonly string[],
  stated: boolean,
): string[] {
  const warnings: string[] = [];
  const list = (sheets: readonly WorkbookSheet[]) => sheets.map(({ name }) => `"${name}"`).join(', ');
  const others = book.sheets.filter((other) => other !== sheet);
  const visible = others.filter((other) => other.state === 'visible');
  const hidden = others.filter((other) => other.state !== 'visible');
  if (sheet.state !== 'visible') warnings.push(`The sheet "${sheet.name}" is hidden in the workbook.`);
  // Whoever named the sheet knows that there are others.
  if (visible.length > 0 && !stated) warnings.push(`Further sheets are not read: ${list(visible)}.`);
  if (hidden.length > 0 && !stated) warnings.push(`Hidden sheets are not read: ${list(hidden)}.`);
  const rows = scan.hiddenAfter(headerRow);
  if (rows > 0) warnings.push(`${rows} hidden ${rows === 1 ? 'row is' : 'rows are'} read like the others.`);
  const columns = scan.hiddenColumns;
  if (columns > 0)
    warnings.push(`${columns} hidden ${columns === 1 ? 'column is' : 'columns are'} read like the others.`);
  const merged = scan.mergedRanges.filter((range) => touchesRow(range, headerRow));
  if (merged.length > 0) {
    warnings.push(
      `Cells of the heading are merged (${merged.slice(0, 5).join(', ')}): only the first of each has a heading.`,
    );
  }
  const below = scan.merges - scan.mergedRanges.filter((range) => rowsOf(range)[0] <= headerRow).length;
  if (below > 0) {
    warnings.push(
      `${below} merged ${below === 1 ? 'range' : 'ranges'} below the heading: only the top left cell of each has the ` +
        'value, the others are blank.',
    );
  }
  const blank = headings.flatMap((heading, i) => (heading.trim() === '' ? [columnName(i)] : []));
  if (blank.length > 0) {
    warnings.push(`Columns without a heading are not imported: ${blank.slice(0, 10).join(', ')}.`);
  }
  return warnings;
}

function rowsOf(range: string): readonly [number, number] {
  const [first, last] = range.split(':').map((reference) => Number(reference.replace(/\D/g, '')));
  return [first ?? 0, last ?? first ?? 0];
}

function touchesRow(range: string, row: number): boolean {
  const [first, last] = rowsOf(range);
  return first <= row && row <= last;
}

async function* dataRows(
  book: Book,
  sheet: WorkbookSheet,
  headerRow: number,
  headings: readonly string[],
): AsyncGenerator<readonly SheetRow[]> {
  let batch: SheetRow[] = [];
  const scan = scanOf(book, sheet, (stored) => {
    if (stored.row <= headerRow || (!stored.beyond && stored.cells.every(isBlank))) return;
    batch.push(toRow(stored, headings.length));
  });
  for await (const chunk of book.archive.stream(sheet.part!)) {
    scan.push(chunk);
    while (batch.length >= BATCH) {
      const whole = batch.slice(0, BATCH);
      batch = batch.slice(BATCH);
      yield whole;
    }
  }
  scan.finish();
  if (batch.length > 0) yield batch;
}

/** As many cells as the heading; a filled cell beyond it makes the row a fault, because nothing says what it is. */
function toRow({ row, cells, faults: found, beyond }: StoredRow, width: number): SheetRow {
  let faults: RowFault[] | undefined = found;
  const at = cells.length > width ? cells.findIndex((cell, i) => i >= width && !isBlank(cell)) : -1;
  if (at >= 0 || beyond) {
    const extra: Cell | undefined = at >= 0 ? cells[at] : undefined;
    faults = [...(found ?? []).filter(({ index = 0 }) => index < width), raggedCell(row, at, extra)];
  }
  if (cells.length > width) cells.length = width;
  while (cells.length < width) cells.push('');
  return faults && faults.length > 0 ? { row, cells, faults } : { row, cells };
}

function raggedCell(row: number, at: number, cell: Cell | undefined): RowFault {
  const where =
    at >= 0 ? `${columnName(at)}${row} holds "${shownText(cell).slice(0, 60)}"` : 'A cell far to the right is filled';
  return {
    code: 'ragged_row',
    message: `${where}, but that column has no heading. Give the column a heading, or clear the cell.`,
  };
}
