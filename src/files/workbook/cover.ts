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
  const line = (cells: readonly (readonly [text: string, style: number])[], height = '') => {
    row++;
    const filled = cells.map(([text, style], i) => textCell('ABCD'.charAt(i) + row, clipped(text, CELL), style));
    return `<row r="${row}"${height}>${filled.join('')}</row>`;
  };
  await write(
    `${XML}<worksheet xmlns="${MAIN}">${FIT_TO_PAGE}<sheetViews><sheetView showGridLines="0" workbookViewId="0"/></sheetViews>` +
      `<sheetFormatPr defaultRowHeight="15"/><cols>${columnsOf(columns, about, editable)}</cols><sheetData>`,
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

function columnsOf(columns: readonly TableColumn[], { facts }: TableAbout, editable: boolean): string {
  const names = [...columns.map(({ heading }) => heading), ...facts.map(([label]) => label)];
  const first = Math.min(Math.max(16, ...names.map((name) => name.length + 2)), 44);
  const widths = [first, 48, ...(editable ? [17] : []), 80];
  return widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`).join('');
}
