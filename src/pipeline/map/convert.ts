import { Decimal } from '../../model/decimal.js';
import { type Cell, displayText } from '../../model/row.js';
import type { SourceFormat } from '../../model/source.js';
import { isoDate } from '../../resources/calendar.js';
import { countryNames, countryWords, findCountry, suggestCountry } from '../../resources/countries.js';
import type { FieldSpec, FieldType, ReferenceTarget } from '../../resources/spec.js';
import { booleanValue, enumValue } from '../../resources/value-check.js';
import { isId, type StagedValue } from '../rows.js';
import { amountText, type DecimalRule, notANumber } from './amounts.js';
import { cellText, isRefusal, type Refusal, refuse } from './cell-text.js';
import { type DateFormat, dateInFormats, unambiguousDate } from './dates.js';
import { didYouMean } from './headings.js';

/** Turns one cell into a value of the field's type, or says why not. Blank and error cells never get here; text is trimmed. */
export type Convert = (cell: Cell) => StagedValue | Refusal;

interface ConvertOptions {
  readonly decimal: DecimalRule;
  /** Formats of text dates; absent: only dates that cannot be misread. */
  readonly dates?: readonly DateFormat[];
  readonly format: SourceFormat;
  /** The heading; kept with names that are looked up later. */
  readonly column?: string | undefined;
}

/** The converter of a field, made once a column. */
export function makeConverter(field: FieldSpec, options: ConvertOptions): Convert {
  const { type } = field;
  const exact = options.format === 'ndjson';
  switch (type.kind) {
    case 'text':
    case 'email':
      return (cell) => cellText(cell, exact);
    case 'texts':
      return (cell) => withText(cell, exact, (text) => text.split(/[\s,;]+/).filter((part) => part !== ''));
    case 'decimal':
      return (cell) => decimal(cell, options.decimal);
    case 'integer':
      return (cell) => integer(cell, options.decimal);
    case 'date':
      return (cell) => date(cell, options.dates);
    case 'boolean':
      return (cell) =>
        typeof cell === 'object' && cell.t === 'b'
          ? cell.value
          : withText(cell, exact, (text) => booleanValue(text) ?? NOT_A_BOOLEAN);
    case 'enum':
      return (cell) => withText(cell, exact, (text) => enumValue(type, text) ?? notInList(type, text));
    case 'country':
      return (cell) => withText(cell, exact, country);
    case 'reference':
      return (cell) => reference(cell, type.to, exact, options.column);
  }
}

const NOT_A_BOOLEAN = refuse('not_a_boolean', 'cannot be read as yes or no. Write yes or no.');

function withText(cell: Cell, exact: boolean, then: (text: string) => StagedValue | Refusal): StagedValue | Refusal {
  const text = cellText(cell, exact);
  return isRefusal(text) ? text : then(text);
}

function numberText(cell: Cell, rule: DecimalRule): string | Refusal {
  if (typeof cell === 'string') return amountText(cell, rule);
  if (cell.t === 'n') {
    if (cell.shown.trimEnd().endsWith('%'))
      return refuse('not_a_number', 'is a percentage; write the number and format the cell as a number.');
    return isTime(cell)
      ? refuse('not_a_number', 'is a time, not a number. Format the cell as a number, and see that its value is right.')
      : cell.value;
  }
  return refuse('not_a_number', `is ${cell.t === 'd' ? 'a date' : 'true or false'}, not a number. Correct the cell.`);
}

/** A time of day or a duration: what is stored is days, which nobody sees. */
function isTime({ shown, format }: Extract<Cell, { t: 'n' }>): boolean {
  return /\d:\d\d/.test(shown) || (format !== undefined && /\[(?:h+|m+|s+)\]/i.test(format));
}

function decimal(cell: Cell, rule: DecimalRule): Decimal | Refusal {
  const text = numberText(cell, rule);
  if (isRefusal(text)) return text;
  return Decimal.parse(text) ?? notANumber(rule);
}

function integer(cell: Cell, rule: DecimalRule): number | Refusal {
  const value = decimal(cell, rule);
  if (isRefusal(value)) return value === notANumber(rule) ? NOT_A_WHOLE_NUMBER : value;
  if (value.scale > 0) {
    // A format without decimals shows 30.5 as 31.
    const hidden = typeof cell === 'object' && cell.t === 'n' && !cell.shown.includes(value.text);
    return refuse('not_an_integer', `is ${hidden ? `${value.text}, ` : ''}not a whole number. Correct the cell.`);
  }
  const whole = Number(value.text);
  return Number.isSafeInteger(whole) ? whole : refuse('out_of_range', 'is too large. Correct the cell.');
}

const NOT_A_WHOLE_NUMBER = refuse('not_a_number', 'cannot be read as a whole number. Write digits such as 17.');

function date(cell: Cell, formats: readonly DateFormat[] | undefined): string | Refusal {
  if (typeof cell === 'string') return formats ? dateInFormats(cell, formats) : unambiguousDate(cell);
  if (cell.t === 'd') {
    const [year = 0, month = 0, day = 0] = cell.value.slice(0, 10).split('-').map(Number);
    // Day 0 of the workbook calendar: the cell holds a time of day alone.
    if (year < 1900 || (year === 1900 && day === 0))
      return refuse('not_a_date', 'is a time of day without a date. Correct the cell.');
    return isoDate(year, month, day) ?? refuse('not_a_date', 'is no date of the calendar. Correct the cell.');
  }
  if (cell.t === 'n' && /^\d{6,8}$/.test(cell.value)) {
    const typed = formats?.filter(({ digitsOnly }) => digitsOnly) ?? [];
    const read =
      typed.length > 0
        ? dateInFormats(cell.value, typed)
        : formats || cell.value.length < 8
          ? undefined
          : unambiguousDate(cell.value);
    if (typeof read === 'string') return read;
  }
  if (cell.t === 'n' && showsDate(cell.format)) {
    return refuse(
      'not_a_date',
      `is a date cell with the serial number ${cell.value}, which is outside the calendar of spreadsheets. Enter the date again, or write yyyy-MM-dd.`,
    );
  }
  return refuse(
    'not_a_date',
    `is ${cell.t === 'n' ? 'a number' : 'true or false'}, not a date. Format the column as a date in the spreadsheet program, or write yyyy-MM-dd.`,
  );
}

/** Whether a number format shows days or years: their letters, outside of quotes, escapes and brackets. */
function showsDate(format: string | undefined): boolean {
  return format !== undefined && /[dy]|m{3}/i.test(format.slice(0, 255).replace(/"[^"]*"|[\\_*].|\[[^\]]*\]/g, ''));
}

function notInList(type: Extract<FieldType, { kind: 'enum' }>, text: string): Refusal {
  return refuse(
    'not_in_list',
    `is none of the accepted values.${didYouMean(text, type.values)} Accepted: ${type.values.join(', ')}. Correct the cell, or translate it in the job with \`values\`.`,
  );
}

function country(text: string): StagedValue | Refusal {
  const found = findCountry(text);
  if (found) return found;
  const suggestions = suggestCountry(text).map(countryWords);
  const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(' or ')}?` : didYouMean(text, countryNames());
  return refuse(
    'reference_not_found',
    `is no country of ISO 3166-1.${hint} Write its English name or code, or translate it in the job with \`values\`.`,
  );
}

/** An id said to be one, e.g. `id:17`: where digits are a number or a name, or several records have the name. */
const BY_ID = /^id:\s*([1-9]\d{0,15})$/i;

/** The digits of such an id; undefined for a name. */
export const idOf = (text: string): string | undefined => BY_ID.exec(text.trim())?.[1];

/**
 * `id:17` is the id of the record, anything else its name. What a plain positive whole number means is decided where names are looked
 * up: there may be a record of that name.
 */
function reference(cell: Cell, to: ReferenceTarget, exact: boolean, column: string | undefined): StagedValue | Refusal {
  const plain = typeof cell === 'string' ? cell : cell.t === 'n' ? cell.value : displayText(cell);
  const id = Number(idOf(plain) ?? Number.NaN);
  if (Number.isSafeInteger(id)) return { id };
  // Contracts are named by their number as the cell shows it.
  const name = to !== 'contract' && isId(plain) ? plain : cellText(cell, exact);
  if (isRefusal(name)) return name;
  return { named: to, name, column };
}
