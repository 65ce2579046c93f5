import { Decimal } from '../model/decimal.js';
import { fault, type Issue, type IssueCode } from '../model/issue.js';
import { isEmpty, isRef, type Value, valueText } from '../model/value.js';
import { isCalendarDate } from './calendar.js';
import { countryNames } from './countries.js';
import { type FieldSpec, type FieldType, memoized, type ReferenceTarget } from './spec.js';

/**
 * Whether a canonical value keeps the rules of its field: interface sections 2.1 to 2.5, 4.3 and 4.4. Empty values pass;
 * whether one is required is a matter of the record (rules.ts), and so is a status that updates do not accept.
 * Without `operation` the wider limit counts.
 */
export function checkValue(field: FieldSpec, value: Value, operation?: 'create' | 'update'): Issue | undefined {
  const flaw = isEmpty(value) ? undefined : flawOf(field.type, value, operation);
  if (!flaw) return undefined;
  const [code, says] = flaw;
  return fault(code, `${field.label} ${says}`, { field: field.name, value: valueText(value) });
}

/** What is wrong with a value: the code, and what to say of its field. */
type Flaw = readonly [code: IssueCode, says: string] | undefined;

function flawOf(type: FieldType, value: Value, operation: 'create' | 'update' | undefined): Flaw {
  switch (type.kind) {
    case 'text':
      return typeof value === 'string' ? textFlaw(type, value, operation) : ['not_in_list', 'must be text.'];
    case 'email':
      return emailFlaw(type.max, String(value));
    case 'texts':
      for (const text of Array.isArray(value) ? value : [String(value)]) {
        const flaw = characterFlaw(text);
        if (flaw) return flaw;
      }
      return undefined;
    case 'integer':
      if (typeof value !== 'number' || !Number.isSafeInteger(value))
        return ['not_an_integer', `${quotedValue(value)}. Write a whole number.`];
      return rangeFlaw(type, Decimal.of(value));
    case 'decimal': {
      const decimal = value instanceof Decimal || typeof value !== 'number' ? value : Decimal.parse(String(value));
      if (!(decimal instanceof Decimal))
        return ['not_a_number', `${quotedValue(value)}. Write a number such as 1200.50.`];
      return rangeFlaw(type, decimal);
    }
    case 'date':
      return typeof value === 'string' && isCalendarDate(value)
        ? undefined
        : ['not_a_date', `${quotedValue(value)}, which is no date of the calendar. Write it as yyyy-MM-dd.`];
    case 'boolean':
      return typeof value === 'boolean'
        ? undefined
        : ['not_a_boolean', `${quotedValue(value)}. Write yes or no, true or false.`];
    case 'enum':
      return typeof value === 'string' && type.values.includes(value)
        ? undefined
        : ['not_in_list', `${quotedValue(value)}. It must be one of: ${type.values.join(', ')}.`];
    case 'reference':
    case 'country': {
      if (isRef(value) && Number.isSafeInteger(value.id) && value.id > 0) return undefined;
      const what =
        type.kind === 'country'
          ? 'no country of ISO 3166-1. Use its name or code'
          : 'no id of a record. Use the name or the id';
      return ['reference_not_found', `${quotedValue(value)}, which is ${what}.`];
    }
  }
}

const quotedValue = (value: Value): string => `is "${valueText(value)}"`;

function textFlaw(
  type: Extract<FieldType, { kind: 'text' }>,
  text: string,
  operation: 'create' | 'update' | undefined,
): Flaw {
  if (type.exact !== undefined) {
    const length = characters(text);
    if (length !== type.exact)
      return ['wrong_length', `has ${length} characters; the service accepts exactly ${type.exact}.`];
  }
  return lengthFlaw(text, operation === 'update' ? (type.updateMax ?? type.max) : type.max) ?? characterFlaw(text);
}

function lengthFlaw(text: string, max: number | undefined): Flaw {
  // A text has at most as many characters as UTF-16 units: the exact count is needed for long texts only.
  if (max === undefined || text.length <= max) return undefined;
  const length = characters(text);
  if (length <= max) return undefined;
  return ['too_long', `has ${length} characters; the service accepts at most ${max}. Shorten it by ${length - max}.`];
}

/** Characters as people count them without combining marks apart: code points. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Everything that is no text: controls other than tab and line breaks. Those of C1 are left of text that was decoded wrongly. */
const CONTROL = /[^\P{Cc}\t\n\r\u0080-\u009f]/u;
/** Half a character, or the mark that decoders leave for bytes they could not read. */
const BROKEN = /[\p{Surrogate}\ufffd]/u;

function characterFlaw(text: string): Flaw {
  if (text.includes('\0')) return ['nul_character', 'holds a NUL character. Export the file again as plain text.'];
  const control = CONTROL.exec(text)?.[0];
  if (control !== undefined) {
    const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return ['control_character', `holds the control character U+${code}. Delete it, or type the text again.`];
  }
  const damaged = 'holds characters that were damaged when the file was decoded. State its encoding in the job.';
  return BROKEN.test(text) ? ['invalid_encoding', damaged] : undefined;
}

/** One address with something on both sides of one @; what exactly is allowed, the service decides. */
const EMAIL = /^[^\s@<>(),;]+@[^\s@<>(),;.]+(?:\.[^\s@<>(),;.]+)*$/u;

function emailFlaw(max: number, text: string): Flaw {
  const flaw = lengthFlaw(text, max) ?? characterFlaw(text);
  if (flaw || EMAIL.test(text)) return flaw;
  return ['not_an_email', `is "${text}", which is no e-mail address. Write one address such as name@example.com.`];
}

interface Range {
  readonly min?: number | string;
  readonly max?: number | string;
}

function rangeFlaw(range: Range, value: Decimal): Flaw {
  const { min, max } = range;
  const low = Number(min) === 0 ? value.negative : min !== undefined && value.compare(Decimal.of(min)) < 0;
  if (!low && (max === undefined || value.compare(Decimal.of(max)) <= 0)) return undefined;
  return ['out_of_range', `is ${value}; the service accepts ${rangeText(range)}.`];
}

/** '' where there is none. */
function rangeText({ min, max }: Range): string {
  if (min === undefined) return max === undefined ? '' : `at most ${max}`;
  return max === undefined ? `${min} or more` : `${min} to ${max}`;
}

type EnumType = Extract<FieldType, { kind: 'enum' }>;

/** The form in which words of a list are compared: no case, marks, blanks or punctuation; `%` is a word. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/%/g, 'percent')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** The value of the list that the text means, in any spelling a user writes; undefined where it means none. */
export function enumValue(type: EnumType, text: string): string | undefined {
  return wordsOf(type).get(folded(text));
}

const wordsOf = memoized((type: EnumType): ReadonlyMap<string, string> => {
  const index = new Map<string, string>();
  for (const value of [...(type.update ?? []), ...(type.read ?? []), ...type.values]) index.set(folded(value), value);
  return index;
});

/** The word among `words` that a name means, compared as enum values are. */
export function matchingWord(words: readonly string[], name: string): string | undefined {
  const wanted = folded(name);
  return words.find((word) => folded(word) === wanted);
}

const YES = new Set(['true', 'yes', 'y', 't', '1', 'on', 'x', 'ja', 'oui', 'si', 'sim', 'wahr', 'vrai', 'verdadero']);
const NO = new Set(['false', 'no', 'n', 'f', '0', 'off', 'nein', 'non', 'nao', 'nee', 'falsch', 'faux', 'falso']);
const TICKS: ReadonlyMap<string, boolean> = new Map([
  ['✓', true],
  ['✔', true],
  ['☑', true],
  ['✗', false],
  ['✘', false],
  ['☐', false],
]);

/** Yes or no in the spellings that spreadsheets hold; undefined where the text is neither. */
export function booleanValue(text: string): boolean | undefined {
  const tick = TICKS.get(text.trim());
  if (tick !== undefined) return tick;
  const word = folded(text);
  return YES.has(word) ? true : NO.has(word) ? false : undefined;
}

/** What a field holds, in one or two words for people. */
export function typeName(type: FieldType): string {
  switch (type.kind) {
    case 'text':
      return 'text';
    case 'email':
      return 'e-mail address';
    case 'texts':
      return 'list of text';
    case 'integer':
      return 'whole number';
    case 'decimal':
      return 'decimal';
    case 'date':
      return 'date';
    case 'boolean':
      return 'yes or no';
    case 'enum':
      return 'one of a list';
    case 'reference':
      return type.to.replace('-', ' ');
    case 'country':
      return 'country';
  }
}

/** The rule a value must keep, for people; '' where the interface states none. */
export function ruleText(field: FieldSpec): string {
  const type = field.type;
  switch (type.kind) {
    case 'text':
      if (type.exact !== undefined) return `exactly ${type.exact} characters`;
      return type.max === undefined ? '' : `at most ${type.max} characters`;
    case 'email':
      return `at most ${type.max} characters`;
    case 'integer':
    case 'decimal':
      return rangeText(type);
    case 'date':
      return 'yyyy-MM-dd';
    case 'enum':
      return type.values.map((value) => `\`${value}\``).join(', ');
    case 'reference':
      return REFERENCE_HINTS[type.to] ?? 'name or id';
    case 'country':
      return 'name or code of ISO 3166-1';
    default:
      return '';
  }
}

/** What a field takes, where that is a list that no service has to be asked for. */
export function fixedChoices(type: FieldType): readonly string[] {
  if (type.kind === 'enum') return type.values;
  if (type.kind === 'boolean') return ['yes', 'no'];
  return type.kind === 'country' ? countryNames() : [];
}

/** How a cell refers to a record, where that is not by name or id. */
const REFERENCE_HINTS: Partial<Record<ReferenceTarget, string>> = {
  'asset-owner': 'name, e-mail address or id',
  contract: 'contract number',
  make: 'id',
};
