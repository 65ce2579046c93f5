import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import countries, { type LocaleData } from 'i18n-iso-countries/index.js';

/**
 * A JSON reader that keeps numbers as they were sent. A plain integer of up to 15 digits becomes a number; every other
 * number becomes an `Exact`, which holds its digits, so that an amount never passes through a binary float.
 * Objects become Maps: a member called `__proto__` is a member like any other.
 */
export type Json = null | boolean | number | string | Exact | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

export class Exact {
  constructor(readonly text: string) {}
}

const MAX_DEPTH = 64;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const PLAIN = /^-?\d{1,15}$/;

/** Reads one JSON text; throws a `SyntaxError`. The runtime reads it, with all numbers that it would round as marked texts. */
export function parseJson(text: string): Json {
  const marked = text.replace(TOKEN, (token) => {
    if (token.startsWith('"')) return `"s${token.slice(1)}`;
    return PLAIN.test(token) || !NUMBER.test(token) ? token : `"n${token}"`;
  });
  return unmarked(JSON.parse(marked), 0);
}

/** The JSON of a body, or what is wrong with it. */
export function readJson(body: Buffer): { readonly value: Json } | string {
  if (!isUtf8(body)) return 'JSON parse error - the body is not UTF-8';
  try {
    return { value: parseJson(body.toString('utf8')) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `JSON parse error - ${error.message.split(',')[0]}`;
  }
}

function unmarked(value: unknown, depth: number): Json {
  if (typeof value === 'string') return value.startsWith('n') ? new Exact(value.slice(1)) : value.slice(1);
  if (typeof value !== 'object' || value === null) return value as Json;
  if (depth > MAX_DEPTH) throw new SyntaxError(`more than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((item) => unmarked(item, depth + 1));
  return new Map(Object.entries(value).map(([name, member]) => [name.slice(1), unmarked(member, depth + 1)]));
}

/** The same form out of ordinary values, for records that are put in without HTTP. Fractions become `Exact`. */
export function toJson(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean' || value instanceof Exact) return value;
  if (typeof value === 'bigint') return new Exact(String(value));
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : new Exact(String(value));
  if (Array.isArray(value)) return value.map(toJson);
  const members: JsonObject = new Map();
  for (const [name, member] of Object.entries(value as object)) members.set(name, toJson(member));
  return members;
}

/** Ordinary values out of a parsed text. Integers are numbers; every other number is its text. */
export function toPlain(value: Json): unknown {
  if (value instanceof Exact) return value.text;
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([name, member]) => [name, toPlain(member)]));
  }
  return value;
}

export const asObject = (value: Json): JsonObject | undefined => (value instanceof Map ? value : undefined);

/**
 * Amounts as text with at least two digits after the point ("1200.00"): how this service stores and shows decimals.
 * Nothing here goes through a binary float.
 */
const AMOUNT = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** The amount in a JSON number; undefined where the value is no number or its exponent is absurd. */
export function amountOf(value: Json): string | undefined {
  if (typeof value !== 'number' && !(value instanceof Exact)) return undefined;
  const match = AMOUNT.exec(typeof value === 'number' ? String(value) : value.text);
  if (!match) return undefined;
  const exponent = Number(match[4] ?? 0);
  if (Math.abs(exponent) > 100) return undefined;
  let digits = match[2]! + (match[3] ?? '');
  let point = match[2]!.length + exponent;
  if (point <= 0) {
    digits = '0'.repeat(1 - point) + digits;
    point = 1;
  }
  const whole = digits
    .slice(0, point)
    .padEnd(point, '0')
    .replace(/^0+(?=\d)/, '');
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(2, '0');
  const negative = match[1] === '-' && /[1-9]/.test(digits);
  return `${negative ? '-' : ''}${whole}.${fraction}`;
}

const scaleOf = (amount: string): number => amount.length - amount.indexOf('.') - 1;

const scaled = (amount: string, scale: number): bigint =>
  BigInt(amount.replace('.', '') + '0'.repeat(scale - scaleOf(amount)));

/** Negative, zero or positive, as a sort function answers. */
export function compareAmounts(a: string, b: string): number {
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const left = scaled(a, scale);
  const right = scaled(b, scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether `a + b = total`, exactly. */
export function sumsTo(a: string, b: string, total: string): boolean {
  const scale = Math.max(scaleOf(a), scaleOf(b), scaleOf(total));
  return scaled(a, scale) + scaled(b, scale) === scaled(total, scale);
}

/** `part` as a percentage of `whole`, rounded half up to two digits; undefined of a whole of zero. */
export function percentOf(part: string, whole: string): string | undefined {
  const scale = Math.max(scaleOf(part), scaleOf(whole));
  const divisor = scaled(whole, scale);
  if (divisor === 0n) return undefined;
  const hundredths = (scaled(part, scale) * 20_000n + divisor) / (2n * divisor);
  const digits = hundredths.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** 0.00 to 999999999999999.00: interface, section 2.1. */
export function amountInRange(amount: string): boolean {
  if (amount.startsWith('-')) return false;
  const point = amount.indexOf('.');
  if (point > 15) return false;
  return point < 15 || compareAmounts(amount, '999999999999999.00') <= 0;
}

/** Calendar dates as `yyyy-MM-dd` text; never a moment in a time zone. */
const midnight = (date: string): Date => new Date(`${date}T00:00:00Z`);

/** Whether the text is a date of the calendar in the interface's format (section "Notation"). */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const date = midnight(text);
  // The runtime turns 30 February into a day of March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Whole days from one date to another. */
export function daysBetween(from: string, to: string): number {
  return Math.round((midnight(to).getTime() - midnight(from).getTime()) / 86_400_000);
}

const LONG = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

export type DateStyle = 'iso' | 'datetime' | 'long' | 'd/m';

/** A date as responses show it; the interface leaves the format open (section 2.1). */
export function showDate(date: string, style: DateStyle): string {
  if (style === 'iso') return date;
  if (style === 'datetime') return `${date}T00:00:00Z`;
  if (style === 'long') return LONG.format(midnight(date));
  return date.split('-').reverse().join('/');
}

/** A moment (milliseconds) as responses show it: in full, except in the styles that show dates for people. */
export function showMoment(moment: number, style: DateStyle): string {
  const text = new Date(moment).toISOString();
  return style === 'long' || style === 'd/m' ? showDate(text.slice(0, 10), style) : text;
}

/** Countries by ISO 3166-1 numeric code. The interface does not list them; English names are assumed. */
interface Country {
  readonly name: string;
  readonly alpha2: string;
  readonly alpha3: string;
}

const load = createRequire(import.meta.url);
countries.registerLocale(load('i18n-iso-countries/langs/en.json') as LocaleData);

const byCode = new Map<number, Country>();
for (const [numeric, alpha2] of Object.entries(countries.getNumericCodes())) {
  const name = countries.getName(alpha2, 'en');
  const alpha3 = countries.alpha2ToAlpha3(alpha2);
  if (name && alpha3) byCode.set(Number(numeric), { name, alpha2, alpha3 });
}

/** The country of a numeric code (840, 56), if there is one. */
export function countryOf(code: number): Country | undefined {
  return byCode.get(code);
}
