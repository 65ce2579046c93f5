import { textFault } from '../cell-faults.js';
import { asciiText, utf8Text } from '../encoding/byte-text.js';
import { unescapeSheetText, xmlText } from '../package/xml-scan.js';

/**
 * Recognises whole cells in the very forms in which programs write nearly all of them, byte by byte and without a call
 * per tag: that is most of the work of reading a sheet. Every other form (formulas, rich text, prefixes, comments, a
 * cell that a chunk cuts in two) is left to the general scan, which reads these forms alike.
 */

/** What a cell holds; `from` and `to` are the bytes of its text or number. */
export enum Shape {
  blank,
  /** `index` is the number of a shared string. */
  shared,
  /** `index` is a whole number of up to 9 digits. */
  integer,
  /** Digits with one point, at most 15 of them, in the shortest form. */
  decimal,
  /** Any other number. */
  number,
  text,
}

export interface CellShape {
  kind: Shape;
  /** 0-based column, or -1 where the cell does not say. */
  column: number;
  style: number;
  index: number;
  from: number;
  to: number;
  /** What the bytes of a text stand for. */
  text: TextKind;
}

export enum TextKind {
  /** ASCII that stands for itself. */
  ascii,
  /** UTF-8 that stands for itself. */
  utf8,
  /** Entities, escaped characters, line ends to fold or NUL are in it. */
  marked,
}

export const cellShape = (): CellShape => ({
  kind: Shape.blank,
  column: -1,
  style: 0,
  index: 0,
  from: 0,
  to: 0,
  text: TextKind.ascii,
});

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const SPACE = 0x20;
const QUOTE = 0x22;
const EQUALS = 0x3d;
const C = 0x63;
const I = 0x69;
const N = 0x6e;
const R = 0x72;
const S = 0x73;
const T = 0x74;
const V = 0x76;

const PRESERVED = Buffer.from(' xml:space="preserve">');

function isAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

// The fixed parts of an inline text stand in every such cell: their letters one by one are a third of a loop's work.

/** `inlineStr"` */
function isInlineType(bytes: Buffer, at: number): boolean {
  return (
    bytes[at] === I &&
    bytes[at + 1] === N &&
    bytes[at + 2] === 0x6c &&
    bytes[at + 3] === I &&
    bytes[at + 4] === N &&
    bytes[at + 5] === 0x65 &&
    bytes[at + 6] === 0x53 &&
    bytes[at + 7] === T &&
    bytes[at + 8] === R &&
    bytes[at + 9] === QUOTE
  );
}

/** The position behind `<is><t>`, or -1. */
function inlineText(bytes: Buffer, at: number): number {
  if (
    bytes[at] !== LT ||
    bytes[at + 1] !== I ||
    bytes[at + 2] !== S ||
    bytes[at + 3] !== GT ||
    bytes[at + 4] !== LT ||
    bytes[at + 5] !== T
  ) {
    return -1;
  }
  if (bytes[at + 6] === GT) return at + 7;
  return isAt(bytes, at + 6, PRESERVED) ? at + 6 + PRESERVED.length : -1;
}

/** `</t></is></c>` */
const INLINE_END = 13;

function isInlineEnd(bytes: Buffer, at: number): boolean {
  return (
    bytes[at + 1] === SLASH &&
    bytes[at + 2] === T &&
    bytes[at + 3] === GT &&
    bytes[at + 4] === LT &&
    bytes[at + 5] === SLASH &&
    bytes[at + 6] === I &&
    bytes[at + 7] === S &&
    bytes[at + 8] === GT &&
    bytes[at + 9] === LT &&
    bytes[at + 10] === SLASH &&
    bytes[at + 11] === C &&
    bytes[at + 12] === GT
  );
}

/** More bytes than the fixed parts of any form have, so that none is looked for beyond the end of the buffer. */
const MARGIN = 48;

/** Reads the cell at `at` (a `<`) into `shape`; returns the position after it, or -1 for any form but those above. */
export function readCellShape(bytes: Buffer, at: number, end: number, shape: CellShape): number {
  const last = end - MARGIN;
  if (at > last || bytes[at + 1] !== C) return -1;
  let type = 0;
  let i = at + 2;
  shape.column = -1;
  shape.style = 0;
  while (bytes[i] === SPACE) {
    if (bytes[i + 2] !== EQUALS || bytes[i + 3] !== QUOTE) return -1;
    const name = bytes[i + 1]!;
    i += 4;
    if (name === R) {
      let column = 0;
      let byte = bytes[i]!;
      for (; byte >= 0x41 && byte <= 0x5a; byte = bytes[++i]!) column = column * 26 + (byte - 0x40);
      if (column === 0 || column > 16_384) return -1;
      while (i < last && byte >= 0x30 && byte <= 0x39) byte = bytes[++i]!;
      shape.column = column - 1;
    } else if (name === S) {
      let style = 0;
      const from = i;
      for (let digit = bytes[i]! - 0x30; digit >= 0 && digit <= 9; digit = bytes[++i]! - 0x30) {
        style = style * 10 + digit;
        if (i - from > 6) return -1;
      }
      shape.style = style;
    } else if (name === T) {
      const byte = bytes[i]!;
      if (bytes[i + 1] === QUOTE && (byte === S || byte === N)) {
        type = byte === S ? S : 0;
        i++;
      } else if (byte === S && bytes[i + 1] === T && bytes[i + 2] === R) {
        type = T;
        i += 3;
      } else if (byte === I && isInlineType(bytes, i)) {
        type = I;
        i += 9;
      } else return -1;
    } else return -1;
    if (bytes[i++] !== QUOTE || i > last) return -1;
  }
  if (bytes[i] === SLASH) {
    if (bytes[i + 1] !== GT) return -1;
    shape.kind = Shape.blank;
    return i + 2;
  }
  if (bytes[i++] !== GT || bytes[i] !== LT) return -1;
  if (type === I) {
    const from = inlineText(bytes, i);
    if (from < 0) return -1;
    i = readText(bytes, from, end, shape);
    return i >= 0 && i + INLINE_END <= end && isInlineEnd(bytes, i) ? i + INLINE_END : -1;
  }
  if (bytes[i + 1] !== V || bytes[i + 2] !== GT) return -1;
  i += 3;
  if (type === T) i = readText(bytes, i, end, shape);
  else i = type === S ? readIndex(bytes, i, end, shape) : readNumber(bytes, i, end, shape);
  // `</v></c>`
  if (i < 0 || i + 8 > end) return -1;
  if (bytes[i + 1] !== SLASH || bytes[i + 2] !== V || bytes[i + 3] !== GT) return -1;
  if (bytes[i + 4] !== LT || bytes[i + 5] !== SLASH || bytes[i + 6] !== C || bytes[i + 7] !== GT) return -1;
  return i + 8;
}

const HIGH = 1;
const MARK = 2;
const STOP = 4;

/** What a byte says about the text it stands in. */
const BYTE_KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === LT) return STOP;
  // Entities, escaped characters, line ends to fold, NUL.
  if (byte === 0x26 || byte === 0x5f || byte === 0x0d || byte === 0) return MARK;
  return byte < 0x80 ? 0 : HIGH;
});

/** Text up to the next `<`. */
function readText(bytes: Buffer, from: number, end: number, shape: CellShape): number {
  let i = from;
  let all = 0;
  for (; i < end; i++) {
    const kind = BYTE_KINDS[bytes[i]!]!;
    all |= kind;
    if (kind === STOP) break;
  }
  if (i >= end) return -1;
  shape.kind = Shape.text;
  shape.from = from;
  shape.to = i;
  shape.text = (all & MARK) !== 0 ? TextKind.marked : (all & HIGH) !== 0 ? TextKind.utf8 : TextKind.ascii;
  return i;
}

function readIndex(bytes: Buffer, from: number, end: number, shape: CellShape): number {
  let i = from;
  let index = 0;
  for (; i < end; i++) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 9) break;
    index = index * 10 + digit;
  }
  if (i >= end || i === from || i - from > 9 || bytes[i] !== LT) return -1;
  shape.kind = Shape.shared;
  shape.index = index;
  return i;
}

function readNumber(bytes: Buffer, from: number, end: number, shape: CellShape): number {
  let i = from;
  let value = 0;
  let digit = bytes[i]! - 0x30;
  for (; digit >= 0 && digit <= 9 && i < end; digit = bytes[++i]! - 0x30) value = value * 10 + digit;
  const whole = i - from;
  shape.from = from;
  if (i < end && bytes[i] === LT && whole > 0 && whole <= 9 && (bytes[from] !== 0x30 || whole === 1)) {
    shape.kind = Shape.integer;
    shape.index = value;
    shape.to = i;
    return i;
  }
  let shortest = whole > 0 && (bytes[from] !== 0x30 || whole === 1) && bytes[i] === 0x2e;
  if (shortest) {
    for (digit = bytes[++i]! - 0x30; digit >= 0 && digit <= 9 && i < end; ) digit = bytes[++i]! - 0x30;
    if (bytes[i] !== LT || bytes[i - 1]! <= 0x30 || bytes[i - 1] === 0x2e || i - from > 15) shortest = false;
  }
  for (; i < end && bytes[i] !== LT; i++) {
    const byte = bytes[i]!;
    const numeric = (byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === 0x2d || byte === 0x2b;
    if (!numeric && byte !== 0x45 && byte !== 0x65) return -1;
  }
  if (i >= end || i === from) return -1;
  shape.kind = shortest ? Shape.decimal : Shape.number;
  shape.to = i;
  return i;
}

/** Turns the bytes of a text in a sheet into the text they stand for. */
export interface TextReader {
  read(bytes: Buffer, from: number, to: number, kind: TextKind): string;
  /** Whether the text that `read` returned last holds no character that is a fault. */
  readonly clean: boolean;
}

/** Bytes of the longest text whose entities are resolved byte by byte. */
const LONG = 1_024;

export function createTextReader(): TextReader {
  const scratch = Buffer.allocUnsafe(LONG);
  const reader = {
    clean: true,
    read(bytes: Buffer, from: number, to: number, kind: TextKind): string {
      if (kind === TextKind.ascii) {
        reader.clean = true;
        return asciiText(bytes, from, to);
      }
      const length = kind === TextKind.marked ? resolved(bytes, from, to, scratch) : -1;
      if (length >= 0 || kind === TextKind.utf8) {
        const text = length >= 0 ? utf8Text(scratch, 0, length) : utf8Text(bytes, from, to);
        reader.clean = !text.includes('\ufffd');
        return text;
      }
      const text = unescapeSheetText(xmlText(bytes, from, to));
      reader.clean = textFault(text, 0, Number.POSITIVE_INFINITY) === undefined;
      return text;
    },
  };
  return reader;
}

/**
 * Writes a text with its entities resolved into `out` and returns its length. -1 for what is rare: other entities than
 * `&amp;`, `&lt;` and `&gt;`, escaped characters (`_x000D_`), line ends to fold, NUL, and long texts.
 */
function resolved(bytes: Buffer, from: number, to: number, out: Buffer): number {
  if (to - from > out.length) return -1;
  let length = 0;
  for (let i = from; i < to; i++) {
    let byte = bytes[i]!;
    if (byte === 0x26) {
      const second = bytes[i + 1];
      if (second === 0x61 && bytes[i + 2] === 0x6d && bytes[i + 3] === 0x70 && bytes[i + 4] === 0x3b) i += 4;
      else if ((second === 0x6c || second === 0x67) && bytes[i + 2] === 0x74 && bytes[i + 3] === 0x3b) {
        byte = second === 0x6c ? 0x3c : 0x3e;
        i += 3;
      } else return -1;
    } else if (byte === 0x0d || byte === 0 || (byte === 0x5f && bytes[i + 1] === 0x78)) return -1;
    out[length++] = byte;
  }
  return length;
}
