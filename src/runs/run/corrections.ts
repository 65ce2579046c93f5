import { z } from 'zod';
import { jsonMembers } from '../../files/json-line.js';
import { RunError } from '../../model/error.js';
import { isBlank, type SheetRow, shownText } from '../../model/row.js';
import type { OpenSource, SourceMeta } from '../../model/source.js';
import { indexHeadings } from '../../pipeline/map/headings.js';

/** A cell of a file that is read as if something else had been typed there; the file stays as it is. */
export const correction = z
  .strictObject({
    column: z.string().max(32_767).describe('The heading, as job files name it.'),
    value: z.string().max(32_767).describe('What stands there instead, as if it had been typed.'),
    row: z.int().min(1).optional(),
    from: z.string().max(32_767).optional().describe('In place of `row`: every cell of the column that shows this.'),
  })
  .meta({ id: 'Correction' });
export type Correction = Readonly<z.output<typeof correction>>;

/** Of one run; more are made in the file itself. */
export const MOST_CORRECTIONS = 10_000;

/** The corrections of a table, by the place of their column. */
export interface Overlay {
  /** What is to stand in a cell that shows `shown`; undefined where it stays. */
  at(row: number, column: number, shown: string): string | undefined;
  /** Those that no cell has met that was asked for. */
  unmet(): readonly Correction[];
  /** 0-based positions of the columns that have corrections. */
  readonly columns: readonly number[];
}

/**
 * Of several corrections of a cell the last counts, and one that names the row before one that names what the cell shows.
 * @throws RunError `usage` for a column that the table lacks.
 */
export function overlayOf(corrections: readonly Correction[], { headings }: Pick<SourceMeta, 'headings'>): Overlay {
  const index = indexHeadings(headings);
  const byRow = new Map<number, Map<number, Correction>>();
  const byText = new Map<number, Map<string, Correction>>();
  const missing = new Set<string>();
  for (const one of corrections) {
    const { column, row, from } = one;
    const positions = index.positions(column);
    if (positions.length === 0) missing.add(column);
    for (const at of positions) {
      if (row !== undefined) into(byRow, row, new Map<number, Correction>()).set(at, one);
      else if (from !== undefined) into(byText, at, new Map<string, Correction>()).set(from, one);
    }
  }
  if (missing.size > 0) {
    const faults = [...missing].map((column) => `"${column}": ${index.missing(column)}`);
    throw new RunError('usage', 'Corrections name columns that the file does not have.', faults);
  }
  const columns = new Set([...byText.keys(), ...[...byRow.values()].flatMap((cells) => [...cells.keys()])]);
  const met = new Set<Correction>();
  return {
    at(row, column, shown) {
      const [own, alike] = [byRow.get(row)?.get(column), byText.get(column)?.get(shown)];
      if (own) met.add(own);
      if (alike) met.add(alike);
      return (own ?? alike)?.value;
    },
    unmet: () =>
      [...new Set([...byRow.values(), ...byText.values()].flatMap((found) => [...found.values()]))].filter(
        (one) => !met.has(one),
      ),
    columns: [...columns].sort((a, b) => a - b),
  };
}

function into<K, V>(map: Map<K, V>, key: K, fresh: V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  map.set(key, fresh);
  return fresh;
}

/**
 * The source with its corrections. Rows and their numbers stay; so does whatever is not corrected. `warn` is told of those that met
 * no cell once all rows were read.
 */
export function withCorrections(
  source: OpenSource,
  corrections: readonly Correction[] = [],
  warn: (text: string) => void = () => undefined,
): OpenSource {
  if (corrections.length === 0) return source;
  const overlay = overlayOf(corrections, source.meta);
  async function* rows() {
    for await (const batch of source.rows()) yield batch.map((row) => correctedRow(row, overlay, source.meta));
    const unmet = overlay.unmet();
    if (unmet.length > 0) warn(unmetText(unmet));
  }
  return { meta: source.meta, rows };
}

/** Corrections that a warning names. */
const NAMED = 5;

function unmetText(unmet: readonly Correction[]): string {
  const named = unmet
    .slice(0, NAMED)
    .map(({ column, row, from }) => `"${column}" ${row === undefined ? `where it shows "${from}"` : `in row ${row}`}`);
  const more = unmet.length > NAMED ? `, and ${unmet.length - NAMED} more` : '';
  const what = unmet.length === 1 ? 'One correction' : `${unmet.length} corrections`;
  return `${what} met no cell of the table, and changed nothing: ${named.join(', ')}${more}. Look at the rows as the run shows them, and correct what is there.`;
}

function correctedRow(row: SheetRow, overlay: Overlay, { headings }: SourceMeta): SheetRow {
  const found = overlay.columns.flatMap((at): [number, string][] => {
    const value = overlay.at(row.row, at, shownText(row.cells[at]));
    return value === undefined ? [] : [[at, value]];
  });
  if (found.length === 0) return row;
  const values = new Map(found);
  const cells = row.cells.map((cell, at) => values.get(at) ?? cell);
  return {
    ...row,
    corrected: new Map(found.map(([at]) => [at, row.cells[at] ?? ''])),
    cells,
    // As in a spreadsheet, where a row without a value is none.
    ...(cells.every(isBlank) && { noRecord: { like: 'nothing', doubtful: false } as const }),
    ...(row.faults && { faults: row.faults.filter(({ index }) => index === undefined || !values.has(index)) }),
    ...(row.escaped && { escaped: row.escaped.filter((at) => !values.has(at)) }),
    ...(row.line !== undefined && { line: correctedLine(row, row.line, values, headings) }),
  };
}

/** A line of NDJSON keeps its other members as they stand. One that was refused for its form stays whole. */
function correctedLine(
  { faults }: SheetRow,
  line: string,
  values: ReadonlyMap<number, string>,
  headings: readonly string[],
): string {
  if (faults?.some(({ code }) => code === 'ragged_row')) return line;
  const named = new Map([...values].map(([at, value]) => [headings[at] ?? '', value]));
  const kept = jsonMembers(line).filter(({ name }) => !named.has(name));
  const set = [...named].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${[...kept.map(({ text }) => text), ...set].join(',')}}`;
}
