import { Decimal } from '../model/decimal.js';
import type { Cell } from '../model/row.js';

/**
 * Reads one JSON object into pairs of heading and cell. Nested objects flatten to dotted headings (`a.b`), lists keep
 * their JSON text, null is a blank cell, numbers keep every digit. Pairs rather than an object: no key is special
 * (`__proto__`), and a key that stands twice is noticed.
 */

export type Pair = readonly [heading: string, cell: Cell];

class JsonFault extends Error {}

const DEPTH = 32;

/** More keys than any table has columns; a line with more is not worth reading on. */
const PAIRS = 10_000;
const BLANK = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The pairs of a line; where it is no JSON object, a text that says where and why. */
export function parseJsonLine(line: string): Pair[] | string {
  try {
    return pairsOf(line);
  } catch (error) {
    if (error instanceof JsonFault) return error.message;
    throw error;
  }
}

function pairsOf(line: string): Pair[] {
  let at = 0;
  const pairs: Pair[] = [];

  const fail = (expected: string): never => {
    const found = at < line.length ? `"${line.slice(at, at + 12)}"` : 'the end of the line';
    throw new JsonFault(`expected ${expected} at character ${at + 1}, found ${found}`);
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const hit = pattern.exec(line)?.[0];
    if (hit !== undefined) at += hit.length;
    return hit;
  };
  const skip = () => {
    match(BLANK);
    return line[at];
  };
  const text = (): string => {
    const from = at;
    const end = line[from] === '"' ? endOfText(line, from) : Number.POSITIVE_INFINITY;
    if (end > line.length) return fail('a text in double quotes');
    at = end;
    try {
      return JSON.parse(line.slice(from, at)) as string;
    } catch {
      at = from;
      return fail('a text without control characters and unknown escapes');
    }
  };

  function scalar(): Cell {
    const first = line[at];
    if (first === '"') return text();
    for (const [word, cell] of WORDS) {
      if (line.startsWith(word, at)) {
        at += word.length;
        return cell;
      }
    }
    const number = match(NUMBER);
    return number === undefined ? fail('a value') : numberCell(number);
  }

  /** A list stays as it is; that it is one, the runtime says. */
  function list(depth: number): string {
    const from = at;
    let open = 0;
    do {
      if (line[at] === '"') at = endOfText(line, at) - 1;
      else if (line[at] === '[' || line[at] === '{') open++;
      else if (line[at] === ']' || line[at] === '}') open--;
      if (open + depth > DEPTH + 1) fail(`at most ${DEPTH} levels`);
      at++;
    } while (open > 0 && at < line.length);
    const found = line.slice(from, at);
    try {
      JSON.parse(found);
      return found;
    } catch {
      at = from;
      return fail('a list that JSON allows');
    }
  }

  function object(prefix: string, depth: number): void {
    if (depth > DEPTH) fail(`at most ${DEPTH} levels`);
    if (line[at] !== '{') fail('"{"');
    at++;
    if (skip() === '}') {
      at++;
      return;
    }
    for (;;) {
      skip();
      if (pairs.length > PAIRS) fail(`at most ${PAIRS} keys`);
      const key = text();
      if (skip() !== ':') fail('":"');
      at++;
      const first = skip();
      const heading = `${prefix}${key}`;
      if (first === '{') object(`${heading}.`, depth + 1);
      else pairs.push([heading, first === '[' ? list(depth + 1) : scalar()]);
      const next = skip();
      if (next !== '}' && next !== ',') fail('"," or "}"');
      at++;
      if (next === '}') return;
    }
  }

  skip();
  object('', 1);
  skip();
  if (at < line.length) fail('the end of the line');
  return pairs;
}

const WORDS: readonly (readonly [string, Cell])[] = [
  ['true', { t: 'b', value: true }],
  ['false', { t: 'b', value: false }],
  ['null', ''],
];

/** A number too large or small to write out stays as its text, which then is no number for any field. */
function numberCell(text: string): Cell {
  const decimal = Decimal.parse(text);
  return decimal ? { t: 'n', value: decimal.text, shown: text } : text;
}

/** A member of a JSON object, its name and its whole text as the line has it. */
export interface JsonMember {
  readonly name: string;
  /** `"name": value`, without the blanks around it. */
  readonly text: string;
}

/** The outermost members of a line that `parseJsonLine` accepts, in order, a name that stands twice both times. */
export function jsonMembers(line: string): JsonMember[] {
  const members: JsonMember[] = [];
  let depth = 0;
  let from = 0;
  const add = (to: number) => {
    const text = line.slice(from, to).trim();
    if (text !== '') members.push({ name: JSON.parse(text.slice(0, endOfText(text, 0))) as string, text });
    from = to + 1;
  };
  for (let at = 0; at < line.length; at++) {
    switch (line[at]) {
      case '"':
        at = endOfText(line, at) - 1;
        break;
      case '{':
      case '[':
        if (depth++ === 0) from = at + 1;
        break;
      case ',':
        if (depth === 1) add(at);
        break;
      case '}':
      case ']':
        if (--depth === 0) add(at);
        break;
    }
  }
  return members;
}

/** The position after the text in quotes that begins at `from`. */
function endOfText(line: string, from: number): number {
  let at = from + 1;
  while (at < line.length && line[at] !== '"') at += line[at] === '\\' ? 2 : 1;
  return at + 1;
}
