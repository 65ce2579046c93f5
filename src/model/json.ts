import { parse } from 'lossless-json';
import { Decimal } from './decimal.js';

/**
 * JSON without loss of digits: a double cannot hold 99999999999999.99, so a number token with more than 15 significant
 * digits that is no safe integer is read as `Decimal`, and a `Decimal` is written as a bare number, digit for digit.
 */

/** A token that a double might not hold: 16 or more digits (and points), or an exponent. A string may match too; that only costs time. */
const LONG_NUMBER = /(?:^|[:[,])\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;

/** Throws SyntaxError where the text is not JSON. */
export function parseJson(text: string): unknown {
  const source = withoutMark(text);
  if (!LONG_NUMBER.test(source)) return JSON.parse(source);
  return parse(source, undefined, { parseNumber: readNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** The same of what somebody sends: throws SyntaxError also where a key stands twice, of which one value would be lost. */
export function parseSentJson(text: string): unknown {
  return parse(withoutMark(text), undefined, { parseNumber: readNumber });
}

/** Programs begin texts with a byte order mark that is no part of them. */
const withoutMark = (text: string): string => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);

function readNumber(token: string): number | Decimal {
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  const value = Number(token);
  if (digits.length <= 15 && Number.isFinite(value)) return value;
  // Ids, such as of sixteen digits: each of them is another double.
  if (Number.isSafeInteger(value) && /^-?\d+$/.test(token)) return value;
  const exact = Decimal.parse(token);
  if (!exact) throw new SyntaxError(`number out of every range: ${token.slice(0, 40)}`);
  return exact;
}

/** A request body, or a line of a log. Fields that are undefined are left out. */
export function stringifyBody(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`${value} is no JSON number`);
      return `${value}`;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      break;
    default:
      throw new TypeError(`a ${typeof value} cannot be written as JSON`);
  }
  if (value === null) return 'null';
  if (value instanceof Decimal) return value.text;
  if (Array.isArray(value)) {
    let list = '';
    for (const item of value) list += `${list ? ',' : ''}${stringifyBody(item ?? null)}`;
    return `[${list}]`;
  }
  const record = value as Readonly<Record<string, unknown>>;
  let out = '';
  for (const key of Object.keys(record)) {
    const item = record[key];
    if (item === undefined) continue;
    out += out ? `,${quotedKey(key)}` : quotedKey(key);
    out += typeof item === 'string' ? JSON.stringify(item) : stringifyBody(item);
  }
  return `{${out}}`;
}

/** The same few names come again in every body. */
const quotedKeys = new Map<string, string>();

function quotedKey(key: string): string {
  const cached = quotedKeys.get(key);
  if (cached !== undefined) return cached;
  const text = `${JSON.stringify(key)}:`;
  if (quotedKeys.size < 2_000) quotedKeys.set(key, text);
  return text;
}
