import { formatNumber, sizeText } from '../model/count-text.js';
import { Decimal } from '../model/decimal.js';
import { runFailure } from '../model/error.js';
import { type Cell, displayText, isBlank, type RowFault, type SheetRow } from '../model/row.js';
import type { OpenSource, SourceOptions } from '../model/source.js';
import { LACKS_KEY, LINE_KEY, textFault, truncatedText, UNREVIEWED_FAULT } from './cell-faults.js';
import { openText, type TextFile } from './encoding/open-text.js';
import type { SourceLimits } from './limits.js';

const BATCH = 500;

/** Lines whose keys make the headings: all that a job of the queue may hold. */
const HEADING_LINES = 10_000;

/**
 * Opens NDJSON: one object a line. The headings are the keys of the first 10,000 lines, in order of appearance; a key
 * that appears only later is a fault of its row. Row numbers are line numbers. Throws `RunError`.
 */
export async function openNdjson(file: TextFile, options: SourceOptions, limits: SourceLimits): Promise<OpenSource> {
  const { path, gzip } = file;
  const opened = await openText(file, options.encoding, limits, (text) => headingsOf(path, text(), limits));
  const headings = opened.found;
  return {
    meta: {
      format: 'ndjson',
      gzip,
      encoding: opened.encoding,
      guessed: opened.guessed,
      delimiter: null,
      sheet: null,
      header_row: null,
      headings,
      newline: '\n',
      evidence: [
        opened.evidence,
        `The ${headings.length} headings are the keys of the first ${formatNumber(HEADING_LINES)} lines.`,
      ],
      warnings: opened.warnings,
    },
    rows: () => dataRows(path, opened.text(), headings, limits),
  };
}

/** Collects the keys, and looks through the file to its end: a last line that is cut off refuses it whole. */
async function headingsOf(path: string, chunks: AsyncIterable<Buffer>, limits: SourceLimits): Promise<string[]> {
  const headings = new Set<string>();
  let seen = 0;
  let firstFault = '';
  let lastLine: { row: number; line: string; ended: boolean } | undefined;
  for await (const entry of linesOf(path, chunks, limits)) {
    if (entry.line.trim() === '') continue;
    if (seen++ < HEADING_LINES) {
      const pairs = parseJsonLine(entry.line);
      if (typeof pairs === 'string') firstFault ||= ` Line ${entry.row}: ${pairs}.`;
      else
        for (const [heading, cell] of pairs)
          for (const name of heading === LACKS_KEY ? namesIn(cell) : [heading]) headings.add(name);
      if (headings.size > limits.columns) {
        throw runFailure(`${path}: the objects have more than ${limits.columns} different keys.`);
      }
    }
    lastLine = entry;
  }
  if (!lastLine) throw runFailure(`${path}: the file holds no rows. Nothing was sent.`);
  if (!lastLine.ended && typeof parseJsonLine(lastLine.line) === 'string') {
    throw runFailure(
      `${path}: the last line (${lastLine.row}) is no complete JSON object: the file is cut off. ` +
        'It was refused whole, nothing was sent. Export it again.',
    );
  }
  if (headings.size === 0) throw runFailure(`${path}: no line holds a JSON object with keys.${firstFault}`);
  return [...headings];
}

const isBlankByte = (byte: number | undefined) => byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09;

async function* linesOf(
  path: string,
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): AsyncGenerator<{ row: number; line: string; ended: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  let row = 0;
  const check = (bytes: number) => {
    if (bytes <= limits.recordBytes) return;
    throw runFailure(`${path}: line ${row + 1} is longer than ${sizeText(limits.recordBytes)}.`);
  };
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let from = 0;
    for (;;) {
      // Blank lines are counted, and nobody is told: a file may hold millions of them.
      for (let at = from; isBlankByte(bytes[at]); at++) {
        if (bytes[at] !== 0x0a) continue;
        row++;
        from = at + 1;
      }
      const end = bytes.indexOf(0x0a, from);
      if (end < 0) break;
      check(end - from);
      yield { row: ++row, line: bytes.toString('utf8', from, end), ended: true };
      from = end + 1;
    }
    rest = bytes.subarray(from);
    check(rest.length);
  }
  if (rest.length > 0) yield { row: ++row, line: rest.toString('utf8'), ended: false };
}

async function* dataRows(
  path: string,
  chunks: AsyncIterable<Buffer>,
  headings: readonly string[],
  limits: SourceLimits,
): AsyncGenerator<readonly SheetRow[]> {
  const positions = new Map(headings.map((heading, i) => [heading, i]));
  let batch: SheetRow[] = [];
  for await (const { row, line } of linesOf(path, chunks, limits)) {
    if (line.trim() === '') continue;
    const read = toRow(row, line, positions, limits);
    // Blank rows are no data rows, whatever the form of the file.
    if (!read.faults && read.cells.every(isBlank)) continue;
    batch.push(read);
    if (batch.length >= BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

function toRow(row: number, line: string, positions: ReadonlyMap<string, number>, limits: SourceLimits): SheetRow {
  // A key that the object lacks leaves its place empty: it was not given.
  const cells: Cell[] = new Array<Cell>(positions.size);
  const faults: RowFault[] = [];
  const filled = new Set<number>();
  const ragged = (message: string, index?: number) =>
    faults.push({ code: 'ragged_row', ...(index === undefined ? {} : { index }), message });
  const parsed = parseJsonLine(line);
  const pairs = typeof parsed === 'string' ? [] : parsed;
  if (typeof parsed === 'string') ragged(`The line is no JSON object: ${parsed}. Correct the line.`);
  if (awaitsReview(pairs)) faults.push(UNREVIEWED_FAULT);
  for (const [heading, cell] of pairs) {
    if (heading === LINE_KEY || heading === LACKS_KEY) continue;
    const index = positions.get(heading);
    if (index === undefined) {
      ragged(`The key "${clip(heading)}" is not among the keys of the first lines. Name it there too, or remove it.`);
    } else if (filled.has(index)) ragged(`The key "${clip(heading)}" stands twice. Remove one.`, index);
    else {
      filled.add(index);
      const fault = typeof cell === 'string' ? textFault(cell, index, limits.cellCharacters) : undefined;
      if (fault) faults.push(fault);
      cells[index] = fault && typeof cell === 'string' ? truncatedText(cell, limits.cellCharacters) : cell;
    }
  }
  const rawLine = line.endsWith('\r') ? line.slice(0, -1) : line;
  return faults.length > 0 ? { row, cells, faults, line: rawLine } : { row, cells, line: rawLine };
}

/** The keys that a rejected line says it lacks; none where somebody has spoilt the list. */
function namesIn(cell: Cell): string[] {
  try {
    const names: unknown = JSON.parse(displayText(cell));
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

/** Whether an object of a file of rejected rows was refused for its form and nobody has said that it is right now. */
function awaitsReview(pairs: readonly Pair[]): boolean {
  return (
    pairs.some(([heading, cell]) => heading === LINE_KEY && !isBlank(cell)) &&
    pairs.some(([heading]) => heading === '_outcome')
  );
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * Reads one JSON object into pairs of heading and cell. Nested objects flatten to dotted headings (`a.b`), lists keep
 * their JSON text, null is a blank cell, numbers keep every digit. Pairs rather than an object: no key is special
 * (`__proto__`), and a key that stands twice is noticed. What JSON is, the runtime says: here it is only cut up.
 */

type Pair = readonly [heading: string, cell: Cell];

const DEPTH = 32;

/** More keys than any table has columns. */
const PAIRS = 10_000;

/** The pairs of a line; where it is no JSON object, a text that says why. */
export function parseJsonLine(line: string): Pair[] | string {
  if (isTooDeep(line)) return `it has more than ${DEPTH} levels`;
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

function isTooDeep(line: string): boolean {
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
