import { sizeText } from '../../model/count-text.js';
import { runFailure } from '../../model/error.js';
import { textFault } from '../cell-faults.js';
import type { SourceLimits } from '../limits.js';
import { createXmlScanner, unescapeSheetText, type XmlTag, xmlText } from '../package/xml-scan.js';

/** The shared strings of a workbook, by the numbers that its cells hold. */
export interface SharedStrings {
  /** No text holds what is a fault of a cell. */
  readonly clean: boolean;
  /** Undefined where the number is none of the workbook. */
  get(index: number): string | undefined;
}

export const NO_STRINGS: SharedStrings = { clean: true, get: () => undefined };

/** What a string takes in memory besides its characters. */
const STRING_HEAD = 32;

/**
 * Reads the part `sharedStrings.xml`. Rich text is joined, phonetic guides are dropped, blanks are kept. The first texts stay
 * as strings: programs number them in the order of their first use, so that these come again and again. What is more than
 * the limit for strings is packed.
 */
export async function readSharedStrings(
  path: string,
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): Promise<SharedStrings> {
  const strings: string[] = [];
  const packed = new PackedTexts();
  /** Bytes of all texts. */
  let totalBytes = 0;
  let clean = true;
  let inItem = false;
  let inText = false;
  let phonetic = 0;
  /** The text of the item so far. */
  let joined = '';

  function add(escaped: string): void {
    let text = unescapeSheetText(escaped);
    if (textFault(text, 0, limits.cellCharacters)) {
      clean = false;
      // A text that is too long is a fault of its cell; a copy, which does not hold on to the whole of it.
      if (text.length > limits.cellCharacters)
        text = JSON.parse(JSON.stringify(text.slice(0, limits.cellCharacters + 1)));
    }
    totalBytes += Buffer.byteLength(text) + STRING_HEAD;
    if (totalBytes > limits.sharedStringBytes) {
      throw runFailure(
        `${path}: the texts of the workbook take more than ${sizeText(limits.sharedStringBytes)}. Split the file.`,
      );
    }
    if (totalBytes <= limits.sharedStringMemory) strings.push(text);
    else packed.add(text);
  }

  const scanner = createXmlScanner(`${path}: sharedStrings.xml`, {
    open(tag) {
      switch (shortName(tag)) {
        case T:
          inText = inItem && phonetic === 0 && !tag.empty;
          break;
        case SI:
          joined = '';
          inItem = !tag.empty;
          if (tag.empty) add('');
          break;
        case OTHER:
          if (tag.name === 'rPh' && !tag.empty) phonetic++;
      }
      return undefined;
    },
    close(tag) {
      const name = shortName(tag);
      inText &&= name !== T;
      if (name === OTHER && tag.name === 'rPh') phonetic = Math.max(0, phonetic - 1);
      else if (name === SI && inItem) {
        inItem = false;
        add(joined);
      }
    },
    text(bytes, from, to, form) {
      // What is longer than a cell may be is a fault of its cell; no more of it is held.
      if (inText && joined.length <= limits.cellCharacters) joined += xmlText(bytes, from, to, form);
    },
  });
  for await (const chunk of chunks) scanner.push(chunk);
  scanner.finish();
  return { clean, get: (index) => strings[index] ?? packed.get(index - strings.length) };
}

const [T, SI, OTHER] = [0x74, 0x7369, 0];

/** A name of one or two characters by their codes: there are millions of these tags, and a text need not be made of each. */
function shortName({ bytes, nameFrom, nameTo }: XmlTag): number {
  const length = nameTo - nameFrom;
  if (length === 1) return bytes[nameFrom]!;
  return length === 2 ? (bytes[nameFrom]! << 8) | bytes[nameFrom + 1]! : OTHER;
}

const BLOCK_BYTES = 1 << 20;

/** Texts by number as UTF-8, each behind its length: without the head of a string, and outside the heap. */
class PackedTexts {
  readonly #blocks: Buffer[] = [];
  /** Where each text begins, counted over all blocks. */
  readonly #starts: number[] = [];
  /** Bytes of the last block that are taken. */
  #used = BLOCK_BYTES;

  /** A text takes no more than a block. */
  add(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#used + LENGTH_BYTES + bytes > BLOCK_BYTES) {
      this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
      this.#used = 0;
    }
    const block = this.#blocks.at(-1)!;
    this.#starts.push((this.#blocks.length - 1) * BLOCK_BYTES + this.#used);
    const from = block.writeUInt32LE(bytes, this.#used);
    block.write(text, from);
    this.#used = from + bytes;
  }

  get(index: number): string | undefined {
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    const block = this.#blocks[Math.floor(start / BLOCK_BYTES)]!;
    const at = start % BLOCK_BYTES;
    const from = at + LENGTH_BYTES;
    return block.toString('utf8', from, from + block.readUInt32LE(at));
  }
}

const LENGTH_BYTES = 4;
