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

/** What is wrong with a JSON text, and at which character. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  constructor(what: string, position: number) {
    super(`${what} at character ${position}`);
  }
}

const MAX_DEPTH = 64;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

/** Reads one JSON text; throws `JsonSyntaxError`. */
export function parseJson(text: string): Json {
  let at = 0;

  const fail = (what: string): never => {
    throw new JsonSyntaxError(what, at);
  };

  const skipBlanks = (): void => {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
    }
  };

  const readString = (): string => {
    const start = ++at;
    let escaped = false;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 34) {
        const end = at++;
        return escaped ? unescaped(start, end) : text.slice(start, end);
      }
      if (code === 92) {
        escaped = true;
        at++;
      } else if (code < 32) fail('a control character inside a string');
    }
    return fail('a string without its closing quote');
  };

  const unescaped = (start: number, end: number): string => {
    try {
      return JSON.parse(text.slice(start - 1, end + 1)) as string;
    } catch {
      at = start;
      return fail('an unknown escape in a string');
    }
  };

  const readNumber = (): number | Exact => {
    NUMBER.lastIndex = at;
    const match = NUMBER.exec(text);
    if (!match) return fail('an unexpected character');
    at = NUMBER.lastIndex;
    const digits = match[0];
    const isPlain = match[1] === undefined && match[2] === undefined && digits.length <= (digits[0] === '-' ? 16 : 15);
    return isPlain ? Number(digits) : new Exact(digits);
  };

  const readWord = (word: string, value: Json): Json => {
    if (!text.startsWith(word, at)) fail('an unexpected character');
    at += word.length;
    return value;
  };

  const readArray = (depth: number): Json[] => {
    const items: Json[] = [];
    at++;
    skipBlanks();
    if (text[at] === ']') {
      at++;
      return items;
    }
    for (;;) {
      items.push(readValue(depth));
      const next = text[at];
      if (next !== ',' && next !== ']') fail('a missing comma or bracket');
      at++;
      if (next === ']') return items;
    }
  };

  const readObject = (depth: number): JsonObject => {
    const members: JsonObject = new Map();
    at++;
    skipBlanks();
    if (text[at] === '}') {
      at++;
      return members;
    }
    for (;;) {
      skipBlanks();
      if (text[at] !== '"') fail('a member name without quotes');
      const name = readString();
      skipBlanks();
      if (text[at] !== ':') fail('a missing colon');
      at++;
      members.set(name, readValue(depth));
      const next = text[at];
      if (next !== ',' && next !== '}') fail('a missing comma or brace');
      at++;
      if (next === '}') return members;
    }
  };

  const readBare = (depth: number): Json => {
    skipBlanks();
    if (depth > MAX_DEPTH) fail(`more than ${MAX_DEPTH} levels`);
    switch (text[at]) {
      case '{':
        return readObject(depth + 1);
      case '[':
        return readArray(depth + 1);
      case '"':
        return readString();
      case 't':
        return readWord('true', true);
      case 'f':
        return readWord('false', false);
      case 'n':
        return readWord('null', null);
      case undefined:
        return fail('the text ends too early');
      default:
        return readNumber();
    }
  };

  const readValue = (depth: number): Json => {
    const value = readBare(depth);
    skipBlanks();
    return value;
  };

  const value = readValue(0);
  if (at < text.length) fail('text after the end');
  return value;
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
