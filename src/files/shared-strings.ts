import { RunError } from '../model/error.js';
import { asciiText, utf8Text } from './byte-text.js';
import { type SourceLimits, sizeText } from './limits.js';
import { createXmlScanner, isPlainText, unescapeSheetText, xmlText } from './xml-scan.js';

/** The shared strings of a workbook: UTF-8 bytes in pages, so that millions of them cost little more than their text. */
export interface SharedStrings {
  readonly size: number;
  /** The string, or undefined where the number is none of the table. */
  get(index: number): string | undefined;
  /** Whether the string is plain ASCII without NUL, so that it needs no further check. */
  clean(index: number): boolean;
}

const PAGE_BITS = 22;
const PAGE = 1 << PAGE_BITS;
const CACHE = 8_192;

interface Store extends SharedStrings {
  add(bytes: Buffer, from: number, to: number): void;
}

function createStore(path: string, limits: SourceLimits): Store {
  const pages: Buffer[] = [];
  let used = PAGE;
  let size = 0;
  // Per string: page, start, and length with the ASCII flag in the lowest bit.
  let table = new Uint32Array(3 * 1_024);
  const cachedIndex = new Int32Array(CACHE).fill(-1);
  const cachedText: string[] = new Array<string>(CACHE).fill('');

  return {
    get size() {
      return size;
    },
    add(bytes, from, to) {
      // A longer text is a fault of its cell; the rest of it is never looked at.
      const length = Math.min(to - from, limits.cellCharacters * 4 + 4, PAGE);
      if (used + length > PAGE || pages.length === 0) {
        if ((pages.length + 1) * PAGE > limits.sharedStringBytes) {
          throw new RunError(
            'failed',
            `${path}: the texts of the workbook take more than ${sizeText(limits.sharedStringBytes)}. Split the file.`,
          );
        }
        pages.push(Buffer.allocUnsafeSlow(PAGE));
        used = 0;
      }
      let clean = 1;
      for (let i = from; i < from + length; i++) {
        if (bytes[i]! >= 0x80 || bytes[i] === 0) {
          clean = 0;
          break;
        }
      }
      bytes.copy(pages[pages.length - 1]!, used, from, from + length);
      if ((size + 1) * 3 > table.length) {
        const larger = new Uint32Array(table.length * 2);
        larger.set(table);
        table = larger;
      }
      const at = size * 3;
      table[at] = pages.length - 1;
      table[at + 1] = used;
      table[at + 2] = (length << 1) | clean;
      used += length;
      size++;
    },
    clean: (index) => (table[index * 3 + 2]! & 1) === 1,
    get(index) {
      if (index >= size) return undefined;
      const slot = index & (CACHE - 1);
      if (cachedIndex[slot] === index) return cachedText[slot];
      const start = table[index * 3 + 1]!;
      const packed = table[index * 3 + 2]!;
      const page = pages[table[index * 3]!]!;
      const text =
        packed & 1 ? asciiText(page, start, start + (packed >>> 1)) : utf8Text(page, start, start + (packed >>> 1));
      cachedIndex[slot] = index;
      cachedText[slot] = text;
      return text;
    },
  };
}

const T = 0x74;
const S = 0x73;
const I = 0x69;

/** `_` may begin an escaped character. */
function hasUnderscore(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] === 0x5f) return true;
  return false;
}

export const NO_STRINGS: SharedStrings = { size: 0, get: () => undefined, clean: () => false };

/** Reads the part `sharedStrings.xml`. Rich text is joined, phonetic guides are dropped, blanks are kept. */
export async function readSharedStrings(
  path: string,
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): Promise<SharedStrings> {
  const store = createStore(path, limits);
  let inItem = false;
  let inText = false;
  let phonetic = 0;
  /** The text of the item so far, unless it is one piece of plain text, whose bytes are then stored as they are. */
  let joined = '';
  let pieces = 0;
  let plain: { bytes: Buffer; from: number; to: number } | undefined;
  const scanner = createXmlScanner(`${path}: sharedStrings.xml`, {
    open(bytes, nameFrom, nameTo, _to, empty) {
      const length = nameTo - nameFrom;
      if (length === 1 && bytes[nameFrom] === T) inText = inItem && phonetic === 0 && !empty;
      else if (length === 2 && bytes[nameFrom] === S && bytes[nameFrom + 1] === I) {
        joined = '';
        pieces = 0;
        plain = undefined;
        inItem = !empty;
        if (empty) store.add(bytes, 0, 0);
      } else if (length === 3 && !empty && asciiText(bytes, nameFrom, nameTo) === 'rPh') phonetic++;
      return undefined;
    },
    close(bytes, nameFrom, nameTo) {
      const length = nameTo - nameFrom;
      if (length === 1) inText = false;
      else if (length === 3 && asciiText(bytes, nameFrom, nameTo) === 'rPh') phonetic--;
      else if (length === 2 && inItem && bytes[nameFrom] === S && bytes[nameFrom + 1] === I) {
        inItem = false;
        if (pieces === 1 && plain) {
          store.add(plain.bytes, plain.from, plain.to);
          return;
        }
        const text = Buffer.from(unescapeSheetText(joined), 'utf8');
        store.add(text, 0, text.length);
      }
    },
    text(bytes, from, to, raw) {
      if (!inText) return;
      pieces++;
      if (pieces === 1 && isPlainText(bytes, from, to) && !hasUnderscore(bytes, from, to)) {
        plain = { bytes, from, to };
        return;
      }
      if (pieces === 2 && plain) joined = xmlText(plain.bytes, plain.from, plain.to);
      joined += xmlText(bytes, from, to, raw);
    },
  });
  for await (const chunk of chunks) scanner.push(chunk);
  scanner.finish();
  return store;
}
