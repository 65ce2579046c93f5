import { type Cell, isBlank, shownText } from '../../model/row.js';
import { foldedText, lookOf, type SampleRow } from './sample-table.js';

/** A heading over several rows, as the merged cells show it. */
export interface MergedHeading {
  /** Its first row. */
  readonly top: number;
  /** Its last row, which holds a cell for each column. */
  readonly row: SampleRow;
  readonly evidence: string;
}

/** A heading over more rows is none. */
const MOST_ROWS = 3;

interface Range {
  readonly name: string;
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/**
 * The heading where cells of row `at` are merged with cells of the rows below or above: each column has the lowest text
 * that stands over it, `Cost` below `Purchase` as well as `Name` merged over both rows. Texts that several columns have
 * are told apart by the group above them. Undefined where nothing is merged so, or a row of the heading holds other
 * things than text.
 *
 * `rows`: those from the heading on and above it, ascending. `stated`: row `at` is the last one, as somebody says.
 */
export function mergedHeading(
  at: number,
  rows: readonly SampleRow[],
  mergedRanges: readonly string[],
  stated: boolean,
): MergedHeading | undefined {
  const ranges = mergedRanges.map(rangeOf).filter((range) => range !== undefined);
  const over = ranges.filter(({ top, bottom }) => top < bottom && top <= at && at <= bottom);
  const top = Math.min(...over.map((range) => range.top));
  const bottom = Math.max(...over.map((range) => range.bottom));
  if (over.length === 0 || bottom - top >= MOST_ROWS || (stated && bottom !== at)) return undefined;
  const block = rows.filter(({ row }) => row >= top && row <= bottom);
  if (block.at(-1)?.row !== bottom || block.length < 2 || !block.every(isText)) return undefined;
  const width = Math.max(...block.map(({ cells }) => cells.length));
  const shown = block.map((row) => Array.from({ length: width }, (_, column) => textOver(row, column, block, ranges)));
  const stacks = Array.from({ length: width }, (_, column) => stackOf(shown, column));
  const lowest = stacks.map(([own]) => foldedText(own));
  const cells = stacks.map(([own = '', group], column) => {
    const isTwice = lowest.indexOf(lowest[column]!) !== lowest.lastIndexOf(lowest[column]!);
    return isTwice && group ? `${group} ${own}` : own;
  });
  const names = over.slice(0, 5).map(({ name }) => name);
  const list = `${names.join(', ')}${over.length > names.length ? ', …' : ''}`;
  return {
    top,
    row: { row: bottom, cells },
    evidence: `Rows ${top} to ${bottom} are the heading: cells are merged over them (${list}), and each column has the lowest text over it.`,
  };
}

/** Texts over a column, the lowest first; a text that goes on in the next row counts once. */
function stackOf(shown: readonly (readonly string[])[], column: number): string[] {
  const texts = shown.map((row) => row[column]!).filter((text) => text !== '');
  return texts.filter((text, i) => text !== texts[i + 1]).reverse();
}

/** What a person sees at a place: the cell's own text, or that of the merged range that covers it. */
function textOver(row: SampleRow, column: number, block: readonly SampleRow[], ranges: readonly Range[]): string {
  const own = row.cells[column];
  if (!isBlank(own)) return shownText(own);
  const cover = ranges.find(
    ({ top, bottom, left, right }) => top <= row.row && row.row <= bottom && left <= column && column <= right,
  );
  const first = cover && block.find((one) => one.row === cover.top);
  return first ? shownText(first.cells[cover.left]).trim() : '';
}

/** Whether the row holds words and years only: other numbers and dates are data. */
function isText({ cells }: SampleRow): boolean {
  return cells.every((cell: Cell) => typeof cell === 'string' || lookOf(cell) === 'year');
}

function rangeOf(name: string): Range | undefined {
  const parts = /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/.exec(name);
  if (!parts) return undefined;
  const [, left = '', top, right = '', bottom] = parts;
  return { name, top: Number(top), bottom: Number(bottom), left: columnAt(left), right: columnAt(right) };
}

/** `A` is 0. */
function columnAt(name: string): number {
  let at = 0;
  for (const letter of name) at = at * 26 + letter.charCodeAt(0) - 64;
  return at - 1;
}
