import type { Page, PageLine } from '../files/workbook/page.js';
import type { Look } from '../files/workbook/styles.js';
import { typeName } from '../resources/describe.js';
import type { FieldSpec, ResourceName, ResourceSpec } from '../resources/spec.js';
import { type BlankColumn, type DropDown, dropDowns, KEY, NO_NAMES, type ServiceNames, SHEET } from './columns.js';
import { exampleRow } from './example.js';
import { shellWord } from './job-text.js';

/** A blank workbook, decided in full before anything is written. */
export interface BlankWorkbook {
  readonly spec: ResourceSpec;
  /** Name of the sheet to be filled in. */
  readonly sheet: string;
  readonly columns: readonly BlankColumn[];
  /** Drop-down list by field. */
  readonly lists: ReadonlyMap<string, DropDown>;
  /** By category; empty where they are not offered. */
  readonly subcategories: ReadonlyMap<string, readonly string[]>;
  /** By position of the column. */
  readonly words: readonly ColumnWords[];
  readonly example: readonly string[];
}

/** `service`: what the service knows; undefined where it was not asked. */
export function planWorkbook(
  spec: ResourceSpec,
  columns: readonly BlankColumn[],
  service: ServiceNames | undefined,
): BlankWorkbook {
  const lists = dropDowns(columns, service ?? NO_NAMES);
  const example = exampleRow(spec, columns, lists, service);
  const offered = columns.some(({ field }) => field === 'category.subcategory')
    ? lists.get('category.name')?.values
    : undefined;
  const subcategories = new Map(
    (offered ?? []).flatMap((category): [string, readonly string[]][] => {
      const parts = service?.subcategories.get(category) ?? [];
      return parts.length > 0 ? [[category, parts]] : [];
    }),
  );
  const words = columns.map((column, at) => columnWords(column, lists.get(column.field), example[at] ?? '', spec));
  return { spec, sheet: SHEET[spec.name], columns, lists, subcategories, words, example };
}

/** Rows 2 to here take drop-down lists and checks; ranges cost nothing however many rows they have. */
export const LAST_ROW = 5000;

/** What is said of a column, in its note and on the help sheet; '' for what is not to be said. */
export interface ColumnWords {
  /** `required`, `in some rows` */
  readonly need: string;
  /** `text`, `date`, … */
  readonly holds: string;
  /** `at most 50 characters` */
  readonly rule: string;
  /** Words to choose from. */
  readonly allowed: string;
  /** Further sentences. */
  readonly remark: string;
  readonly example: string;
}

/** Lists up to here are written out; longer ones are named. */
const WRITTEN_OUT = 12;

export function columnWords(
  column: BlankColumn,
  list: DropDown | undefined,
  example: string,
  resource: ResourceSpec,
): ColumnWords {
  const { spec } = column;
  return {
    need: { always: 'required', depends: 'in some rows', no: '' }[column.need],
    holds: typeName(spec.type),
    rule: ruleWords(spec),
    allowed: allowedWords(list),
    remark: remarks(column, list, resource).join(' '),
    example: spec.type.kind === 'decimal' && example !== '' ? withGroups(example) : example,
  };
}

/** The note of a heading, below its title. */
export function noteText({ need, holds, rule, allowed, remark, example }: ColumnWords): string {
  const kind = rule === '' ? holds : `${holds}, ${rule}`;
  return [
    need === 'required' && 'Required in every row.',
    `${kind.charAt(0).toUpperCase()}${kind.slice(1)}.`,
    allowed !== '' && `Choose: ${allowed}.`,
    remark,
    example !== '' && `Example: ${example}`,
  ]
    .filter(Boolean)
    .join('\n');
}

function ruleWords({ type }: FieldSpec): string {
  switch (type.kind) {
    case 'text':
      if (type.exact !== undefined) return `exactly ${type.exact} characters`;
      if (type.max === undefined) return '';
      return type.updateMax === undefined || type.updateMax === type.max
        ? `at most ${type.max} characters`
        : `at most ${type.max} characters (${type.updateMax} in an existing record)`;
    case 'email':
      return `at most ${type.max} characters`;
    case 'integer':
    case 'decimal':
      if (type.min === undefined) return type.max === undefined ? '' : `at most ${withGroups(String(type.max))}`;
      return `${withGroups(String(type.min))} ${type.max === undefined ? 'or more' : `to ${withGroups(String(type.max))}`}`;
    case 'date':
      return 'shown as yyyy-mm-dd';
    case 'country':
      return 'English name, or code of ISO 3166-1';
    case 'reference':
      return HOW_REFERRED[type.to] ?? 'by name, or by id (id:17)';
    default:
      return '';
  }
}

const HOW_REFERRED: Readonly<Record<string, string>> = {
  'asset-owner': 'by name, e-mail address or id (id:17)',
  contract: 'by contract number',
  make: 'by id',
};

function allowedWords(list: DropDown | undefined): string {
  if (!list) return '';
  if (list.values.length <= WRITTEN_OUT && (list.closed || list.remark === undefined)) return list.values.join(', ');
  return `one of ${list.values.length.toLocaleString('en-US')} in the drop-down list`;
}

function remarks({ spec, key, field }: BlankColumn, list: DropDown | undefined, resource: ResourceSpec): string[] {
  const { note = '', label } = spec;
  const once = spec.update === undefined && !/create only|after the \w+ is created/.test(note);
  return [
    key &&
      `Rows are matched by it: a known ${label.toLowerCase()} changes that ${resource.name}, a new one makes a new ${resource.name}.`,
    /[.!?]$|^$/.test(note) ? note : `${note}.`,
    once && 'Can be set on create only.',
    field === 'category.subcategory' && list === undefined && 'One of those the category has.',
    list?.remark,
  ].filter((text) => typeof text === 'string' && text !== '') as string[];
}

/** `1234567.50` → `1,234,567.50` */
export function withGroups(plain: string): string {
  const [whole = '', ...fraction] = plain.split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** Facts beside the columns. */
export interface HelpFacts {
  /** Names of the files, without folder. */
  readonly workbook: string;
  readonly job: string;
  /** Where the names come from, e.g. `"Northwind" (company 1) at https://…, 2026-01-31`; absent: no service was asked. */
  readonly origin?: string;
  /** What is missing from the workbook, and why. */
  readonly remarks: readonly string[];
}

const TABLE = ['Heading', 'Field', 'Needed', 'Holds', 'Rule', 'Allowed values', 'Example', 'Remarks'];
const WIDTHS = [34, 34, 13, 16, 34, 46, 32, 60];
const TITLE: Look = { bold: true, size: 14, color: '1F4E79' };
const SECTION: Look = { bold: true, color: '1F4E79' };
const HEAD: Look = { bold: true, color: 'FFFFFF', fill: '1F4E79', border: 'frame', vertical: 'center' };
const CELL: Look = { format: '@', border: 'frame', vertical: 'top', wrapped: true };
const NEEDED: Look = { ...CELL, bold: true };

/** How to fill the workbook in and import it, the rules, and every column. */
export function helpPage(plan: BlankWorkbook, facts: HelpFacts): Page {
  const rules = rowRules(plan.spec);
  const columns = plan.columns.map((column, at) => {
    const { need, holds, rule, allowed, example, remark } = plan.words[at]!;
    const texts = [column.heading, column.field, need, holds, rule, allowed, example, remark];
    return {
      cells: texts.map((text, i) => ({ text, look: i === 0 && column.need === 'always' ? NEEDED : CELL })),
    };
  });
  return {
    name: 'Help',
    tab: '2E75B6',
    widths: WIDTHS,
    lines: [
      { cells: [{ text: `How to fill in ${plan.sheet.toLowerCase()}`, look: TITLE }] },
      ...section('Fill in', fillIn(plan)),
      ...section('Import', importing(plan, facts)),
      ...section('Blank cells', [
        'In a new record a blank cell means: no value.',
        'In an existing record a blank cell leaves the value as it is. To empty values, write blank: clear for a column in the job file.',
      ]),
      ...(rules.length > 0 ? section('Rules between cells of a row', rules) : []),
      ...section('Lists', listLines(plan, facts)),
      ...section('Columns', []),
      { cells: TABLE.map((text) => ({ text, look: HEAD })) },
      ...columns,
    ],
  };
}

/** Lines run over the empty cells to their right: they are short enough for the table's width. */
function section(heading: string, lines: readonly string[]): PageLine[] {
  return [
    { cells: [] },
    { cells: [{ text: heading, look: SECTION }] },
    ...lines.map((text) => ({ cells: [{ text, look: {} }] })),
  ];
}

function fillIn({ sheet, spec, columns }: BlankWorkbook): string[] {
  const custom = columns.some((column) => column.custom);
  return [
    `Fill in the sheet ${sheet}, one row for each ${spec.name}, from row 2 on. Lists and checks reach to row ${LAST_ROW}; further rows are imported, too.`,
    'Dark headings with * need a value in every row; those in a stronger blue in some rows. The note on a heading says what its column takes.',
    ...(custom ? ["Green headings are the service's own custom fields."] : []),
    'Columns may be moved, and those without * deleted (from the job file as well). Do not rename headings.',
    'Type serial numbers, codes and postal codes as they are: leading zeros stay. Copy from elsewhere with "paste values", so that formats stay.',
    `The sheet Example shows a complete row. It is never imported; the job names the sheet ${sheet}.`,
  ];
}

function importing({ spec, columns }: BlankWorkbook, { workbook, job }: HelpFacts): string[] {
  const command = `rowferry import ${shellWord(workbook)} --job ${shellWord(job)}`;
  const key = spec.fields.find(({ name }) => name === KEY[spec.name])?.label ?? KEY[spec.name];
  const matched = columns.some(({ field }) => field === KEY[spec.name]);
  return [
    `Keep ${job} beside this workbook. First see what would happen:   ${command} --dry-run`,
    `Then do it:   ${command}`,
    ...(matched
      ? [
          `Rows are matched by ${key}: where the service knows it, that ${spec.name} is changed, else a new one is made. Importing twice changes nothing.`,
        ]
      : []),
    ...withoutKey(columns, spec.name, job),
    'Rows with faults are not sent; they come back in a file of their own, with the reasons, to be corrected and imported again.',
  ];
}

/** Only assets have a key that some records lack. */
function withoutKey(columns: BlankWorkbook['columns'], resource: ResourceName, job: string): string[] {
  if (resource !== 'asset') return [];
  const other = columns.some(({ field }) => field === 'asset_tag') ? 'asset_tag' : 'name';
  return [
    `For assets without a serial number make a workbook of their own, and in its ${job} write key: ${other} in place of key: serial_number, and delete the line unique_field.`,
    `Every row then needs ${other === 'name' ? 'a name' : 'an asset tag'} that no other asset has; the column of the serial number may stay blank.`,
  ];
}

function listLines({ lists }: BlankWorkbook, { origin, remarks }: HelpFacts): string[] {
  const all = [...new Set(lists.values())].filter((list) => !list.closed || list.remark !== undefined);
  return [
    origin === undefined
      ? 'No service was asked when this workbook was made: names of records are not offered.'
      : `Names are those of ${origin}. Made anew, the workbook offers what was added since.`,
    ...all.map(
      ({ title, values, remark }) =>
        `${title}: ${values.length.toLocaleString('en-US')}.${remark === undefined ? '' : ` ${remark}`}`,
    ),
    ...remarks,
  ];
}

/** Rules between fields of one row, in words; contract-rules.ts and rules.ts judge them. Interface, section 4.3. */
function rowRules({ name, fields }: ResourceSpec): readonly string[] {
  const has = (field: string) => fields.some((one) => one.name === field);
  return [
    ...(name === 'contract' ? CONTRACT_RULES : []),
    ...(has('contact_person.name') ? ['A contact has a name and an e-mail address, or neither.'] : []),
    ...(has('category.subcategory') ? ['A subcategory needs its category.'] : []),
  ];
}

const CONTRACT_RULES = [
  'A sell-side contract needs a customer.',
  'A buy-side contract needs a supplier.',
  'The start date is before the end date.',
  'The notice period, in days, is shorter than the contract.',
  'The service starts on or after the start date and before the end date.',
  'The non-recurring cost is not more than the total contract spend.',
  'Blended expenditure needs capex and opex, and the two add up to the total contract spend.',
];
