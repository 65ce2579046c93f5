/**
 * What a person has corrected, over the cells that a run has shown. The file stays as it was: `POST /runs` takes this as
 * `corrections`. Values are never changed in place, so that undo keeps what was before.
 */

/** As `POST /runs` takes it: one cell by its row, or all cells of the column that show `from`. */
export interface Correction {
  readonly column: string;
  readonly value: string;
  readonly row?: number | undefined;
  readonly from?: string | undefined;
}

interface ColumnEdits {
  /** What a cell shows → what stands there instead. */
  readonly equal: ReadonlyMap<string, string>;
  /** By row; wins over `equal`. */
  readonly rows: ReadonlyMap<number, string>;
}

/** By heading. */
export type Edits = ReadonlyMap<string, ColumnEdits>;

/** A cell as the run has it. */
export interface CellAt {
  readonly column: string;
  readonly row: number;
  readonly cell: string;
}

export const NO_EDITS: Edits = new Map();
const NO_COLUMN: ColumnEdits = { equal: new Map(), rows: new Map() };

export function shownValue(edits: Edits, { column, row, cell }: CellAt): string {
  const of = edits.get(column);
  return of?.rows.get(row) ?? of?.equal.get(cell) ?? cell;
}

/** One value for each of some cells: typed, pasted, or emptied. */
export function setCells(edits: Edits, cells: readonly (CellAt & { readonly value: string })[]): Edits {
  const next = new Map(edits);
  for (const { column, row, cell, value } of cells) {
    const { equal, rows } = next.get(column) ?? NO_COLUMN;
    const changed = new Map(rows);
    if (value === (equal.get(cell) ?? cell)) changed.delete(row);
    else changed.set(row, value);
    put(next, column, { equal, rows: changed });
  }
  return next;
}

/** One value for every cell of the column that the run shows as this one. */
export function setEqual(edits: Edits, { column, row, cell }: CellAt, value: string): Edits {
  const { equal, rows } = edits.get(column) ?? NO_COLUMN;
  const changed = new Map(equal);
  if (value === cell) changed.delete(cell);
  else changed.set(cell, value);
  const others = new Map(rows);
  others.delete(row);
  const next = new Map(edits);
  put(next, column, { equal: changed, rows: others });
  return next;
}

/** What both make of the file, where the second was made over what the first had shown. */
export function after(first: Edits, second: Edits): Edits {
  const next = new Map(first);
  for (const [column, { equal, rows }] of second) {
    const earlier = first.get(column) ?? NO_COLUMN;
    const through = (value: string) => equal.get(value) ?? value;
    const changed = new Map([...earlier.equal].map(([from, value]) => [from, through(value)]));
    for (const [from, value] of equal) if (!earlier.equal.has(from)) changed.set(from, value);
    for (const [from, value] of changed) if (from === value) changed.delete(from);
    put(next, column, {
      equal: changed,
      rows: new Map([...[...earlier.rows].map(([row, value]) => [row, through(value)] as const), ...rows]),
    });
  }
  return next;
}

function put(edits: Map<string, ColumnEdits>, column: string, of: ColumnEdits): void {
  if (of.equal.size + of.rows.size === 0) edits.delete(column);
  else edits.set(column, of);
}

/** Those of single rows last, so that they stand where both mean a cell. */
export function corrections(edits: Edits): Correction[] {
  const all = [...edits];
  return [
    ...all.flatMap(([column, { equal }]) => [...equal].map(([from, value]) => ({ column, from, value }))),
    ...all.flatMap(([column, { rows }]) => [...rows].map(([row, value]) => ({ column, row, value }))),
  ];
}

export function editsOf(list: readonly Correction[]): Edits {
  const edits = new Map<string, { equal: Map<string, string>; rows: Map<number, string> }>();
  for (const { column, row, from, value } of list) {
    const of = edits.get(column) ?? { equal: new Map(), rows: new Map() };
    if (row !== undefined) of.rows.set(row, value);
    else if (from !== undefined) of.equal.set(from, value);
    edits.set(column, of);
  }
  return edits;
}

// Undo and redo

/** The latest of `past` and the first of `future` are next to `now`. */
export interface Trail {
  readonly past: readonly Edits[];
  readonly now: Edits;
  readonly future: readonly Edits[];
}

const LONGEST_TRAIL = 500;

export function begin(now: Edits = NO_EDITS): Trail {
  return { past: [], now, future: [] };
}

export function record({ past, now }: Trail, next: Edits): Trail {
  return { past: [...past, now].slice(-LONGEST_TRAIL), now: next, future: [] };
}

export function undo(trail: Trail): Trail {
  const now = trail.past.at(-1);
  return now ? { past: trail.past.slice(0, -1), now, future: [trail.now, ...trail.future] } : trail;
}

export function redo(trail: Trail): Trail {
  const [now, ...future] = trail.future;
  return now ? { past: [...trail.past, trail.now], now, future } : trail;
}
