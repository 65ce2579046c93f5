import type { Cell } from 'exceljs';

const CHARACTERS = 44;
const NOTE_PIXELS = 320;
const LINE_PIXELS = 16;
/** Rows below the heading are of the default height. */
const ROW_PIXELS = 20;
/** Pixels of a column of the given width in characters. */
const pixels = (width: number) => Math.round(width * 7 + 5);

/** Puts a note on a heading cell, large enough for its text. `widths`: of all columns, in characters. */
export function setNote(cell: Cell, title: string, text: string, widths: readonly number[]): void {
  cell.note = {
    texts: [
      { font: { bold: true, size: 9, name: 'Tahoma' }, text: `${title}\n` },
      { font: { size: 9, name: 'Tahoma' }, text },
    ],
  };
  const lines = [title, ...text.split('\n')].reduce(
    (sum, line) => sum + Math.max(1, Math.ceil(line.length / CHARACTERS)),
    0,
  );
  const left = Number(cell.col);
  const [right, over] = spanned(left, widths);
  const anchor = {
    left: left + 0.15,
    top: 0.1,
    right: right + over,
    bottom: 1 + Math.ceil((lines * LINE_PIXELS + 16) / ROW_PIXELS),
  };
  // The library draws every note in one small size. It would take a place from the note's model, which it makes itself.
  const { _comment: note } = cell as unknown as { readonly _comment: { readonly model: object } };
  Object.defineProperty(note, 'model', { value: { ...note.model, anchor } });
}

/**
 * Where a note that begins in column `from` (counted from 0) ends: a column, and how far into it. The library states parts
 * of at most 68 pixels; beyond that the note takes the whole column.
 */
function spanned(from: number, widths: readonly number[]): readonly [column: number, part: number] {
  let rest = NOTE_PIXELS;
  for (let column = from; ; column++) {
    const width = pixels(widths[column] ?? DEFAULT_WIDTH);
    if (rest <= Math.min(width, PART_PIXELS)) return [column, Math.min(0.99, rest / PART_PIXELS)];
    rest = Math.max(0, rest - width);
  }
}

const PART_PIXELS = 68;
/** Of columns beyond the table. */
const DEFAULT_WIDTH = 9;
