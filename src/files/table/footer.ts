import { type Cell, isBlank, type SheetRow, shownText } from '../../model/row.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import { findFooter, spans } from './footer-find.js';
import { isGroupTotal, isSubtotalLabel, isTotalLabel, isTotalsRow, labelOf, mayBeGroupTotal } from './footer-words.js';
import { type ColumnHabit, columnHabit, contrastOf, filledCells, foldedText } from './sample-table.js';

/** Rows held back until the end of the table is known: a footer, and enough data above it to be told from. */
const CONTEXT = 120;
const MOST_HELD = 500;
const FIRST_ROWS = 100;
/** Fewer rows do not show what the columns of a table hold. */
const FEWEST_ABOVE = 2;
/** Row numbers kept for a warning; all are counted. */
const NAMED = 40;

/**
 * The same table without the rows that are no data for certain: totals and notes below it (`findFooter`), rows of subtotals
 * between, and the heading repeated. `meta.warnings` names them once the rows have been read to their end for the first
 * time; until then it holds what was known at opening. A second table glued on is named only; its rows stay.
 *
 * Files of rejected rows come back as they are, because a person has chosen each of their rows; so do NDJSON files.
 * Holds at most some 1,000 rows and hands out batches of at most 500 where the reader does. `keep`: nothing is left out.
 */
export function withoutFooter(source: OpenSource, footer: SourceOptions['footer'] = 'auto'): OpenSource {
  const { headings, format } = source.meta;
  if (footer === 'keep' || format === 'ndjson' || isRejectedFile(headings)) return source;
  const warnings = [...source.meta.warnings];
  let told = false;
  return {
    meta: { ...source.meta, warnings },
    rows: () =>
      dataRows(source, (found) => {
        if (!told) warnings.push(...found);
        told = true;
      }),
  };
}

function isRejectedFile(headings: readonly string[]): boolean {
  return headings.join('\0').includes('_row\0_outcome\0_codes\0_message');
}

async function* dataRows(
  source: OpenSource,
  tell: (warnings: readonly string[]) => void,
): AsyncGenerator<readonly SheetRow[]> {
  const { headings } = source.meta;
  const watch = new Watch(headings);
  let held: readonly SheetRow[] = [];
  let whole = true;
  for await (const batch of source.rows()) {
    const data = watch.sift(batch);
    if (held.length + data.length <= MOST_HELD) {
      held = held.length === 0 ? data : [...held, ...data];
      continue;
    }
    // A short last batch would leave too few rows to tell a footer from.
    const back = data.length >= CONTEXT ? held.length : held.length - CONTEXT;
    const done = watch.withoutTotals(held.slice(0, back));
    if (done.length > 0) yield done;
    whole = false;
    held = back === held.length ? data : [...held.slice(back), ...data];
  }
  const rows = held;
  const footer = await findFooter({ rows, headings, whole, all: whole ? () => [rows] : () => source.rows() });
  const above = footer.out.size === 0 ? rows : rows.filter(({ row }) => !footer.out.has(row));
  const kept = watch.withoutTotals(above);
  tell([...watch.warnings(), ...footer.warnings]);
  if (kept.length > 0) yield kept;
}

/** Looks at every row on its way: a few comparisons each. */
class Watch {
  readonly #folded: readonly string[];
  readonly #lead: number;
  readonly #repeats = new Tally();
  readonly #totals = new Tally();
  readonly #doubtful = new Tally();
  readonly #tables = new Tally();
  #typical: number | undefined;
  #sample: readonly SheetRow[] = [];
  #habits: { readonly above: number; readonly columns: readonly ColumnHabit[] } | undefined;
  #last: number | undefined;
  /** Rows that were looked at for totals before. */
  #before: readonly SheetRow[] = [];

  constructor(headings: readonly string[]) {
    this.#folded = headings.map(foldedText);
    this.#lead = this.#folded.findIndex((text) => text !== '');
  }

  /** The rows without repeated headings; the same array where there are none. */
  sift(batch: readonly SheetRow[]): readonly SheetRow[] {
    if (this.#typical === undefined) this.#learn(batch);
    return without(batch, (one) => {
      const { row, cells } = one;
      const again = this.#isHeading(cells);
      if (again) this.#repeats.add(row);
      else if (this.#last !== undefined && row - this.#last > 1 && this.#mayBeHeading(one)) this.#tables.add(row);
      this.#last = row;
      return again;
    });
  }

  /** The rows without subtotals; the same array where there are none. */
  withoutTotals(rows: readonly SheetRow[]): readonly SheetRow[] {
    const typical = this.#typical ?? 0;
    if (typical < 4) return rows;
    const data = without(rows, (one) => {
      const { row, cells } = one;
      const label = labelOf(cells)?.trim();
      if (label === undefined || label.length > 80) return false;
      const ofGroup = mayBeGroupTotal(label) && isGroupTotal(label, this.#groupAbove(one, rows));
      if (!ofGroup && (label.length > 40 || !isTotalLabel(label))) return false;
      if (filledCells(cells) * 2 > typical || !isTotalsRow(cells, ofGroup ? label : undefined)) return false;
      // A record may be named `Total`; none is named `Subtotal`, nor `Rome Total` right below the rows of Rome.
      const certain = ofGroup || isSubtotalLabel(label);
      (certain ? this.#totals : this.#doubtful).add(row);
      return certain;
    });
    this.#before = rows;
    return data;
  }

  /** The text above the first filled cell of a row: rows of one group repeat it, or leave it blank. */
  #groupAbove(row: SheetRow, rows: readonly SheetRow[]): string {
    const column = row.cells.findIndex((cell) => !isBlank(cell));
    const above = [...this.#before, ...rows.slice(0, rows.indexOf(row))];
    return shownText(above.findLast(({ cells }) => !isBlank(cells[column]))?.cells[column]).trim();
  }

  #learn(batch: readonly SheetRow[]): void {
    const sample = batch.slice(0, FIRST_ROWS);
    const counts = sample.map(({ cells }) => filledCells(cells)).sort((a, b) => a - b);
    this.#typical = counts[Math.floor(counts.length / 2)] ?? 0;
    this.#sample = sample;
  }

  #isHeading(cells: readonly Cell[]): boolean {
    const lead = cells[this.#lead];
    const heading = this.#folded[this.#lead];
    if (typeof lead !== 'string' || heading === undefined || lead.length < heading.length) return false;
    if (lead !== heading && (!mayFoldTo(lead, heading) || foldedText(lead) !== heading)) return false;
    let same = 0;
    for (const [index, text] of this.#folded.entries()) {
      if (foldedText(cells[index]) !== text) return false;
      if (text !== '') same++;
    }
    return same >= 2;
  }

  /**
   * After a blank row: words alone, of which none looks like the rows above and more than one differs from them, as where
   * those hold numbers or dates; another number of cells differs, too.
   */
  #mayBeHeading({ row, cells, faults }: SheetRow): boolean {
    const filled = cells.filter((cell) => !isBlank(cell));
    if (filled.length < 2 || filled.some((cell) => /\d/.test(shownText(cell)))) return false;
    const { unlike, alike } = contrastOf(cells.slice(0, this.#folded.length), this.#habitsAbove(row));
    const isRagged = faults?.some(({ code }) => code === 'ragged_row') === true;
    return alike === 0 && unlike + (isRagged ? 1 : 0) >= 1.5;
  }

  /** What the columns hold above a row, as far as the sample goes: the rows below may be those of another table. */
  #habitsAbove(row: number): readonly ColumnHabit[] {
    const above = this.#sample.filter((one) => one.row < row);
    if (above.length < FEWEST_ABOVE) return [];
    if (this.#habits?.above !== above.length)
      this.#habits = { above: above.length, columns: this.#folded.map((_, index) => columnHabit(above, index)) };
    return this.#habits.columns;
  }

  warnings(): string[] {
    const { count: totals } = this.#totals;
    const { count: repeats } = this.#repeats;
    const found: string[] = [];
    if (repeats > 0) {
      found.push(
        `${this.#repeats.text} ${repeats === 1 ? 'was' : 'were'} left out: the heading stands there again. ` +
          'If it is data, state `source: { footer: keep }` in the job.',
      );
    }
    if (totals > 0) {
      found.push(
        `${this.#totals.text} ${totals === 1 ? 'was' : 'were'} left out: ${totals === 1 ? 'it is' : 'they are'} labelled as ` +
          `${totals === 1 ? 'a total' : 'totals'} and ${totals === 1 ? 'holds' : 'hold'} numbers only. ` +
          'If that is data, state `source: { footer: keep }` in the job.',
      );
    }
    if (this.#doubtful.count > 0) {
      const one = this.#doubtful.count === 1;
      found.push(
        `${this.#doubtful.text} ${one ? 'is' : 'are'} labelled as ${one ? 'a total' : 'totals'} and ${one ? 'is' : 'are'} read as data, because a ` +
          `record may have such a name. Delete ${one ? 'it if it is' : 'them if they are'} none.`,
      );
    }
    if (this.#tables.count > 0) {
      const one = this.#tables.count === 1;
      found.push(
        `${this.#tables.text}, below a blank row, ${one ? 'looks' : 'look'} like the heading of another table. ` +
          `${one ? 'It is' : 'They are'} read as data, as the rows below; put each table into a file or sheet of its own.`,
      );
    }
    return found;
  }
}

/** Whether a text may be the folded one, by the plain characters it begins with: a look that nearly every row ends at. */
export function mayFoldTo(text: string, folded: string): boolean {
  for (let i = 0; i + 1 < text.length; i++) {
    const code = text.charCodeAt(i);
    const next = text.charCodeAt(i + 1);
    // A blank may be one of several, and a mark may join the character before it.
    if (code <= 0x20 || code >= 0x7f || next >= 0x7f) return true;
    const lower = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
    if (lower !== folded.charCodeAt(i)) return false;
  }
  return true;
}

function without(rows: readonly SheetRow[], drop: (row: SheetRow) => boolean): readonly SheetRow[] {
  let kept: SheetRow[] | undefined;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    if (!drop(row)) kept?.push(row);
    else kept ??= rows.slice(0, at);
  }
  return kept ?? rows;
}

/** Numbers of rows, counted without end and named up to a limit. */
class Tally {
  readonly #rows: number[] = [];
  count = 0;

  add(row: number): void {
    this.count++;
    if (this.#rows.length < NAMED) this.#rows.push(row);
  }

  get text(): string {
    const more = this.count - this.#rows.length;
    return more > 0 ? `${spans(this.#rows)} and ${more} more rows` : spans(this.#rows);
  }
}
