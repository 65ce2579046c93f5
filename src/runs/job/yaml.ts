import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { formatNumber } from '../../model/count-text.js';
import type { KeyPath } from '../../model/job.js';

/** One thing that is wrong with a job file, and where. Lines and columns count from 1. */
export interface JobProblem {
  readonly line: number;
  readonly column: number;
  /** Dotted path of the key, e.g. `columns.Serial number.field`; '' for the whole file. */
  readonly path: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** A job file as data, with the place of every key and value. */
export interface JobYaml {
  /** Undefined where there are problems. */
  readonly value: unknown;
  /** Faults of the YAML itself. */
  readonly problems: readonly JobProblem[];
  /** Where a key (or the value under it) stands; for a path that is not there, its nearest parent. */
  locate(path: KeyPath, part?: 'key' | 'value'): { readonly line: number; readonly column: number };
}

/** A table has at most 1,000 columns; what holds many more keys is no job file, and would take long to check. */
const MAX_KEYS = 2_000;

/** Marks of lists, keys and values on one line, brackets in one another, and blanks before a line: far more than a job file needs. */
const MAX_MARKS = 50;
const MAX_INDENT = 200;
const TOO_DEEP =
  'lists or mappings are nested too deeply, or their brackets are not closed; a job file needs four levels';

/** The parser takes minutes for some thousand levels, or the memory of the process. */
function isTooDeep(text: string): boolean {
  const inLines = text.split(/[\r\n]/).some((line) => {
    const marks = line.match(/(?:^|\s)[?:-](?=\s|$)/g)?.length ?? 0;
    return marks > MAX_MARKS || line.search(/\S/) > MAX_INDENT;
  });
  if (inLines) return true;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth = Math.max(0, depth - 1);
    if (depth > MAX_MARKS) return true;
  }
  return false;
}

/** Reads YAML 1.2 (core schema: `NO` and `Yes` are text). Never throws on what a person can write. */
export function readJobYaml(text: string): JobYaml {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const place = lines.linePos(Math.min(offset, text.length));
    return { line: Math.max(1, place.line), column: Math.max(1, place.col) };
  };
  const problems: JobProblem[] = [];
  const problem = (offset: number, message: string) =>
    problems.push({ ...at(offset), path: '', message, severity: 'error' });
  const emptyResult = { value: undefined, problems, locate: () => at(0) };
  if (isTooDeep(text)) {
    problem(0, TOO_DEEP);
    return emptyResult;
  }
  let document: Document;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      merge: false,
      logLevel: 'error',
      uniqueKeys: false,
    });
  } catch (error) {
    // Brackets nested by the thousand exhaust the stack of the parser.
    problem(0, yamlMessage('', String(error)));
    return emptyResult;
  }
  for (const error of [...document.errors, ...document.warnings]) {
    problem(error.pos[0], yamlMessage(error.code, error.message));
  }
  // A heading is text whatever YAML takes it for: `2024:` and `007:` keep their characters.
  visit(document, {
    // A few bytes of them stand for gigabytes, and what is meant is mostly a heading.
    Alias(_, { source, range }) {
      const alias = `\`*${source.slice(0, 60)}\``;
      problem(
        range?.[0] ?? 0,
        `${alias}: a job file has no YAML aliases; put what begins with * in quotes, or write out what is meant`,
      );
      return visit.BREAK;
    },
    Map(_, map) {
      if (map.items.length > MAX_KEYS) {
        const count = formatNumber(map.items.length);
        problem(
          map.range?.[0] ?? 0,
          `${count} keys stand in one place, and a job file has at most ${formatNumber(MAX_KEYS)}`,
        );
        return visit.BREAK;
      }
      const seen = new Map<string, number>();
      for (const { key } of map.items) {
        if (!isScalar(key)) {
          problem(
            (isNode(key) && key.range?.[0]) || 0,
            'a key must be plain text; one that begins with a sign stands in quotes',
          );
          return visit.BREAK;
        }
        if (typeof key.value !== 'string') key.value = key.source ?? '';
        // Not left to the parser: it compares each key with all before it, and `1` and `"1"` become equal only here.
        const [name, offset] = [String(key.value), key.range?.[0] ?? 0];
        // Objects treat it as their own, and lose what stands under it.
        if (name === '__proto__') problem(offset, 'no key can be called `__proto__`; rename the column in the file');
        const first = seen.get(name);
        if (first === undefined) seen.set(name, offset);
        else
          problem(
            offset,
            `the key \`${name.slice(0, 60)}\` stands here twice, first in line ${at(first).line}; keep one of them`,
          );
      }
      return undefined;
    },
  });

  if (document.errors.length === 0) keepCharacters(document);

  const find = (path: KeyPath) => {
    let node: unknown = document.contents;
    let place = isNode(node) ? node.range?.[0] : 0;
    let keyPlace = place;
    for (const step of path) {
      const next: unknown = isMap(node)
        ? node.items.find((pair) => isScalar(pair.key) && pair.key.value === String(step))
        : isSeq(node)
          ? node.items[Number(step)]
          : undefined;
      if (next === undefined) break;
      node = isPair(next) ? next.value : next;
      keyPlace = isPair(next) && isNode(next.key) ? next.key.range?.[0] : isNode(node) ? node.range?.[0] : place;
      // A key without anything after it has an empty value node, or none.
      place = isNode(node) && node.range ? node.range[0] : keyPlace;
    }
    return { keyPlace, place };
  };

  // A key that is a mapping is made text, with all keys in it: each level would double the work.
  const value: unknown = problems.length > 0 ? undefined : document.toJS();
  return {
    value,
    problems,
    locate: (path, part = 'key') => {
      const found = find(path);
      return at((part === 'key' ? found.keyPlace : found.place) ?? 0);
    },
  };
}

/** Where a job states values of fields. Everywhere else a number is one of a setting: `min_rows: 1.0` is 1. */
const FIELD_VALUES: readonly KeyPath[] = [
  ['columns'],
  ['constants'],
  ['defaults'],
  ['retire'],
  ['references', 'retire'],
  ['orphans', 'action'],
  ['orphans', 'set'],
  ['scope'],
  ['filter'],
];

/** Makes text of what YAML takes for something else than the characters mean. */
function keepCharacters(document: Document): void {
  // `[NULL, ~]` are words of cells.
  const words = document.getIn(['source', 'null_values'], true);
  for (const item of isSeq(words) ? words.items : []) if (isScalar(item)) item.value = item.source ?? '';

  // `00123` and `1.10` would lose characters as numbers, and a long amount digits.
  for (const path of FIELD_VALUES) {
    const values = document.getIn(path, true);
    if (!isNode(values)) continue;
    visit(values, {
      Scalar(_, item) {
        if (typeof item.value === 'number' && item.source !== String(item.value)) item.value = item.source;
      },
    });
  }
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);
}

function yamlMessage(code: string, message: string): string {
  if (code === 'TAB_AS_INDENT') return 'a tab is used to indent; use blanks';
  if (code === 'MULTIPLE_DOCS') return 'a job file holds one job; remove what follows the line `---`';
  if (/call stack/i.test(message)) return TOO_DEEP;
  return `not valid YAML: ${message.replace(/^\w*Error: /, '')}. What holds " #" or ": ", or begins with a sign, stands in quotes`;
}

/** Where a problem is: at a key, or at the value under it. */
export type Place = KeyPath | { readonly valueAt: KeyPath };

export const valueAt = (path: KeyPath): Place => ({ valueAt: path });

/** Adds a problem; an error unless told otherwise. */
export type Report = (place: Place, message: string, severity?: 'warning') => void;

/** A part of a job file as YAML gave it, nothing checked. */
export type RawObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawObject) : {};
}
