import { randomUUID } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScratchFile, type ScratchFile, withFault } from '../../compact/scratch-file.js';
import { sizeText } from '../../model/count-text.js';
import { isDiskFull, RunError, systemCodes } from '../../model/error.js';
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
 * in memory: programs number them in the order of their first use, so that these come again and again. What is more than
 * the limit for memory goes to a file.
 */
export async function readSharedStrings(
  path: string,
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): Promise<SharedStrings> {
  const inMemory: string[] = [];
  let spilled: SpilledTexts | undefined;
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
      throw new RunError(
        'failed',
        `${path}: the texts of the workbook take more than ${sizeText(limits.sharedStringBytes)}. Split the file.`,
      );
    }
    if (!spilled && totalBytes <= limits.sharedStringMemory) inMemory.push(text);
    else {
      spilled ??= new SpilledTexts(path, limits.spillFolder ?? tmpdir());
      spilled.add(text);
    }
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
  try {
    for await (const chunk of chunks) scanner.push(chunk);
    scanner.finish();
  } catch (error) {
    spilled?.close();
    throw error;
  }
  const overflow: SpilledTexts | undefined = spilled;
  return { clean, get: (index) => inMemory[index] ?? overflow?.get(index - inMemory.length) };
}

const [T, SI, OTHER] = [0x74, 0x7369, 0];

/** A name of one or two characters by their codes: there are millions of these tags, and a text need not be made of each. */
function shortName({ bytes, nameFrom, nameTo }: XmlTag): number {
  const length = nameTo - nameFrom;
  if (length === 1) return bytes[nameFrom]!;
  return length === 2 ? (bytes[nameFrom]! << 8) | bytes[nameFrom + 1]! : OTHER;
}

const finalizer = new FinalizationRegistry<ScratchFile>((file) => file.close());

/**
 * Texts by number, in a private file, each as a line of JSON. The file has no name from the moment it is open, so
 * nothing stays behind, however the process ends; its handle is closed by `close`, or when nobody holds the texts any more.
 */
class SpilledTexts {
  readonly #file: ScratchFile;
  /** Where each text begins. */
  readonly #places: number[] = [];

  constructor(path: string, folder: string) {
    const fault = (error: unknown) => {
      const why = isDiskFull(error)
        ? 'its disk is full'
        : `it cannot be written to (${systemCodes(error)[0] ?? error})`;
      return new RunError(
        'failed',
        `${path}: the texts of the workbook are too many for memory and go to the folder ${folder}, but ${why}. ` +
          'Nothing was sent. Make room there, or name another folder in TMPDIR.',
        [],
        { cause: error },
      );
    };
    const name = join(folder, `rowferry-${process.pid}-${randomUUID()}.tmp`);
    this.#file = openScratchFile(name, fault);
    finalizer.register(this, this.#file, this);
    withFault(fault, () => unlinkSync(name));
  }

  add(text: string): void {
    this.#places.push(this.#file.append(`${JSON.stringify(text)}\n`));
  }

  get(index: number): string | undefined {
    const place = this.#places[index];
    return place === undefined ? undefined : (JSON.parse(this.#file.line(place).toString('utf8')) as string);
  }

  close(): void {
    finalizer.unregister(this);
    this.#file.close();
  }
}
