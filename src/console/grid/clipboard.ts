import type { CellPosition, Range } from './cursor.js';

/** Ranges on the clipboard, as spreadsheet programs write them: cells between tabs, rows on lines, quotes where needed. */

export function toTsv(cells: readonly (readonly string[])[]): string {
  return cells.map((row) => row.map(quoted).join('\t')).join('\n');
}

const quoted = (text: string) => (/[\t\r\n]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A cell and what ends it. A quote that no quote closes is a sign like any other. */
const CELL = /(?:"((?:[^"]|"")*)"(?=[\t\r\n]|$)|([^\t\r\n]*))(\t|\r?\n|\r|$)/y;

export function fromTsv(text: string): string[][] {
  const rows: string[][] = [[]];
  CELL.lastIndex = 0;
  for (;;) {
    const [, inQuotes, plain = '', end] = CELL.exec(text)!;
    rows.at(-1)!.push(inQuotes?.replaceAll('""', '"') ?? plain);
    // The line end behind the last row begins no row.
    if (end === '' || (end !== '\t' && CELL.lastIndex === text.length)) return rows;
    if (end !== '\t') rows.push([]);
  }
}

export type PlacedCell = CellPosition & { readonly value: string };

/** What stands in each cell of a range: one cell that was copied fills it, a block is set once from its corner. */
export function placeBlock(block: readonly (readonly string[])[], { top, left, bottom, right }: Range): PlacedCell[] {
  const width = Math.max(...block.map((row) => row.length));
  const extent = (have: number, each: number) => (have % each === 0 ? have : each);
  const columns = extent(right - left + 1, width);
  return Array.from({ length: extent(bottom - top + 1, block.length) * columns }, (_, at) => {
    const [down, along] = [Math.floor(at / columns), at % columns];
    return { row: top + down, column: left + along, value: block[down % block.length]?.[along % width] ?? '' };
  });
}
