import type { TableColumn } from '../../model/table.js';
import { columnName } from '../table/header.js';
import { columnStyles } from './styles.js';
import { clipped, MAIN, plainText, textCell, XML } from './xml-text.js';
import type { WriteText } from './zip-pack.js';

/** Characters that a list may have inside its rule; longer lists stand on a sheet of their own. */
const INLINE = 255;

/** Blank rows below the data that have the lists too, for rows that people add. */
const SPARE_ROWS = 1_000;

const MESSAGE = 255;

/** Drop-down lists of a workbook. */
export interface Choices {
  /** The element `dataValidations` of a sheet, or `''`; `lastRow` is that of the data, `most` that of the sheet. */
  validations(lastRow: number, most: number): string;
  /** Whether lists stand on a sheet of their own, which is then to be written and hidden. */
  readonly sheet: ((write: WriteText) => Promise<void>) | undefined;
}

interface List {
  readonly column: TableColumn;
  readonly name: string;
  readonly choices: readonly string[];
  /** Position on the sheet of lists; undefined for one inside its rule. */
  readonly at: number | undefined;
}

/** `listSheet`: the name that the sheet of lists would have. Columns for information have no lists: nobody fills them in. */
export function choicesOf(columns: readonly TableColumn[], listSheet: string): Choices {
  let sheetColumns = 0;
  const lists = columns.flatMap((column, i): List[] => {
    const choices = [...new Set(column.choices ?? [])].filter((choice) => choice !== '');
    if (choices.length === 0 || column.readOnly) return [];
    return [{ column, name: columnName(i), choices, at: isInline(choices) ? undefined : sheetColumns++ }];
  });
  const outside = lists.filter(({ at }) => at !== undefined);
  return {
    validations(lastRow, most) {
      if (lists.length === 0) return '';
      const to = Math.min(lastRow + SPARE_ROWS, most);
      return `<dataValidations count="${lists.length}">${lists.map((list) => validation(list, listSheet, to)).join('')}</dataValidations>`;
    },
    sheet: outside.length === 0 ? undefined : (write) => writeLists(outside, write),
  };
}

/** Programs split at commas and trim; a quotation mark would end the list. */
function isInline(choices: readonly string[]): boolean {
  return choices.join(',').length <= INLINE && choices.every((choice) => !/[,"\n]|^\s|\s$/.test(choice));
}

function validation({ column, name, choices, at }: List, listSheet: string, to: number): string {
  const formula =
    at === undefined
      ? `"${choices.join(',')}"`
      : `'${listSheet}'!$${columnName(at)}$2:$${columnName(at)}$${choices.length + 1}`;
  const rule = clipped(`${column.heading} takes one of the values of its list: ${choices.join(', ')}`, MESSAGE);
  return (
    '<dataValidation type="list" errorStyle="stop" allowBlank="1" showErrorMessage="1" errorTitle="Not in the list" ' +
    `error="${plainText(rule)}" sqref="${name}2:${name}${to}"><formula1>${plainText(formula)}</formula1></dataValidation>`
  );
}

/** One list a column, its heading above it. */
async function writeLists(lists: readonly List[], write: WriteText): Promise<void> {
  await write(`${XML}<worksheet xmlns="${MAIN}"><sheetData>`);
  const style = columnStyles('text', 'plain').text;
  const rows = Math.max(...lists.map(({ choices }) => choices.length));
  for (let row = 0; row <= rows; row++) {
    const cells = lists.map(({ column, choices, at }) => {
      const text = row === 0 ? column.heading : choices[row - 1];
      return text === undefined ? '' : textCell(`${columnName(at!)}${row + 1}`, text, style);
    });
    await write(`<row r="${row + 1}">${cells.join('')}</row>`);
  }
  await write('</sheetData></worksheet>');
}
