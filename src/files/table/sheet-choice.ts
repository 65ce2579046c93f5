import { closest } from 'fastest-levenshtein';
import { RunError } from '../../model/error.js';
import type { BookSheet } from './book-source.js';

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
