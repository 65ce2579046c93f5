import { RunError } from '../model/error.js';
import { type SourceLimits, sizeText } from './limits.js';
import { createXmlScanner, unescapeSheetText, xmlText } from './xml-scan.js';

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
      table.set([pages.length - 1, used, (length << 1) | clean], size * 3);
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
      const text = page.toString(packed & 1 ? 'latin1' : 'utf8', start, start + (packed >>> 1));
      cachedIndex[slot] = index;
      cachedText[slot] = text;
      return text;
    },
  };
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
  /** Text pieces of the item so far; a single plain piece is stored from its bytes alone. */
  let joined = '';
  const scanner = createXmlScanner(`${path}: sharedStrings.xml`, {
    open(bytes, nameFrom, nameTo, _to, empty) {
      const name = bytes.toString('latin1', nameFrom, nameTo);
      if (name === 't') inText = inItem && phonetic === 0 && !empty;
      else if (name === 'si') {
        joined = '';
        inItem = !empty;
        if (empty) store.add(bytes, 0, 0);
      } else if (name === 'rPh' && !empty) phonetic++;
    },
    close(bytes, nameFrom, nameTo) {
      const name = bytes.toString('latin1', nameFrom, nameTo);
      if (name === 't') inText = false;
      else if (name === 'rPh') phonetic--;
      else if (name === 'si') {
        const text = Buffer.from(unescapeSheetText(joined), 'utf8');
        store.add(text, 0, text.length);
        inItem = false;
      }
    },
    text(bytes, from, to, raw) {
      if (inText) joined += xmlText(bytes, from, to, raw);
    },
  });
  for await (const chunk of chunks) scanner.push(chunk);
  scanner.finish();
  return store;
}
