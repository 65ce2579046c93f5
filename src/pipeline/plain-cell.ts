import { Decimal } from '../model/decimal.js';
import type { Value } from '../model/value.js';
import { isCalendarDate } from '../resources/calendar.js';
import type { FieldSpec } from '../resources/spec.js';
import { checkValue } from '../resources/value-check.js';
import { trimText } from './cell-text.js';
import type { Convert, ConvertOptions } from './convert.js';
import { isRefusal } from './refusal.js';
import { isNamed, type StagedValue } from './staged.js';

/**
 * The value of a text cell about which there is nothing to say: no outer blanks, no fault, no text that the record may
 * show otherwise. Undefined: the cell needs the full look of `convert.ts` and `value-check.ts`. Nearly every cell of a
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
      return dates ? remembered(field, convert, (text, value) => text === value) : isoDate;
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

function plainText(max = Number.MAX_SAFE_INTEGER): PlainCell {
  return (text) => {
    const last = text.length - 1;
    if (last >= max) return undefined;
    const first = text.charCodeAt(0);
    if (!isVisible(first) || !isVisible(text.charCodeAt(last))) return undefined;
    for (let i = 1; i < last; i++) {
      const code = text.charCodeAt(i);
      // Controls but for tab and line breaks; surrogates, and what stands behind them.
      if (code < 0x20 ? code !== 9 && code !== 10 && code !== 13 : code > 0x7e && (code < 0xa0 || code > 0xd7ff))
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
function isoDate(text: string): string | undefined {
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
