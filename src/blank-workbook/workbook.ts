import { writeFile } from 'node:fs/promises';
import { serialOfIso } from '../files/number/serial-date.js';
import { placeSafely, writeSafely } from '../files/safe-write.js';
import { columnName } from '../files/table/header.js';
import { type Book, type Check, openBook, type Sheet, textCell } from '../files/workbook/book.js';
import { writePage } from '../files/workbook/page.js';
import { type Look, MONEY } from '../files/workbook/styles.js';
import type { ResourceSpec } from '../resources/spec.js';
import type { BlankColumn, DropDown } from './columns.js';
import { type BlankWorkbook, type HelpFacts, helpPage, LAST_ROW, noteText } from './plan.js';

/**
 * Writes the workbook and the job file beside it; each is the old file or the complete new one at every moment. The
 * workbook's size goes with the lists it offers, not with the rows it has room for.
 */
export async function writeBlankWorkbook(
  plan: BlankWorkbook,
  facts: HelpFacts,
  target: { readonly workbook: string; readonly job: string; readonly jobText: string },
): Promise<void> {
  await writeSafely(target.workbook, async (write) => {
    const book = await openBook({ write }, `Blank workbook: ${plan.sheet}`, [plan.sheet, 'Example', 'Help']);
    addLists(book, plan);
    await writeForm(book, plan, plan.sheet, '1F4E79', async (sheet) => addNotesAndChecks(sheet, plan));
    await writeForm(book, plan, 'Example', '7F7F7F', (sheet) => addExample(book, sheet, plan));
    await writePage(book, helpPage(plan, facts));
    await book.end();
    // The job goes into place when the workbook lies ready to follow it.
    await placeSafely(target.job, (other) => writeFile(other, target.jobText, { flag: 'wx' }));
  });
}

/** More columns than this on the width of one page could not be read; at that percentage they go over several. */
const FIT_COLUMNS = 12;
const SMALL = 60;

const HEADING: Look = { bold: true, border: 'form', vertical: 'center', wrapped: true };
const HEADING_HEIGHT = 33;

/** How headings look, by how much a row needs the column. */
const LOOKS = {
  always: { ...HEADING, fill: '1F4E79', color: 'FFFFFF' },
  depends: { ...HEADING, fill: '9DC3E6', color: '1F3864' },
  no: { ...HEADING, fill: 'DDEBF7', color: '1F3864' },
  custom: { ...HEADING, fill: 'E2EFDA', color: '375623' },
} as const satisfies Readonly<Record<string, Look>>;

/** A sheet with the headings, on every page of paper, and columns in the formats of their fields. */
async function writeForm(
  book: Book,
  { columns }: BlankWorkbook,
  name: string,
  tab: string,
  fill: (sheet: Sheet) => Promise<unknown>,
): Promise<void> {
  const still = columns.filter(({ key, field }, at) => at < 2 && (key || field === 'name')).length;
  const head = {
    name,
    tab,
    columns: columns.map((column) => ({ width: widthOf(column), look: formatOf(column) })),
    frozen: { rows: 1, columns: still },
    print: columns.length <= FIT_COLUMNS ? ('fit' as const) : SMALL,
    repeat: { row: 1, column: still > 0 },
  };
  await book.sheet(head, async (sheet) => {
    const cells = columns.map(({ heading, custom, need }, at) =>
      textCell(`${columnName(at)}1`, heading, book.styles.of(LOOKS[custom ? 'custom' : need])),
    );
    await sheet.row(1, cells.join(''), HEADING_HEIGHT);
    await fill(sheet);
  });
}

function addNotesAndChecks(sheet: Sheet, plan: BlankWorkbook): void {
  const letters = new Map(plan.columns.map(({ field }, at) => [field, columnName(at)]));
  plan.columns.forEach((column, at) => {
    sheet.note(1, at, noteText(plan.words[at]!), column.heading);
    const list = plan.lists.get(column.field);
    const check = checkOf(column, list, plan.spec, (field) => letters.get(field), plan.subcategories.size > 0);
    if (check) sheet.check({ ...check, range: `${columnName(at)}2:${columnName(at)}${LAST_ROW}` });
  });
}

/** One row that could be imported: dates and numbers as such, everything else as text. */
async function addExample({ styles }: Book, sheet: Sheet, { columns, example }: BlankWorkbook): Promise<void> {
  const cells = columns.map((column, at) => {
    const text = example[at] ?? '';
    if (text === '') return '';
    const { kind } = column.spec.type;
    const number = kind === 'date' ? serialOfIso(text) : kind === 'integer' || kind === 'decimal' ? text : undefined;
    const style = styles.of(formatOf(column));
    const place = `${columnName(at)}2`;
    return number === undefined ? textCell(place, text, style) : `<c r="${place}" s="${style}"><v>${number}</v></c>`;
  });
  await sheet.row(2, cells.join(''));
}

/** Ranges in which the subcategory of a row's category is found. */
const SUBCATEGORY_OF = 'list_subcategory_of';
const SUBCATEGORIES = 'list_subcategory';

/** The lists from which the drop-downs take their values, each a named range. */
function addLists(book: Book, { lists, subcategories }: BlankWorkbook): void {
  for (const { title, values, name } of new Set(lists.values())) book.list(title, values, name);
  // A category's subcategories stand together, so that a row's list is a piece of the column.
  const pairs = [...subcategories].flatMap(([category, parts]) => parts.map((part) => [category, part] as const));
  if (pairs.length === 0) return;
  book.list(
    'Category of the subcategory',
    pairs.map(([category]) => category),
    SUBCATEGORY_OF,
  );
  book.list(
    'Subcategory',
    pairs.map(([, part]) => part),
    SUBCATEGORIES,
  );
}

/** The letter of a field's column in the data sheet; undefined where the workbook lacks the column. */
export type LetterOf = (field: string) => string | undefined;

type Rule = Omit<Check, 'range'>;

/** 1900-01-01 and 9999-12-31, as spreadsheets count days. */
const DAYS = [1, 2_958_465];

/** Beyond these a spreadsheet program keeps no whole number. */
const LIMIT = 999_999_999_999_999;

/**
 * What the spreadsheet program checks as a value is typed. `stop` where the import is sure to refuse it, `warning` where it
 * may be right after all (a name that was added since, a synonym). What is pasted is checked by the import alone. Formulas
 * are those of row 2, the first of the range.
 */
export function checkOf(
  column: BlankColumn,
  list: DropDown | undefined,
  spec: ResourceSpec,
  letterOf: LetterOf,
  hasSubcategories: boolean,
): Rule | undefined {
  const { type, label } = column.spec;
  const say = (style: 'stop' | 'warning', text: string) => ({ error: { style, title: label, text } });
  const own = `${letterOf(column.field)}2`;
  const between = acrossColumns(column.field, spec, letterOf);
  if (between) return { type: 'custom', formulas: [between.formula], ...say('warning', between.error) };
  if (list?.closed)
    return { type: 'list', formulas: [list.name], ...say('stop', 'Choose one of the values of the list.') };
  if (list) {
    const why =
      type.kind === 'country'
        ? 'This is not in the list of countries. Codes of ISO 3166-1 are read, too.'
        : "This was not among the service's names when the workbook was made.";
    return { type: 'list', formulas: [list.name], ...say('warning', `${why} Keep it only if it is right.`) };
  }
  if (column.field === 'category.subcategory' && hasSubcategories) {
    const category = letterOf('category.name');
    if (category === undefined) return undefined;
    const cell = `$${category}2`;
    const formula = `OFFSET(${SUBCATEGORIES},MATCH(${cell},${SUBCATEGORY_OF},0)-1,0,COUNTIF(${SUBCATEGORY_OF},${cell}),1)`;
    return {
      type: 'list',
      formulas: [formula],
      ...say('warning', 'The category of this row has no such subcategory in the list.'),
    };
  }
  switch (type.kind) {
    case 'text': {
      const length = type.exact ?? type.max;
      if (length === undefined) return undefined;
      const [operator, how] =
        type.exact === undefined ? (['lessThanOrEqual', 'At most'] as const) : (['equal', 'Exactly'] as const);
      return { type: 'textLength', operator, formulas: [length], ...say('stop', `${how} ${length} characters.`) };
    }
    case 'email': {
      const formula = `AND(ISNUMBER(FIND("@",${own})),ISERROR(FIND(" ",${own})),LEN(${own})<=${type.max})`;
      const text = `One e-mail address such as name@example.com, at most ${type.max} characters.`;
      return { type: 'custom', formulas: [formula], ...say('warning', text) };
    }
    case 'integer':
    case 'decimal': {
      const what = `A ${type.kind === 'integer' ? 'whole number' : 'number'}`;
      const range =
        type.min === undefined ? '' : `, ${type.min}${type.max === undefined ? ' or more' : ` to ${type.max}`}`;
      return {
        type: type.kind === 'integer' ? 'whole' : 'decimal',
        operator: 'between',
        formulas: [Number(type.min ?? -LIMIT), Number(type.max ?? LIMIT)],
        ...say('stop', `${what}${range}.`),
      };
    }
    case 'date':
      return { type: 'date', operator: 'between', formulas: DAYS, ...say('stop', 'A date, for example 2026-01-31.') };
    default:
      return undefined;
  }
}

/** Rules of contracts that two or three cells of a row decide; a blank one decides nothing. Interface, section 4.3. */
function acrossColumns(field: string, spec: ResourceSpec, letterOf: LetterOf) {
  if (spec.name !== 'contract' || letterOf(field) === undefined) return undefined;
  const own = `${letterOf(field)}2`;
  const other = (name: string) => {
    const letter = letterOf(name);
    return letter === undefined ? undefined : `$${letter}2`;
  };
  const [start, end, total] = ['contract_start_date', 'contract_end_date', 'total_contract_spend_value'].map(other);
  const against = (than: string | undefined, sign: string) =>
    than === undefined ? [] : [`OR(${than}="",${own}${sign}${than})`];
  const rule = (tests: readonly string[], error: string) =>
    tests.length === 0 ? undefined : { formula: `AND(ISNUMBER(${own}),${own}>=0,${tests.join(',')})`, error };
  switch (field) {
    case 'contract_end_date':
      return rule(against(start, '>'), 'A date after the start date of the contract.');
    case 'service_start_date':
      return rule(
        [...against(start, '>='), ...against(end, '<')],
        'A date on or after the start and before the end of the contract.',
      );
    case 'nrc':
      return rule(against(total, '<='), 'A number, not more than the total contract spend.');
    case 'notice_period':
      return start === undefined || end === undefined
        ? undefined
        : rule(
            [`${own}=INT(${own})`, `OR(${start}="",${end}="",${own}<${end}-${start})`],
            'A whole number of days, fewer than the contract lasts.',
          );
    default:
      return undefined;
  }
}

/** The format of a column. Text columns are text whatever is typed, so that leading zeros and long numbers stay. */
function formatOf({ spec }: BlankColumn): Look {
  const { kind } = spec.type;
  const formats: Readonly<Record<string, string>> = { date: 'yyyy-mm-dd', decimal: MONEY, integer: '0' };
  return { format: formats[kind] ?? '@' };
}

const WIDTHS = {
  ...{ date: 13, decimal: 18, integer: 12, boolean: 12, country: 22 },
  ...{ reference: 26, enum: 22, email: 30, texts: 30 },
};

/** Characters of width that the values of a column need; a heading takes two lines at most. */
function widthOf({ spec: { type }, heading }: BlankColumn): number {
  const text = (max: number) => (max > 100 ? 40 : max > 20 ? 28 : 18);
  const values = type.kind === 'text' ? text(type.max ?? 50) : WIDTHS[type.kind];
  const words = heading.split(' ').map((word) => word.length + 3);
  return Math.min(44, Math.max(values, Math.ceil(heading.length / 2) + 4, ...words));
}
