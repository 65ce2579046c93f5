import { Decimal } from '../model/decimal.js';
import type { Value } from '../model/value.js';
import { readDate } from './calendar.js';
import { countryByCode, findCountry } from './countries.js';
import { isObject } from './path.js';
import type { FieldType, Lexicon, ReferenceTarget } from './spec.js';
import { booleanValue, enumValue, matchingWord } from './value-check.js';

/** A value in canonical form (null: the record holds none), or why it has none. */
export type ReadResult = { readonly value: Value } | { readonly why: string };

const NO_VALUE: ReadResult = { value: null };

/** Reads one value of the service's JSON. Never throws; what it cannot read is said in `why`. */
export function readValue(type: FieldType, raw: unknown, lexicon: Lexicon): ReadResult {
  if (raw === undefined || raw === null || raw === '') return NO_VALUE;
  switch (type.kind) {
    case 'text':
    case 'email':
      return readText(raw);
    case 'texts':
      return readTexts(raw);
    case 'integer':
      return readInteger(raw);
    case 'decimal':
      return readDecimal(raw);
    case 'date': {
      const date = typeof raw === 'string' ? readDate(raw, lexicon.dateOrder) : undefined;
      if (typeof raw === 'string' && raw.trim() === '') return NO_VALUE;
      return date ? { value: date } : { why: 'it cannot be read as a date that means one day only' };
    }
    case 'boolean': {
      const flag = typeof raw === 'boolean' ? raw : booleanValue(shortJsonText(raw));
      return flag === undefined ? { why: 'it is neither true nor false' } : { value: flag };
    }
    case 'enum': {
      if (typeof raw === 'string' && type.values.includes(raw)) return { value: raw };
      const text = shortJsonText(raw);
      const value = enumValue(type, text);
      return value === undefined ? { why: `it is none of ${type.values.join(', ')}` } : { value };
    }
    case 'reference':
      return readReference(type.to, raw, lexicon);
    case 'country':
      return readCountry(raw, lexicon);
  }
}

/** Any JSON as short text, for reports; an object by its name where it has one. */
export function shortJsonText(raw: unknown): string {
  if (raw === undefined || raw === null) return '';
  if (isObject(raw) && typeof raw['name'] === 'string' && raw['name'] !== '') return raw['name'];
  if (typeof raw === 'object' && !(raw instanceof Decimal)) return JSON.stringify(raw).slice(0, 200);
  return String(raw);
}

function readText(raw: unknown): ReadResult {
  if (typeof raw === 'string') return { value: raw };
  if (typeof raw === 'number' || raw instanceof Decimal) return { value: numberText(raw) };
  return { why: 'it is not text' };
}

function readTexts(raw: unknown): ReadResult {
  if (!Array.isArray(raw)) return typeof raw === 'string' ? { value: [raw] } : { why: 'it is not a list of text' };
  const texts = raw.filter((item) => item !== null && item !== '');
  return texts.every((item): item is string => typeof item === 'string')
    ? { value: texts }
    : { why: 'it is not a list of text' };
}

/** Every digit, no exponent. */
export function numberText(raw: number | Decimal): string {
  return raw instanceof Decimal ? raw.text : (Decimal.parse(String(raw))?.text ?? String(raw));
}

function readInteger(raw: unknown): ReadResult {
  const decimal = asDecimal(raw);
  const whole = decimal && decimal.scale === 0 ? Number(decimal.text) : Number.NaN;
  return Number.isSafeInteger(whole) ? { value: whole } : { why: 'it is not a whole number' };
}

function readDecimal(raw: unknown): ReadResult {
  if (typeof raw === 'string' && raw.trim() === '') return NO_VALUE;
  const decimal = asDecimal(raw);
  if (decimal) return { value: decimal };
  if (typeof raw === 'string' && decimalSignOf(raw) === 'either')
    return { why: `its ${raw.includes(',') ? 'comma' : 'point'} could stand before decimals or before thousands` };
  return { why: 'it is not a decimal number' };
}

/** Numbers, and amounts as text. */
function asDecimal(raw: unknown): Decimal | undefined {
  if (raw instanceof Decimal) return raw;
  if (typeof raw === 'number') return Decimal.parse(String(raw));
  return typeof raw === 'string' ? readAmount(raw) : undefined;
}

function readReference(to: ReferenceTarget, raw: unknown, lexicon: Lexicon): ReadResult {
  if (isObject(raw) && !(raw instanceof Decimal)) {
    // Contracts are known by their number.
    const titles = to === 'contract' ? [raw['number'], raw['name']] : [raw['name'], raw['number'], raw['title']];
    const name = titles.find((text) => typeof text === 'string' && text !== '');
    const id = recordId(raw['id']);
    if (id !== undefined) return { value: typeof name === 'string' ? { id, name } : { id } };
    return typeof name === 'string' ? referenceByName(to, name, lexicon) : NO_VALUE;
  }
  const id = typeof raw === 'number' ? recordId(raw) : undefined;
  if (id !== undefined) {
    const name = lexicon.nameOf(to, id);
    return { value: name === undefined ? { id } : { id, name } };
  }
  if (typeof raw !== 'string') return { why: 'it is not a reference to a record' };
  return raw.trim() === '' ? NO_VALUE : referenceByName(to, raw, lexicon);
}

function referenceByName(to: ReferenceTarget, name: string, lexicon: Lexicon): ReadResult {
  const id = lexicon.idOf(to, name);
  if (id !== undefined) return { value: { id, name } };
  // Without a usage status the word says so; any other name is a record whose id we do not know.
  if (to === 'usage-status' && matchingWord(['none'], name)) return NO_VALUE;
  return { why: `the id of this ${to.replace('-', ' ')} is not known, and reads show only its name` };
}

/** A positive whole number, also as text. */
export function recordId(raw: unknown): number | undefined {
  const id = typeof raw === 'string' && /^\d{1,16}$/.test(raw) ? Number(raw) : raw;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

function readCountry(raw: unknown, lexicon: Lexicon): ReadResult {
  const spelling = isObject(raw) ? (raw['name'] ?? raw['id']) : raw;
  if (spelling === undefined || spelling === null) return NO_VALUE;
  const text = shortJsonText(spelling).trim();
  if (text === '') return NO_VALUE;
  const country = findCountry(text) ?? countryByCode(lexicon.idOf('country', text) ?? 0);
  return country ? { value: country } : { why: 'it is no country name or code of ISO 3166-1' };
}

/** Amounts that a response shows as text: `1200.5`, `1,200.50`, `1.200,50`, `1 200`. */

/** Between thousands in every country: blanks and apostrophes. */
const BLANKS = "[ '\u2019\u00a0\u202f]";

const shape = (decimals: string, thousands: string) =>
  new RegExp(
    String.raw`^-?(?:\d+|[1-9]\d{0,2}(?:${thousands}\d{3})+|[1-9]\d{0,2}(?:${BLANKS}\d{3})+)(?:${decimals}\d+)?$`,
  );
const WITH_POINT = shape('[.]', '[,]');
const WITH_COMMA = shape('[,]', '[.]');

/** Which sign stands before the decimals of an amount: `either` for `1,200` and `1.200`. Undefined: it has none, or is no amount. */
export function decimalSignOf(source: string): '.' | ',' | 'either' | undefined {
  const text = source.trim();
  if (text.length > 60 || !/[.,]/.test(text)) return undefined;
  const [point, comma] = [WITH_POINT.test(text), WITH_COMMA.test(text)];
  if (point && comma) return 'either';
  return point ? '.' : comma ? ',' : undefined;
}

/** Undefined: no amount, or one such as `1,200` and `1.200` that could be two. Another reading would be written by an update. */
export function readAmount(source: string): Decimal | undefined {
  const text = source.trim();
  const sign = decimalSignOf(text);
  if (sign === 'either') return undefined;
  if (!WITH_POINT.test(text) && !WITH_COMMA.test(text)) return Decimal.parse(text);
  const thousands = sign === ',' ? /[. '\u2019\u00a0\u202f]/g : /[, '\u2019\u00a0\u202f]/g;
  return Decimal.parse(text.replace(thousands, '').replace(',', '.'));
}

/** A value that a record holds and that has no canonical form, so that no write can carry it. */
export interface Loss {
  /** As job files name it. */
  readonly field: string;
  /** The value as people see it. */
  readonly text: string;
  /** Completes "… cannot be carried over: ". */
  readonly why: string;
  /** The value itself, where it can be read: only writing it is impossible, so that a row can repeat it but not change it. */
  readonly value?: Value;
}
