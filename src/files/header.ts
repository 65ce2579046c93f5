import { type Cell, isBlank, shownText } from '../model/row.js';

/** A row of the sample from which the heading is found. */
export interface SampleRow {
  readonly row: number;
  readonly cells: readonly Cell[];
}

export interface HeadingFinding {
  readonly row: number;
  readonly evidence: string;
  readonly warnings: readonly string[];
}

const SAMPLE = 100;

/** Non-blank rows that the search for a heading looks at. */
export const HEADING_SAMPLE = SAMPLE;

function filled(row: SampleRow): number {
  let count = 0;
  for (const cell of row.cells) if (!isBlank(cell)) count++;
  return count;
}

const NUMBER_OR_DATE = /^[\s$€£¥+-]*\d[\d\s.,:/%T-]*(?:[AP]M|[eE][+-]?\d+|Z)?\s*$/i;

function isTextCell(cell: Cell): boolean {
  return typeof cell === 'string' && !NUMBER_OR_DATE.test(cell) && cell.length <= 250;
}

/** At least half of the filled cells are text that is no number or date, and no two of them are equal. */
function looksLikeHeading(row: SampleRow): boolean {
  const cells = row.cells.filter((cell) => !isBlank(cell));
  const texts = cells.filter(isTextCell).map((cell) => shownText(cell).trim().toLowerCase());
  return texts.length * 2 >= cells.length && texts.length - new Set(texts).size <= texts.length / 4;
}

/**
 * Finds the heading row among the non-blank rows at the start of a table.
 *
 * The width of the table is the largest number of filled cells that at least two rows reach. The heading is the first
 * row that reaches it and looks like text, provided that a title stands above it: a row that fills at most half of the
 * width. Otherwise the first non-blank row is the heading; a file without a heading cannot be told apart.
 */
export function findHeading(rows: readonly SampleRow[]): HeadingFinding | undefined {
  const first = rows[0];
  if (!first) return undefined;
  const counts = rows.slice(0, SAMPLE).map(filled);
  const width = [...counts].sort((a, b) => b - a)[Math.min(1, counts.length - 1)] ?? 0;
  const at = rows.findIndex((row, i) => counts[i]! >= width && looksLikeHeading(row));
  const titled = at > 0 && counts.slice(0, at).some((count) => count * 2 <= width);
  const heading = titled ? rows[at]! : first;
  const warnings: string[] = [];
  if (titled) {
    const title = shownText(first.cells.find((cell) => !isBlank(cell)))
      .replace(/\s+/g, ' ')
      .slice(0, 60);
    warnings.push(
      at === 1
        ? `Row ${first.row} above the heading was skipped ("${title}").`
        : `${at} rows above the heading were skipped, from row ${first.row} ("${title}") to row ${rows[at - 1]!.row}.`,
    );
  }
  return { row: heading.row, evidence: evidenceText(heading, filled(heading), titled), warnings };
}

function evidenceText(heading: SampleRow, count: number, titled: boolean): string {
  const cells = `${count} filled ${count === 1 ? 'cell' : 'cells'}`;
  if (titled) return `Row ${heading.row} is the heading: it is the first text row as wide as the table (${cells}).`;
  if (looksLikeHeading(heading)) return `Row ${heading.row} is the heading: it is the first row (${cells}, text).`;
  return (
    `Row ${heading.row} is taken as the heading because it is the first row, though it looks like data. ` +
    'If the file has no heading, add one.'
  );
}

/**
 * The headings as text, without those beyond the last one that is filled, unless a row of the sample holds a value
 * there: such a column stays, with a blank heading. `bounded`: never more columns than the heading row has cells.
 */
export function headingTexts(heading: SampleRow, sample: readonly SampleRow[], bounded: boolean): string[] {
  let width = lastFilled(heading.cells) + 1;
  for (const row of sample) if (row.row > heading.row) width = Math.max(width, lastFilled(row.cells) + 1);
  if (bounded) width = Math.min(width, heading.cells.length);
  return Array.from({ length: width }, (_, i) => shownText(heading.cells[i]));
}

function lastFilled(cells: readonly Cell[]): number {
  let last = cells.length - 1;
  while (last >= 0 && isBlank(cells[last])) last--;
  return last;
}

/** `A`, `B`, …, `AA`: the column of a 0-based position. */
export function columnName(index: number): string {
  let name = '';
  for (let n = index + 1; n > 0; n = Math.floor((n - 1) / 26)) {
    name = String.fromCharCode(65 + ((n - 1) % 26)) + name;
  }
  return name;
}
