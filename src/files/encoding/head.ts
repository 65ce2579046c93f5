import { iconv } from './iconv.js';

/** What the bytes of a text file were found to be. */
export interface EncodingFinding {
  /** In one spelling: `utf-8`, `utf-16le`, `windows-1252`, `shift_jis`… */
  readonly encoding: string;
  /** Bytes of the byte order mark to skip. */
  readonly bom: number;
  readonly evidence: string;
  readonly warning?: string;
}

/** Byte order marks; that of UTF-32LE begins with that of UTF-16LE. */
const MARKS: readonly (readonly [string, string, readonly number[]])[] = [
  ['utf-8', 'UTF-8', [0xef, 0xbb, 0xbf]],
  ['utf-32le', 'UTF-32LE', [0xff, 0xfe, 0, 0]],
  ['utf-32be', 'UTF-32BE', [0, 0, 0xfe, 0xff]],
  ['utf-16le', 'UTF-16LE', [0xff, 0xfe]],
  ['utf-16be', 'UTF-16BE', [0xfe, 0xff]],
];

function byteOrderMark(head: Buffer): EncodingFinding | undefined {
  for (const [encoding, name, mark] of MARKS) {
    if (mark.every((byte, i) => head[i] === byte)) {
      return found(encoding, mark.length, `The file begins with the byte order mark of ${name}.`);
    }
  }
  return undefined;
}

export function found(encoding: string, bom: number, evidence: string): EncodingFinding {
  return { encoding, bom, evidence };
}

/** Unicode of two or four bytes without a mark: the NUL bytes of ordinary text stand always at the same places. */
function nulPattern(head: Buffer): EncodingFinding | undefined {
  const nuls = [0, 0, 0, 0];
  const length = head.length & ~3;
  for (let i = 0; i < length; i++) if (head[i] === 0) nuls[i & 3]!++;
  const [a, b, c, d] = nuls as [number, number, number, number];
  const full = (count: number) => count * 4 >= length * 0.9;
  if (length >= 8 && full(c) && full(d) && a * 20 < c) {
    return found('utf-32le', 0, 'The last two of every four bytes are NUL, as in UTF-32LE text.');
  }
  if (length >= 8 && full(a) && full(b) && d * 20 < b) {
    return found('utf-32be', 0, 'The first two of every four bytes are NUL, as in UTF-32BE text.');
  }
  const pairs = Math.floor(head.length / 2);
  if (pairs < 2) return undefined;
  const [even, odd] = [a + c, b + d];
  const bigEndian = even > odd;
  const [many, few] = bigEndian ? [even, odd] : [odd, even];
  if (many < 2 || few * 4 >= many) return undefined;
  const side = bigEndian ? 'even' : 'odd';
  const [encoding, name] = bigEndian ? (['utf-16be', 'UTF-16BE'] as const) : (['utf-16le', 'UTF-16LE'] as const);
  if (many >= 0.4 * pairs && few * 20 < many) {
    return found(encoding, 0, `Every second byte is NUL (the ${side} ones), as in ${name} text.`);
  }
  // Text in letters far from ASCII has few NUL bytes: those of delimiters, digits and line ends.
  const text = unicodeText(head, encoding);
  if (!/[\r\n]/.test(text) || hasOddCharacters(text)) return undefined;
  return found(encoding, 0, `The NUL bytes stand at the ${side} places, and the text makes sense as ${name}.`);
}

/** Control characters, or places of Unicode where no character is: signs of a wrong reading. */
function hasOddCharacters(text: string): boolean {
  if (/[\p{Cn}\p{Co}]|\p{Surrogate}./su.test(text)) return true;
  return [...text].some((character) => character < ' ' && !'\t\r\n'.includes(character));
}

/** The beginning of a file as text, without what is cut off at its end. */
export function unicodeText(head: Buffer, encoding: string): string {
  const width = encoding.startsWith('utf-32') ? 4 : 2;
  return iconv().decode(head.subarray(0, head.length - (head.length % width)), encoding);
}

/** Says from a file's first bytes what a mark or the NUL pattern gives away; undefined where the whole text must speak. */
export function encodingOfHead(head: Buffer): EncodingFinding | undefined {
  return byteOrderMark(head) ?? nulPattern(head);
}
