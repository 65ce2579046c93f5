import type { Correction, Row } from '../../api/schema.js';

/**
 * What a person has corrected, over the cells that a run has shown, as `POST /runs` takes it: one cell by its row, or all cells
 * of the column that show `from`. The file stays as it was; edits are never changed in place, so that undo keeps what was before.
 */
export type Edits = ReadonlyMap<string, Correction>;

/** A cell as the run has it. */
export interface CellAt {
  readonly column: string;
  readonly row: number;
  readonly cell: string;
}

const rowKey = (column: string, row: number) => `${row} ${column}`;
/** Blanks around it are not seen. */
const equalKey = (column: string, from: string) => JSON.stringify([column, from.trim()]);

const keyOf = ({ column, row, from = '' }: Correction) =>
  row === undefined ? equalKey(column, from) : rowKey(column, row);

export function editsOf(list: readonly Correction[] = []): Edits {
  return new Map(list.map((one) => [keyOf(one), one]));
}

export const corrections = (edits: Edits): Correction[] => [...edits.values()];

/** What all cells of the column show that the run shows as this one. */
function equalValue(edits: Edits, column: string, cell: string): string {
  return edits.get(equalKey(column, cell))?.value ?? cell;
}

export function editedValue(edits: Edits, { column, row, cell }: CellAt): string {
  return edits.get(rowKey(column, row))?.value ?? equalValue(edits, column, cell);
}

export function isForAll(edits: Edits, { column, cell }: CellAt, value: string): boolean {
  return edits.get(equalKey(column, cell))?.value === value;
}

/** One value for each of some cells: typed, pasted, or emptied. */
export function setCells(edits: Edits, cells: readonly (CellAt & { readonly value: string })[]): Edits {
  const next = new Map(edits);
  // Of a row that is emptied blank cells, too: what all blank cells become is not for it.
  const emptied = new Set(cells.filter(({ cell, value }) => cell !== '' && value === '').map(({ row }) => row));
  for (const { column, row, cell, value } of cells) {
    const isAsIs = value === equalValue(edits, column, cell) && !(value === '' && emptied.has(row));
    if (isAsIs) next.delete(rowKey(column, row));
    else next.set(rowKey(column, row), { column, row, value });
  }
  return next;
}

type RowAt = Pick<Row, 'row' | 'cells'>;

const cellsOf = (headings: readonly string[], { row, cells = [] }: RowAt): CellAt[] =>
  headings.map((column, at) => ({ row, column, cell: cells[at] ?? '' }));

/** A row whose every cell is emptied is left out; else every cell is as the run shows it. */
export function setLeftOut(edits: Edits, headings: readonly string[], row: RowAt, isOut: boolean): Edits {
  const cells = cellsOf(headings, row).map((one) => ({ ...one, value: isOut ? '' : one.cell }));
  return setCells(edits, cells);
}

export function isLeftOut(edits: Edits, headings: readonly string[], row: RowAt): boolean {
  const cells = cellsOf(headings, row);
  return cells.some(({ cell }) => cell !== '') && cells.every((one) => editedValue(edits, one) === '');
}

/** One value for every cell of the column that the run shows as this one. */
export function setEqual(edits: Edits, { column, row, cell }: CellAt, value: string): Edits {
  const next = new Map(edits);
  next.delete(rowKey(column, row));
  if (value === cell) next.delete(equalKey(column, cell));
  else next.set(equalKey(column, cell), { column, from: cell, value });
  return next;
}

/** What both make of the file, where the second was made over what the first had shown. `headings`: all of the table. */
export function composeEdits(first: Edits, second: Edits, headings: readonly string[] = []): Edits {
  const next = new Map<string, Correction>();
  const isOut = (row = 0) => headings.every((column) => first.get(rowKey(column, row))?.value === '');
  for (const [key, one] of first) {
    const staysBlank = one.value === '' && headings.length > 0 && isOut(one.row);
    const value = staysBlank ? '' : equalValue(second, one.column, one.value);
    if (value !== one.from) next.set(key, { ...one, value });
  }
  for (const [key, one] of second) if (one.row !== undefined || !first.has(key)) next.set(key, one);
  return next;
}
