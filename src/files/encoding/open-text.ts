import { isAscii, isUtf8 } from 'node:buffer';
import { runFailure } from '../../model/error.js';
import { fileBytes } from '../bytes.js';
import type { SourceLimits } from '../limits.js';
import { asciiText } from './byte-text.js';
import { guessEncoding } from './detect.js';
import { decodeToUtf8, iconv, parseEncoding } from './encoding.js';

export interface TextFile {
  readonly path: string;
  readonly gzip: boolean;
  /** The first bytes, unpacked; `whole`: they are all it has. */
  readonly head: Buffer;
  readonly whole: boolean;
}

/**
 * Opens a text file and has it looked through by `examine`, which asks for the text, as UTF-8 and without its byte order
 * mark (`bom`), as often as it likes and reads it to its end the last time. The encoding is that of the byte order mark, the one that is `stated`, or what the bytes tell: the file is
 * taken for UTF-8 while it is looked through, and looked through again where it turns out to be none. Throws `RunError`.
 */
export async function openText<Found>(
  file: TextFile,
  name: string | undefined,
  limits: SourceLimits,
  examine: (text: () => AsyncIterable<Buffer>) => Promise<Found>,
) {
  const raw = () => bytesOf(file, limits);
  const mark = encodingOfHead(file.head);
  const stated = parseEncoding(name, mark);
  const openWith = async ({ encoding, evidence, warning, guessed }: EncodingFinding, result?: Found) => {
    const skip = mark?.encoding === encoding ? mark.bom : 0;
    const text = () => decodeToUtf8(raw(), encoding, skip);
    const warnings = warning === undefined ? [] : [warning];
    return { encoding, guessed, bom: skip > 0, evidence, warnings, text, found: result ?? (await examine(text)) };
  };
  if (mark && (stated === undefined || (mark.bom > 0 && mark.encoding !== stated))) {
    const warning = `source.encoding states ${stated}, but the file begins with the byte order mark of ${mark.encoding} and was read as that.`;
    return openWith(stated === undefined ? mark : { ...mark, warning });
  }
  if (stated !== undefined && ONE_BYTE.test(stated) && (await isSavedAsUtf8(raw()))) {
    const warning = `source.encoding states ${stated}, but all bytes beyond ASCII are valid UTF-8, and the file was read as that.`;
    return openWith({ encoding: 'utf-8', evidence: warning, warning });
  }
  if (stated !== undefined) return openWith({ encoding: stated, evidence: `The encoding is ${stated}, as stated.` });

  // Of a packed file it counts first that it unpacks well.
  if (!file.gzip) assertText(file.path, file.head);
  let check = utf8Check();
  async function* checked() {
    check = utf8Check();
    for await (const chunk of raw()) {
      check.push(chunk);
      yield chunk;
    }
  }
  let [found, fault]: [Found | undefined, unknown] = [undefined, undefined];
  try {
    found = await examine(checked);
    const utf8 = check.finding();
    if (utf8) return await openWith(utf8, found);
  } catch (error) {
    fault = error;
  }
  const finding = await encodingOfText(raw());
  // What was found wrong counts, if it was the right encoding after all.
  if (finding.encoding === 'utf-8' && fault !== undefined) throw fault;
  return openWith(finding, finding.encoding === 'utf-8' ? found : undefined);
}

/** Encodings in which characters beyond ASCII hardly ever make valid UTF-8. */
const ONE_BYTE = /^(?:windows-(?!31j)|iso-8859|mac|cp[48]\d\d$|koi8)/;

/** The bytes from their beginning; of a small file they are in hand. */
async function* bytesOf({ path, gzip, head, whole }: TextFile, limits: SourceLimits): AsyncGenerator<Buffer> {
  if (whole) yield head;
  else yield* fileBytes(path, gzip, limits);
}

/** A byte below the blank, as Latin-1, that is no tab or line end. */
const CONTROL = /[^\t\n\r -\xff]/g;

/** Some programs part cells with it. */
const UNIT_SEPARATOR = '\u001f';

/** Control characters in number mean that the file is no text. */
export function assertText(path: string, bytes: Buffer): void {
  const text = asciiText(bytes, 0, Math.min(bytes.length, 64 * 1024));
  const control = [...text.matchAll(CONTROL)].filter(([sign]) => sign !== UNIT_SEPARATOR).length;
  if (control > 16 && control * 20 > text.length) {
    throw runFailure(
      `${path}: the file is neither text nor a workbook; it cannot be read as a table. Save it as .xlsx or .csv.`,
    );
  }
}

/** Looks at all bytes of a text, in any pieces, while something else reads them: are they UTF-8? */
function utf8Check() {
  let tail: Buffer = Buffer.alloc(0);
  let valid = true;
  let ascii = true;
  return {
    push(chunk: Buffer): void {
      if (!valid || (tail.length === 0 && isAscii(chunk))) return;
      const bytes = tail.length > 0 ? Buffer.concat([tail, chunk]) : chunk;
      const whole = bytes.subarray(0, completeLength(bytes));
      if (!isUtf8(whole)) valid = false;
      if (ascii && !isAscii(whole)) ascii = false;
      tail = Buffer.from(bytes.subarray(whole.length));
    },
    /** After the last piece: what the text is, or undefined where it is no UTF-8. */
    finding(): EncodingFinding | undefined {
      if (!valid || tail.length > 0) return undefined;
      const evidence = ascii
        ? 'Every byte is plain ASCII, which is UTF-8 too.'
        : 'All bytes are valid UTF-8, with non-ASCII characters.';
      return { encoding: 'utf-8', evidence };
    },
  };
}

/** Characters that texts are full of; `É®` of another encoding would be one that they hardly ever have. */
const USUAL = /^[\0-\u017f\u0370-\u045f\u2000-\u2122]*$/;

/**
 * Whether a text that is said to be in another encoding is UTF-8 throughout, as a program saved it that writes nothing else:
 * the other would read `MÃ¼ller`.
 */
async function isSavedAsUtf8(chunks: AsyncIterable<Buffer>): Promise<boolean> {
  const check = utf8Check();
  const decoder = new TextDecoder();
  let hasNonAscii = false;
  for await (const chunk of chunks) {
    check.push(chunk);
    const text = isAscii(chunk) ? '' : decoder.decode(chunk, { stream: true });
    if (!USUAL.test(text)) return false;
    hasNonAscii ||= text !== '';
  }
  return hasNonAscii && check.finding() !== undefined;
}

/**
 * Decides the encoding from all bytes. What is valid UTF-8 is UTF-8. A file with as many valid sequences as damaged places is
 * UTF-8 that was damaged, or that another text was pasted into: those rows are faults. Otherwise the lines beyond ASCII
 * speak, as far as a sample holds them.
 */
async function encodingOfText(chunks: AsyncIterable<Buffer>): Promise<EncodingFinding> {
  const { sequences, damaged, forbidden, lines } = await surveyBytes(chunks);
  if (damaged === 0) return { encoding: 'utf-8', evidence: 'All bytes are valid UTF-8.' };
  if (sequences === 0 && forbidden > 0 && forbidden === damaged) {
    return {
      encoding: 'utf-8',
      evidence: `${countWithVerb(forbidden, 'place')} written as UTF-8 forbids it; all other bytes are plain ASCII.`,
      warning: `The file is UTF-8, but ${countWithVerb(forbidden, 'place')} written as UTF-8 forbids it (overlong, or half of a surrogate pair); those rows are faults.`,
    };
  }
  if (isDamagedUtf8(sequences, damaged)) {
    const [characters, places] = [countWithVerb(sequences, 'character'), countWithVerb(damaged, 'place')];
    const pasted = sequences < damaged * 10 ? ', as where text in another encoding was pasted in' : '';
    return {
      encoding: 'utf-8',
      evidence: `${characters} valid UTF-8 beyond ASCII, ${places} not.`,
      warning: `The file is UTF-8, but ${places} damaged${pasted}; those rows are faults.`,
    };
  }
  const { encoding, reason, doubt } = guessEncoding(lines);
  const evidence = `The bytes are not valid UTF-8 (${damaged} ${damaged === 1 ? 'place' : 'places'}); read as ${encoding}: ${reason}.`;
  if (doubt === undefined) return { encoding, evidence };
  const warning = `The encoding ${encoding} is a guess: ${reason}. A cell then reads ${doubt}; state source.encoding to be certain.`;
  return { encoding, evidence, warning, guessed: true };
}

/**
 * In text of another encoding fewer than half as many places are valid UTF-8 by chance as are not: read as that encoding, its
 * valid sequences would turn into `MÃ¼ller`. One against one, or two against two, may be chance.
 */
function isDamagedUtf8(sequences: number, damaged: number): boolean {
  return sequences > damaged || (sequences === damaged && sequences >= 4);
}

/** `1 place is`, `12 places are` */
const countWithVerb = (count: number, what: string) => (count === 1 ? `1 ${what} is` : `${count} ${what}s are`);

/** Bytes of lines beyond ASCII that are looked at closely, and of one such line. */
const SAMPLE_BYTES = 128 * 1024;
const LINE_BYTES = 4 * 1024;

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

/**
 * Places beyond ASCII: characters of UTF-8 (Unicode, table 3-7), what only has the form of one (overlong, half of a surrogate
 * pair, beyond the last character), and bytes that have not even that.
 */
const BEYOND_ASCII =
  /([\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})|([\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3})|[\xc0-\xf7][\x80-\xbf]{0,2}|[\x80-\xff]/g;

/** Counts UTF-8 sequences and places that are none, those that are `forbidden` among them, and gathers the first lines beyond ASCII. */
async function surveyBytes(chunks: AsyncIterable<Buffer>) {
  let [sequences, damaged, forbidden, gathered] = [0, 0, 0, 0];
  const lines: Buffer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  const scanPiece = (bytes: Buffer) => {
    let last = -1;
    for (const { 1: character, 2: form, index } of bytes.toString('latin1').matchAll(BEYOND_ASCII)) {
      if (character !== undefined) sequences++;
      else damaged++;
      if (form !== undefined) forbidden++;
      if (index <= last || gathered >= SAMPLE_BYTES) continue;
      const line = lineAt(bytes, index);
      last = line.to;
      if (!line.whole) continue;
      lines.push(Buffer.from(bytes.subarray(line.from, line.to)), Buffer.from('\n'));
      gathered += line.to - line.from;
    }
  };
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const whole = completeLength(bytes);
    scanPiece(bytes.subarray(0, whole));
    rest = Buffer.from(bytes.subarray(whole));
  }
  scanPiece(rest);
  return { sequences, damaged, forbidden, lines: Buffer.concat(lines) };
}

/** The line around a place; `whole` is false where the chunk may begin within a character of it. */
function lineAt(chunk: Buffer, at: number): { from: number; to: number; whole: boolean } {
  let from = at;
  while (from > 0 && at - from < LINE_BYTES && chunk[from - 1] !== 0x0a && chunk[from - 1] !== 0x0d) from--;
  let to = at + 1;
  while (to < chunk.length && to - at < LINE_BYTES && chunk[to] !== 0x0a && chunk[to] !== 0x0d) to++;
  return { from, to, whole: chunk[from]! < 0x80 || from === at };
}

/** What the bytes of a text file were found to be. */
interface EncodingFinding {
  /** In one spelling: `utf-8`, `utf-16le`, `windows-1252`, `shift_jis`… */
  readonly encoding: string;
  readonly evidence: string;
  readonly warning?: string;
  /** It may be another one. */
  readonly guessed?: boolean;
}

/** What the first bytes tell. */
interface HeadFinding extends EncodingFinding {
  /** Bytes of the byte order mark to skip; 0 where there is none. */
  readonly bom: number;
}

const MARKS: readonly (readonly [string, string, readonly number[]])[] = [
  ['utf-8', 'UTF-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', 'UTF-16LE', [0xff, 0xfe]],
  ['utf-16be', 'UTF-16BE', [0xfe, 0xff]],
];

function byteOrderMark(head: Buffer): HeadFinding | undefined {
  const [encoding, name, mark] = MARKS.find(([, , bytes]) => bytes.every((byte, i) => head[i] === byte)) ?? [];
  if (!encoding || !mark) return undefined;
  return { encoding, bom: mark.length, evidence: `The file begins with the byte order mark of ${name}.` };
}

/** UTF-16 without a mark: in text of Latin letters every second byte is NUL. */
function nulPattern(head: Buffer): HeadFinding | undefined {
  const pairs = Math.floor(head.length / 2);
  let [even, odd] = [0, 0];
  for (let i = 0; i < pairs * 2; i += 2) {
    if (head[i] === 0) even++;
    if (head[i + 1] === 0) odd++;
  }
  const [many, few] = even > odd ? [even, odd] : [odd, even];
  if (many < 2 || many < 0.4 * pairs || few * 20 >= many) return undefined;
  const [encoding, name] = even > odd ? (['utf-16be', 'UTF-16BE'] as const) : (['utf-16le', 'UTF-16LE'] as const);
  return { encoding, bom: 0, evidence: `Every second byte is NUL, as in ${name} text.` };
}

/** The beginning of a file in UTF-16 as text, without what is cut off at its end. */
export function unicodeText(head: Buffer, encoding: string): string {
  return iconv().decode(head.subarray(0, head.length & ~1), encoding);
}

/** Says from a file's first bytes what a mark or the NUL pattern gives away; undefined where the whole text must speak. */
export function encodingOfHead(head: Buffer): HeadFinding | undefined {
  return byteOrderMark(head) ?? nulPattern(head);
}
