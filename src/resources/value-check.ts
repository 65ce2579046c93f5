import { Decimal } from '../model/decimal.js';
import { fault, type Issue, type IssueCode } from '../model/issue.js';
import { isEmpty, isRef, type Value, valueText } from '../model/value.js';
import { isCalendarDate } from './calendar.js';
import { countryNames } from './countries.js';
import { type FieldSpec, type FieldType, type ReferenceTarget, remembered } from './spec.js';

/**
 * Whether a canonical value keeps the rules of its field: interface sections 2.1 to 2.5, 4.3 and 4.4. Empty values pass;
 * whether one is required is a matter of the record (rules.ts), and so is a status that updates do not accept.
 * Without `operation` the wider limit counts.
 */
export function checkValue(field: FieldSpec, value: Value, operation?: 'create' | 'update'): Issue | undefined {
  if (isEmpty(value)) return undefined;
  const report = (code: IssueCode, message: string) =>
    fault(code, message, { field: field.name, value: valueText(value) });
  const type = field.type;
  switch (type.kind) {
    case 'text':
      return typeof value === 'string'
        ? checkText(field, type, value, operation, report)
        : report('not_in_list', `${field.label} must be text.`);
    case 'email':
      return checkEmail(field, type.max, String(value), report);
    case 'texts':
      for (const text of Array.isArray(value) ? value : [String(value)]) {
        const issue = checkCharacters(field, text, report);
        if (issue) return issue;
      }
      return undefined;
    case 'integer':
      return checkInteger(field, type, value, report);
    case 'decimal':
      return checkDecimal(field, type, value, report);
    case 'date':
      return typeof value === 'string' && isCalendarDate(value)
        ? undefined
        : report(
            'not_a_date',
            `${field.label} is "${valueText(value)}", which is no date of the calendar. Write it as yyyy-MM-dd.`,
          );
    case 'boolean':
      return typeof value === 'boolean'
        ? undefined
        : report('not_a_boolean', `${field.label} is "${valueText(value)}". Write yes or no, true or false.`);
    case 'enum':
      return typeof value === 'string' && type.values.includes(value)
        ? undefined
        : report(
            'not_in_list',
            `${field.label} is "${valueText(value)}". It must be one of: ${type.values.join(', ')}.`,
          );
    case 'reference':
    case 'country': {
      if (isRef(value) && Number.isSafeInteger(value.id) && value.id > 0) return undefined;
      const what =
        type.kind === 'country'
          ? 'no country of ISO 3166-1. Use its name or code'
          : 'no id of a record. Use the name or the id';
      return report('reference_not_found', `${field.label} is "${valueText(value)}", which is ${what}.`);
    }
  }
}

type Report = (code: IssueCode, message: string) => Issue;

function checkText(
  field: FieldSpec,
  type: Extract<FieldType, { kind: 'text' }>,
  text: string,
  operation: 'create' | 'update' | undefined,
  report: Report,
): Issue | undefined {
  const max = operation === 'update' ? (type.updateMax ?? type.max) : type.max;
  if (type.exact !== undefined) {
    const length = characters(text);
    if (length !== type.exact) {
      return report(
        'wrong_length',
        `${field.label} has ${length} characters; the service accepts exactly ${type.exact}.`,
      );
    }
  }
  return tooLong(field, text, max, report) ?? checkCharacters(field, text, report);
}

function tooLong(field: FieldSpec, text: string, max: number | undefined, report: Report): Issue | undefined {
  // A text has at most as many characters as UTF-16 units: the exact count is needed for long texts only.
  if (max === undefined || text.length <= max) return undefined;
  const length = characters(text);
  if (length <= max) return undefined;
  return report(
    'too_long',
    `${field.label} has ${length} characters; the service accepts at most ${max}. Shorten it by ${length - max}.`,
  );
}

/** Characters as people count them without combining marks apart: code points. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Everything that is no text: controls other than tab and line breaks. Those of C1 are left of text that was decoded wrongly. */
const CONTROL = /[^\P{Cc}\t\n\r\u0080-\u009f]/u;
/** Half a character, or the mark that decoders leave for bytes they could not read. */
const BROKEN = /[\p{Surrogate}\ufffd]/u;

/** Nearly every text: nothing of the above, in one look. */
const ORDINARY = /^[\t\n\r -~\u00a0-\ud7ff]*$/;

function checkCharacters(field: FieldSpec, text: string, report: Report): Issue | undefined {
  if (ORDINARY.test(text)) return undefined;
  if (text.includes('\0')) {
    return report('nul_character', `${field.label} holds a NUL character. Export the file again as plain text.`);
  }
  const control = CONTROL.exec(text)?.[0];
  if (control !== undefined) {
    const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return report(
      'control_character',
      `${field.label} holds the control character U+${code}. Delete it, or type the text again.`,
    );
  }
  return BROKEN.test(text)
    ? report(
        'invalid_encoding',
        `${field.label} holds characters that were damaged when the file was decoded. State its encoding in the job.`,
      )
    : undefined;
}

/** One address with something on both sides of one @; what exactly is allowed, the service decides. */
const EMAIL = /^[^\s@<>(),;]+@[^\s@<>(),;.]+(?:\.[^\s@<>(),;.]+)*$/u;

function checkEmail(field: FieldSpec, max: number, text: string, report: Report): Issue | undefined {
  const issue = tooLong(field, text, max, report) ?? checkCharacters(field, text, report);
  if (issue) return issue;
  return EMAIL.test(text)
    ? undefined
    : report(
        'not_an_email',
        `${field.label} is "${text}", which is no e-mail address. Write one address such as name@example.com.`,
      );
}

function checkInteger(
  field: FieldSpec,
  type: Extract<FieldType, { kind: 'integer' }>,
  value: Value,
  report: Report,
): Issue | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    return report('not_an_integer', `${field.label} is "${valueText(value)}". Write a whole number.`);
  }
  const { min, max } = type;
  if ((min === undefined || value >= min) && (max === undefined || value <= max)) return undefined;
  return report('out_of_range', `${field.label} is ${value}; ${range(min, max)}.`);
}

function checkDecimal(
  field: FieldSpec,
  type: Extract<FieldType, { kind: 'decimal' }>,
  value: Value,
  report: Report,
): Issue | undefined {
  const decimal =
    value instanceof Decimal ? value : typeof value === 'number' ? Decimal.parse(String(value)) : undefined;
  if (!decimal)
    return report('not_a_number', `${field.label} is "${valueText(value)}". Write a number such as 1200.50.`);
  const low = type.min === '0' ? decimal.negative : type.min !== undefined && decimal.compare(Decimal.of(type.min)) < 0;
  const high = type.max !== undefined && decimal.compare(Decimal.of(type.max)) > 0;
  return low || high
    ? report('out_of_range', `${field.label} is ${decimal}; ${range(type.min, type.max)}.`)
    : undefined;
}

function range(min: number | string | undefined, max: number | string | undefined): string {
  if (min === undefined) return `the service accepts at most ${max}`;
  return max === undefined ? `the service accepts ${min} or more` : `the service accepts ${min} to ${max}`;
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

const wordsOf = remembered((type: EnumType): ReadonlyMap<string, string> => {
  const index = new Map<string, string>();
  for (const [value, words] of Object.entries(type.synonyms ?? {}))
    for (const word of words.split('; ')) index.set(folded(word), value);
  for (const value of [...(type.update ?? []), ...(type.read ?? []), ...type.values]) index.set(folded(value), value);
  return index;
});

/** The value that the text means as a synonym of ours only, not as a spelling of the value. */
export function enumSynonym(type: EnumType, text: string): string | undefined {
  const word = folded(text);
  const own = [...type.values, ...(type.update ?? []), ...(type.read ?? [])].some((value) => folded(value) === word);
  return own ? undefined : enumValue(type, text);
}

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
      if (type.min === undefined) return type.max === undefined ? '' : `at most ${type.max}`;
      return type.max === undefined ? `${type.min} or more` : `${type.min} to ${type.max}`;
    case 'date':
      return 'yyyy-MM-dd';
    case 'enum':
      return type.values.map((value) => `\`${value}\``).join(', ');
    case 'reference':
      return HOW_REFERRED[type.to] ?? 'name or id';
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
const HOW_REFERRED: Partial<Record<ReferenceTarget, string>> = {
  'asset-owner': 'name, e-mail address or id',
  contract: 'contract number',
  make: 'id',
};
