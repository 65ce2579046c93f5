import { Decimal } from '../model/decimal.js';
import type { Cell } from '../model/row.js';

/**
 * Reads one JSON object into pairs of heading and cell. Nested objects flatten to dotted headings (`a.b`), lists keep
 * their JSON text, null is a blank cell, numbers keep every digit. Pairs rather than an object: no key is special
 * (`__proto__`), and a key that stands twice is noticed. What JSON is, the runtime says: here it is only cut up.
 */

export type Pair = readonly [heading: string, cell: Cell];

const DEPTH = 32;

/** More keys than any table has columns. */
const PAIRS = 10_000;

/** The pairs of a line; where it is no JSON object, a text that says why. */
export function parseJsonLine(line: string): Pair[] | string {
  if (isDeep(line)) return `it has more than ${DEPTH} levels`;
  try {
    JSON.parse(line);
  } catch (error) {
    return (error as Error).message;
  }
  if (!line.trimStart().startsWith('{')) return 'it is another value';
  const pairs: Pair[] = [];
  addPairs(pairs, line, '');
  return pairs.length > PAIRS ? `it has more than ${PAIRS} keys` : pairs;
}

function isDeep(line: string): boolean {
  let depth = 0;
  for (let at = 0; at < line.length && depth <= DEPTH; at++) {
    const mark = line[at];
    if (mark === '"') at = endOfText(line, at) - 1;
    else if (mark === '{' || mark === '[') depth++;
    else if (mark === '}' || mark === ']') depth--;
  }
  return depth > DEPTH;
}

function addPairs(pairs: Pair[], object: string, prefix: string): void {
  for (const { name, text } of jsonMembers(object)) {
    const value = text.slice(text.indexOf(':', endOfText(text, 0)) + 1).trim();
    if (value.startsWith('{')) addPairs(pairs, value, `${prefix}${name}.`);
    else pairs.push([`${prefix}${name}`, cellOf(value)]);
  }
}

function cellOf(value: string): Cell {
  switch (value[0]) {
    case '"':
      return JSON.parse(value) as string;
    case '[':
      return value;
    case 't':
    case 'f':
      return { t: 'b', value: value === 'true' };
    case 'n':
      return '';
  }
  // A number too large or small to write out stays as its text, which then is no number for any field.
  const decimal = Decimal.parse(value);
  return decimal ? { t: 'n', value: decimal.text, shown: value } : value;
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
