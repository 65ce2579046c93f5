import { createRequire } from 'node:module';
import type Iconv from 'iconv-lite';
import { usageError } from '../../model/error.js';

/** The encoding a job states, in one spelling; undefined for `auto`. An unknown name throws `RunError('usage')`. */
export function parseEncoding(
  name: string | undefined,
  mark: { readonly encoding: string } | undefined,
): string | undefined {
  if (name === undefined || name.toLowerCase() === 'auto') return undefined;
  // Without its byte order in the name, the file says it.
  if (/^utf-?16$/i.test(name.trim()) && mark?.encoding.startsWith('utf-16')) return mark.encoding;
  const canonical = canonicalEncoding(name);
  if (isTextEncoding(canonical)) return canonical;
  throw usageError(
    `source.encoding: "${name}" is no known encoding. Use auto, utf-8, utf-16le, utf-16be, windows-1252, iso-8859-2, ` +
      'shift_jis, big5, gb18030, euc-kr or another usual name.',
  );
}

export function isKnownEncoding(name: string): boolean {
  return isTextEncoding(canonicalEncoding(name));
}

/** What every encoding of spreadsheets has: ASCII as ASCII. Transfer encodings such as Base64 do not. */
const ASCII_SAMPLE = ',;\t"\r\n+-~=&#azAZ09';

function isTextEncoding(canonical: string): boolean {
  if (canonical.startsWith('utf-')) return /^utf-(8|16le|16be)$/.test(canonical);
  return iconv().encodingExists(canonical) && iconv().decode(Buffer.from(ASCII_SAMPLE), canonical) === ASCII_SAMPLE;
}

/** Names in use, without blanks, dashes and underscores. ISO-8859-1 and -9 are read as WHATWG has it. */
const NAMES: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf8bom: 'utf-8',
  ascii: 'utf-8',
  usascii: 'utf-8',
  utf16: 'utf-16le',
  utf16le: 'utf-16le',
  ucs2: 'utf-16le',
  utf16be: 'utf-16be',
  ansi: 'windows-1252',
  latin1: 'windows-1252',
  iso88591: 'windows-1252',
  latin5: 'windows-1254',
  iso88599: 'windows-1254',
  latin2: 'iso-8859-2',
  mac: 'macintosh',
  sjis: 'shift_jis',
  shiftjis: 'shift_jis',
  cp932: 'shift_jis',
  big5: 'big5',
  gbk: 'gbk',
  gb18030: 'gb18030',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
  koi8r: 'koi8-r',
};

function canonicalEncoding(name: string): string {
  const key = name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]/g, '');
  if (Object.hasOwn(NAMES, key)) return NAMES[key]!;
  const windows = /^(?:windows|cp|x?cp|win)(125\d|874)$/.exec(key)?.[1];
  if (windows) return `windows-${windows}`;
  const iso = /^iso8859(\d{1,2})$/.exec(key)?.[1];
  return iso ? `iso-8859-${iso}` : name.trim().toLowerCase();
}

/** Half of a character of UTF-16, which the other half follows in the next piece. */
const HIGH_SURROGATE = /[\ud800-\udbff]$/;

/**
 * Skips `skip` bytes, then hands the text over as UTF-8 bytes; what has no meaning in the encoding becomes U+FFFD, which no
 * value may hold. UTF-8 passes untouched.
 */
export async function* decodeToUtf8(
  chunks: AsyncIterable<Buffer>,
  encoding: string,
  skip: number,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = encoding === 'utf-8' ? undefined : iconv().getDecoder(encoding, { stripBOM: false });
  let remaining = skip;
  let half = '';
  let size = 0;
  for await (const chunk of chunks) {
    const bytes = remaining > 0 ? chunk.subarray(Math.min(remaining, chunk.length)) : chunk;
    remaining -= chunk.length - bytes.length;
    size += bytes.length;
    if (bytes.length === 0) continue;
    if (!decoder) yield bytes;
    else {
      const text = half + decoder.write(bytes);
      half = HIGH_SURROGATE.exec(text)?.[0] ?? '';
      if (text.length > half.length) yield Buffer.from(text.slice(0, text.length - half.length), 'utf8');
    }
  }
  const isCut = encoding.startsWith('utf-16') && size % 2 === 1;
  const rest = decoder ? `${half}${decoder.end() ?? ''}${isCut ? '\ufffd' : ''}` : '';
  if (rest !== '') yield Buffer.from(rest, 'utf8');
}

/** Whether every character of the text has a place in the encoding. */
export function isEncodable(text: string, encoding: string): boolean {
  const canonical = canonicalEncoding(encoding);
  if (canonical.startsWith('utf-')) return !/\p{Surrogate}/u.test(text);
  // The tables of the library have U+FFFD where they have no character.
  return !text.includes('\ufffd') && iconv().decode(iconv().encode(text, canonical), canonical) === text;
}

/** The text's bytes in an encoding `parseEncoding` knows; what it lacks becomes `?`. */
export function encodeText(text: string, encoding: string): Buffer {
  const canonical = canonicalEncoding(encoding);
  return canonical === 'utf-8' ? Buffer.from(text, 'utf8') : iconv().encode(text, canonical, { addBOM: false });
}

/** What Mac Roman is since Mac OS 8.5 (1998), byte → character: the library has what it was before. */
const MAC_ROMAN_CHANGES: Readonly<Record<number, string>> = { 189: 'Ω', 219: '€', 240: '\uf8ff' };

let loaded: typeof Iconv | undefined;

/** The library and its tables, loaded by the first file that is not UTF-8. */
export function iconv(): typeof Iconv {
  if (!loaded) {
    const library = createRequire(import.meta.url)('iconv-lite') as typeof Iconv;
    library.encodingExists('macroman');
    for (const name of ['macintosh', 'macroman']) {
      const table = library.encodings![name] as unknown as { chars: string };
      const characters = [...table.chars];
      // The table holds 256 characters, or the upper 128 alone.
      for (const [byte, character] of Object.entries(MAC_ROMAN_CHANGES)) {
        characters[characters.length - 0x100 + Number(byte)] = character;
      }
      table.chars = characters.join('');
      delete library._codecDataCache?.[name];
    }
    loaded = library;
  }
  return loaded;
}
