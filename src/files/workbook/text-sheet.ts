import { isIntegerText } from '../number/cell-value.js';
import { columnName } from '../table/cell-range.js';
import { type BookWriter, LINE_HEIGHT, type SheetHead, textCell } from './book.js';
import { LOOKS, type Look } from './styles.js';

/** The cells of a line from the left. Texts of digits are numbers where the look is one of numbers. */
export type TextLine = readonly { readonly text: string; readonly look: Look }[];

/** A sheet to be read from top to bottom, not to be sorted. */
export interface TextSheet {
  readonly name: string;
  /** Widths of the columns in characters. */
  readonly widths: readonly number[];
  readonly lines: readonly TextLine[];
}

/** Points of a row of one line: a little air makes pages readable. */
const TEXT_ROW_HEIGHT = 18;

/** Most points of a row are 409. */
const MOST_LINES = 27;

export async function writeTextSheet(book: BookWriter, { name, widths, lines }: TextSheet): Promise<void> {
  const { styles } = book;
  const columns = widths.map((width) => ({ width }));
  const head: SheetHead = { name, columns, gridLines: false, lineHeight: TEXT_ROW_HEIGHT };
  await book.sheet(head, async (sheet) => {
    for (const [i, cells] of lines.entries()) {
      const row = i + 1;
      const xml = cells.map(({ text, look }, column) => {
        const at = columnName(column) + row;
        const style = styles.of(look);
        return look === LOOKS.count && isIntegerText(text)
          ? `<c r="${at}" s="${style}"><v>${text}</v></c>`
          : textCell(at, text, style);
      });
      const heights = cells.map(({ text, look }, column) => {
        const lineCount = look.wrapped ? Math.min(linesOf(text, widths[column] ?? 1), MOST_LINES) : 1;
        return Math.max((lineCount - 1) * LINE_HEIGHT + TEXT_ROW_HEIGHT, (look.size ?? 0) * 1.5);
      });
      const height = Math.max(TEXT_ROW_HEIGHT, ...heights);
      await sheet.row(row, xml.join(''), height === TEXT_ROW_HEIGHT ? undefined : height);
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
