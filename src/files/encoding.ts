import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { RunError } from '../model/error.js';

/** What the bytes of a text file were found to be. */
export interface EncodingFinding {
  /** `utf-8`, `utf-16le`, `utf-16be`, `windows-1252`, or the name a job stated. */
  readonly encoding: string;
  /** Bytes of the byte order mark to skip. */
  readonly bom: number;
  readonly evidence: string;
  readonly warning?: string;
}

function byteOrderMark(head: Buffer): EncodingFinding | undefined {
  const starts = (...bytes: number[]) => bytes.every((byte, i) => head[i] === byte);
  if (starts(0xef, 0xbb, 0xbf)) return found('utf-8', 3, 'The file begins with the byte order mark of UTF-8.');
  if (starts(0xff, 0xfe)) return found('utf-16le', 2, 'The file begins with the byte order mark of UTF-16LE.');
  if (starts(0xfe, 0xff)) return found('utf-16be', 2, 'The file begins with the byte order mark of UTF-16BE.');
  return undefined;
}

function found(encoding: string, bom: number, evidence: string): EncodingFinding {
  return { encoding, bom, evidence };
}

/** UTF-16 without a mark: in ordinary text every other byte is NUL, always on the same side. */
function utf16Pattern(head: Buffer): EncodingFinding | undefined {
  const pairs = Math.floor(head.length / 2);
  if (pairs < 2) return undefined;
  let even = 0;
  let odd = 0;
  for (let i = 0; i < pairs * 2; i += 2) {
    if (head[i] === 0) even++;
    if (head[i + 1] === 0) odd++;
  }
  const share = 0.4 * pairs;
  if (odd >= share && even * 20 < odd) {
    return found('utf-16le', 0, 'Every second byte is NUL (the odd ones), as in UTF-16LE text.');
  }
  if (even >= share && odd * 20 < even) {
    return found('utf-16be', 0, 'Every second byte is NUL (the even ones), as in UTF-16BE text.');
  }
  return undefined;
}

/** Says from a file's first bytes what a mark or the NUL pattern gives away; undefined where the whole text must speak. */
export function encodingOfHead(head: Buffer): EncodingFinding | undefined {
  return byteOrderMark(head) ?? utf16Pattern(head);
}

/**
 * Decides between UTF-8 and windows-1252 from all bytes. Text with non-ASCII characters that is valid UTF-8 is UTF-8.
 * A file with ten times more valid sequences than damaged places is UTF-8 that was damaged: those rows are faults.
 */
export async function encodingOfText(chunks: () => AsyncIterable<Buffer>): Promise<EncodingFinding> {
  let tail = Buffer.alloc(0);
  let valid = true;
  let ascii = true;
  for await (const chunk of chunks()) {
    const bytes = tail.length > 0 ? Buffer.concat([tail, chunk]) : chunk;
    const cut = completeLength(bytes);
    const whole = bytes.subarray(0, cut);
    if (!isUtf8(whole)) {
      valid = false;
      break;
    }
    if (ascii && !isAscii(whole)) ascii = false;
    tail = Buffer.from(bytes.subarray(cut));
  }
  if (valid && tail.length === 0) {
    return found(
      'utf-8',
      0,
      ascii
        ? 'Every byte is plain ASCII, which is UTF-8 too.'
        : 'All bytes are valid UTF-8, with non-ASCII characters.',
    );
  }
  const { sequences, damaged } = await countSequences(chunks());
  if (sequences > 0 && sequences >= damaged * 10) {
    return {
      ...found('utf-8', 0, `${sequences} characters are valid UTF-8 beyond ASCII, ${damaged} places are not.`),
      warning: `The file is UTF-8, but ${damaged} ${damaged === 1 ? 'place is' : 'places are'} damaged; those rows are faults.`,
    };
  }
  return found('windows-1252', 0, `The bytes are not valid UTF-8 (${damaged} places); read as windows-1252.`);
}

/** Length of `bytes` without an unfinished UTF-8 sequence at the end. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < needed ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

async function countSequences(chunks: AsyncIterable<Buffer>): Promise<{ sequences: number; damaged: number }> {
  let sequences = 0;
  let damaged = 0;
  let missing = 0;
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      if (missing > 0) {
        if ((byte & 0xc0) === 0x80) {
          if (--missing === 0) sequences++;
          continue;
        }
        damaged++;
        missing = 0;
      }
      if (byte < 0x80) continue;
      if (byte >= 0xc2 && byte <= 0xf4) missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
      else damaged++;
    }
  }
  return { sequences, damaged: damaged + (missing > 0 ? 1 : 0) };
}

/**
 * The encoding a job states, in one spelling; undefined for `auto`. An unknown name, and one that the byte order mark
 * of the file contradicts, throws `RunError('usage')`.
 */
export function statedEncoding(
  path: string,
  name: string | undefined,
  mark: EncodingFinding | undefined,
): string | undefined {
  if (name === undefined || name.toLowerCase() === 'auto') return undefined;
  const canonical = canonicalEncoding(name);
  if (!iconv.encodingExists(canonical)) {
    throw new RunError(
      'usage',
      `source.encoding: "${name}" is no known encoding. Use auto, utf-8, utf-16le, utf-16be or windows-1252.`,
    );
  }
  if (mark && mark.bom > 0 && mark.encoding !== canonical) {
    throw new RunError(
      'usage',
      `${path}: source.encoding is ${name}, but the file begins with the byte order mark of ${mark.encoding}. ` +
        'Remove source.encoding.',
    );
  }
  return canonical;
}

export function canonicalEncoding(name: string): string {
  const key = name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]/g, '');
  const known: Readonly<Record<string, string>> = {
    utf8: 'utf-8',
    utf8bom: 'utf-8',
    ascii: 'utf-8',
    usascii: 'utf-8',
    utf16: 'utf-16le',
    utf16le: 'utf-16le',
    ucs2: 'utf-16le',
    utf16be: 'utf-16be',
    windows1252: 'windows-1252',
    cp1252: 'windows-1252',
    ansi: 'windows-1252',
    latin1: 'windows-1252',
    iso88591: 'windows-1252',
  };
  return Object.hasOwn(known, key) ? known[key]! : name.trim().toLowerCase();
}

/** Skips `skip` bytes, then hands the text over as UTF-8 bytes. UTF-8 passes untouched. */
export async function* asUtf8(
  chunks: AsyncIterable<Buffer>,
  encoding: string,
  skip: number,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = encoding === 'utf-8' ? undefined : iconv.getDecoder(encoding, { stripBOM: false });
  let left = skip;
  for await (const chunk of chunks) {
    const bytes = left > 0 ? chunk.subarray(Math.min(left, chunk.length)) : chunk;
    left -= chunk.length - bytes.length;
    if (bytes.length === 0) continue;
    yield decoder ? Buffer.from(decoder.write(bytes), 'utf8') : bytes;
  }
  const rest = decoder?.end();
  if (rest) yield Buffer.from(rest, 'utf8');
}

/** Whether every character of the text has a place in the encoding. */
export function encodable(text: string, encoding: string): boolean {
  const canonical = canonicalEncoding(encoding);
  if (canonical === 'utf-8' || canonical.startsWith('utf-16')) return !/\p{Surrogate}/u.test(text);
  return iconv.decode(iconv.encode(text, canonical), canonical) === text;
}

/** The text's bytes in an encoding `statedEncoding` knows. */
export function encodeText(text: string, encoding: string): Buffer {
  const canonical = canonicalEncoding(encoding);
  return canonical === 'utf-8' ? Buffer.from(text, 'utf8') : iconv.encode(text, canonical, { addBOM: false });
}
