import { columnName } from '../table/header.js';
import { type CellNews, type CellWriter, cellWriter } from './cells.js';
import type { RowFeed } from './row-feed.js';
import { filterRange, heightOf, LINE, PIECE, SHEET_BYTES } from './sheet.js';
import { type CellKind, columnStyles, STYLE, type Tone } from './styles.js';
import { FIT_TO_PAGE, MAIN, PAGE, textCell, XML } from './xml-text.js';
import type { WriteText } from './zip-pack.js';

export interface ToneColumn {
  readonly heading: string;
  readonly kind: CellKind;
}

/** A row of a report: a text for each column, and what the look of its cells says. */
export interface ToneRow {
  readonly cells: readonly string[];
  /** Of the whole row; `plain` unless stated. */
  readonly tone?: Tone;
  /** Of single cells, by 0-based column. */
  readonly marks?: ReadonlyMap<number, Tone>;
}

export interface ToneLayout {
  readonly columns: readonly ToneColumn[];
  readonly widths: readonly number[];
  /** Rows of a sheet, the heading included. */
  readonly rows: number;
  /** Said under the headings of a table without rows. */
  readonly empty: string;
}

const ROW_STYLES: readonly Tone[] = ['plain', 'soft', 'changed', 'cleared'];

/**
 * Writes a table whose cells have looks: heading (filled, filterable, frozen at the top), then rows until they end or the
 * sheet is full. Returns the number of its last row. Memory does not grow with the rows.
 */
export async function writeToneSheet(
  layout: ToneLayout,
  feed: RowFeed<ToneRow>,
  first: boolean,
  write: WriteText,
): Promise<number> {
  const { columns } = layout;
  const news: CellNews = { lines: 1, shortened() {} };
  const writers = new Map<Tone, readonly CellWriter[]>(
    ROW_STYLES.map((tone) => [tone, columns.map((column, i) => cellWriter(column, i, news, tone))]),
  );
  await write(start(layout, first));
  let row = 1;
  let bytes = 0;
  let piece = '';
  while (row < layout.rows && bytes < SHEET_BYTES && (feed.ready || (await feed.more()))) {
    const { cells, tone = 'plain', marks } = feed.take();
    const number = String(++row);
    let xml = '';
    news.lines = 1;
    const plain = writers.get(tone)!;
    for (let i = 0; i < columns.length; i++) {
      const text = cells[i] ?? '';
      const mark = marks?.get(i);
      if (text !== '') xml += (mark ? writers.get(mark)![i]! : plain[i]!).write(text, number);
      // A cell that becomes blank has its look, too.
      else if (mark) xml += `<c r="${columnName(i)}${number}" s="${columnStyles('text', mark).text}"/>`;
    }
    piece += `<row r="${number}"${news.lines > 1 ? heightOf(news.lines) : ''}>${xml}</row>`;
    if (piece.length >= PIECE) {
      bytes = await write(piece);
      piece = '';
    }
  }
  if (row === 1) piece += `<row r="${row + 1}">${textCell(`A${row + 1}`, layout.empty, STYLE.aside)}</row>`;
  await write(piece + end(layout, row));
  return row;
}

function start({ columns, widths }: ToneLayout, first: boolean): string {
  const cols = widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`);
  const headings = columns.map(({ heading, kind }, i) =>
    textCell(`${columnName(i)}1`, heading, isNumber(kind) ? STYLE.headingRight : STYLE.heading),
  );
  return (
    `${XML}<worksheet xmlns="${MAIN}">${FIT_TO_PAGE}` +
    `<sheetViews><sheetView${first ? ' tabSelected="1"' : ''} workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
    '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>' +
    `<sheetFormatPr defaultRowHeight="${LINE}"/><cols>${cols.join('')}</cols><sheetData>` +
    `<row r="1" ht="21" customHeight="1">${headings.join('')}</row>`
  );
}

function isNumber(kind: CellKind): boolean {
  return kind === 'integer' || kind === 'count' || kind === 'decimal' || kind === 'money';
}

/** What follows the rows; programs insist on this order. */
function end({ columns }: ToneLayout, lastRow: number): string {
  const range = filterRange(columns.length, lastRow);
  return (
    `</sheetData><autoFilter ref="${range}"/>${PAGE}` +
    // Without it a program marks every id and key as a number stored as text.
    `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>` +
    '</worksheet>'
  );
}
