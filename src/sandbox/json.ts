import { isUtf8 } from 'node:buffer';

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
