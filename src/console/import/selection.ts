/** Where the cursor of the grid is, what is selected, and which key does what: as spreadsheet programs have it. */

/** Positions in the view, from 0. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

/** From the cell where it began to the cell where the cursor is. */
export interface Selection {
  readonly anchor: Place;
  readonly head: Place;
}

/** Both ends belong to it. */
export interface Range {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

export interface Bounds {
  readonly rows: number;
  readonly columns: number;
  /** Rows that are in sight. */
  readonly page: number;
}

export type Step =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'row-start'
  | 'row-end'
  | 'first-row'
  | 'last-row'
  | 'first'
  | 'last'
  | 'next'
  | 'previous';

export type Command =
  | { readonly do: 'move'; readonly step: Step; readonly extend: boolean }
  | { readonly do: 'edit'; readonly text?: string }
  | { readonly do: 'clear' | 'all' | 'undo' | 'redo' | 'next-fault' | 'previous-fault' };

export interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

export function at(place: Place): Selection {
  return { anchor: place, head: place };
}

export function rangeOf({ anchor, head }: Selection): Range {
  return {
    top: Math.min(anchor.row, head.row),
    left: Math.min(anchor.column, head.column),
    bottom: Math.max(anchor.row, head.row),
    right: Math.max(anchor.column, head.column),
  };
}

export function isIn({ top, left, bottom, right }: Range, { row, column }: Place): boolean {
  return row >= top && row <= bottom && column >= left && column <= right;
}

export function move({ anchor, head }: Selection, step: Step, extend: boolean, bounds: Bounds): Selection {
  const to = within(stepped(head, step, bounds), bounds);
  return extend ? { anchor, head: to } : at(to);
}

export function within({ row, column }: Place, { rows, columns }: Bounds): Place {
  return { row: clamp(row, rows), column: clamp(column, columns) };
}

const clamp = (value: number, count: number) => Math.max(0, Math.min(value, count - 1));

function stepped({ row, column }: Place, step: Step, { rows, columns, page }: Bounds): Place {
  switch (step) {
    case 'up':
      return { row: row - 1, column };
    case 'down':
      return { row: row + 1, column };
    case 'left':
      return { row, column: column - 1 };
    case 'right':
      return { row, column: column + 1 };
    case 'page-up':
      return { row: row - page, column };
    case 'page-down':
      return { row: row + page, column };
    case 'row-start':
      return { row, column: 0 };
    case 'row-end':
      return { row, column: columns - 1 };
    case 'first-row':
      return { row: 0, column };
    case 'last-row':
      return { row: rows - 1, column };
    case 'first':
      return { row: 0, column: 0 };
    case 'last':
      return { row: rows - 1, column: columns - 1 };
    case 'next':
      return column + 1 < columns || row + 1 >= rows ? { row, column: column + 1 } : { row: row + 1, column: 0 };
    case 'previous':
      return column > 0 || row === 0 ? { row, column: column - 1 } : { row: row - 1, column: columns - 1 };
  }
}

const STEPS: Readonly<Record<string, readonly [plain: Step, withCtrl: Step]>> = {
  ArrowUp: ['up', 'first-row'],
  ArrowDown: ['down', 'last-row'],
  ArrowLeft: ['left', 'row-start'],
  ArrowRight: ['right', 'row-end'],
  PageUp: ['page-up', 'page-up'],
  PageDown: ['page-down', 'page-down'],
  Home: ['row-start', 'first'],
  End: ['row-end', 'last'],
};

const WITH_CTRL: Readonly<Record<string, 'all' | 'undo' | 'redo'>> = { a: 'all', z: 'undo', y: 'redo' };

/** What a key does while no cell is being edited; undefined: nothing, so that the browser may have it. */
export function commandOf({ key, ctrlKey, metaKey, shiftKey, altKey }: Key): Command | undefined {
  const ctrl = ctrlKey || metaKey;
  const step = STEPS[key];
  if (step) return altKey ? undefined : { do: 'move', step: step[ctrl ? 1 : 0], extend: shiftKey };
  if (key === 'F8') return { do: shiftKey ? 'previous-fault' : 'next-fault' };
  if (ctrl && !altKey) {
    const letter = key.toLowerCase();
    if (letter === 'z' && shiftKey) return { do: 'redo' };
    const named = WITH_CTRL[letter];
    return named ? { do: named } : undefined;
  }
  if (key === 'Tab') return { do: 'move', step: shiftKey ? 'previous' : 'next', extend: false };
  if (key === 'F2' || key === 'Enter') return { do: 'edit' };
  if (key === 'Delete' || key === 'Backspace') return { do: 'clear' };
  // Any one sign that is typed; with AltGr, which some systems report as Ctrl and Alt, too.
  if (Array.from(key).length === 1 && ctrl === altKey) return { do: 'edit', text: key };
  return undefined;
}
