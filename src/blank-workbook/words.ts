import { typeName } from '../resources/describe.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import { type BlankColumn, KEY } from './columns.js';
import type { DropDown } from './lists.js';

/** What is said of a column, in its note and on the help sheet. */
export interface ColumnWords {
  /** `required`, `in some rows`, '' */
  readonly need: string;
  /** `text`, `date`, … */
  readonly holds: string;
  /** `at most 50 characters`; '' where there is none. */
  readonly rule: string;
  /** Words to choose from; '' where there is no list. */
  readonly allowed: string;
  /** Further sentences; '' where there are none. */
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
  const shown = spec.type.kind === 'decimal' && example !== '' ? withGroups(example) : example;
  return {
    need: { always: 'required', depends: 'in some rows', no: '' }[column.need],
    holds: typeName(spec.type),
    rule: ruleWords(spec),
    allowed: allowedWords(list),
    remark: remarks(column, list, resource).join(' '),
    example: shown,
  };
}

/** The note of a heading, below its title. */
export function noteText(words: ColumnWords): string {
  const kind = words.rule === '' ? words.holds : `${words.holds}, ${words.rule}`;
  return [
    ...(words.need === 'required' ? ['Required in every row.'] : []),
    `${kind.charAt(0).toUpperCase()}${kind.slice(1)}.`,
    ...(words.allowed === '' ? [] : [`Choose: ${words.allowed}.`]),
    ...(words.remark === '' ? [] : [words.remark]),
    ...(words.example === '' ? [] : [`Example: ${words.example}`]),
  ].join('\n');
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
      return type.max === undefined
        ? `${withGroups(String(type.min))} or more`
        : `${withGroups(String(type.min))} to ${withGroups(String(type.max))}`;
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
  const said = spec.note ?? '';
  const once = spec.update === undefined && !/create only|after the \w+ is created/.test(said);
  return [
    ...(key
      ? [
          `Rows are matched by it: a known ${spec.label.toLowerCase()} changes that ${resource.name}, a new one makes a new ${resource.name}.`,
        ]
      : []),
    ...(said === '' ? [] : [/[.!?]$/.test(said) ? said : `${said}.`]),
    ...(once ? ['Can be set on create only.'] : []),
    ...(field === 'category.subcategory' && list === undefined ? ['One of those the category has.'] : []),
    ...(list?.remark === undefined ? [] : [list.remark]),
  ];
}

/** `1234567.50` → `1,234,567.50` */
export function withGroups(plain: string): string {
  const [whole = '', fraction] = plain.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Rules between fields of one row, in words; contract-rules.ts and rules.ts judge them. Interface, section 4.3. */
export function rowRules(resource: ResourceSpec): readonly string[] {
  const pairs = [
    ...(resource.fields.some(({ name }) => name === 'contact_person.name')
      ? ['A contact has a name and an e-mail address, or neither.']
      : []),
    ...(resource.fields.some(({ name }) => name === 'category.subcategory')
      ? ['A subcategory needs its category.']
      : []),
  ];
  return resource.name === 'contract' ? [...CONTRACT_RULES, ...pairs] : pairs;
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

/** The field by which rows are matched, as its heading says it. */
export function keyLabel(resource: ResourceSpec): string {
  return resource.fields.find(({ name }) => name === KEY[resource.name])?.label ?? KEY[resource.name];
}
