import { textFault } from '../cell-faults.js';
import { asciiText, utf8Text } from '../encoding/byte-text.js';
import type { SourceLimits } from '../limits.js';
import { createXmlScanner, isPlainText, unescapeSheetText, xmlText } from '../package/xml-scan.js';
import { createStringStore, type StringStore } from './string-store.js';

/** The shared strings of a workbook, by the numbers that its cells hold. */
export interface SharedStrings {
  /**
   * The first of them, as strings: programs number texts in the order of their first use, so that these are the ones that
   * come again and again. All are free of what is a fault of a cell.
   */
  readonly first: readonly string[];
  /** Any text, or undefined where the number is none of the workbook. */
  get(index: number): string | undefined;
  /** Whether the text that `get` returned last is free of NUL and of what stands for undecodable bytes. */
  readonly clean: boolean;
  /** Frees what lies in a file; the strings are of no use afterwards. */
  close(): void;
}

export const NO_STRINGS: SharedStrings = { first: [], get: () => undefined, clean: false, close() {} };

/** What a string takes in memory besides its characters. */
const STRING_HEAD = 32;

const LT = 0x3c;
const T = 0x74;
const S = 0x73;
const I = 0x69;

const ITEM = Buffer.from('<si><t>');
const PRESERVED = Buffer.from('<si><t xml:space="preserve">');
const ITEM_END = Buffer.from('</t></si>');
const MARGIN = 32;

function isAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/**
 * Reads the part `sharedStrings.xml`. Rich text is joined, phonetic guides are dropped, blanks are kept. Nearly all
 * items are of one piece and stand whole in the chunk: those are copied as they are, the others are scanned.
 */
export async function readSharedStrings(
  path: string,
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): Promise<SharedStrings> {
  const first: string[] = [];
  /** Bytes that `first` takes; what follows a text that does not fit, or is a fault, goes to the store. */
  let taken = 0;
  const room = Math.min(limits.sharedStringMemory, limits.sharedStringBytes) / 2;
  let store: StringStore | undefined;
  let inItem = false;
  let inText = false;
  let phonetic = 0;
  /** The text of the item so far. */
  let joined = '';

  function isFirst(text: string, bytes: number): boolean {
    if (taken + bytes + STRING_HEAD > room) return false;
    taken += bytes + STRING_HEAD;
    first.push(text);
    return true;
  }

  const isFaulty = (text: string) => textFault(text, 0, limits.cellCharacters) !== undefined;

  function keep(bytes: Buffer, from: number, to: number): void {
    store ??= createStringStore(path, limits, taken);
    store.add(bytes, from, to);
  }

  function add(bytes: Buffer, from: number, to: number, ascii: boolean): void {
    if (!store && to - from <= limits.cellCharacters) {
      const text = ascii ? asciiText(bytes, from, to) : utf8Text(bytes, from, to);
      if ((ascii || !isFaulty(text)) && isFirst(text, to - from)) return;
    }
    keep(bytes, from, to);
  }

  function addText(escaped: string): void {
    const text = unescapeSheetText(escaped);
    if (!store && !isFaulty(text) && isFirst(text, text.length * 2)) return;
    const bytes = Buffer.from(text, 'utf8');
    keep(bytes, 0, bytes.length);
  }

  function wholeItems(bytes: Buffer, at: number, end: number): number {
    if (inItem || phonetic > 0) return -1;
    let done = -1;
    for (let next = at; next + MARGIN <= end; ) {
      const head = isAt(bytes, next, ITEM) ? ITEM.length : isAt(bytes, next, PRESERVED) ? PRESERVED.length : 0;
      if (head === 0) return done;
      const from = next + head;
      let i = from;
      let odd = false;
      let all = 0;
      for (; i < end; i++) {
        const byte = bytes[i]!;
        if (byte === LT) break;
        // Entities, escaped characters and line ends to fold.
        if (byte === 0x26 || byte === 0x0d || (byte === 0x5f && bytes[i + 1] === 0x78)) odd = true;
        all |= byte === 0 ? 0x80 : byte;
      }
      if (i + ITEM_END.length > end || !isAt(bytes, i, ITEM_END)) return done;
      if (odd) addText(xmlText(bytes, from, i));
      else add(bytes, from, i, all < 0x80);
      next = i + ITEM_END.length;
      done = next;
    }
    return done;
  }

  const scanner = createXmlScanner(`${path}: sharedStrings.xml`, {
    whole: wholeItems,
    open(bytes, nameFrom, nameTo, _to, empty) {
      const length = nameTo - nameFrom;
      if (length === 1 && bytes[nameFrom] === T) inText = inItem && phonetic === 0 && !empty;
      else if (length === 2 && bytes[nameFrom] === S && bytes[nameFrom + 1] === I) {
        joined = '';
        inItem = !empty;
        if (empty) add(bytes, 0, 0, true);
      } else if (length === 3 && !empty && asciiText(bytes, nameFrom, nameTo) === 'rPh') phonetic++;
      return undefined;
    },
    close(bytes, nameFrom, nameTo) {
      const length = nameTo - nameFrom;
      if (length === 1) inText = false;
      else if (length === 3 && asciiText(bytes, nameFrom, nameTo) === 'rPh') phonetic--;
      else if (length === 2 && inItem && bytes[nameFrom] === S && bytes[nameFrom + 1] === I) {
        inItem = false;
        addText(joined);
      }
    },
    text(bytes, from, to, raw) {
      // What is longer than a cell may be is a fault of its cell; no more of it is held.
      if (!inText || joined.length > limits.cellCharacters) return;
      joined += isPlainText(bytes, from, to) ? asciiText(bytes, from, to) : xmlText(bytes, from, to, raw);
    },
  });
  try {
    for await (const chunk of chunks) scanner.push(chunk);
    scanner.finish();
  } catch (error) {
    store?.close();
    throw error;
  }
  return withStore(first, store);
}

function withStore(first: readonly string[], store: StringStore | undefined): SharedStrings {
  let clean = true;
  return {
    first,
    get clean() {
      return clean;
    },
    get(index) {
      const early = first[index];
      if (early !== undefined || !store) {
        clean = true;
        return early;
      }
      const text = store.get(index - first.length);
      clean = store.clean;
      return text;
    },
    close() {
      store?.close();
    },
  };
}
