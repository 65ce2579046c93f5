import { type Cell, isBlank, shownText } from '../../model/row.js';
import { remembered } from '../remembered.js';

/** A row of the sample from which the heading is found. */
export interface SampleRow {
  readonly row: number;
  readonly cells: readonly Cell[];
}

/**
 * What a cell looks like, without regard to its field: `year` is a whole number from 1900 to 2100, `value` another
 * number, a date, a truth value or an error.
 */
export type CellLook = 'blank' | 'text' | 'year' | 'value';

const NUMBER_OR_DATE = /^\s*\(?[-+]?\s*\p{Sc}?\s*[-+]?\d[\d\s.,:/%T'’-]*(?:[AP]M|[eE][+-]?\d+|Z)?\s*\p{Sc}?\)?\s*$/iu;
/** Dates whose month is a word: `12-Jan-24`, `December 1, 2016`. */
const SPOKEN_DATE =
  /^\s*(?:\d{1,2}(?:st|nd|rd|th)?[\s.-]*\p{L}{3,9}\.?[\s,.-]*\d{2,4}|\p{L}{3,9}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})\s*$/u;
const TRUTH = /^\s*(?:true|false|yes|no)\s*$/i;
const YEAR = /^\s*(?:19\d\d|20\d\d|2100)\s*$/;

export function lookOf(cell: Cell | undefined): CellLook {
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

export function filledCells(cells: readonly Cell[]): number {
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
export interface ColumnHabit {
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
export function shapeOfText(text: string): string {
  return text.length > LONGEST_VALUE ? shape(text) : shapes(text);
}

const shape = (text: string) => text.replace(/\p{L}+/gu, 'a').replace(/\d+/g, '9');
const shapes = remembered(shape, REMEMBERED);

/** One row of units or instructions among them must not hide what the others are. */
function nearlyAll(count: number, filled: number): boolean {
  return filled > 0 && (count >= filled * 0.9 || (count >= 3 && filled - count === 1));
}

export function columnHabit(rows: readonly SampleRow[], index: number): ColumnHabit {
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
export interface Contrast {
  /** Cells that cannot be data of their column, e.g. text above numbers. */
  readonly unlike: number;
  /** Cells that look like the data of their column. */
  readonly alike: number;
}

export function contrastOf(cells: readonly Cell[], habits: readonly ColumnHabit[]): Contrast {
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
