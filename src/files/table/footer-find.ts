import { type SheetRow, shownText } from '../../model/row.js';
import { sumColumns } from './footer-sum.js';
import { isTotalsRow, labelOf, noteIn } from './footer-words.js';
import { type ColumnHabit, columnHabit, contrastOf, filledCells, lookOf } from './sample-table.js';

/** Rows below the data that are looked at; a longer text below a table is another table. */
const LONGEST = 20;

export interface Footer {
  /** Rows that are no data, for certain. */
  readonly out: ReadonlySet<number>;
  readonly warnings: readonly string[];
}

export interface LastRows {
  /** The last rows of the table, blank ones left out: the whole table, or well more than a footer is long. */
  readonly rows: readonly SheetRow[];
  readonly headings: readonly string[];
  /** Every row of the table once more, for the rare row that must be added up: a few times at most. */
  readonly all: () => AsyncIterable<readonly SheetRow[]> | Iterable<readonly SheetRow[]>;
  /** The whole table is in `rows`, so that adding it up costs nothing. */
  readonly whole: boolean;
}

/** Looks through a large table for sums; rows of numbers beyond these stay data, as a column of them is no footer. */
const MOST_SUMS = 3;

/** Fewer rows say little about what a row of the table usually looks like. */
const ENOUGH = 8;

/** What speaks for a row being no data. */
interface Signs {
  readonly row: SheetRow;
  /** A blank row stands between it and the row before. */
  readonly gap: boolean;
  readonly sparse: boolean;
  readonly strong?: 'total' | 'note' | 'odd';
  readonly sums: readonly number[];
}

/**
 * Finds totals and notes below the data. Only rows that fill at most half of the columns that rows of the table usually
 * fill are looked at, and rows of totals that add up. A row is left out for certain where
 * - it is labelled as a total, holds numbers and nothing else, and is that sparse or is the sum of its columns;
 * - it is a number without a label and the sum of its column;
 * - it introduces a note (`Source: …`, `Generated on …`), or may do so and stands below a blank row;
 * - it holds text where every row above holds numbers or dates, and leaves the first column blank, as another row does;
 * - it stands among such notes: between the blank row and the last of them.
 * Other sparse rows below a blank row are data, and a warning names them: a row left out wrongly would be lost.
 */
export async function findFooter(last: LastRows): Promise<Footer> {
  const { rows, headings } = last;
  const typical = typicalFill(rows);
  const from = Math.max(Math.min(2, rows.length), rows.length - LONGEST);
  const body = rows.slice(0, from).slice(-200);
  // Most tables end with a full row, for which nobody asks what the columns hold.
  let known: readonly ColumnHabit[] | undefined;
  const habits = () => {
    known ??= headings.map((_, index) => columnHabit(body.length >= 5 ? body : rows.slice(0, -1), index));
    return known;
  };
  const block: Signs[] = [];
  let summed = 0;
  const added = async (row: SheetRow, outside: ReadonlySet<number>) =>
    last.whole || summed++ < MOST_SUMS ? await sumColumns(row, last.all(), outside) : [];
  for (let at = rows.length - 1; at >= from; at--) {
    const row = rows[at]!;
    const gap = row.row - rows[at - 1]!.row > 1;
    const signs = await signsOf(row, gap, typical, habits, last, added);
    if (!signs.sparse && !signs.strong) break;
    block.unshift(signs);
  }
  return verdict(block, headings, typical, rows.slice(0, rows.length - block.length));
}

function typicalFill(rows: readonly SheetRow[]): number {
  const counts = rows.map(({ cells }) => filledCells(cells)).sort((a, b) => a - b);
  return counts[Math.floor(counts.length / 2)] ?? 0;
}

async function signsOf(
  row: SheetRow,
  gap: boolean,
  typical: number,
  habits: () => readonly ColumnHabit[],
  { rows, whole, headings }: LastRows,
  addedUp: (row: SheetRow, outside: ReadonlySet<number>) => Promise<readonly number[]>,
): Promise<Signs> {
  const filled = filledCells(row.cells);
  const sparse = filled * 2 <= typical && typical >= 3;
  const added = () => addedUp(row, new Set(rows.filter(({ cells }) => isTotalsRow(cells)).map((one) => one.row)));
  if (isTotalsRow(row.cells)) {
    const sums = !sparse || whole ? await added() : [];
    const likely = sparse && areAmounts(row, habits());
    return { row, gap, sparse, sums, ...(likely || sums.length > 0 ? { strong: 'total' as const } : {}) };
  }
  const led = labelOf(row.cells);
  const label = led !== undefined && lookOf(led) === 'text' ? led : undefined;
  const unled = sparse && isUnled(row, habits());
  if (unled && label === undefined && row.cells.every((cell) => lookOf(cell) !== 'text')) {
    const sums = await added();
    return { row, gap, sparse, sums, ...(sums.length === filled ? { strong: 'total' as const } : {}) };
  }
  // In a table of two columns half of a row is a single cell, which a record may have, too.
  const alone = sparse || (filled === 1 && typical === 2 && gap);
  const note = label === undefined || !alone ? undefined : noteIn(label.trim());
  if (note === 'certain') return { row, gap, sparse: true, sums: [], strong: 'note' };
  if (note === 'likely' && sparse && gap) return { row, gap, sparse, sums: [], strong: 'note' };
  if (!unled || rows.length < ENOUGH + 2) return { row, gap, sparse, sums: [] };
  const { unlike, alike } = contrastOf(row.cells.slice(0, headings.length), habits());
  const odd = unlike >= 1 && alike === 0;
  return { row, gap, sparse, sums: [], ...(odd ? { strong: 'odd' as const } : {}) };
}

/** Whether the row leaves the first column blank that the rows above it fill. */
function isUnled({ cells }: SheetRow, habits: readonly ColumnHabit[]): boolean {
  const first = habits.findIndex(({ filled }) => filled > 0);
  return first >= 0 && lookOf(cells[first]) === 'blank' && habits[first]!.filled >= 5;
}

/** Whether its numbers stand where the rows above have numbers, too: a record may be named like a total. */
function areAmounts({ cells }: SheetRow, habits: readonly ColumnHabit[]): boolean {
  return cells.every((cell, index) => {
    const look = lookOf(cell);
    return look === 'text' || look === 'blank' || habits[index]?.typed === true;
  });
}

function verdict(
  found: readonly Signs[],
  headings: readonly string[],
  typical: number,
  data: readonly SheetRow[],
): Footer {
  // One row that is odd is refused for what is odd in it; several are notes.
  const single = found.filter(({ strong }) => strong === 'odd').length < 2;
  const block = found.map(
    ({ strong, ...rest }): Signs => (strong && !(single && strong === 'odd') ? { ...rest, strong } : rest),
  );
  const notes = block.filter(({ strong }) => strong === 'note' || strong === 'odd');
  const firstNote = block.findIndex(({ strong: kind }) => kind === 'note' || kind === 'odd');
  const lastNote = block.findLastIndex(({ strong: kind }) => kind === 'note' || kind === 'odd');
  const firstGap = block.findIndex(({ gap }) => gap);
  // Notes of which each looks odd begin with lines that do not: `Some`, `also like to write`, `at the`, `bottom`.
  const weak = firstNote < 0 ? [] : block.slice(0, firstNote).filter((one) => !one.strong);
  const areFull = () => data.length >= ENOUGH && data.every(({ cells }) => filledCells(cells) * 2 > typical);
  const led =
    notes.length >= 2 &&
    weak.length <= notes.length &&
    weak.every(({ row }) => filledCells(row.cells) === 1) &&
    areFull();
  const out = new Set<number>();
  block.forEach((one, at) => {
    const among = at <= lastNote && firstGap >= 0 && at >= firstGap && !hasTotalBefore(block, at, firstGap);
    const below = at > firstNote && firstNote >= 0 && filledCells(one.row.cells) <= 2;
    if (one.strong || among || below || (led && at < firstNote)) out.add(one.row.row);
  });
  const doubt =
    data.length < ENOUGH ? [] : block.filter(({ row }, at) => !out.has(row.row) && firstGap >= 0 && at >= firstGap);
  return { out, warnings: [...leftOutTexts(block, out, headings), ...doubtTexts(doubt, typical)] };
}

/** Rows between a blank row and a total may be a group of records. */
function hasTotalBefore(block: readonly Signs[], at: number, from: number): boolean {
  return block.slice(from).some(({ strong }, i) => strong === 'total' && from + i > at);
}

const KEEP = 'If they are data, state `source: { footer: keep }` in the job.';

function leftOutTexts(block: readonly Signs[], out: ReadonlySet<number>, headings: readonly string[]): string[] {
  const texts: string[] = [];
  for (const kind of ['total', 'note'] as const) {
    const group = block.filter(({ row, strong }) => out.has(row.row) && (strong === 'total') === (kind === 'total'));
    if (group.length === 0) continue;
    const one = group.length === 1;
    const what = kind === 'total' ? (one ? 'a total' : 'totals') : one ? 'a note' : 'notes';
    const sums = [...new Set(group.flatMap(({ sums: found }) => found))].map((i) => `"${headings[i] ?? ''}"`);
    const added = sums.length > 0 ? `; ${one ? 'it is' : 'they are'} the sum of ${sums.slice(0, 4).join(', ')}` : '';
    texts.push(
      `${spans(group.map(({ row }) => row.row))} below the data ${one ? 'was' : 'were'} left out: ` +
        `${one ? 'it looks' : 'they look'} like ${what} (${quotes(group.map(({ row }) => row))}${added}). ` +
        (one ? KEEP.replace('they are', 'it is') : KEEP),
    );
  }
  return texts;
}

function doubtTexts(doubt: readonly Signs[], typical: number): string[] {
  if (doubt.length === 0) return [];
  const one = doubt.length === 1;
  return [
    `${spans(doubt.map(({ row }) => row.row))}, below a blank row at the end, ${one ? 'fills' : 'fill'} few of the ` +
      `${typical} cells a row usually has (${quotes(doubt.map(({ row }) => row))}). ${one ? 'It is' : 'They are'} read as data; ` +
      `delete ${one ? 'it if it is' : 'them if they are'} none.`,
  ];
}

/** `Row 7`, `Rows 7 to 9 and 12` */
export function spans(rows: readonly number[]): string {
  const found: [number, number][] = [];
  for (const row of rows) {
    const open = found.at(-1);
    if (open && open[1] === row - 1) open[1] = row;
    else found.push([row, row]);
  }
  const shown = found.slice(0, 10).map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a} to ${b}`));
  const more = found.length > shown.length ? ' and more' : '';
  const list = shown.join(', ').replace(/, (?=[^,]*$)/, more ? ', ' : ' and ');
  return `${rows.length === 1 ? 'Row' : 'Rows'} ${list}${more}`;
}

function quotes(rows: readonly SheetRow[]): string {
  const texts = rows.map(({ cells }) => {
    const text = cells
      .map(shownText)
      .filter((one) => one.trim() !== '')
      .join(' | ')
      .replace(/\s+/g, ' ')
      .trim();
    return `"${text.length > 60 ? `${text.slice(0, 57)}…` : text}"`;
  });
  return `${texts.slice(0, 4).join(', ')}${texts.length > 4 ? ', …' : ''}`;
}
