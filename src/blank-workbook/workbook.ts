import { rm, writeFile } from 'node:fs/promises';
import { createAtomically, writeAtomically } from '../files/atomic-write.js';
import { columnName } from '../files/table/cell-range.js';
import { createBook, type DataValidation, textCell } from '../files/workbook/book.js';
import { type Look, MONEY } from '../files/workbook/styles.js';
import { formatNumber } from '../model/count-text.js';
import { commentText, yamlKey as keyText, shellWord, yamlScalar } from '../model/yaml-text.js';
import type { ResourceSpec } from '../resources/spec.js';
import { ruleText, typeName } from '../resources/value-check.js';
import { type BlankColumn, type DropDown, SHEET_NAME } from './columns.js';

/** A blank workbook, decided in full before anything is written. */
interface BlankWorkbook {
  readonly spec: ResourceSpec;
  readonly columns: readonly BlankColumn[];
  /** Drop-down list by field. */
  readonly lists: ReadonlyMap<string, DropDown>;
}

/** Rows 2 to here take drop-down lists; ranges cost nothing however many rows they have. */
const LAST_ROW = 5000;

const HEADING: Look = { bold: true, border: 'form', vertical: 'center', wrapped: true };
const HEADING_HEIGHT = 33;

const LOOKS = {
  required: { ...HEADING, fill: '1F4E79', color: 'FFFFFF' },
  other: { ...HEADING, fill: 'DDEBF7', color: '1F3864' },
} as const satisfies Readonly<Record<string, Look>>;

/**
 * Writes the workbook and the job file beside it; each is the old file or the complete new one at every moment. The
 * workbook's size goes with the lists it offers, not with the rows it has room for.
 */
export async function writeBlankWorkbook(
  { spec, columns, lists }: BlankWorkbook,
  target: { readonly workbook: string; readonly job: string; readonly jobText: string },
): Promise<void> {
  const name = SHEET_NAME[spec.name];
  const frozenColumns = columns.filter(({ key, field }, at) => at < 2 && (key || field === 'name')).length;
  let hasJob = false;
  await writeAtomically(target.workbook, async (write) => {
    const book = await createBook({ write }, [name]);
    for (const { title, values, name: range } of new Set(lists.values())) book.list(title, values, range);
    const head = {
      name,
      columns: columns.map((column) => ({ width: widthOf(column), look: formatOf(column) })),
      frozen: { rows: 1, columns: frozenColumns },
    };
    await book.sheet(head, async (sheet) => {
      const cells = columns.map(({ heading, required }, at) =>
        textCell(`${columnName(at)}1`, heading, book.styles.of(LOOKS[required ? 'required' : 'other'])),
      );
      await sheet.row(1, cells.join(''), HEADING_HEIGHT);
      columns.forEach((column, at) => {
        const list = lists.get(column.field);
        const letter = columnName(at);
        sheet.note(1, at, noteText(column, list, spec), column.heading);
        if (list) sheet.validations.push({ ...validationOf(list, column), range: `${letter}2:${letter}${LAST_ROW}` });
      });
    });
    await book.end();
    // The job goes into place when the workbook lies ready to follow it.
    await createAtomically(target.job, (other) => writeFile(other, target.jobText, { flag: 'wx' }));
    hasJob = true;
  }).catch(async (error: unknown) => {
    // Without its workbook it would only be in the way of the next one.
    if (hasJob) await rm(target.job, { force: true });
    throw error;
  });
}

/** Lists up to here are written out; longer ones are named. */
const WRITTEN_OUT = 12;

/** Where the kind and the rule leave doubts. */
const EXAMPLES: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  decimal: '1250.50',
  email: 'name@example.com',
  texts: 'name@example.com',
};

/** What a column takes, in the note on its heading. */
export function noteText(
  { spec, required, key }: BlankColumn,
  list: DropDown | undefined,
  resource: ResourceSpec,
): string {
  const { type, label, note = '' } = spec;
  const rule = type.kind === 'enum' ? '' : ruleText(spec);
  const kind = `${typeName(type)}${rule === '' ? '' : `, ${rule}`}`;
  const longer = type.kind === 'text' && type.updateMax !== undefined && type.updateMax !== type.max;
  const once = spec.update === undefined && !/create only|after the \w+ is created/.test(note);
  const example = EXAMPLES[type.kind];
  return [
    required && 'Required in every row.',
    `${kind.charAt(0).toUpperCase()}${kind.slice(1)}.`,
    longer && `In an existing record at most ${type.updateMax} characters.`,
    list &&
      (list.values.length <= WRITTEN_OUT
        ? `Choose: ${list.values.join(', ')}.`
        : `Choose one of ${formatNumber(list.values.length)} in the drop-down list.`),
    key &&
      `Rows are matched by it: a known ${label.toLowerCase()} changes that ${resource.name}, a new one makes a new ${resource.name}.`,
    /[.!?]$|^$/.test(note) ? note : `${note}.`,
    spec.name.startsWith('template.') && 'A record holds the values of one custom field template.',
    once && 'Can be set on create only.',
    example !== undefined && `Example: ${example}`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** What is not in a list may be right after all where the service's names are listed: one that was added since. */
function validationOf(list: DropDown, { spec: { label } }: BlankColumn): Omit<DataValidation, 'range'> {
  const [style, text] = list.closed
    ? (['stop', 'Choose one of the values of the list.'] as const)
    : (['warning', 'This was not in the list when the workbook was made. Keep it only if it is right.'] as const);
  return { values: list.name, error: { style, title: label, text } };
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

/** The job that imports the workbook; contract, section 4. `workbook` is the file's name. */
export function jobText(
  spec: ResourceSpec,
  columns: readonly BlankColumn[],
  about: { readonly workbook: string; readonly job: string; readonly company?: number },
): string {
  const [key] = spec.naturalKeys;
  return [
    `# Written by \`rowferry template\` for ${commentText(about.workbook)}.`,
    '#',
    `#   rowferry import ${shellWord(about.workbook)} --job ${shellWord(about.job)} --dry-run     what would happen?`,
    `#   rowferry import ${shellWord(about.workbook)} --job ${shellWord(about.job)}               do it`,
    '',
    'kind: import',
    `resource: ${spec.name}`,
    ...(about.company === undefined ? [] : [`company: ${about.company}`]),
    '',
    'source:',
    '  format: xlsx',
    `  sheet: ${SHEET_NAME[spec.name].padEnd(25)}# the other sheets are never imported`,
    '  header_row: 1',
    '',
    'match:',
    `  key: ${key}`,
    ...(spec.name === 'asset'
      ? [`  unique_field: ${key}     # the service itself refuses a second asset with this serial number`]
      : []),
    '  existing: update                # update | skip | fail',
    '  missing: create                 # create | skip | fail',
    '',
    'blank: keep                       # a blank cell leaves the value in the service as it is',
    '',
    'columns:',
    ...columns.map(({ heading, field, spec }) => {
      const target = yamlScalar(field);
      // A row whose key is blank is invalid anyhow; without `required` another field can be made the key.
      return `  ${keyText(heading, '  ')} ${spec.required ? `{ field: ${target}, required: true }` : target}`;
    }),
    '',
  ].join('\n');
}
