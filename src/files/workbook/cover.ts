import type { TableAbout, TableColumn } from '../../model/table.js';
import { KIND_WORDS } from '../table-form.js';
import { STYLE } from './styles.js';
import { clipped, FIT_TO_PAGE, MAIN, PAGE, textCell, XML } from './xml-text.js';
import type { WriteText } from './zip-pack.js';

const CELL = 32_767;

/**
 * The sheet that says what a workbook is: its title, the facts about it, and what its columns hold. Whether a column can
 * be changed is told where some cannot, that is in a table made to be changed and imported again.
 */
export async function writeCover(about: TableAbout, columns: readonly TableColumn[], write: WriteText): Promise<void> {
  const editable = columns.some(({ readOnly }) => readOnly);
  let row = 0;
  const widths = widthsOf(columns, about, editable);
  const line = (cells: readonly (readonly [text: string, style: number])[], height = heightOf(cells, widths)) => {
    row++;
    const filled = cells.map(([text, style], i) => textCell('ABCD'.charAt(i) + row, clipped(text, CELL), style));
    return `<row r="${row}"${height}>${filled.join('')}</row>`;
  };
  await write(
    `${XML}<worksheet xmlns="${MAIN}">${FIT_TO_PAGE}<sheetViews><sheetView showGridLines="0" workbookViewId="0"/></sheetViews>` +
      `<sheetFormatPr defaultRowHeight="15"/><cols>${colsOf(widths)}</cols><sheetData>`,
  );
  await write(line([[about.title, STYLE.title]], ' ht="24" customHeight="1"'));
  for (const [label, value] of about.facts) {
    await write(
      line([
        [label, STYLE.label],
        [value, STYLE.fact],
      ]),
    );
  }
  row++;
  const heads = ['Column', 'Holds', ...(editable ? ['Can be changed'] : []), 'Note'];
  await write(line(heads.map((head) => [head, STYLE.heading])));
  for (const column of columns) {
    const style = column.readOnly ? STYLE.listedReadOnly : STYLE.listed;
    const cells = [
      column.heading,
      holds(column),
      ...(editable ? [column.readOnly ? 'no' : 'yes'] : []),
      column.note ?? '',
    ];
    await write(line(cells.map((text) => [text, style])));
  }
  await write(`</sheetData>${PAGE}</worksheet>`);
}

/** `Date`, `One of: Deployed, Stock`. */
function holds({ kind, choices }: TableColumn): string {
  if (!choices || choices.length === 0) return KIND_WORDS[kind];
  const some = choices.length <= 12 && choices.join(', ').length <= 200;
  return some ? `One of: ${choices.join(', ')}` : `One of ${choices.length.toLocaleString('en-US')} values of a list`;
}

function widthsOf(columns: readonly TableColumn[], { facts }: TableAbout, editable: boolean): readonly number[] {
  const names = [...columns.map(({ heading }) => heading), ...facts.map(([label]) => label)];
  const first = Math.min(Math.max(16, ...names.map((name) => name.length + 2)), 44);
  return [first, 48, ...(editable ? [17] : []), 80];
}

function colsOf(widths: readonly number[]): string {
  return widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`).join('');
}

/** Programs do not make room for wrapped lines by themselves when they open a file. At most 409 points a row. */
function heightOf(cells: readonly (readonly [text: string, style: number])[], widths: readonly number[]): string {
  const lines = cells.map(([text], i) =>
    text
      .slice(0, 2_000)
      .split('\n')
      .reduce((sum, part) => sum + Math.max(1, Math.ceil((part.length * 1.1) / (widths[i] ?? 48))), 0),
  );
  const most = Math.min(Math.max(1, ...lines), 27);
  return most === 1 ? '' : ` ht="${most * 15}" customHeight="1"`;
}
