import type { Workbook } from 'exceljs';
import { columnName } from '../files/table/header.js';
import { cellText } from './cell-text.js';
import type { BlankWorkbook } from './plan.js';
import { SUBCATEGORIES, SUBCATEGORY_OF } from './validation.js';

/** The hidden sheet from which the drop-down lists take their values: one column a list, each a named range. */
export function addListsSheet(book: Workbook, plan: BlankWorkbook): void {
  const sheet = book.addWorksheet('Lists', { state: 'hidden' });
  let column = 0;
  const add = (name: string, title: string, values: readonly string[]) => {
    column++;
    sheet.getColumn(column).numFmt = '@';
    sheet.getCell(1, column).value = title;
    values.forEach((value, at) => {
      sheet.getCell(at + 2, column).value = cellText(value);
    });
    const letter = columnName(column - 1);
    book.definedNames.add(`Lists!$${letter}$2:$${letter}$${values.length + 1}`, name);
  };
  for (const list of new Set(plan.lists.values())) add(list.name, list.title, list.values);
  // A category's subcategories stand together, so that a row's list is a piece of the column.
  const pairs = [...plan.subcategories].flatMap(([category, parts]) => parts.map((part) => [category, part] as const));
  if (pairs.length === 0) return;
  add(
    SUBCATEGORY_OF,
    'Category of the subcategory',
    pairs.map(([category]) => category),
  );
  add(
    SUBCATEGORIES,
    'Subcategory',
    pairs.map(([, part]) => part),
  );
}
