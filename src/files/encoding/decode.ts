import { isAscii, isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type Iconv from 'iconv-lite';
import { asciiText } from './byte-text.js';

/**
 * Decoders to UTF-8 that lose nothing: what has no meaning in the encoding (a byte without a character, half of a
 * surrogate pair, a sequence that is cut off) is carried on as bytes that no UTF-8 has, so that the reader finds it as
 * a fault of its cell and can still say what stood there.
 */

/** Bytes in, UTF-8 out; what is incomplete waits for the next call. `last`: no further bytes follow. */
export type ToUtf8 = (bytes: Buffer, last: boolean) => Buffer;

/** Leads what could not be decoded; three bytes of six bits follow, the unit. No UTF-8 text holds these two. */
const ESCAPE = [0xff, 0xfe] as const;
/** Also the most that a byte becomes. */
export const ESCAPED_LENGTH = 5;

function escapeUnit(unit: number): number[] {
  return [...ESCAPE, 0x80 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)];
}

/** The byte or UTF-16 unit escaped at `at`, spelled out, and the length of its escape; undefined where none stands. */
export function escapedAt(bytes: Buffer, at: number): { readonly text: string; readonly length: number } | undefined {
  if (bytes[at] !== ESCAPE[0] || bytes[at + 1] !== ESCAPE[1] || at + ESCAPED_LENGTH > bytes.length) return undefined;
  const unit = ((bytes[at + 2]! & 0x3f) << 12) | ((bytes[at + 3]! & 0x3f) << 6) | (bytes[at + 4]! & 0x3f);
  const hex = unit.toString(16).toUpperCase();
  return { text: unit < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`, length: ESCAPED_LENGTH };
}

/** Keeps what a decoder leaves over in front of the next bytes. `decode` returns its output and how far it came. */
function streaming(decode: (bytes: Buffer, last: boolean) => readonly [Buffer, number]): ToUtf8 {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk, last) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const [text, done] = decode(bytes, last);
    rest = Buffer.from(bytes.subarray(done));
    return text;
  };
}

/** The decoder of an encoding in its canonical spelling; undefined for UTF-8, which is what the readers take. */
export function decoderOf(encoding: string): ToUtf8 | undefined {
  switch (encoding) {
    case 'utf-8':
      return undefined;
    case 'utf-16le':
    case 'utf-16be':
      return utf16(encoding === 'utf-16be');
    case 'utf-32le':
    case 'utf-32be':
      return utf32(encoding === 'utf-32be');
  }
  return byTable(encoding, MULTI_BYTE.has(encoding) ? 4 : 1);
}

function utf16(bigEndian: boolean): ToUtf8 {
  return streaming((bytes, last) => {
    let end = bytes.length & ~1;
    const unitAt = (at: number) => (bigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at));
    // The first half of a pair waits for the second.
    if (!last && end >= 2 && (unitAt(end - 2) & 0xfc00) === 0xd800) end -= 2;
    const units = bigEndian ? Buffer.from(bytes.subarray(0, end)).swap16() : bytes.subarray(0, end);
    const parts = [wellFormed(units.toString('utf16le'))];
    if (last && bytes.length > end) parts.push(Buffer.from(escapeUnit(bytes[end]!)));
    return [parts.length === 1 ? parts[0]! : Buffer.concat(parts), last ? bytes.length : end];
  });
}

const HALVES = /\p{Surrogate}/gu;

/** UTF-8 of the text, with halves of surrogate pairs escaped. */
function wellFormed(text: string): Buffer {
  if (text.search(HALVES) < 0) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  let from = 0;
  for (const { index } of text.matchAll(HALVES)) {
    parts.push(Buffer.from(text.slice(from, index), 'utf8'), Buffer.from(escapeUnit(text.charCodeAt(index))));
    from = index + 1;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(from), 'utf8')]);
}

function utf32(bigEndian: boolean): ToUtf8 {
  return streaming((bytes, last) => {
    const end = bytes.length & ~3;
    const out: Buffer[] = [];
    let text = '';
    for (let i = 0; i < end; i += 4) {
      const code = bigEndian ? bytes.readUInt32BE(i) : bytes.readUInt32LE(i);
      if (code <= 0x10ffff && (code & 0x1ff800) !== 0xd800) text += String.fromCodePoint(code);
      else {
        out.push(Buffer.from(text, 'utf8'), Buffer.from([...bytes.subarray(i, i + 4)].flatMap(escapeUnit)));
        text = '';
      }
    }
    out.push(Buffer.from(text, 'utf8'));
    if (last) out.push(Buffer.from([...bytes.subarray(end)].flatMap(escapeUnit)));
    return [Buffer.concat(out), last ? bytes.length : end];
  });
}

const MULTI_BYTE = new Set(['shift_jis', 'big5', 'gbk', 'gb18030', 'euc-jp', 'euc-kr']);

/**
 * ASCII bytes stand for themselves; every other sequence is looked up once and remembered. `longest`: bytes of a sequence,
 * four in GB 18030.
 */
function byTable(encoding: string, longest: number): ToUtf8 {
  const known = new Map<number, readonly number[] | null>();
  /** UTF-8 of the sequence, or null where it is none. */
  function lookUp(bytes: Buffer, at: number, length: number): readonly number[] | null {
    let key = length;
    for (let i = 0; i < length; i++) key = key * 256 + bytes[at + i]!;
    let found = known.get(key);
    if (found === undefined) {
      const text = iconv().decode(bytes.subarray(at, at + length), encoding);
      // One character, or a letter with its mark; an ASCII byte behind a broken sequence is no part of it.
      const one = text !== '' && !text.includes('\ufffd') && !/[\0-\x7f]/.test(text) && [...text].length <= 2;
      found = one ? [...Buffer.from(text, 'utf8')] : null;
      known.set(key, found);
    }
    return found;
  }
  return streaming((bytes, last) => {
    if (isAscii(bytes)) return [bytes, bytes.length];
    const out = Buffer.allocUnsafe(bytes.length * ESCAPED_LENGTH);
    let at = 0;
    let i = 0;
    while (i < bytes.length) {
      if (bytes[i]! < 0x80) {
        out[at++] = bytes[i++]!;
        continue;
      }
      if (!last && i + longest > bytes.length) break;
      let length = 1;
      let found: readonly number[] | null = null;
      for (; length <= longest && i + length <= bytes.length; length++) {
        found = lookUp(bytes, i, length);
        if (found) break;
      }
      for (const piece of found ?? escapeUnit(bytes[i]!)) out[at++] = piece;
      i += found ? length : 1;
    }
    return [Buffer.from(out.subarray(0, at)), i];
  });
}

/** Text with everything that is not UTF-8 spelled out (`\xE9`, `\uD83D`), so that a person sees what stands there. */
export function visibleBytes(bytes: Buffer): string {
  let text = '';
  let i = 0;
  while (i < bytes.length) {
    let plain = i;
    while (plain < bytes.length && bytes[plain]! < 0x80) plain++;
    if (plain > i) {
      text += asciiText(bytes, i, plain);
      i = plain;
      continue;
    }
    const escaped = escapedAt(bytes, i);
    if (escaped) {
      text += escaped.text;
      i += escaped.length;
      continue;
    }
    const lead = bytes[i]!;
    const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const piece = bytes.subarray(i, i + length);
    if (isUtf8(piece)) {
      text += piece.toString('utf8');
      i += length;
    } else {
      text += `\\x${lead.toString(16).toUpperCase().padStart(2, '0')}`;
      i++;
    }
  }
  return text;
}

/**
 * What the Macintosh encodings are since Mac OS 8.5 (1998) and, Cyrillic, 9.0: the library has what they were before.
 * Byte → character, as in Apple's tables at unicode.org.
 */
const SINCE_1998: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  macintosh: { 189: 'Ω', 219: '€', 240: '\uf8ff' },
  macroman: { 189: 'Ω', 219: '€', 240: '\uf8ff' },
  maciceland: { 189: 'Ω', 219: '€', 240: '\uf8ff' },
  maccroatian: { 189: 'Ω', 216: '\uf8ff', 219: '€' },
  macromania: { 175: 'Ș', 189: 'Ω', 191: 'ș', 219: '€', 222: 'Ț', 223: 'ț', 240: '\uf8ff' },
  macturkish: { 189: 'Ω', 240: '\uf8ff', 245: '\uf8a0' },
  maccyrillic: { 162: 'Ґ', 182: 'ґ', 255: '€' },
  macukraine: { 255: '€' },
  macgreek: { 156: '€', 175: '·', 255: '\u00ad' },
};

let loaded: typeof Iconv | undefined;

/** The library and its tables, loaded by the first file that is not UTF-8. */
export function iconv(): typeof Iconv {
  if (!loaded) {
    const library = createRequire(import.meta.url)('iconv-lite') as typeof Iconv;
    library.encodingExists('macroman');
    for (const [name, changed] of Object.entries(SINCE_1998)) {
      const table = library.encodings![name] as unknown as { chars: string };
      const characters = [...table.chars];
      // The table holds 256 characters, or the upper 128 alone.
      for (const [byte, character] of Object.entries(changed)) {
        characters[characters.length - 0x100 + Number(byte)] = character;
      }
      table.chars = characters.join('');
      delete library._codecDataCache?.[name];
    }
    loaded = library;
  }
  return loaded;
}
