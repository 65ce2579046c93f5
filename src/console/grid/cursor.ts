/** Where the cursor of the grid is, what is selected, and where keys lead: as spreadsheet programs have it. */

/** Positions in the view, from 0. */
export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/** From the cell where it began to the cell where the cursor is. */
export interface Selection {
  readonly anchor: CellPosition;
  readonly head: CellPosition;
}

interface Bounds {
  readonly rows: number;
  readonly columns: number;
  /** Rows that are in sight. */
  readonly page: number;
}

export const selectCell = (place: CellPosition): Selection => ({ anchor: place, head: place });

/** Both ends belong to it. */
export type Range = ReturnType<typeof rangeOf>;

export function rangeOf({ anchor, head }: Selection) {
  return {
    top: Math.min(anchor.row, head.row),
    left: Math.min(anchor.column, head.column),
    bottom: Math.max(anchor.row, head.row),
    right: Math.max(anchor.column, head.column),
  };
}

const clamp = (value: number, count: number) => Math.max(0, Math.min(value, count - 1));

export function clampTo({ row, column }: CellPosition, { rows, columns }: Bounds): CellPosition {
  return { row: clamp(row, rows), column: clamp(column, columns) };
}

/** Further than any table goes. */
const FAR = Number.MAX_SAFE_INTEGER;

/**
 * Where a key leads from a cell, `Ctrl+End` or `Shift+Tab`; undefined for one that does not move the cursor, as Tab does not at
 * both ends of the table.
 */
export function moveCursor({ row, column }: CellPosition, key: string, bounds: Bounds): CellPosition | undefined {
  const { rows, columns, page } = bounds;
  if (key === 'Tab' || key === 'Shift+Tab') {
    const next = row * columns + column + (key === 'Tab' ? 1 : -1);
    if (next < 0 || next >= rows * columns) return undefined;
    return { row: Math.floor(next / columns), column: next % columns };
  }
  const step = key.startsWith('Ctrl+Arrow') ? FAR : 1;
  const steps: Readonly<Record<string, readonly [down: number, along: number]>> = {
    ArrowUp: [-step, 0],
    ArrowDown: [step, 0],
    ArrowLeft: [0, -step],
    ArrowRight: [0, step],
    PageUp: [-page, 0],
    PageDown: [page, 0],
    Home: [0, -FAR],
    End: [0, FAR],
    'Ctrl+Home': [-FAR, -FAR],
    'Ctrl+End': [FAR, FAR],
  };
  const [down, along] = steps[key.replace('Ctrl+Arrow', 'Arrow')] ?? [];
  if (down === undefined || along === undefined) return undefined;
  return clampTo({ row: row + down, column: column + along }, bounds);
}

type KeyPress = Readonly<{ key: string } & Record<'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey', boolean>>;

/** `Ctrl+Shift+z`; a letter is the same letter with Caps Lock. */
export function keyName({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyPress): string {
  const name = key.length === 1 ? key.toLowerCase() : key;
  return `${ctrlKey || metaKey ? 'Ctrl+' : ''}${altKey ? 'Alt+' : ''}${shiftKey ? 'Shift+' : ''}${name}`;
}

/** The one sign that a key types; with AltGr, which some systems report as Ctrl and Alt, too. */
export function typedCharacter({ key, ctrlKey, metaKey, altKey }: KeyPress): string | undefined {
  return Array.from(key).length === 1 && (ctrlKey || metaKey) === altKey ? key : undefined;
}
