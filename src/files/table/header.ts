import { RunError } from '../../model/error.js';
import { type Cell, isBlank, shownText } from '../../model/row.js';
import type { SourceOptions } from '../../model/source.js';
import { remembered } from '../remembered.js';
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

/** One row held against those below it. */
interface Candidate {
  readonly at: number;
  readonly habits: readonly ColumnHabit[];
  readonly contrast: Contrast;
  readonly score: number;
}

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
  const sample = rows.slice(0, HEADING_SAMPLE);
  const first = sample[0];
  if (!first) return undefined;
  const fills = sample.map(({ cells }) => (isNumbering(cells) ? 0 : filledCells(cells)));
  const guessed = bestCandidate(sample, fills);
  const expected = byExpected(sample, guessed.at, expect);
  const at = expected?.at ?? guessed.at;
  const heading = sample[at]!;
  const warnings: string[] = [];
  const skipped = skippedText(sample, at);
  if (skipped) warnings.push(skipped);
  const cells = `${filledCells(heading.cells)} filled ${filledCells(heading.cells) === 1 ? 'cell' : 'cells'}`;
  if (expected) {
    const evidence = `Row ${heading.row} is the heading: it holds ${expected.found} of the ${expected.wanted} headings the job maps (${cells}).`;
    return { ...heading, evidence, warnings };
  }
  const { habits, contrast } = guessed;
  const against = contrast.unlike > 0 ? `, ${above(heading, habits)}` : '';
  if (at > 0) {
    const evidence = `Row ${heading.row} is the heading: it is the first text row as wide as the table (${cells}${against}).`;
    return { ...heading, evidence, warnings };
  }
  if (looksLikeData(heading, contrast, sample.length - at - 1)) {
    const taken = `Row ${heading.row} is taken as the heading because it is the first row, though it looks like data.`;
    warnings.push(`${taken} If the file has no heading, add one; if it stands further down, state source.header_row.`);
    return { ...heading, evidence: `${taken} If the file has no heading, add one.`, warnings };
  }
  const evidence = `Row ${heading.row} is the heading: it is the first row (${cells}, text${against}).`;
  return { ...heading, evidence, warnings };
}

/** `1, 2, 3, …`, as forms number their columns above or below the heading. */
function isNumbering(cells: readonly Cell[]): boolean {
  const numbers = cells.filter((cell) => !isBlank(cell)).map((cell) => Number(shownText(cell)));
  return numbers.length > 2 && numbers.every((number, at) => number === at + 1);
}

/** Columns of the table: the largest number of filled cells that at least two rows reach. */
function columnsOf(fills: readonly number[]): number {
  const counts = [...fills].sort((a, b) => b - a);
  return counts[Math.min(1, counts.length - 1)] ?? 0;
}

/** The candidate of the highest score, the first of equals. `fills`: filled cells of each row; 0 where they number the columns. */
function bestCandidate(sample: readonly SampleRow[], fills: readonly number[]): Candidate {
  const width = columnsOf(fills);
  let best: Candidate | undefined;
  for (let at = 0; at < Math.min(sample.length, CANDIDATES); at++) {
    const share = fills[at]! / Math.max(1, width);
    const last = at === sample.length - 1;
    if (at > 0 && (last || share <= 0.5 || share > 2)) continue;
    if (at > 0 && !looksLikeHeading(sample[at]!)) continue;
    const below = sample.slice(at + 1, at + 1 + BELOW);
    const habits = Array.from({ length: Math.min(sample[at]!.cells.length, 300) }, (_, i) => columnHabit(below, i));
    const contrast = contrastOf(sample[at]!.cells, habits);
    // Without a title above, a later row is a data row like others unless it differs from those below it.
    const titled = fills.slice(0, at).some((filled) => filled > 0 && filled * 2 <= width);
    if (at > 0 && !titled && contrast.unlike - 2 * contrast.alike < 1) continue;
    const score = scoreOf(sample, fills, at, width, contrast);
    if (!best || score > best.score) best = { at, habits, contrast, score };
  }
  return best!;
}

/** A row that fills so much of the width is no title, and a later row is no better for standing below it. */
const WIDE = 0.6;

function scoreOf(
  sample: readonly SampleRow[],
  fills: readonly number[],
  at: number,
  width: number,
  contrast: Contrast,
) {
  const columns = Math.max(1, width);
  const coverage = Math.min(1, fills[at]! / columns);
  // A few rows below are little to be held against.
  const weight = Math.min(1, (sample.length - at - 1) / 4);
  let score = coverage + (weight * Math.max(-columns, contrast.unlike - 2 * contrast.alike)) / columns;
  // What stands before the first blank row and is narrower is a block of its own: `Report:, Assets`.
  const block = blockStart(sample, at);
  for (let i = 0; i < at; i++) {
    const above = fills[i]! / columns;
    if (above >= WIDE && (i >= block || above >= coverage)) score -= above >= coverage ? 0.75 : 0.25;
  }
  const titleOnly = at === 0 && coverage <= 0.5;
  return at === 0 && !titleOnly ? score + 0.3 : score;
}

/** Position of the first row of the block of rows, without a blank row between, that row `at` belongs to. */
function blockStart(sample: readonly SampleRow[], at: number): number {
  let start = at;
  while (start > 0 && sample[start]!.row - sample[start - 1]!.row === 1) start--;
  return start;
}

/** Rows below a candidate that it is held against: one of units or a second heading must not hide what the columns hold. */
const BELOW = 60;

/** At least half of the filled cells are text or years, and hardly two of them are equal. */
function looksLikeHeading({ cells }: SampleRow): boolean {
  const filled = cells.filter((cell) => !isBlank(cell));
  const texts = filled.filter((cell) => ['text', 'year'].includes(lookOf(cell)) && shownText(cell).length <= 250);
  const distinct = new Set(texts.map(foldedText));
  return texts.length * 2 >= filled.length && texts.length - distinct.size <= texts.length / 4;
}

function looksLikeData(heading: SampleRow, { alike, unlike }: Contrast, below: number): boolean {
  return !looksLikeHeading(heading) || (below > 0 && alike > 1 && alike > unlike * 2);
}

/** `Cost and Bought are text above numbers and dates` */
function above({ cells }: SampleRow, habits: readonly ColumnHabit[]): string {
  const typed = habits.flatMap((habit, i) => (habit.typed && lookOf(cells[i]) !== 'blank' ? [i] : []));
  if (typed.length === 0) return 'unlike the rows below';
  const names = typed.slice(0, 3).map((i) => `"${shownText(cells[i]).replace(/\s+/g, ' ').trim().slice(0, 30)}"`);
  const more = typed.length > 3 ? ` and ${typed.length - 3} more` : '';
  return `${names.join(', ')}${more} above numbers or dates`;
}

function byExpected(sample: readonly SampleRow[], guessed: number, expect: readonly string[]) {
  const wanted = new Set(expect.map(foldedText).filter((text) => text !== ''));
  if (wanted.size === 0) return undefined;
  const width = Math.max(...sample.map(({ cells }) => cells.length));
  const letters = Array.from({ length: width }, (_, i) => foldedText(columnName(i)));
  const found = sample.map(({ cells }) => {
    const named = new Set(cells.map(foldedText).filter((text) => wanted.has(text)));
    // A letter reaches a column whose heading is blank, beside one that the job names.
    const blank = letters.filter((letter, i) => wanted.has(letter) && !named.has(letter) && isBlank(cells[i]));
    return named.size === 0 ? 0 : named.size + blank.length;
  });
  const most = Math.max(...found);
  if (most <= found[guessed]! || most * 2 < wanted.size || (most < 2 && wanted.size > 1)) return undefined;
  return { at: found.indexOf(most), found: most, wanted: wanted.size };
}

/** What is said of the rows above position `at` of the sample, where the heading begins. */
export function skippedText(sample: readonly SampleRow[], at: number): string | undefined {
  if (at <= 0) return undefined;
  const first = sample[0]!;
  const title = shownText(first.cells.find((cell) => !isBlank(cell)))
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
  return Array.from({ length: width }, (_, i) => shownText(heading.cells[i]));
}

function lastFilled(cells: readonly Cell[]): number {
  let last = cells.length - 1;
  while (last >= 0 && isBlank(cells[last])) last--;
  return last;
}

/**
 * The heading where a job says that there is none: letters, over as many columns as the first rows have. Rows that were handed
 * back to be corrected bear these letters, and our own headings beside them. Undefined where there are no rows.
 */
function letterHeading(rows: readonly SampleRow[]): Heading | undefined {
  const [first] = rows;
  if (!first) return undefined;
  const texts = first.cells.map((cell) => shownText(cell).trim());
  if (texts.includes('_row') && texts.includes('_outcome')) {
    return { ...first, evidence: `Row ${first.row} names the columns of rows that were handed back.`, warnings: [] };
  }
  const width = Math.max(...rows.map(({ cells }) => lastFilled(cells) + 1));
  const cells = Array.from({ length: width }, (_, i) => columnName(i));
  return { row: 0, cells, evidence: 'No row is the heading, as stated: columns go by their letters.', warnings: [] };
}

/**
 * The heading that the job states by its number, that it says there is none, or the one that is found. `rows`: the first ones that
 * are not blank, from the stated row on. `what` is read: `the file`, `the sheet "Assets"`. Undefined where there are no rows.
 */
export function chooseHeading(
  path: string,
  what: string,
  { header_row: stated = 'auto', expect }: Pick<SourceOptions, 'header_row' | 'expect'>,
  rows: readonly SampleRow[],
): Heading | undefined {
  if (stated === 'none') return letterHeading(rows);
  if (stated === 'auto') return findHeading(rows, expect);
  const refuse = (why: string) => new RunError('usage', `${path}: source.header_row is ${stated}, but ${why}.`);
  const [first] = rows;
  if (!first) throw refuse(`${what} ends before that row`);
  if (first.row !== stated || first.cells.every(isBlank)) throw refuse('that row is blank');
  return { ...first, evidence: `Row ${stated} is the heading, as stated.`, warnings: [] };
}

/** What is said of columns whose heading is blank; undefined where none is. */
export function withoutHeading(headings: readonly string[]): string | undefined {
  const blank = headings.flatMap((heading, i) => (heading.trim() === '' ? [columnName(i)] : []));
  if (blank.length === 0) return undefined;
  return `Columns without a heading are imported only where the job names their letter: ${blank.slice(0, 10).join(', ')}.`;
}

/** A heading over more rows is none. */
const MOST_ROWS = 3;

/**
 * The heading where cells of row `at` are merged with cells of the rows below or above: each column has the lowest text
 * that stands over it, `Cost` below `Purchase` as well as `Name` merged over both rows. Texts that several columns have
 * are told apart by the group above them. Undefined where nothing is merged so, or a row of the heading holds other
 * things than text.
 *
 * Gives its first row as `top`, and its last as the row, with a cell for each column.
 *
 * `rows`: those from the heading on and above it, ascending. `stated`: row `at` is the last one, as somebody says.
 */
export function mergedHeading(
  at: number,
  rows: readonly SampleRow[],
  ranges: readonly CellRange[],
  stated: boolean,
): (Omit<Heading, 'warnings'> & { readonly top: number }) | undefined {
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
  const names = over.slice(0, 5).map(rangeName);
  const list = `${names.join(', ')}${over.length > names.length ? ', …' : ''}`;
  return {
    top,
    row: bottom,
    cells,
    evidence: `Rows ${top} to ${bottom} are the heading: cells are merged over them (${list}), and each column has the lowest text over it.`,
  };
}

/** Texts over a column, the lowest first; a text that goes on in the next row counts once. */
function stackOf(shown: readonly (readonly string[])[], column: number): string[] {
  const texts = shown.map((row) => row[column]!).filter((text) => text !== '');
  return texts.filter((text, i) => text !== texts[i + 1]).reverse();
}

/** What a person sees at a place: the cell's own text, or that of the merged range that covers it. */
function textOver(row: SampleRow, column: number, block: readonly SampleRow[], ranges: readonly CellRange[]): string {
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

/** A row of the sample from which the heading is found. */
export interface SampleRow {
  readonly row: number;
  readonly cells: readonly Cell[];
}

/**
 * What a cell looks like, without regard to its field: `year` is a whole number from 1900 to 2100, `value` another
 * number, a date, a truth value or an error.
 */
type CellLook = 'blank' | 'text' | 'year' | 'value';

const NUMBER_OR_DATE = /^\s*\(?[-+]?\s*\p{Sc}?\s*[-+]?\d[\d\s.,:/%T'’-]*(?:[AP]M|[eE][+-]?\d+|Z)?\s*\p{Sc}?\)?\s*$/iu;
/** Dates whose month is a word: `12-Jan-24`, `December 1, 2016`. */
const SPOKEN_DATE =
  /^\s*(?:\d{1,2}(?:st|nd|rd|th)?[\s.-]*\p{L}{3,9}\.?[\s,.-]*\d{2,4}|\p{L}{3,9}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})\s*$/u;
const TRUTH = /^\s*(?:true|false|yes|no)\s*$/i;
const YEAR = /^\s*(?:19\d\d|20\d\d|2100)\s*$/;

function lookOf(cell: Cell | undefined): CellLook {
  if (cell === undefined) return 'blank';
  if (typeof cell === 'object') return isBlank(cell) ? 'blank' : YEAR.test(shownText(cell)) ? 'year' : 'value';
  if (cell.length > LONGEST_VALUE) return isBlank(cell) ? 'blank' : YEAR.test(cell) ? 'year' : 'text';
  return looks(cell);
}

/** Longer text is text. */
const LONGEST_VALUE = 80;

/** A cell of the sample is held against every row above it, so what was found of a text is kept for the next time. */
const REMEMBERED = 8_192;

const looks = remembered((text): CellLook => {
  if (isBlank(text)) return 'blank';
  if (YEAR.test(text)) return 'year';
  return NUMBER_OR_DATE.test(text) || SPOKEN_DATE.test(text) || TRUTH.test(text) ? 'value' : 'text';
}, REMEMBERED);

function filledCells(cells: readonly Cell[]): number {
  let count = 0;
  for (const cell of cells) if (!isBlank(cell)) count++;
  return count;
}

/** Text without regard to case, repeated blanks and Unicode form. */
export function foldedText(cell: Cell | undefined): string {
  const text = shownText(cell);
  return text.length > LONGEST_VALUE ? fold(text) : folded(text);
}

const fold = (text: string) => text.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();
const folded = remembered(fold, REMEMBERED);

/** What the cells of one column have in common, so that another cell can be held against them. */
interface ColumnHabit {
  readonly filled: number;
  /** Nearly all cells are numbers, dates or truth values. */
  readonly typed: boolean;
  /** All of those are years. */
  readonly years: boolean;
  /** Texts with digits that are all built alike, such as `SN-0042`: letters as `a`, digits as `9`. */
  readonly shape: string | undefined;
  /** Texts that return again and again, such as a status; undefined where they do not. */
  readonly repeated: ReadonlySet<string> | undefined;
}

/** `SN-0042` → `a-9`. */
function shapeOfText(text: string): string {
  return text.length > LONGEST_VALUE ? shape(text) : shapes(text);
}

const shape = (text: string) => text.replace(/\p{L}+/gu, 'a').replace(/\d+/g, '9');
const shapes = remembered(shape, REMEMBERED);

/** One row of units or instructions among them must not hide what the others are. */
function nearlyAll(count: number, filled: number): boolean {
  return filled > 0 && (count >= filled * 0.9 || (count >= 3 && filled - count === 1));
}

function columnHabit(rows: readonly SampleRow[], index: number): ColumnHabit {
  let [filled, typed, years, texts] = [0, 0, 0, 0];
  const distinct = new Set<string>();
  const shapes = new Map<string, number>();
  for (const { cells } of rows) {
    const look = lookOf(cells[index]);
    if (look === 'blank') continue;
    filled++;
    if (look === 'year') years++;
    if (look !== 'text') {
      typed++;
      continue;
    }
    const text = foldedText(cells[index]);
    texts++;
    distinct.add(text);
    if (/\d/.test(text)) shapes.set(shapeOfText(text), (shapes.get(shapeOfText(text)) ?? 0) + 1);
  }
  const [common, built] = [...shapes].reduce((best, one) => (one[1] > best[1] ? one : best), ['', 0]);
  return {
    filled,
    typed: nearlyAll(typed, filled),
    years: filled > 0 && years === filled,
    shape: built >= 2 && nearlyAll(built, filled) ? common : undefined,
    repeated: texts >= 4 && distinct.size * 2 <= texts ? distinct : undefined,
  };
}

/** How a row goes with the columns below it. */
interface Contrast {
  /** Cells that cannot be data of their column, e.g. text above numbers. */
  readonly unlike: number;
  /** Cells that look like the data of their column. */
  readonly alike: number;
}

function contrastOf(cells: readonly Cell[], habits: readonly ColumnHabit[]): Contrast {
  let unlike = 0;
  let alike = 0;
  for (const [index, habit] of habits.entries()) {
    const look = lookOf(cells[index]);
    if (look === 'blank' || habit.filled === 0) continue;
    if (habit.typed) {
      if (look === 'text' || (look === 'year' && !habit.years)) unlike++;
      else alike++;
      continue;
    }
    const text = foldedText(cells[index]);
    if (habit.shape !== undefined) {
      if (look === 'text' && shapeOfText(text) === habit.shape) alike++;
      else if (!/\d/.test(text)) unlike++;
    } else if (habit.repeated) {
      if (habit.repeated.has(text)) alike++;
      else unlike += 0.5;
    }
  }
  return { unlike, alike };
}
