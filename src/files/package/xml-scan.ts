import { RunError } from '../../model/error.js';
import { asciiText, utf8Text } from '../encoding/byte-text.js';
import { sizeText } from '../limits.js';

/**
 * A fast scan of XML bytes that arrive in chunks. Tags, text and character data are handed over as byte ranges of a
 * buffer; a token that a chunk cuts in two waits for the rest, so the place of a cut never matters. UTF-8 or UTF-16.
 * Entities are the five of XML and numeric ones; a document type declaration is refused at sight, so nothing is ever
 * expanded or fetched. Names are local names: `x:row` is `row`.
 */
export interface XmlHandler {
  /**
   * Ranges of the local name and of the attributes; `empty` for `<c/>`, for which `close` is not called. `true` skips
   * what the element holds, unread, to its end tag; such an element must not hold others of its own name.
   */
  open(bytes: Buffer, nameFrom: number, nameTo: number, attributesTo: number, empty: boolean): boolean | undefined;
  close(bytes: Buffer, nameFrom: number, nameTo: number): void;
  /** `raw`: a CDATA section, in which `&` is an ordinary character. */
  text(bytes: Buffer, from: number, to: number, raw: boolean): void;
  /**
   * May take whole elements that begin at `at` (a `<`) in one step: returns the position after them, or -1 to have them
   * scanned. Text before them is not handed over.
   */
  whole?(bytes: Buffer, at: number, end: number): number;
}

export interface XmlScanner {
  push(chunk: Buffer): void;
  /** Throws where the document is not complete. */
  finish(): void;
}

const TOKEN_LIMIT = 4 * 1024 * 1024;
/** Bytes of a chunk that are joined to what the one before it left over, at first. */
const JOINT = 4_096;
const EMPTY = Buffer.alloc(0);

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const COLON = 0x3a;

/** `what` names the file and part for messages. */
export function createXmlScanner(what: string, handler: XmlHandler, tokenLimit = TOKEN_LIMIT): XmlScanner {
  let held: Buffer = EMPTY;
  let decode: ((chunk: Buffer) => Buffer) | undefined;
  let depth = 0;
  let rooted = false;
  let started = false;
  /** The beginning of the end tag that ends what is skipped. */
  let skipTo: string | undefined;

  /** Scans what is complete and returns the position of what is not. */
  function scan(bytes: Buffer): number {
    const end = bytes.length;
    let at = 0;
    for (;;) {
      if (skipTo !== undefined) {
        const found = bytes.indexOf(skipTo, at, 'latin1');
        if (found < 0) return Math.max(at, end - skipTo.length);
        at = found;
        skipTo = undefined;
      }
      let i = at;
      while (i < end && bytes[i] !== LT) i++;
      if (i + 1 >= end) return at;
      const taken = handler.whole === undefined ? -1 : handler.whole(bytes, i, end);
      if (taken >= 0) {
        at = taken;
        continue;
      }
      const next = bytes[i + 1];
      let after: number;
      if (next === 0x21 || next === 0x3f) {
        after = special(bytes, at, i);
        if (after < 0) return at;
      } else {
        const closing = next === SLASH;
        let nameFrom = i + (closing ? 2 : 1);
        let j = nameFrom;
        for (; j < end; j++) {
          const byte = bytes[j]!;
          if (byte === GT || byte <= 0x20 || byte === SLASH) break;
          if (byte === COLON) nameFrom = j + 1;
        }
        const nameTo = j;
        while (j < end && bytes[j] !== GT) {
          const byte = bytes[j]!;
          j++;
          if (byte === 0x22 || byte === 0x27) {
            while (j < end && bytes[j] !== byte) j++;
            if (j < end) j++;
          }
        }
        if (j >= end) return at;
        if (i > at) handler.text(bytes, at, i, false);
        if (closing) {
          depth--;
          handler.close(bytes, nameFrom, nameTo);
        } else {
          const empty = bytes[j - 1] === SLASH;
          if (!empty) depth++;
          rooted = true;
          const skip = handler.open(bytes, nameFrom, nameTo, empty ? j - 1 : j, empty);
          if (skip === true && !empty) skipTo = `</${asciiText(bytes, i + 1, nameTo)}`;
        }
        after = j + 1;
      }
      at = after;
    }
  }

  function scanNamed(bytes: Buffer): number {
    try {
      return scan(bytes);
    } catch (error) {
      if (!(error instanceof UndefinedEntity)) throw error;
      throw new RunError(
        'failed',
        `${what}: uses the entity "${error.message}", which XML does not define. It was refused. ` +
          'Open it in the spreadsheet program and save it as .xlsx.',
      );
    }
  }

  /** Comments, CDATA, declarations and processing instructions; returns the position after it, or -1 if incomplete. */
  function special(bytes: Buffer, textFrom: number, at: number): number {
    const text = () => {
      if (at > textFrom) handler.text(bytes, textFrom, at, false);
    };
    const until = (needle: string, from: number) => {
      const found = bytes.indexOf(needle, from, 'latin1');
      return found < 0 ? -1 : found + needle.length;
    };
    if (bytes[at + 1] === 0x3f) {
      const after = until('?>', at + 2);
      if (after < 0) return -1;
      if (!rooted && /^<\?xml\s/.test(asciiText(bytes, at, Math.min(at + 6, after)))) {
        assertReadable(what, asciiText(bytes, at, Math.min(at + 200, after)));
      }
      text();
      return after;
    }
    const head = asciiText(bytes, at, Math.min(at + 9, bytes.length));
    if (head.startsWith('<!--')) {
      const after = until('-->', at + 4);
      if (after >= 0) text();
      return after;
    }
    if (head === '<![CDATA[') {
      const after = until(']]>', at + 9);
      if (after < 0) return -1;
      text();
      handler.text(bytes, at + 9, after - 3, true);
      return after;
    }
    if (head.length < 9 && ('<![CDATA['.startsWith(head) || '<!--'.startsWith(head))) return -1;
    throw new RunError(
      'failed',
      `${what}: holds a document type declaration (DOCTYPE), as files made to attack a reader do. It was refused. ` +
        'Open it in the spreadsheet program and save it as .xlsx.',
    );
  }

  function assertBounded(): void {
    if (held.length <= tokenLimit) return;
    throw new RunError('failed', `${what}: a single value is longer than ${sizeText(tokenLimit)}. It was refused.`);
  }

  return {
    push(chunk) {
      let rest = chunk;
      if (!started) {
        rest = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
        held = rest;
        if (rest.length < 4) return;
        started = true;
        held = EMPTY;
        decode = utf16Decoder(what, rest);
      }
      if (decode) rest = decode(rest);
      // What the last chunk cut in two, with as much of this one as it takes: most of a chunk is never copied.
      for (let take = JOINT; held.length > 0 && rest.length > 0; take *= 8) {
        const piece = rest.subarray(0, take);
        const joint = Buffer.concat([held, piece]);
        const at = scanNamed(joint);
        if (at >= held.length) {
          rest = rest.subarray(at - held.length);
          held = EMPTY;
        } else {
          rest = rest.subarray(piece.length);
          held = joint.subarray(at);
          assertBounded();
        }
      }
      if (held.length > 0 || rest.length === 0) return;
      held = rest.subarray(scanNamed(rest));
      assertBounded();
    },
    finish() {
      if (depth === 0 && rooted && held.every((byte) => byte <= 0x20)) return;
      throw new RunError(
        'failed',
        `${what}: the XML is cut off or damaged. The file was refused whole, nothing was sent. ` +
          'Open it in the spreadsheet program and save it as .xlsx.',
      );
    },
  };
}

/** Becomes a `RunError` that names the part, in `push`. */
class UndefinedEntity extends Error {
  override readonly name = 'UndefinedEntity';
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The text of a byte range with its entities resolved and its line ends as XML has them. */
export function xmlText(bytes: Buffer, from: number, to: number, raw = false): string {
  let text = utf8Text(bytes, from, to);
  if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
  return raw || !text.includes('&') ? text : text.replace(/&([^;&]{0,12});?/g, resolve);
}

function resolve(whole: string, name: string): string {
  if (whole.endsWith(';')) {
    if (Object.hasOwn(NAMED, name)) return NAMED[name]!;
    const numeric = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
    const point = numeric ? Number.parseInt(numeric[1] ?? numeric[2]!, numeric[1] ? 16 : 10) : -1;
    if (point >= 0 && point <= 0x10ffff) return String.fromCodePoint(point);
  }
  throw new UndefinedEntity(whole.slice(0, 20));
}

/** Whether a byte range is plain ASCII that stands for itself: no entity, line end to fold, or NUL. */
export function isPlainText(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte >= 0x80 || byte === 0x26 || byte === 0x0d || byte === 0) return false;
  }
  return true;
}

/** Spreadsheet texts write a character that XML cannot hold as `_x000D_`, and `_` before such a text as `_x005F_`. */
export function unescapeSheetText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Where an attribute stands in a tag; overwritten by each call of `nextAttribute`. */
export interface AttributeRange {
  nameFrom: number;
  nameTo: number;
  valueFrom: number;
  valueTo: number;
}

/** Finds the attribute at or after `at`; returns the position after it, or -1 where none is left before `to`. */
export function nextAttribute(bytes: Buffer, at: number, to: number, range: AttributeRange): number {
  let i = at;
  while (i < to && bytes[i]! <= 0x20) i++;
  range.nameFrom = i;
  for (; i < to; i++) {
    const byte = bytes[i]!;
    if (byte === 0x3d || byte <= 0x20) break;
    if (byte === COLON) range.nameFrom = i + 1;
  }
  range.nameTo = i;
  while (i < to && bytes[i] !== 0x22 && bytes[i] !== 0x27) i++;
  const quote = bytes[i];
  range.valueFrom = ++i;
  while (i < to && bytes[i] !== quote) i++;
  range.valueTo = i;
  return i < to ? i + 1 : -1;
}

/** Attributes of a tag by local name, for tags that are few. `from` is the end of the tag's name. */
export function xmlAttributes(bytes: Buffer, from: number, to: number): Map<string, string> {
  const attributes = new Map<string, string>();
  const range: AttributeRange = { nameFrom: 0, nameTo: 0, valueFrom: 0, valueTo: 0 };
  for (let at = nextAttribute(bytes, from, to, range); at >= 0; at = nextAttribute(bytes, at, to, range)) {
    const name = asciiText(bytes, range.nameFrom, range.nameTo);
    attributes.set(name, xmlText(bytes, range.valueFrom, range.valueTo));
  }
  return attributes;
}

/**
 * The parts of a workbook are UTF-8 with very few exceptions; XML also allows UTF-16, which is turned into UTF-8 here.
 * Undefined for what is not UTF-16. `head` is at least the first four bytes.
 */
export function utf16Decoder(what: string, head: Buffer): ((chunk: Buffer) => Buffer) | undefined {
  const little = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0x3c && head[1] === 0 && head[3] === 0);
  const big = (head[0] === 0xfe && head[1] === 0xff) || (head[0] === 0 && head[1] === 0x3c && head[2] === 0);
  if (!little && !big) return undefined;
  const decoder = new TextDecoder(little ? 'utf-16le' : 'utf-16be', { fatal: true });
  return (chunk) => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: true }), 'utf8');
    } catch (error) {
      const again = 'It was refused whole, nothing was sent. Save the workbook again in the spreadsheet program.';
      throw new RunError('failed', `${what}: the XML is no valid UTF-16. ${again}`, [], { cause: error });
    }
  };
}

/**
 * Refuses a declaration (`<?xml … encoding="…"?>`) of an encoding that is not read. UTF-16 may stand above what is UTF-8
 * in truth: some programs convert the text and leave the declaration.
 */
export function assertReadable(what: string, declaration: string): void {
  const encoding = /\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(declaration)?.[1];
  if (encoding === undefined || /^(?:utf-?8|us-ascii|ascii|utf-?16(?:le|be)?)$/i.test(encoding)) return;
  throw new RunError(
    'failed',
    `${what}: is XML in the encoding ${encoding}; UTF-8 and UTF-16 are read. ` +
      'Open the workbook in the spreadsheet program and save it again.',
  );
}
