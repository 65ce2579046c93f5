import type { BookSheet, SheetFacts } from './book-source.js';
import { columnName } from './header.js';
import { sheetList } from './sheet-choice.js';

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
