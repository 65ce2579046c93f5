import type { SheetRow } from '../model/row.js';
import { excerpt } from './nearest.js';

/** Marks between groups of three digits; a point or comma before fewer is a decimal sign. */
const SEPARATORS = /(?<=\d)[.,'’\s](?=\d{3}(?!\d))/gu;

/**
 * What a person should know of a column whose field holds text: cells of a workbook that are whole numbers, but shown with
 * separators by their number format. They are imported as they are shown, where a code was probably meant without them.
 */
export function separatedNumbers(
  { heading, index }: { readonly heading: string; readonly index: number },
  sample: readonly SheetRow[],
): string | undefined {
  let count = 0;
  let first: { readonly text: string; readonly row: number } | undefined;
  for (const { row, cells } of sample) {
    const cell = cells[index];
    if (typeof cell !== 'object' || cell.t !== 'n' || cell.shown === cell.value) continue;
    if (cell.shown.replace(SEPARATORS, '') !== cell.value) continue;
    count++;
    first ??= { text: cell.shown, row };
  }
  if (!first) return undefined;
  return (
    `"${excerpt(heading)}": ${count} of the first ${sample.length} rows hold a number that its format shows with separators, ` +
    `such as "${excerpt(first.text)}" (row ${first.row}); it is imported as it is shown. If the separators are no part of ` +
    'the text, choose a number format without them, or format the column as text and enter the numbers again.'
  );
}
