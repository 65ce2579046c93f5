import { usageError } from '../../model/error.js';
import { type Cell, displayText, isBlank } from '../../model/row.js';
import type { SourceOptions } from '../../model/source.js';
import { type CellRange, columnName, rangeName } from './cell-range.js';

/** The row that is the heading, and what spoke for it. */
export interface Heading extends SampleRow {
  readonly evidence: string;
  readonly warnings: readonly string[];
}

/** Non-blank rows that the search for a heading looks at. */
export const HEADING_SAMPLE = 100;

/** A heading stands among the first non-blank rows: a longer text above a table is no spreadsheet. */
const CANDIDATES = 40;

/**
 * Finds the heading row among the non-blank rows at the start of a table. Each of the first rows is held against the
 * rows below it: a heading fills the columns of the table, and holds text where the rows below hold numbers or dates, or
 * a word where they repeat others. The first row is the heading unless a later one is better by far, as below title rows;
 * of rows that are equally good the first is it, so that a row of units or instructions stays below.
 *
 * `expect`: the headings a job maps. Where the row found lacks some of them and another row of the sample has more, at
 * least half, that row is the heading.
 *
 * A file without a heading is told by a first row that looks like those below it: it is taken as the heading, and a
 * warning says so.
 */
export function findHeading(rows: readonly SampleRow[], expect: readonly string[] = []): Heading | undefined {
  if (rows.length === 0) return undefined;
  const sample = rows
    .slice(0, HEADING_SAMPLE)
    .map(({ row, cells }): ComparedRow => ({ row, cells, compared: cells.map(comparedCell) }));
  const filledCounts = sample.map((row) => (isNumbering(row.cells) ? 0 : filledCells(row)));
  const guessed = bestCandidate(sample, filledCounts);
  const expected = findExpected(sample, guessed.at, expect);
  const at = expected?.at ?? guessed.at;
  const heading = sample[at]!;
  if (!expected && at === 0 && looksLikeData(heading, guessed.contrast, sample.length - 1)) {
    const assumption = `Row ${heading.row} is taken as the heading because it is the first row, though it looks like data.`;
    const advice = `${assumption} If the file has no heading, add one`;
    const warning = `${advice}; if it stands further down, state source.header_row.`;
    return { ...heading, evidence: `${advice}.`, warnings: [warning] };
  }
  const cells = `filled cells: ${filledCells(heading)}`;
  const why = expected
    ? `it holds ${expected.found} of the ${expected.wanted} headings the job maps (${cells})`
    : at > 0
      ? `it is the first text row as wide as the table (${cells})`
      : `it is the first row (${cells}, text)`;
  const skipped = skippedRowsWarning(sample, at);
  const evidence = `Row ${heading.row} is the heading: ${why}.`;
  return { ...heading, evidence, warnings: skipped === undefined ? [] : [skipped] };
}

/** `1, 2, 3, …`, as forms number their columns above or below the heading. */
function isNumbering(cells: readonly Cell[]): boolean {
  const numbers = cells.filter((cell) => !isBlank(cell)).map((cell) => Number(displayText(cell)));
  return numbers.length > 2 && numbers.every((number, at) => number === at + 1);
}

/** Columns of the table: the largest number of filled cells that at least two rows reach. */
function columnsOf(filledCounts: readonly number[]): number {
  const counts = [...filledCounts].sort((a, b) => b - a);
  return counts[Math.min(1, counts.length - 1)] ?? 0;
}

/** The candidate of the highest score, the first of equals. `filledCounts`: filled cells of each row; 0 where they number the columns. */
function bestCandidate(sample: readonly ComparedRow[], filledCounts: readonly number[]) {
  const width = columnsOf(filledCounts);
  let best: { readonly at: number; readonly contrast: Contrast; readonly score: number } | undefined;
  for (let at = 0; at < Math.min(sample.length, CANDIDATES); at++) {
    const share = filledCounts[at]! / Math.max(1, width);
    const last = at === sample.length - 1;
    if (at > 0 && (last || share <= 0.5 || share > 2)) continue;
    if (at > 0 && !looksLikeHeading(sample[at]!)) continue;
    const contrast = contrastOf(sample, at);
    // Without a title above, a later row is a data row like others unless it differs from those below it.
    const titled = filledCounts.slice(0, at).some((filled) => filled > 0 && filled * 2 <= width);
    if (at > 0 && !titled && contrast.unlike - 2 * contrast.alike < 1) continue;
    const score = scoreOf(sample, filledCounts, at, width, contrast);
    if (!best || score > best.score) best = { at, contrast, score };
  }
  return best!;
}

/** A row that fills so much of the width is no title, and a later row is no better for standing below it. */
const WIDE = 0.6;

function scoreOf(
  sample: readonly SampleRow[],
  filledCounts: readonly number[],
  at: number,
  width: number,
  contrast: Contrast,
) {
  const columns = Math.max(1, width);
  const coverage = Math.min(1, filledCounts[at]! / columns);
  // A few rows below are little to be held against.
  const weight = Math.min(1, (sample.length - at - 1) / 4);
  let score = coverage + (weight * Math.max(-columns, contrast.unlike - 2 * contrast.alike)) / columns;
  // What stands before the first blank row and is narrower is a block of its own: `Report:, Assets`.
  const block = blockStart(sample, at);
  for (let i = 0; i < at; i++) {
    const above = filledCounts[i]! / columns;
    if (above >= WIDE && (i >= block || above >= coverage)) score -= above >= coverage ? 0.75 : 0.25;
  }
  return at === 0 && coverage > 0.5 ? score + 0.22 : score;
}

/** Position of the first row of the block of rows, without a blank row between, that row `at` belongs to. */
function blockStart(sample: readonly SampleRow[], at: number): number {
  let start = at;
  while (start > 0 && sample[start]!.row - sample[start - 1]!.row === 1) start--;
  return start;
}

/** At least half of the filled cells are text or years, and hardly two of them are equal. */
function looksLikeHeading({ compared }: ComparedRow): boolean {
  const filled = compared.filter((cell) => cell !== undefined);
  const texts = filled.filter(({ isValue, isYear, text }) => (!isValue || isYear) && text.length <= 250);
  const distinct = new Set(texts.map(({ text }) => text));
  return texts.length * 2 >= filled.length && texts.length - distinct.size <= texts.length / 4;
}

function looksLikeData(heading: ComparedRow, { alike, unlike }: Contrast, below: number): boolean {
  return !looksLikeHeading(heading) || (below > 0 && alike > 1 && alike > unlike * 2);
}

function findExpected(sample: readonly ComparedRow[], guessed: number, expect: readonly string[]) {
  const wanted = new Set(expect.map(foldedText).filter((text) => text !== ''));
  const found = sample.map(
    ({ compared }) => new Set(compared.map((cell) => cell?.text ?? '').filter((text) => wanted.has(text))).size,
  );
  const most = Math.max(...found);
  if (most <= found[guessed]! || most * 2 < wanted.size || (most < 2 && wanted.size > 1)) return undefined;
  return { at: found.indexOf(most), found: most, wanted: wanted.size };
}

/** What is said of the rows above position `at` of the sample, where the heading stands. */
function skippedRowsWarning(sample: readonly SampleRow[], at: number): string | undefined {
  if (at <= 0) return undefined;
  const first = sample[0]!;
  const title = displayText(first.cells.find((cell) => !isBlank(cell)))
    .replace(/\s+/g, ' ')
    .slice(0, 60);
  return at === 1
    ? `Row ${first.row} above the heading was skipped ("${title}").`
    : `${at} rows above the heading were skipped, from row ${first.row} ("${title}") to row ${sample[at - 1]!.row}.`;
}

/**
 * The headings as text, without those beyond the last one that is filled, unless a row of the sample holds a value
 * there: such a column stays, with a blank heading. `bounded`: never more columns than the heading row has cells.
 */
export function headingTexts(heading: SampleRow, sample: readonly SampleRow[], bounded: boolean): string[] {
  let width = lastFilled(heading.cells) + 1;
  for (const row of sample) if (row.row > heading.row) width = Math.max(width, lastFilled(row.cells) + 1);
  if (bounded) width = Math.min(width, heading.cells.length);
  return Array.from({ length: width }, (_, i) => displayText(heading.cells[i]));
}

function lastFilled(cells: readonly Cell[]): number {
  let last = cells.length - 1;
  while (last >= 0 && isBlank(cells[last])) last--;
  return last;
}

/**
 * The heading where a job says that there is none: letters, over as many columns as the first rows have, or, where rows are `even`,
 * as nine in ten of them have. Rows that were handed back to be corrected bear these letters, and our own headings beside them.
 * Undefined where there are no rows.
 */
function letterHeading(rows: readonly SampleRow[], even: boolean): Heading | undefined {
  const [first] = rows;
  if (!first) return undefined;
  const texts = first.cells.map((cell) => displayText(cell).trim());
  if (texts.includes('_row') && texts.includes('_outcome')) {
    return { ...first, evidence: `Row ${first.row} names the columns of rows that were handed back.`, warnings: [] };
  }
  const usual = even ? usualLength(rows) : undefined;
  const usualRows = usual === undefined ? rows : rows.filter(({ cells }) => cells.length === usual);
  const width = Math.max(...usualRows.map(({ cells }) => lastFilled(cells) + 1));
  const cells = Array.from({ length: width }, (_, i) => columnName(i));
  return { row: 0, cells, evidence: 'No row is the heading, as stated: columns go by their letters.', warnings: [] };
}

/** How many cells at least nine in ten rows have. */
function usualLength(rows: readonly SampleRow[]): number | undefined {
  const lengths = rows.map(({ cells }) => cells.length).sort((a, b) => a - b);
  const middle = lengths[lengths.length >> 1];
  return lengths.filter((length) => length === middle).length * 10 >= lengths.length * 9 ? middle : undefined;
}

/**
 * The heading that the job states by its number, that it says there is none, or the one that is found. `rows`: the first ones that
 * are not blank, from the stated row on, perhaps with some above it. `even`: of a format whose rows all have a cell for each column.
 * `ranges`: merged cells. `what` is read: `the file`, `the sheet "Assets"`. Undefined where there are no rows.
 */
export function chooseHeading(
  path: string,
  what: string,
  options: Pick<SourceOptions, 'header_row' | 'expect'> & { readonly even?: boolean },
  rows: readonly SampleRow[],
  ranges: readonly CellRange[] = [],
): Heading | undefined {
  const { header_row: stated = 'auto', expect = [], even = false } = options;
  if (stated === 'none') return letterHeading(rows, even);
  if (stated === 'auto') {
    const found = findHeading(rows, expect);
    return found && mergeHeadingRows(found, rows, ranges, false, expect);
  }
  const refuse = (why: string) => usageError(`${path}: source.header_row is ${stated}, but ${why}.`);
  const first = rows.find(({ row }) => row >= stated);
  if (!first) throw refuse(`${what} ends before that row`);
  if (first.row !== stated || first.cells.every(isBlank)) throw refuse('that row is blank');
  const heading = { ...first, evidence: `Row ${stated} is the heading, as stated.`, warnings: [] };
  return mergeHeadingRows(heading, rows, ranges, true, expect);
}

/** A heading over more rows is none. */
const MOST_ROWS = 3;

/**
 * The heading where its cells are merged with those of rows below or above: of words and years alone, each column has the
 * lowest one over it, behind its group where several have the same. A job that maps more of the row alone has that row.
 * `stated`: the row is the last one.
 */
function mergeHeadingRows(
  found: Heading,
  rows: readonly SampleRow[],
  ranges: readonly CellRange[],
  stated: boolean,
  expect: readonly string[],
): Heading {
  const over = ranges.filter(({ top, bottom }) => top <= found.row && found.row <= bottom);
  if (over.length === 0) return found;
  const names = over.slice(0, 5).map(rangeName).join(', ');
  const warning = `Cells of the heading are merged (${names}): only the first of each has a heading.`;
  const single = { ...found, warnings: [...found.warnings, warning] };
  const top = Math.min(...over.map((range) => range.top));
  const bottom = Math.max(...over.map((range) => range.bottom));
  const block = rows.filter(({ row }) => row >= top && row <= bottom);
  const isText = block.every(({ cells }) => cells.every((cell) => typeof cell === 'string' || isYear(cell)));
  if (bottom - top >= MOST_ROWS || (stated && bottom !== found.row)) return single;
  if (block.length < 2 || block.at(-1)!.row !== bottom || !isText) return single;

  const textAt = (row: SampleRow, column: number) => {
    if (!isBlank(row.cells[column])) return displayText(row.cells[column]);
    const cover = ranges.find(
      (one) => one.top <= row.row && row.row <= one.bottom && one.left <= column && column <= one.right,
    );
    return displayText(block.find((one) => one.row === cover?.top)?.cells[cover!.left]).trim();
  };
  // Of each column the texts over it, the lowest first.
  const stacks = Array.from({ length: Math.max(...block.map(({ cells }) => cells.length)) }, (_, column) =>
    block
      .map((row) => textAt(row, column))
      .filter((text) => text !== '')
      .reverse(),
  );
  const lowest = stacks.map(([own = '']) => foldedText(own));
  const cells = stacks.map((texts, column) => {
    const own = texts[0] ?? '';
    const group = texts.find((text) => text !== own);
    const isTwice = lowest.indexOf(lowest[column]!) !== lowest.lastIndexOf(lowest[column]!);
    return isTwice && group ? `${group} ${own}` : own;
  });
  const countMapped = (row: readonly Cell[]) => {
    const texts = new Set(row.map((cell) => foldedText(displayText(cell))));
    return expect.filter((heading) => texts.has(foldedText(heading))).length;
  };
  if (countMapped(found.cells) > countMapped(cells)) return single;
  const skipped = stated ? undefined : skippedRowsWarning(rows, rows.indexOf(block[0]!));
  const evidence = `Rows ${top} to ${bottom} are the heading: cells are merged over them (${names}), and each column has the lowest text over it.`;
  return { row: bottom, cells, evidence, warnings: skipped ? [skipped] : [] };
}

/** What is said of columns whose heading is blank; undefined where none is. */
export function blankHeadingsWarning(headings: readonly string[]): string | undefined {
  const blank = headings.flatMap((heading, i) => (heading.trim() === '' ? [columnName(i)] : []));
  if (blank.length === 0) return undefined;
  return `Columns without a heading are imported only where the job names their letter: ${blank.slice(0, 10).join(', ')}.`;
}

/** A row of the sample from which the heading is found. */
export interface SampleRow {
  readonly row: number;
  readonly cells: readonly Cell[];
}

const NUMBER_OR_DATE = /^\s*\(?[-+]?\s*\p{Sc}?\s*[-+]?\d[\d\s.,:/%T'’-]*(?:[AP]M|[eE][+-]?\d+|Z)?\s*\p{Sc}?\)?\s*$/iu;
/** Dates whose month is a word: `12-Jan-24`, `December 1, 2016`. */
const MONTH_NAME_DATE =
  /^\s*(?:\d{1,2}(?:st|nd|rd|th)?[\s.-]*\p{L}{3,9}\.?[\s,.-]*\d{2,4}|\p{L}{3,9}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})\s*$/u;
const TRUTH = /^\s*(?:true|false|yes|no)\s*$/i;
const YEAR = /^\s*(?:19\d\d|20\d\d|2100)\s*$/;

/** Longer text is text. */
const LONGEST_VALUE = 80;

function isValueText(text: string): boolean {
  if (text.length > LONGEST_VALUE) return false;
  return NUMBER_OR_DATE.test(text) || MONTH_NAME_DATE.test(text) || TRUTH.test(text);
}

/** A whole number from 1900 to 2100. */
const isYear = (cell: Cell) => YEAR.test(displayText(cell));

/** Text without regard to case, repeated blanks and Unicode form. */
const foldedText = (text: string) => text.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();

/** A cell as it is held against others, without regard to its field. */
interface ComparedCell {
  /** Folded. */
  readonly text: string;
  /** A number, a date, a truth value or an error. */
  readonly isValue: boolean;
  readonly isYear: boolean;
  /** Of text with digits, how it is built: `SN-0042` → `a-9`. */
  readonly shape: string | undefined;
}

/** A row of the sample; a blank cell is undefined. */
interface ComparedRow extends SampleRow {
  readonly compared: readonly (ComparedCell | undefined)[];
}

function comparedCell(cell: Cell): ComparedCell | undefined {
  if (isBlank(cell)) return undefined;
  const text = foldedText(displayText(cell));
  return {
    text,
    isValue: typeof cell === 'object' || isValueText(cell),
    isYear: isYear(cell),
    shape: /\d/.test(text) ? text.replace(/\p{L}+/gu, 'a').replace(/\d+/g, '9') : undefined,
  };
}

const filledCells = ({ compared }: ComparedRow) => compared.filter((cell) => cell !== undefined).length;

/** How a row goes with the columns below it. */
interface Contrast {
  /** Cells that cannot be data of their column, as text above numbers; half of one where their column is one of codes or of a few texts. */
  readonly unlike: number;
  /** Cells that look like the data of their column. */
  readonly alike: number;
}

/** Rows below a candidate that it is held against: one of units or a second heading must not hide what the columns hold. */
const BELOW = 60;

function contrastOf(sample: readonly ComparedRow[], at: number): Contrast {
  const below = sample.slice(at + 1, at + 1 + BELOW);
  let [unlike, alike] = [0, 0];
  for (const [i, cell] of sample[at]!.compared.entries()) {
    if (!cell) continue;
    const column = below.flatMap(({ compared }) => compared[i] ?? []);
    if (isTyped(column)) {
      const isYearAlone = cell.isYear && !column.every((one) => one.isYear);
      if (!cell.isValue || isYearAlone) unlike++;
      else alike++;
      continue;
    }
    const texts = column.map(({ text }) => text);
    const shape = column.every((one) => one.shape === column[0]?.shape) ? column[0]?.shape : undefined;
    const isBuiltAlike = column.length > 1 && shape !== undefined;
    const isRecurring = texts.length >= 4 && new Set(texts).size * 2 <= texts.length;
    const equals = texts.filter((text) => text === cell.text).length;
    if (equals > 1 || (isBuiltAlike && shape === cell.shape)) alike++;
    else if (equals === 0 && (isBuiltAlike || isRecurring)) unlike += 0.5;
  }
  return { unlike, alike };
}

/** Nearly all are values: a row of units or instructions among them must not hide what the others are. */
function isTyped(column: readonly ComparedCell[]): boolean {
  const values = column.filter(({ isValue }) => isValue).length;
  return values > 0 && (values >= column.length * 0.9 || (values >= 3 && values === column.length - 1));
}
