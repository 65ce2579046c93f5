import { formatNumber } from '../../model/count-text.js';
import { runFailure } from '../../model/error.js';
import { type Cell, displayText, isBlank, type RowFault, type SheetRow } from '../../model/row.js';
import type { OpenSource, SourceFormat, SourceOptions } from '../../model/source.js';
import { pushPieces } from '../bytes.js';
import type { SourceLimits } from '../limits.js';
import type { XmlScanner } from '../package/xml-scan.js';
import { type CellRange, columnName } from './cell-range.js';
import { blankHeadingsWarning, chooseHeading, HEADING_SAMPLE, headingTexts, type SampleRow } from './header.js';

/** A sheet as its workbook lists it. */
export interface BookSheet {
  readonly name: string;
  /** The part of the file that holds its cells; undefined for chart and dialogue sheets, which hold none. */
  readonly part: string | undefined;
  readonly state: 'visible' | 'hidden' | 'veryHidden';
  /** Known to hold no filled cell. */
  readonly blank?: boolean;
  /** Its place among all sheets of the file, from 0, those that are not listed included. */
  readonly place: number;
}

/** A row of a sheet as it is stored: cells by column, without those beyond the last one that is stored. */
export interface StoredRow {
  readonly row: number;
  readonly cells: Cell[];
  readonly faults: RowFault[] | undefined;
  /** A filled cell beyond the limit of columns. */
  readonly tooWide: boolean;
  /** It stands in the sheet so many times, one below the other; once where that is absent. */
  readonly repeat?: number;
}

/** A scan of one sheet. */
export interface SheetScan extends XmlScanner {
  /** While true, rows are only counted and checked, their cells are not read. */
  skim: boolean;
  /** Nothing that follows is of concern, though the file goes on. */
  readonly ended?: boolean;
  // Known at the end.
  readonly hiddenRows: number;
  readonly hiddenColumns: number;
  /** Merged ranges, at most 1,000; `mergeCount` counts all. */
  readonly mergedRanges: readonly CellRange[];
  readonly mergeCount: number;
}

/** What a workbook of any format offers to the choice of a sheet, the search for its heading and its rows. */
interface SourceBook {
  readonly path: string;
  readonly format: SourceFormat;
  readonly gzip: boolean;
  readonly limits: SourceLimits;
  readonly sheets: readonly BookSheet[];
  /** What is said about the whole workbook, after the evidence for sheet and heading. */
  readonly evidence: readonly string[];
  /** A scan of one sheet, from its beginning; `stream` hands out the bytes it is fed with. */
  scan(sheet: BookSheet, onRow: (row: StoredRow) => void): SheetScan;
  stream(sheet: BookSheet): AsyncIterable<Buffer>;
}

const BATCH = 500;
/** Rows above a stated heading that its merged cells may begin in. */
const ROWS_ABOVE = 2;

/**
 * Chooses the sheet of a workbook and finds its heading. The sheet is scanned once to its end, so that a damaged file
 * is refused before a row is handed out. Throws `RunError`.
 */
export async function openSheet(book: SourceBook, options: SourceOptions): Promise<OpenSource> {
  const header = typeof options.header_row === 'number' ? options.header_row : undefined;
  const evidence: string[] = [];
  const warnings: string[] = [];
  const { sheet, survey } = await chooseSheet(book, options.sheet, header ?? 1, evidence);

  const heading = chooseHeading(book.path, `the sheet "${sheet.name}"`, options, survey.rows, survey.scan.mergedRanges);
  if (!heading) {
    throw runFailure(`${book.path}: the sheet "${sheet.name}" holds no data. Name another sheet.`);
  }
  evidence.push(heading.evidence);
  warnings.push(...heading.warnings);
  if (survey.wide.has(heading.row)) {
    throw runFailure(
      `${book.path}: the heading in row ${heading.row} of "${sheet.name}" has more than ` +
        `${formatNumber(book.limits.columns)} columns, the most that is read. Remove columns.`,
    );
  }
  const headings = headingTexts(heading, survey.rows, false);
  warnings.push(...surveyWarnings(book.sheets, sheet, survey.scan, heading.row, headings, options.sheet !== undefined));
  evidence.push(...book.evidence);

  return {
    meta: {
      format: book.format,
      gzip: book.gzip,
      encoding: null,
      delimiter: null,
      sheet: sheet.name,
      sheets: book.sheets
        .filter(({ state, part }) => state === 'visible' && part !== undefined)
        .map(({ name }) => name),
      header_row: heading.row === 0 ? null : heading.row,
      headings,
      newline: null,
      evidence,
      warnings,
    },
    rows: () => dataRows(book, sheet, heading.row, headings.length),
  };
}

/** One pass to the end of a sheet: the first non-blank rows from right above row `from` on, and what is to be said about it. */
async function surveySheet(book: SourceBook, sheet: BookSheet, from: number) {
  const rows: SampleRow[] = [];
  const start = from - ROWS_ABOVE;
  /** Rows of the sample with filled cells beyond the limit of columns. */
  const wide = new Set<number>();
  const scan = book.scan(sheet, ({ row, cells, tooWide, repeat = 1 }) => {
    if (row + repeat <= start || (cells.every(isBlank) && !tooWide) || rows.length >= HEADING_SAMPLE) return;
    for (let i = Math.max(0, start - row); i < repeat && rows.length < HEADING_SAMPLE; i++) {
      rows.push({ row: row + i, cells });
      if (tooWide) wide.add(row + i);
    }
  });
  for await (const _ of pushPieces(scan, book.stream(sheet))) if (rows.length >= HEADING_SAMPLE) scan.skim = true;
  return { rows, wide, scan };
}

async function chooseSheet(book: SourceBook, stated: string | number | undefined, from: number, evidence: string[]) {
  if (stated !== undefined) {
    const sheet = findSheet(book, stated);
    evidence.push(`The sheet is "${sheet.name}", as stated.`);
    return { sheet, survey: await surveySheet(book, sheet, from) };
  }
  for (const sheet of book.sheets) {
    if (sheet.state !== 'visible' || !sheet.part || (sheet.blank && from === 1)) continue;
    const survey = await surveySheet(book, sheet, from);
    if (survey.rows.length === 0 && from === 1) continue;
    evidence.push(`The sheet is "${sheet.name}", the first visible one that holds data.`);
    return { sheet, survey };
  }
  const names = sheetList(book.sheets, ({ name, state }) => `"${name}"${state === 'visible' ? '' : ' (hidden)'}`);
  throw runFailure(`${book.path}: no visible sheet holds data (sheets: ${names}). Nothing was sent.`);
}

async function* dataRows(
  book: SourceBook,
  sheet: BookSheet,
  headerRow: number,
  width: number,
): AsyncGenerator<readonly SheetRow[]> {
  let batch: SheetRow[] = [];
  let stored: StoredRow[] = [];
  const scan = book.scan(sheet, (row) => {
    if (row.row + (row.repeat ?? 1) - 1 <= headerRow || (!row.tooWide && row.cells.every(isBlank))) return;
    stored.push(row);
  });
  for await (const _ of pushPieces(scan, book.stream(sheet))) {
    for (const row of stored) {
      // A row that stands a million times is one in memory.
      const repeat = row.repeat ?? 1;
      for (let i = Math.max(0, headerRow + 1 - row.row); i < repeat; i++) {
        batch.push(toRow(repeat === 1 ? row : { ...row, row: row.row + i, cells: [...row.cells] }, width));
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
    }
    stored = [];
  }
  if (batch.length > 0) yield batch;
}

/** As many cells as the heading; a filled cell beyond it makes the row a fault, because nothing says what it is. */
function toRow({ row, cells, faults: found, tooWide }: StoredRow, width: number): SheetRow {
  let faults: RowFault[] | undefined = found;
  const at = cells.length > width ? cells.findIndex((cell, i) => i >= width && !isBlank(cell)) : -1;
  if (at >= 0 || tooWide) {
    const extra: Cell | undefined = at >= 0 ? cells[at] : undefined;
    faults = [...(found ?? []).filter(({ index = 0 }) => index < width), raggedCell(row, at, extra)];
  }
  if (cells.length > width) cells.length = width;
  while (cells.length < width) cells.push('');
  return faults && faults.length > 0 ? { row, cells, faults } : { row, cells };
}

function raggedCell(row: number, at: number, cell: Cell | undefined): RowFault {
  const where =
    at >= 0 ? `${columnName(at)}${row} holds "${displayText(cell).slice(0, 60)}"` : 'A cell far to the right is filled';
  return {
    code: 'ragged_row',
    message: `${where}, but that column has no heading. Give the column a heading, or clear the cell.`,
  };
}

const NAMED = 20;

/** The names of sheets in a sentence; of very many the first. */
function sheetList(sheets: readonly BookSheet[], text: (sheet: BookSheet, at: number) => string): string {
  const named = sheets.slice(0, NAMED).map(text).join(', ');
  const more = sheets.length - NAMED;
  return more > 0 ? `${named} and ${formatNumber(more)} more` : named;
}

const sheetKey = (name: string) => name.normalize('NFKC').trim().toLowerCase();

const LONGEST_XLSX_NAME = 31;

/** The sheet that a job states by name or by number from 1; throws `RunError('failed')` with the sheets there are. */
function findSheet(book: SourceBook, stated: string | number): BookSheet {
  const sheets = book.sheets;
  const named = (name: string) => sheets.find((sheet) => sheetKey(sheet.name) === sheetKey(name));
  // An OpenDocument name may be longer; saved as .xlsx, and so in rejected.xlsx, it is cut.
  const byName = named(String(stated)) ?? named(String(stated).slice(0, LONGEST_XLSX_NAME));
  const byNumber = sheets[Number(stated) - 1];
  // A sheet named 2024 is stated without quotation marks, too.
  const sheet = typeof stated === 'number' ? (byNumber ?? byName) : (byName ?? byNumber);
  const names = sheetList(sheets, ({ name }, i) => `${i + 1} "${name}"`);
  if (!sheet) {
    throw runFailure(
      `${book.path}: there is no sheet ${typeof stated === 'number' ? stated : `"${stated}"`}. The sheets are ${names}.`,
    );
  }
  if (!sheet.part) {
    throw runFailure(`${book.path}: the sheet "${sheet.name}" is a chart and holds no cells.`);
  }
  return sheet;
}

/** What a person should know about the sheet that is read: other sheets, hidden rows and columns, merged cells. */
function surveyWarnings(
  sheets: readonly BookSheet[],
  sheet: BookSheet,
  scan: SheetScan,
  headerRow: number,
  headings: readonly string[],
  stated: boolean,
): string[] {
  const warnings: string[] = [];
  const list = (some: readonly BookSheet[]) => sheetList(some, ({ name }) => `"${name}"`);
  const others = sheets.filter((other) => other !== sheet);
  const visible = others.filter((other) => other.state === 'visible');
  const hidden = others.filter((other) => other.state !== 'visible');
  if (sheet.state !== 'visible') warnings.push(`The sheet "${sheet.name}" is hidden in the workbook.`);
  // Whoever named the sheet knows that there are others.
  if (visible.length > 0 && !stated) warnings.push(`Further sheets are not read: ${list(visible)}.`);
  if (hidden.length > 0 && !stated) warnings.push(`Hidden sheets are not read: ${list(hidden)}.`);
  for (const [count, what] of [
    [scan.hiddenRows, 'row'],
    [scan.hiddenColumns, 'column'],
  ] as const)
    if (count > 0) warnings.push(`${count} hidden ${what}${count === 1 ? ' is' : 's are'} read like the others.`);
  const below = scan.mergeCount - scan.mergedRanges.filter(({ top }) => top <= headerRow).length;
  if (below > 0) {
    warnings.push(
      `${below} merged ${below === 1 ? 'range' : 'ranges'} below the heading: only the top left cell of each shows its ` +
        'value; the others are blank, or hold what stood there before the merge.',
    );
  }
  const blank = blankHeadingsWarning(headings);
  if (blank !== undefined) warnings.push(blank);
  return warnings;
}
