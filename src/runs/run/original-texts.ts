import type { Cell, SheetRow } from '../../model/row.js';
import type { OpenSource } from '../../model/source.js';
import { isSavedForm } from '../../pipeline/map/cell-text.js';
import { excerpt } from '../../pipeline/map/headings.js';
import { columnNames } from '../../suggest/column-names.js';

/** The rows that corrected ones were. */
interface OriginalRows {
  readonly source: OpenSource;
  /** Of a corrected row, the number that it had. */
  numberOf(row: SheetRow): number | undefined;
  /** For each column of the corrected file, 0-based, where it stood; -1 of one that is new. */
  readonly columns: readonly number[];
  /** Rows by number, with where their cells stood that were at fault: those were to be corrected. */
  faulty(rows: readonly number[]): ReadonlyMap<number, ReadonlySet<number>>;
}

/**
 * Rows that come back, with their first texts where a spreadsheet program has taken them for numbers and a person did not
 * have to change them. `warn` is told of a column as often as it has such a cell.
 */
export function withOriginalTexts(
  { meta, rows }: OpenSource,
  { source, numberOf, columns, faulty }: OriginalRows,
  warn: (text: string) => void,
): OpenSource {
  const names = columnNames(meta.headings);
  async function* restored() {
    const originals = rowFinder(source);
    try {
      for await (const batch of rows()) {
        const numbers = batch.flatMap((row) => numberOf(row) ?? []);
        const found = await originals.find(new Set(numbers));
        const faults = faulty(numbers);
        yield batch.map((row): SheetRow => {
          const number = numberOf(row) ?? 0;
          const texts = found.get(number)?.cells ?? [];
          const cells = row.cells.map((cell, at) => {
            const was = columns[at] ?? -1;
            const original = texts[was] ?? '';
            const isText = typeof original === 'string';
            if (!(isText ? isSavedForm(cell, original, meta.format) : lacksLook(cell, original))) return cell;
            if (faults.get(number)?.has(was)) return cell;
            if (isText) warn(restoredText(names[at] ?? ''));
            return original;
          });
          return cells.every((cell, at) => cell === row.cells[at]) ? row : { ...row, cells };
        });
      }
    } finally {
      await originals.close();
    }
  }
  return { meta, rows: restored };
}

/** Whether a cell is the original one, whose look could not be handed back: an OpenDocument file tells no formats. */
function lacksLook(cell: Cell, original: Exclude<Cell, string>): boolean {
  if (typeof cell === 'string' || (original.t !== 'n' && original.t !== 'd')) return false;
  if (cell.t !== original.t || cell.value !== original.value) return false;
  return original.format === undefined ? cell.t === 'd' || cell.format === undefined : cell.format === original.format;
}

const restoredText = (heading: string): string =>
  `"${excerpt(heading)}": cells have lost the zeros, the plus sign, the exponent or the digits behind the 15th with which they were handed back, such as 00123, which a spreadsheet program saves as 123: they are read as they were. Where that is a change, empty the cell _row of the row.`;

/** Finds rows of a table by their numbers; where these ascend from one call to the next, the table is read once. */
export function rowFinder(source: OpenSource) {
  let reading: AsyncIterator<readonly SheetRow[]> | undefined;
  let batch: readonly SheetRow[] = [];
  const close = async () => {
    await reading?.return?.();
    reading = undefined;
    batch = [];
  };
  return {
    close,
    async find(wanted: ReadonlySet<number>): Promise<ReadonlyMap<number, SheetRow>> {
      const [first, last] = [Math.min(...wanted), Math.max(...wanted)];
      if (first < (batch[0]?.row ?? 0)) await close();
      reading ??= source.rows()[Symbol.asyncIterator]();
      const found = new Map<number, SheetRow>();
      for (;;) {
        for (const row of batch) if (wanted.has(row.row)) found.set(row.row, row);
        if (last <= (batch.at(-1)?.row ?? 0) || wanted.size === 0) return found;
        const next = await reading.next();
        if (next.done) return found;
        batch = next.value;
      }
    },
  };
}
