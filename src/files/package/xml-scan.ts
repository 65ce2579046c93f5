import { sizeText } from '../../model/count-text.js';
import { runFailure } from '../../model/error.js';
import { asciiText, utf8Text } from '../encoding/byte-text.js';

const EMPTY: Buffer = Buffer.alloc(0);
const TOKEN_LIMIT = 4 * 1024 * 1024;

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const COLON = 0x3a;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;

/** Whether a byte keeps a text from being plain: no ASCII, `&`, a line end to fold, or NUL. */
const MARKS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 || byte === 0x26 || byte === 0x0d || byte === 0 ? 1 : 0,
);

/**
 * A fast scan of XML bytes that arrive in chunks. Tags and text are handed over as byte ranges of a buffer; a token that a
 * chunk cuts in two waits for the rest, so the place of a cut never matters. UTF-8. Entities are the five of XML
 * and numeric ones; a document type declaration is refused at sight, so nothing is ever expanded or fetched. Names are
 * local names: `x:row` is `row`.
 */
interface XmlHandler {
  /**
   * `true` skips what the element holds, unread, to its end tag; such an element must not hold others of its own name.
   * For `<c/>` `close` is not called.
   */
  open(tag: XmlTag): boolean | undefined;
  close(tag: XmlTag): void;
  /** Read by `xmlText`. */
  text(bytes: Buffer, from: number, to: number, form: TextForm): void;
}

export enum TextForm {
  /** ASCII that stands for itself. */
  plain,
  /** Other characters, entities or line ends to fold are in it. */
  marked,
  /** A CDATA section, in which `&` is an ordinary character. */
  raw,
}

/** A start or end tag; overwritten by the next one. */
export class XmlTag {
  bytes = EMPTY;
  nameFrom = 0;
  nameTo = 0;
  empty = false;
  /** Of each attribute where its local name and its value begin and end. */
  readonly offsets: number[] = [];
  /** Of `offsets` that are of this tag. */
  count = 0;

  get name(): string {
    return asciiText(this.bytes, this.nameFrom, this.nameTo);
  }

  /** Attributes by local name, for tags that are few. */
  attributes(): Map<string, string> {
    const attributes = new Map<string, string>();
    for (let i = 0; i < this.count; i += 4) {
      const [from, to, valueFrom, valueTo] = this.offsets.slice(i, i + 4) as [number, number, number, number];
      attributes.set(asciiText(this.bytes, from, to), xmlText(this.bytes, valueFrom, valueTo));
    }
    return attributes;
  }
}

export type XmlScanner = ReturnType<typeof createXmlScanner>;

/** `what` names the file and part for messages. */
export function createXmlScanner(what: string, handler: XmlHandler) {
  let buffer = EMPTY;
  let depth = 0;
  let hasRoot = false;
  /** The beginning of the end tag that ends what is skipped. */
  let skipTo: string | undefined;
  const tag = new XmlTag();

  /** Scans what is complete and returns the position of what is not. */
  function scan(bytes: Buffer): number {
    const end = bytes.length;
    tag.bytes = bytes;
    let at = 0;
    for (;;) {
      if (skipTo !== undefined) {
        const found = bytes.indexOf(skipTo, at, 'latin1');
        if (found < 0) return Math.max(at, end - skipTo.length);
        at = found;
        skipTo = undefined;
      }
      let i = at;
      let marks = 0;
      for (let byte = 0; i < end; i++) {
        byte = bytes[i]!;
        if (byte === LT) break;
        marks |= MARKS[byte]!;
      }
      if (i + 1 >= end) return at;
      const next = bytes[i + 1];
      if (next === 0x21 || next === 0x3f) {
        const after = scanSpecial(bytes, at, i, marks);
        if (after < 0) return at;
        at = after;
        continue;
      }
      const closing = next === SLASH;
      const close = closing ? endTag(bytes, i + 2, end) : startTag(bytes, i + 1, end);
      if (close < 0) return at;
      if (i > at) handler.text(bytes, at, i, marks);
      at = close + 1;
      if (closing) {
        depth--;
        handler.close(tag);
      } else {
        tag.empty = bytes[close - 1] === SLASH;
        if (!tag.empty) depth++;
        hasRoot = true;
        if (handler.open(tag) === true && !tag.empty) skipTo = `</${asciiText(bytes, i + 1, tag.nameTo)}`;
      }
    }
  }

  /** Reads a tag whose name begins at `at`; returns the position of its `>`, or -1 where that is not there. */
  function startTag(bytes: Buffer, at: number, end: number): number {
    const { offsets } = tag;
    let i = at;
    let from = at;
    let count = 0;
    let byte = 0;
    for (; i < end; i++) {
      byte = bytes[i]!;
      if (byte === GT || byte <= 0x20 || byte === SLASH) break;
      if (byte === COLON) from = i + 1;
    }
    tag.nameFrom = from;
    tag.nameTo = i;
    for (;;) {
      while (i < end && bytes[i]! <= 0x20) i++;
      from = i;
      for (; i < end; i++) {
        byte = bytes[i]!;
        if (byte === EQUALS || byte <= 0x20 || byte === GT || byte === QUOTE || byte === APOSTROPHE) break;
        if (byte === COLON) from = i + 1;
      }
      const to = i;
      while (i < end && byte !== GT && byte !== QUOTE && byte !== APOSTROPHE) byte = bytes[++i]!;
      if (i >= end) return -1;
      if (byte === GT) break;
      const valueFrom = ++i;
      while (i < end && bytes[i] !== byte) i++;
      offsets[count] = from;
      offsets[count + 1] = to;
      offsets[count + 2] = valueFrom;
      offsets[count + 3] = i++;
      count += 4;
    }
    tag.count = count;
    return i;
  }

  function endTag(bytes: Buffer, at: number, end: number): number {
    tag.nameFrom = at;
    let name = true;
    for (let i = at; i < end; i++) {
      const byte = bytes[i]!;
      if (name && (byte <= 0x20 || byte === GT)) {
        tag.nameTo = i;
        name = false;
      }
      if (byte === GT) return i;
      if (byte === COLON) tag.nameFrom = i + 1;
    }
    return -1;
  }

  function scanNamingPart(bytes: Buffer): number {
    try {
      return scan(bytes);
    } catch (error) {
      if (!(error instanceof UndefinedEntity)) throw error;
      throw runFailure(
        `${what}: uses the entity "${error.message}", which XML does not define. It was refused. ` +
          'Open it in the spreadsheet program and save it as .xlsx.',
      );
    }
  }

  /** Comments, CDATA, declarations and processing instructions; returns the position after it, or -1 if incomplete. */
  function scanSpecial(bytes: Buffer, textFrom: number, at: number, marks: TextForm): number {
    const text = () => {
      if (at > textFrom) handler.text(bytes, textFrom, at, marks);
    };
    const until = (needle: string, from: number) => {
      const found = bytes.indexOf(needle, from, 'latin1');
      return found < 0 ? -1 : found + needle.length;
    };
    if (bytes[at + 1] === 0x3f) {
      const after = until('?>', at + 2);
      if (after < 0) return -1;
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
      handler.text(bytes, at + 9, after - 3, TextForm.raw);
      return after;
    }
    if (head.length < 9 && ('<![CDATA['.startsWith(head) || '<!--'.startsWith(head))) return -1;
    throw runFailure(
      `${what}: holds a document type declaration (DOCTYPE), as files made to attack a reader do. It was refused. ` +
        'Open it in the spreadsheet program and save it as .xlsx.',
    );
  }

  return {
    push(chunk: Buffer): void {
      const bytes = buffer.length > 0 ? Buffer.concat([buffer, chunk]) : chunk;
      buffer = bytes.subarray(scanNamingPart(bytes));
      if (buffer.length > TOKEN_LIMIT)
        throw runFailure(`${what}: a single value is longer than ${sizeText(TOKEN_LIMIT)}. It was refused.`);
    },
    /** Throws where the document is not complete. */
    finish(): void {
      if (depth === 0 && hasRoot && buffer.every((byte) => byte <= 0x20)) return;
      throw runFailure(
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

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The text of a byte range with its entities resolved and its line ends as XML has them. */
export function xmlText(bytes: Buffer, from: number, to: number, form = TextForm.marked): string {
  if (form === TextForm.plain) return asciiText(bytes, from, to);
  let text = utf8Text(bytes, from, to);
  if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
  return form === TextForm.raw || !text.includes('&') ? text : text.replace(/&([^;&]{0,12});?/g, resolveEntity);
}

function resolveEntity(whole: string, name: string): string {
  if (whole.endsWith(';')) {
    if (Object.hasOwn(ENTITIES, name)) return ENTITIES[name]!;
    const numeric = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
    const point = numeric ? Number.parseInt(numeric[1] ?? numeric[2]!, numeric[1] ? 16 : 10) : -1;
    if (point >= 0 && point <= 0x10ffff) return String.fromCodePoint(point);
  }
  throw new UndefinedEntity(whole.slice(0, 20));
}

/** Spreadsheet texts write a character that XML cannot hold as `_x000D_`, and `_` before such a text as `_x005F_`. */
export function unescapeSheetText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
