import { RunError } from '../../model/error.js';
import { type Cell, isBlank, type RowFault, type SheetRow, shownText } from '../../model/row.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import { withoutMeaning } from '../stated.js';
import type { Book, BookRow, BookScan, BookSheet } from './book-source.js';
import {
  columnName,
  findHeading,
  HEADING_SAMPLE,
  type HeadingFinding,
  headingTexts,
  mergedHeading,
  type SampleRow,
  skippedText,
} from './header.js';
import { foldedText } from './sample-table.js';
import { namedSheet, noSheetHoldsData, surveyWarnings } from './sheet-choice.js';

const BATCH = 500;
/** Rows above a stated heading that its merged cells may begin in. */
const ROWS_ABOVE = 2;

/** What one pass over a sheet found before its rows are handed out. */
interface Survey {
  readonly rows: readonly SampleRow[];
  /** The non-blank rows right above them, where a heading may begin. */
  readonly above: readonly SampleRow[];
  /** Rows of the sample with filled cells beyond the limit of columns. */
  readonly wide: ReadonlySet<number>;
  readonly scan: BookScan;
}

/**
 * Chooses the sheet of a workbook and finds its heading. The sheet is scanned once to its end, so that a damaged file
 * is refused before a row is handed out. Throws `RunError`.
 */
export async function openSheet<Sheet extends BookSheet>(
  book: Book<Sheet>,
  options: SourceOptions,
): Promise<OpenSource> {
  const header = typeof options.header_row === 'number' ? options.header_row : undefined;
  const evidence = withoutMeaning(options, ['encoding', 'delimiter'], 'a workbook');
  const warnings: string[] = [];
  const { sheet, survey } = await chooseSheet(book, options.sheet, header ?? 1, evidence);

  const found =
    header === undefined
      ? findHeading(survey.rows, options.expect)
      : statedHeading(book.path, sheet, header, survey.rows);
  if (!found) {
    throw new RunError('failed', `${book.path}: the sheet "${sheet.name}" holds no data. Name another sheet.`);
  }
  const heading = withMerges(found, survey, header !== undefined, options.expect);
  evidence.push(heading.evidence);
  warnings.push(...heading.warnings);
  if (survey.wide.has(heading.row)) {
    throw new RunError(
      'failed',
      `${book.path}: the heading in row ${heading.row} of "${sheet.name}" has more than ` +
        `${book.limits.columns.toLocaleString('en-US')} columns, the most that is read. Remove columns.`,
    );
  }
  const headings = headingTexts(heading.cells, survey.rows, false);
  warnings.push(...surveyWarnings(book.sheets, sheet, survey.scan, heading, headings, options.sheet !== undefined));
  evidence.push(...book.evidence);

  return {
    meta: {
      format: book.format,
      gzip: book.gzip,
      encoding: null,
      delimiter: null,
      sheet: sheet.name,
      header_row: heading.row,
      headings,
      newline: null,
      evidence,
      warnings,
    },
    rows: () => dataRows(book, sheet, heading.row, headings.length),
  };
}

/** The heading with the texts of merged cells over several rows, unless the job maps those of the row alone. */
function withMerges(
  found: HeadingFinding,
  { rows, above, scan }: Survey,
  stated: boolean,
  expect: SourceOptions['expect'] = [],
) {
  const alone = rows.find(({ row }) => row === found.row)!;
  const merged = mergedHeading(found.row, [...above, ...rows], scan.mergedRanges, stated);
  if (!merged || expectedIn(alone, expect) > expectedIn(merged.row, expect))
    return { ...found, top: found.row, cells: alone };
  const { top, row: cells, evidence } = merged;
  const at = rows.findIndex(({ row }) => row >= top);
  const skipped = stated ? undefined : skippedText(rows, at);
  return { row: cells.row, top, cells, evidence, warnings: skipped ? [skipped] : [] };
}

/** How many of the headings that a job maps stand in a row. */
function expectedIn({ cells }: SampleRow, expect: readonly string[]): number {
  const texts = new Set(cells.map(foldedText));
  return expect.filter((heading) => texts.has(foldedText(heading))).length;
}

/** One pass to the end of a sheet: the first non-blank rows from row `from` on, and what is to be said about it. */
async function surveySheet<Sheet extends BookSheet>(book: Book<Sheet>, sheet: Sheet, from: number): Promise<Survey> {
  const rows: SampleRow[] = [];
  const above: SampleRow[] = [];
  const wide = new Set<number>();
  const scan = book.scan(sheet, ({ row, cells, beyond, times = 1 }) => {
    if (row < from && row + ROWS_ABOVE >= from && !cells.every(isBlank)) above.push({ row, cells });
    if (row + times <= from || (cells.every(isBlank) && !beyond) || rows.length >= HEADING_SAMPLE) return;
    for (let i = Math.max(0, from - row); i < times && rows.length < HEADING_SAMPLE; i++) {
      rows.push({ row: row + i, cells });
      if (beyond) wide.add(row + i);
    }
  });
  for await (const chunk of book.stream(sheet)) {
    scan.push(chunk);
    if (rows.length >= HEADING_SAMPLE) scan.skim = true;
    if (scan.ended) return { rows, above, wide, scan };
  }
  scan.finish();
  return { rows, above, wide, scan };
}

async function chooseSheet<Sheet extends BookSheet>(
  book: Book<Sheet>,
  stated: string | number | undefined,
  from: number,
  evidence: string[],
): Promise<{ sheet: Sheet; survey: Survey }> {
  if (stated !== undefined) {
    const sheet = namedSheet(book, stated);
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
  throw noSheetHoldsData(book);
}

function statedHeading(path: string, sheet: BookSheet, row: number, rows: readonly SampleRow[]) {
  if (rows.length === 0) {
    throw new RunError('usage', `${path}: source.header_row is ${row}, but the sheet "${sheet.name}" ends before it.`);
  }
  if (rows[0]!.row !== row) {
    throw new RunError('usage', `${path}: source.header_row is ${row}, but that row of "${sheet.name}" is blank.`);
  }
  return { row, evidence: `Row ${row} is the heading, as stated.`, warnings: [] as string[] };
}

async function* dataRows<Sheet extends BookSheet>(
  book: Book<Sheet>,
  sheet: Sheet,
  headerRow: number,
  width: number,
): AsyncGenerator<readonly SheetRow[]> {
  let batch: SheetRow[] = [];
  let stored: BookRow[] = [];
  const scan = book.scan(sheet, (row) => {
    if (row.row + (row.times ?? 1) - 1 <= headerRow || (!row.beyond && row.cells.every(isBlank))) return;
    stored.push(row);
  });
  for await (const chunk of book.stream(sheet)) {
    scan.push(chunk);
    for (const row of stored) {
      // A row that stands a million times is one in memory.
      const times = row.times ?? 1;
      for (let i = Math.max(0, headerRow + 1 - row.row); i < times; i++) {
        batch.push(toRow(times === 1 ? row : { ...row, row: row.row + i, cells: [...row.cells] }, width));
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
    }
    stored = [];
    if (scan.ended) break;
  }
  if (!scan.ended) scan.finish();
  if (batch.length > 0) yield batch;
}

/** As many cells as the heading; a filled cell beyond it makes the row a fault, because nothing says what it is. */
export function toRow({ row, cells, faults: found, beyond }: BookRow, width: number): SheetRow {
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
