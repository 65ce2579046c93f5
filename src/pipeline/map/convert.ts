import { Decimal } from '../../model/decimal.js';
import { type Cell, shownText } from '../../model/row.js';
import type { SourceFormat } from '../../model/source.js';
import type { Value } from '../../model/value.js';
import { isCalendarDate } from '../../resources/calendar.js';
import { countryWords, findCountry, suggestCountry } from '../../resources/countries.js';
import type { FieldSpec, FieldType, ReferenceTarget } from '../../resources/spec.js';
import { booleanValue, checkValue, enumValue } from '../../resources/value-check.js';
import { isId, isNamed, type StagedValue } from '../rows.js';
import { amountText, type DecimalRule } from './amounts.js';
import { cellText, isRefusal, type Refusal, refuse, trimText } from './cell-text.js';
import { type DateFormat, type DateOrders, dateByItself, dateInFormats, isoDate } from './dates.js';
import { didYouMean } from './headings.js';

/** Turns one cell into a value of the field's type, or says why not. Blank and error cells never get here; text is trimmed. */
export type Convert = (cell: Cell) => StagedValue | Refusal;

export interface ConvertOptions {
  readonly decimal: DecimalRule;
  /** Formats of text dates; absent: only dates that cannot be misread. */
  readonly dates?: readonly DateFormat[];
  /** The order of day and month that the column proves; of no account where formats are stated. */
  readonly orders?: DateOrders;
  readonly format: SourceFormat;
  /** The heading; kept with names that are looked up later. */
  readonly column?: string;
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
      return (cell) => date(cell, options.dates, options.orders);
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
  return Decimal.parse(text) ?? refuse('not_a_number', 'cannot be read as a number. Write digits such as 1234.50.');
}

function integer(cell: Cell, rule: DecimalRule): number | Refusal {
  const value = decimal(cell, rule);
  if (isRefusal(value)) return value;
  if (value.scale > 0) return refuse('not_an_integer', 'is not a whole number. Correct the cell.');
  const whole = Number(value.text);
  return Number.isSafeInteger(whole) ? whole : refuse('out_of_range', 'is too large. Correct the cell.');
}

function date(
  cell: Cell,
  formats: readonly DateFormat[] | undefined,
  orders: DateOrders | undefined,
): string | Refusal {
  if (typeof cell === 'string') return formats ? dateInFormats(cell, formats) : dateByItself(cell, orders);
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
          : dateByItself(cell.value);
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
  const near = suggestCountry(text).map(countryWords);
  return refuse(
    'reference_not_found',
    `is no country of ISO 3166-1.${near.length ? ` Did you mean ${near.join(', ').replace(/, (?=[^,]*$)/, ' or ')}?` : ''} Write its English name or code, or translate it in the job with \`values\`.`,
  );
}

/** An id said to be one, e.g. `id:17`: where digits are a number or a name, or several records have the name. */
const BY_ID = /^id:\s*([1-9]\d{0,15})$/i;

/**
 * `id:17` is the id of the record, anything else its name. What a plain positive whole number means is decided where names are looked
 * up: there may be a record of that name.
 */
function reference(cell: Cell, to: ReferenceTarget, exact: boolean, column: string | undefined): StagedValue | Refusal {
  const plain = typeof cell === 'string' ? cell : cell.t === 'n' ? cell.value : shownText(cell);
  const id = Number(BY_ID.exec(plain)?.[1] ?? Number.NaN);
  if (Number.isSafeInteger(id)) return { id };
  // Contracts are named by their number as the cell shows it.
  const name = to !== 'contract' && isId(plain) ? plain : cellText(cell, exact);
  if (isRefusal(name)) return name;
  return column === undefined ? { named: to, name } : { named: to, name, column };
}

/**
 * The value of a text cell about which there is nothing to say: no outer blanks, no fault, no text that the record may
 * show otherwise. Undefined: the cell needs the full look of `makeConverter` and `value-check.ts`. Nearly every cell of a
 * sheet is plain, so this is written for speed; a property test holds it against the full look.
 */
export type PlainCell = (text: string) => StagedValue | undefined;

/** Undefined for kinds of fields whose cells always get the full look. `convert`: what makes the field's value of a cell. */
export function plainCell(
  field: FieldSpec,
  convert: Convert,
  { decimal, dates }: Pick<ConvertOptions, 'decimal' | 'dates'>,
): PlainCell | undefined {
  const { type } = field;
  switch (type.kind) {
    case 'text':
      return type.exact === undefined ? plainText(type.max) : undefined;
    case 'email':
      return (text) => (text.length <= type.max && EMAIL.test(text) ? text : undefined);
    case 'decimal':
      return decimal.sign === ',' ? undefined : plainAmount(type.min, type.max);
    case 'date':
      return dates ? remembered(field, convert, (text, value) => text === value) : plainDate;
    case 'boolean':
    case 'country':
    case 'enum':
    case 'reference':
      return remembered(field, convert);
    case 'integer':
    case 'texts':
      return undefined;
  }
}

/** The common addresses; what else is one, the full look tells. */
const EMAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)*$/;

/** Letters, digits and signs that are no blank of any kind: ASCII, and the Latin letters behind it. */
function isVisible(code: number): boolean {
  return (code > 0x20 && code < 0x7f) || (code > 0xbf && code < 0x250);
}

const isPlainLetter = (code: number) => code > 0x9f && code < 0xd800 && code !== 0xc2 && code !== 0xc3 && code !== 0xe2;

function plainText(max = Number.MAX_SAFE_INTEGER): PlainCell {
  return (text) => {
    const last = text.length - 1;
    if (last >= max) return undefined;
    const first = text.charCodeAt(0);
    if (!isVisible(first) || !isVisible(text.charCodeAt(last))) return undefined;
    for (let i = 0; i < last; i++) {
      const code = text.charCodeAt(i);
      // Controls but for tab and line breaks; surrogates, and what stands behind them; Â, Ã, â, as text read wrongly has.
      if (code < 0x20 ? code !== 9 && code !== 10 && code !== 13 : code > 0x7e && !isPlainLetter(code))
        return undefined;
    }
    // A number that was shortened begins with a digit or a minus.
    return first < 0x3a && first > 0x2c && text.includes('E+') ? undefined : text;
  };
}

/** `1200`, `1200.5`, `1200.50`: with the decimal point, and so few digits that they are in range by their number. */
function plainAmount(min: string | undefined, max: string | undefined): PlainCell | undefined {
  if (min !== undefined && Decimal.of(min).compare(Decimal.of('0')) > 0) return undefined;
  const most = max === undefined ? 15 : Math.min(15, /^\d*/.exec(Decimal.of(max).text)![0].length - 1);
  return (text) => {
    const { length } = text;
    let at = 0;
    while (at < length && isDigit(text.charCodeAt(at))) at++;
    if (at === 0 || at > most || (at > 1 && text.charCodeAt(0) === 0x30)) return undefined;
    if (at === length) return Decimal.canonical(text);
    // One or two digits behind the point: three may be thousands.
    const places = length - at - 1;
    if (text.charCodeAt(at) !== 0x2e || places < 1 || places > 2) return undefined;
    const tenths = text.charCodeAt(at + 1);
    if (!isDigit(tenths)) return undefined;
    let end = length;
    if (places === 2) {
      const hundredths = text.charCodeAt(at + 2);
      if (!isDigit(hundredths)) return undefined;
      if (hundredths === 0x30) end--;
    }
    if (tenths === 0x30 && end === at + 2) end = at;
    return Decimal.canonical(end === length ? text : text.slice(0, end));
  };
}

function isDigit(code: number): boolean {
  return code > 0x2f && code < 0x3a;
}

/** `2024-05-31`, where the job states no formats. */
function plainDate(text: string): string | undefined {
  if (text.length !== 10 || text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d) return undefined;
  // The first digit is no 0, the day one that every month has; of others the calendar tells.
  const first = text.charCodeAt(0);
  if (first < 0x31 || first > 0x39) return undefined;
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const plain = twoDigits(text, 1) >= 0 && isDigit(text.charCodeAt(3)) && month > 0 && month < 13 && day > 0;
  return plain && (day < 29 || isCalendarDate(text)) ? text : undefined;
}

/** Negative where they are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(ones) ? (tens - 0x30) * 10 + ones - 0x30 : -1;
}

const MOST_REMEMBERED = 4096;

/** A text that needs the full look, which remembers what came of it. */
const NOT_PLAIN = Symbol('not plain');

/** Columns of choices, countries and names hold few distinct texts; each is worked out once. */
function remembered(
  field: FieldSpec,
  convert: Convert,
  isPlain: (text: string, value: StagedValue) => boolean = () => true,
): PlainCell {
  const known = new Map<string, StagedValue | typeof NOT_PLAIN>();

  function work(text: string): StagedValue | typeof NOT_PLAIN {
    if (trimText(text) !== text) return NOT_PLAIN;
    const value = convert(text);
    if (isRefusal(value) || !isPlain(text, value)) return NOT_PLAIN;
    return isNamed(value) || !checkValue(field, value as Value) ? value : NOT_PLAIN;
  }

  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      if (text === '' || text.length > 100) return undefined;
      value = work(text);
      if (known.size >= MOST_REMEMBERED) known.clear();
      known.set(text, value);
    }
    return value === NOT_PLAIN ? undefined : value;
  };
}
