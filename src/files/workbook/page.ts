import { columnName } from '../table/header.js';
import { isIntegerText } from '../table-format.js';
import { type Book, type SheetHead, textCell } from './book.js';
import { LOOKS, type Look } from './styles.js';

export interface PageCell {
  readonly text: string;
  /** Texts of digits are numbers where the look is one of numbers. */
  readonly look: Look;
  /** Columns that the cell takes; 1 unless stated. */
  readonly span?: number;
  /** Name of the sheet that a click on the cell leads to. */
  readonly link?: string;
}

/** The cells of a line from the left. */
export interface PageLine {
  readonly cells: readonly PageCell[];
  /** Points; as high as its wrapped texts want unless stated. */
  readonly height?: number;
}

/** A sheet to be read from top to bottom, not to be sorted. */
export interface Page extends Pick<SheetHead, 'name' | 'tab'> {
  /** Widths of the columns in characters. */
  readonly widths: readonly number[];
  readonly lines: readonly PageLine[];
}

/** Points of a line, and of a row of one: a little air makes pages readable. */
const LINE = 15;
const AIRY = 18;

/** Most points of a row are 409. */
const MOST_LINES = 27;

const NUMBERS: ReadonlySet<Look> = new Set<Look>([LOOKS.count, LOOKS.minorCount, LOOKS.badCount]);

export async function writePage(book: Book, { name, tab, widths, lines }: Page): Promise<void> {
  const { styles } = book;
  const columns = widths.map((width) => ({ width }));
  const head: SheetHead = { name, columns, gridLines: false, lineHeight: AIRY, print: 'fit' };
  await book.sheet(tab === undefined ? head : { ...head, tab }, async (sheet) => {
    for (const [i, line] of lines.entries()) {
      const row = i + 1;
      let [xml, column, tallest] = ['', 0, 1];
      for (const { text, look, span = 1, link } of line.cells) {
        const at = columnName(column) + row;
        const style = styles.of(look);
        xml +=
          NUMBERS.has(look) && isIntegerText(text)
            ? `<c r="${at}" s="${style}"><v>${text}</v></c>`
            : textCell(at, text, style);
        for (let more = 1; more < span; more++) xml += `<c r="${columnName(column + more)}${row}" s="${style}"/>`;
        if (span > 1) sheet.merge(`${at}:${columnName(column + span - 1)}${row}`);
        if (link !== undefined) sheet.link(at, link, text);
        const room = widths.slice(column, column + span).reduce((sum, width) => sum + width, 0);
        if (look.wrapped) tallest = Math.max(tallest, linesOf(text, room));
        column += span;
      }
      const height = line.height ?? (tallest > 1 ? Math.min(tallest, MOST_LINES) * LINE + AIRY - LINE : undefined);
      await sheet.row(row, xml, height);
    }
  });
}

/** Lines that a text takes when it is wrapped; programs do not make room for them by themselves when they open a file. */
function linesOf(text: string, width: number): number {
  return text
    .slice(0, 4_000)
    .split('\n')
    .reduce((sum, part) => sum + Math.max(1, Math.ceil((part.length * 1.08) / Math.max(width, 1))), 0);
}
