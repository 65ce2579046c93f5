import { type Cell, displayText, isBlank, type SheetRow } from '../model/row.js';
import type { OpenSource, SourceFormat } from '../model/source.js';
import { normaliseKey } from '../model/value.js';
import { trimText } from '../pipeline/map/cell-text.js';
import { columnNames } from './column-names.js';
import { type Words, wordsOf } from './words.js';

/** One cell of the sample that is not blank. */
export interface SampledCell {
  readonly row: number;
  /** Text is trimmed. */
  readonly cell: Cell;
  readonly text: string;
}

/** A column: what was counted over every row, and its cells in the sample. */
export interface Column {
  readonly heading: string;
  /** As a job names the column: its letter where the heading is blank, `Name #2` where it repeats; undefined where none can. */
  readonly name: string | undefined;
  /** 0-based position in the file. */
  readonly index: number;
  readonly words: Words;
  readonly filled: number;
  readonly blank: number;
  /** Text → rows, in the order of the file; at most `MAX_CHOICES`, undefined where there are more. */
  readonly choices: ReadonlyMap<string, number> | undefined;
  /** Different texts; undefined where counting stopped at a bound. */
  readonly distinct: number | undefined;
  /** Rows whose text stands in an earlier row, among the `counted` filled rows. */
  readonly repeats: number;
  readonly counted: number;
  readonly cells: readonly SampledCell[];
}

export interface FileProfile {
  readonly format: SourceFormat;
  readonly delimiter: string | null;
  readonly rows: number;
  /** Rows whose cells cannot be told apart; they are in no count but `rows`. */
  readonly uneven: number;
  /** Rows of which one cell alone is filled, as in titles and notes between the records. */
  readonly lone: number;
  readonly columns: readonly Column[];
  readonly sample: readonly SheetRow[];
  /** Whether the sample is every row. */
  readonly whole: boolean;
  /** Texts that mean blank, such as `NULL`, in one spelling each; they count as blank. */
  readonly nulls: readonly string[];
}

/**
 * Rows of the sample, and cells of it; different texts of a column, and characters of all columns together, that are kept
 * for counting.
 */
const LIMITS = { sampleRows: 5_000, sampleCells: 300_000, distinct: 100_000, characters: 32_000_000 };
const MAX_CHOICES = 250;
/** Longer texts are no key and no choice, and the sample keeps a part of them. */
const COUNTABLE = 200;
const KEPT = 1_100;

/**
 * One look through a file: blanks and repeats are counted over every row, and a sample that is spread evenly over the whole
 * file is kept for everything else. Memory is bounded whatever the file holds.
 */
export async function profileFile(source: OpenSource, limits: Partial<typeof LIMITS> = {}): Promise<FileProfile> {
  const { sampleRows, sampleCells, distinct, characters } = { ...LIMITS, ...limits };
  const { headings, format, delimiter } = source.meta;
  const budget = { distinct, characters };
  const counters = headings.map(() => new Counter(budget));
  const room = Math.max(100, Math.min(sampleRows, Math.floor(sampleCells / Math.max(1, headings.length))));
  let sample: SheetRow[] = [];
  let step = 1;
  let rows = 0;
  let uneven = 0;
  let lone = 0;
  const nulls = new Map<string, string>();
  for await (const batch of source.rows()) {
    for (const row of batch) {
      if (row.noRecord) continue;
      rows++;
      if (row.faults?.some(({ code }) => code === 'ragged_row' || code === 'stray_quote')) {
        uneven++;
        continue;
      }
      const cells = row.cells.slice(0, headings.length).map((cell) => (isNull(cell, nulls) ? '' : cell));
      if (headings.length > 3 && cells.filter((cell) => !isBlank(cell)).length === 1) lone++;
      for (const [index, counter] of counters.entries()) counter.add(cells[index]);
      if ((rows - uneven - 1) % step !== 0) continue;
      sample.push({ row: row.row, cells: cells.map(boundedCell) });
      if (sample.length <= room) continue;
      // The sample is full: every second row goes, and rows are taken half as often from here on.
      sample = sample.filter((_, at) => at % 2 === 0);
      step *= 2;
    }
  }
  const names = columnNames(headings);
  const columns = counters.map((counter, index): Column => {
    const heading = headings[index] ?? '';
    return {
      heading,
      name: names[index],
      index,
      words: wordsOf(heading),
      ...counter.result(),
      cells: cellsOf(index, sample),
    };
  });
  return { format, delimiter, rows, uneven, lone, columns, sample, whole: step === 1, nulls: [...nulls.values()] };
}

/** Notes the text where it means blank. */
function isNull(cell: Cell, nulls: Map<string, string>): boolean {
  if (typeof cell !== 'string' || cell.length > 20 || !NULL.test(cell)) return false;
  const text = cell.trim();
  if (!nulls.has(text.toLowerCase())) nulls.set(text.toLowerCase(), text);
  return true;
}

/** What databases and people write for a value that is not there. */
const NULL = /^\s*(?:null|\(null\)|n\/a|[-–—]+)\s*$/i;

/** A copy: a part of a text would keep the whole of it in memory. */
function boundedCell(cell: Cell): Cell {
  return typeof cell === 'string' && cell.length > KEPT ? Buffer.from(cell.slice(0, KEPT)).toString() : cell;
}

function cellsOf(index: number, sample: readonly SheetRow[]): SampledCell[] {
  return sample.flatMap(({ row, cells }) => {
    const cell = cells[index] ?? '';
    const trimmed = typeof cell === 'string' ? trimText(cell) : cell;
    return trimmed === '' ? [] : [{ row, cell: trimmed, text: displayText(trimmed) }];
  });
}

/** Counts what a column holds; different texts up to the bounds, of which `characters` is one for all columns. */
class Counter {
  private filled = 0;
  private blank = 0;
  private counted = 0;
  private repeats = 0;
  /** Texts that are no choice and no key: they are not told apart. */
  private long = false;
  /** Undefined once counting has stopped. */
  private texts: Map<string, number> | undefined = new Map();

  constructor(private readonly budget: { readonly distinct: number; characters: number }) {}

  add(cell: Cell | undefined): void {
    if (isBlank(cell)) {
      this.blank++;
      return;
    }
    this.filled++;
    if (!this.texts) return;
    const text = displayText(cell).trim();
    if (text.length > COUNTABLE) {
      this.long = true;
      return;
    }
    const key = PLAIN.test(text) ? text : normaliseKey(text);
    const times = this.texts.get(key);
    const full = this.texts.size >= this.budget.distinct || this.budget.characters < 0;
    if (times === undefined && full) {
      this.texts = undefined;
      return;
    }
    this.counted++;
    if (times !== undefined) this.repeats++;
    else this.budget.characters -= key.length + 32;
    this.texts.set(key, (times ?? 0) + 1);
  }

  result() {
    const { filled, blank, repeats, counted } = this;
    const texts = this.long ? undefined : this.texts;
    const choices = texts && texts.size <= MAX_CHOICES ? texts : undefined;
    return { filled, blank, choices, distinct: texts?.size, repeats, counted };
  }
}

/** Visible ASCII with single blanks needs no normalising. */
const PLAIN = /^(?:[!-~]| (?! ))*$/;
