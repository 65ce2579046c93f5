import { RunError } from '../../model/error.js';
import { decoderOf, iconv } from './decode.js';
import type { EncodingFinding } from './survey.js';

export { type EncodingFinding, encodingOfHead, encodingOfText } from './survey.js';

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
  const stated = canonicalEncoding(name);
  // Without its byte order in the name, the file says it.
  const width = /^utf-?(16|32)$/i.exec(name.trim())?.[1];
  const canonical = width && mark?.encoding.startsWith(`utf-${width}`) ? mark.encoding : stated;
  if (!isTextEncoding(canonical)) {
    throw new RunError(
      'usage',
      `source.encoding: "${name}" is no known encoding. Use auto, utf-8, utf-16le, utf-16be, windows-1252, iso-8859-2, ` +
        'shift_jis, big5, gb18030, euc-kr or another usual name.',
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

export function isKnownEncoding(name: string): boolean {
  return isTextEncoding(canonicalEncoding(name));
}

/** What every encoding of spreadsheets has: ASCII as ASCII. Transfer encodings such as Base64 do not. */
const PLAIN = ',;\t"\r\n+-~=&#azAZ09';

function isTextEncoding(canonical: string): boolean {
  if (canonical.startsWith('utf-')) return /^utf-(8|16le|16be|32le|32be)$/.test(canonical);
  return iconv().encodingExists(canonical) && iconv().decode(Buffer.from(PLAIN), canonical) === PLAIN;
}

/** Names in use, without blanks, dashes and underscores. ISO-8859-1 and -9 are read as WHATWG has it. */
const NAMES: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf8bom: 'utf-8',
  utf8sig: 'utf-8',
  ascii: 'utf-8',
  usascii: 'utf-8',
  utf16: 'utf-16le',
  utf16le: 'utf-16le',
  ucs2: 'utf-16le',
  utf16be: 'utf-16be',
  utf32: 'utf-32le',
  utf32le: 'utf-32le',
  ucs4: 'utf-32le',
  utf32be: 'utf-32be',
  ansi: 'windows-1252',
  latin1: 'windows-1252',
  iso88591: 'windows-1252',
  latin5: 'windows-1254',
  iso88599: 'windows-1254',
  latin2: 'iso-8859-2',
  macroman: 'macintosh',
  mac: 'macintosh',
  sjis: 'shift_jis',
  shiftjis: 'shift_jis',
  windows31j: 'shift_jis',
  ms932: 'shift_jis',
  cp932: 'shift_jis',
  big5: 'big5',
  big5hkscs: 'big5',
  cp950: 'big5',
  gb2312: 'gbk',
  gbk: 'gbk',
  cp936: 'gbk',
  gb18030: 'gb18030',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
  cp949: 'euc-kr',
  ksc56011987: 'euc-kr',
  koi8r: 'koi8-r',
};

export function canonicalEncoding(name: string): string {
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

/**
 * Skips `skip` bytes, then hands the text over as UTF-8 bytes; what has no meaning in the encoding stays no UTF-8.
 * UTF-8 passes untouched.
 */
export async function* asUtf8(
  chunks: AsyncIterable<Buffer>,
  encoding: string,
  skip: number,
): AsyncGenerator<Buffer, void, undefined> {
  const decode = decoderOf(encoding);
  let left = skip;
  for await (const chunk of chunks) {
    const bytes = left > 0 ? chunk.subarray(Math.min(left, chunk.length)) : chunk;
    left -= chunk.length - bytes.length;
    if (bytes.length === 0) continue;
    const text = decode ? decode(bytes, false) : bytes;
    if (text.length > 0) yield text;
  }
  const rest = decode?.(Buffer.alloc(0), true);
  if (rest && rest.length > 0) yield rest;
}

/** Whether every character of the text has a place in the encoding; `raw`: also bytes that were spelled out have. */
export function encodable(text: string, encoding: string, raw = false): boolean {
  const canonical = canonicalEncoding(encoding);
  if (canonical.startsWith('utf-')) return !/\p{Surrogate}/u.test(text);
  // The tables of the library have it where they have no character.
  if (text.includes('\ufffd')) return raw && encodable(text.split(RAW_BYTE).join(' '), encoding);
  return iconv().decode(iconv().encode(text, canonical), canonical) === text;
}

/** A byte that has no meaning, as `markSpelled` has it. */
const RAW_BYTE = /\ufffd\\x([0-9A-F]{2})/;

/** The text's bytes in an encoding `statedEncoding` knows; outside Unicode, bytes that were spelled out become what they were. */
export function encodeText(text: string, encoding: string): Buffer {
  const canonical = canonicalEncoding(encoding);
  if (canonical === 'utf-8') return Buffer.from(text, 'utf8');
  if (canonical.startsWith('utf-') || !RAW_BYTE.test(text)) {
    return iconv().encode(text, canonical, { addBOM: false });
  }
  const parts = text.split(RAW_BYTE);
  return Buffer.concat(
    parts.map((part, at) => (at % 2 === 1 ? Buffer.from(part, 'hex') : iconv().encode(part, canonical))),
  );
}
