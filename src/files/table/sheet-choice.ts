import { closest } from 'fastest-levenshtein';
import { RunError } from '../../model/error.js';
import type { BookSheet, SheetFacts } from './book-source.js';
import { columnName } from './header.js';

interface Sheets<Sheet extends BookSheet> {
  readonly path: string;
  readonly sheets: readonly Sheet[];
}

const NAMED = 20;

/** The names of sheets in a sentence; of very many the first. */
export function sheetList(sheets: readonly BookSheet[], text: (sheet: BookSheet, at: number) => string): string {
  const named = sheets.slice(0, NAMED).map(text).join(', ');
  const more = sheets.length - NAMED;
  return more > 0 ? `${named} and ${more.toLocaleString('en-US')} more` : named;
}

const sheetKey = (name: string) => name.normalize('NFKC').trim().toLowerCase();

/** The sheet that a job states by name or by number from 1; throws `RunError('failed')` with the sheets there are. */
export function namedSheet<Sheet extends BookSheet>(book: Sheets<Sheet>, stated: string | number): Sheet {
  const sheets = book.sheets;
  const exact = sheets.find((sheet) => sheet.name === stated);
  const byName = exact ?? sheets.find((sheet) => sheetKey(sheet.name) === sheetKey(String(stated)));
  const number = Number(stated);
  // A sheet named 2024 is stated without quotation marks, too.
  const sheet = typeof stated === 'number' ? (sheets[stated - 1] ?? byName) : (byName ?? sheets[number - 1]);
  const names = sheetList(sheets, ({ name }, i) => `${i + 1} "${name}"`);
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

function closestName(stated: string, sheets: readonly BookSheet[]): string {
  const keys = sheets.map(({ name }) => sheetKey(name));
  const at = keys.indexOf(closest(sheetKey(stated), keys));
  return ` Did you mean "${sheets[at]!.name}"?`;
}

export function noSheetHoldsData(book: Sheets<BookSheet>): RunError {
  const names = sheetList(book.sheets, ({ name }) => `"${name}"`);
  return new RunError('failed', `${book.path}: no visible sheet holds data (sheets: ${names}). Nothing was sent.`);
}

/** What a person should know about the sheet that is read: other sheets, hidden rows and columns, merged cells. */
export function surveyWarnings(
  sheets: readonly BookSheet[],
  sheet: BookSheet,
  scan: SheetFacts,
  { row: headerRow, top }: { readonly row: number; readonly top: number },
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
  const rows = scan.hiddenAfter(headerRow);
  if (rows > 0) warnings.push(`${rows} hidden ${rows === 1 ? 'row is' : 'rows are'} read like the others.`);
  const columns = scan.hiddenColumns;
  if (columns > 0)
    warnings.push(`${columns} hidden ${columns === 1 ? 'column is' : 'columns are'} read like the others.`);
  const merged = scan.mergedRanges.filter((range) => touchesRow(range, headerRow));
  // A heading over several rows has the texts of its merged cells.
  if (merged.length > 0 && top === headerRow) {
    warnings.push(
      `Cells of the heading are merged (${merged.slice(0, 5).join(', ')}): only the first of each has a heading.`,
    );
  }
  const below = scan.merges - scan.mergedRanges.filter((range) => rowsOf(range)[0] <= headerRow).length;
  if (below > 0) {
    warnings.push(
      `${below} merged ${below === 1 ? 'range' : 'ranges'} below the heading: only the top left cell of each shows its ` +
        'value; the others are blank, or hold what stood there before the merge.',
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
