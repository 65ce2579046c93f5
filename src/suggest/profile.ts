import { type Cell, isBlank, type SheetRow, shownText } from '../model/row.js';
import type { OpenSource } from '../model/source.js';
import { normaliseKey } from '../model/value.js';
import { trimText } from '../pipeline/cell-text.js';

/**
 * One look through a file: what is cheap is counted over every row, and a sample that is spread evenly over the whole file
 * is kept for everything else. Memory is bounded whatever the file holds.
 */

/** Lengths at which fields end; how many texts are longer is counted over the whole file. */
export const LENGTHS = [20, 50, 150, 254, 1000] as const;

export interface ColumnProfile {
  readonly heading: string;
  /** 0-based position in the file. */
  readonly index: number;
  readonly filled: number;
  readonly blank: number;
  /** Characters of the longest text. */
  readonly longest: number;
  /** Texts longer than each of `LENGTHS`. */
  readonly over: readonly number[];
  /** Text → rows, in the order of the file; at most `MAX_CHOICES`, undefined where there are more. */
  readonly choices: ReadonlyMap<string, number> | undefined;
  /** Different texts; undefined where counting stopped at a bound. */
  readonly distinct: number | undefined;
  /** Rows whose text stands in an earlier row, among the `counted` filled rows. */
  readonly repeats: number;
  readonly counted: number;
}

export interface FileProfile {
  readonly rows: number;
  /** Rows whose cells cannot be told apart; they are in no count but `rows`. */
  readonly uneven: number;
  readonly columns: readonly ColumnProfile[];
  readonly sample: readonly SheetRow[];
  /** Whether the sample is every row. */
  readonly whole: boolean;
}

export interface ProfileLimits {
  readonly sampleRows: number;
  /** Rows times columns. */
  readonly sampleCells: number;
  readonly distinct: number;
  /** Characters kept for counting different texts, of all columns together. */
  readonly characters: number;
}

const LIMITS: ProfileLimits = {
  sampleRows: 5_000,
  sampleCells: 300_000,
  distinct: 100_000,
  characters: 32_000_000,
};
export const MAX_CHOICES = 250;
/** Longer texts are no key and no choice, and are kept in part. */
const KEPT = 1_100;
const COUNTABLE = 200;
/** After so many rows a column with many different texts, most of them repeated, is known well enough. */
const ENOUGH = 20_000;

export async function profileFile(
  source: OpenSource,
  limits: Partial<ProfileLimits> = {},
  onRows: (rows: number) => void = () => undefined,
): Promise<FileProfile> {
  const bounds = { ...LIMITS, ...limits };
  const { headings } = source.meta;
  const columns = headings.map(() => new Counter());
  const room = Math.max(
    100,
    Math.min(bounds.sampleRows, Math.floor(bounds.sampleCells / Math.max(1, headings.length))),
  );
  const sample = new Spread(room);
  const budget = { characters: bounds.characters, distinct: bounds.distinct };
  let rows = 0;
  let uneven = 0;
  for await (const batch of source.rows()) {
    for (const row of batch) {
      if (row.noRecord) continue;
      rows++;
      if (row.faults?.some(({ code }) => code === 'ragged_row' || code === 'stray_quote')) {
        uneven++;
        continue;
      }
      for (const [index, column] of columns.entries()) column.add(row.cells[index], budget);
      if (sample.wants()) sample.keep({ row: row.row, cells: row.cells.slice(0, headings.length).map(bounded) });
    }
    onRows(rows);
  }
  return {
    rows,
    uneven,
    columns: columns.map((column, index) => column.result(headings[index] ?? '', index)),
    sample: sample.rows,
    whole: sample.whole,
  };
}

/** Every n-th row, so that it never holds more than `room`: when it is full every second row goes and n doubles. */
class Spread {
  rows: SheetRow[] = [];
  private seen = 0;
  private step = 1;
  constructor(private readonly room: number) {}

  wants(): boolean {
    return this.seen++ % this.step === 0;
  }

  keep(row: SheetRow): void {
    this.rows.push(row);
    if (this.rows.length <= this.room) return;
    this.rows = this.rows.filter((_, index) => index % 2 === 0);
    this.step *= 2;
  }

  get whole(): boolean {
    return this.step === 1;
  }
}

/** A copy: a part of a text would keep the whole of it in memory. */
function bounded(cell: Cell): Cell {
  return typeof cell === 'string' && cell.length > KEPT ? Buffer.from(cell.slice(0, KEPT)).toString() : cell;
}

class Counter {
  private filled = 0;
  private blank = 0;
  private longest = 0;
  private counted = 0;
  private readonly over: number[] = LENGTHS.map(() => 0);
  /** Undefined once counting has stopped. */
  private texts: Map<string, number> | undefined = new Map();
  private repeats = 0;

  add(cell: Cell | undefined, budget: { characters: number; readonly distinct: number }): void {
    if (isBlank(cell)) {
      this.blank++;
      return;
    }
    this.filled++;
    const text = typeof cell === 'string' ? trimText(cell) : shownText(cell).trim();
    if (text.length > this.longest || text.length > LENGTHS[0]) this.measure(text);
    if (this.texts) this.count(text, this.texts, budget);
  }

  private measure(text: string): void {
    const length = characters(text);
    if (length > this.longest) this.longest = length;
    for (let at = 0; at < LENGTHS.length && length > LENGTHS[at]!; at++) this.over[at]!++;
  }

  private count(text: string, texts: Map<string, number>, budget: { characters: number; readonly distinct: number }) {
    const key = text.length > COUNTABLE ? undefined : PLAIN.test(text) ? text : normaliseKey(text);
    const times = key === undefined ? undefined : texts.get(key);
    const surely = this.counted > ENOUGH && texts.size > 1_000 && this.repeats * 2 > this.counted;
    if (
      key === undefined ||
      surely ||
      (times === undefined && (texts.size >= budget.distinct || budget.characters < 0))
    ) {
      this.texts = undefined;
      return;
    }
    this.counted++;
    if (times !== undefined) this.repeats++;
    else budget.characters -= key.length + 32;
    texts.set(key, (times ?? 0) + 1);
  }

  result(heading: string, index: number): ColumnProfile {
    const { filled, blank, longest, over, texts, repeats, counted } = this;
    const choices = texts && texts.size <= MAX_CHOICES ? texts : undefined;
    return { heading, index, filled, blank, longest, over, choices, distinct: texts?.size, repeats, counted };
  }
}

/** Visible ASCII with single blanks needs no normalising. */
const PLAIN = /^(?:[!-~]| (?! ))*$/;

function characters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) {
      count--;
      at++;
    }
  }
  return count;
}

/** Texts of the column longer than `max`; undefined where only the sample can tell. */
export function longerThan(column: ColumnProfile, max: number): number | undefined {
  const at = LENGTHS.indexOf(max as (typeof LENGTHS)[number]);
  return column.longest <= max ? 0 : at < 0 ? undefined : column.over[at];
}
