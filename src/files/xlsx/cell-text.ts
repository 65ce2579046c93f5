import { textFault } from '../cell-faults.js';
import { asciiText, utf8Text } from '../encoding/byte-text.js';
import { unescapeSheetText, xmlText } from '../package/xml-scan.js';
import { TextKind } from './cell-shape.js';

/** Turns the bytes of a text in a sheet into the text they stand for. */
export interface TextReader {
  read(bytes: Buffer, from: number, to: number, kind: TextKind): string;
  /** Whether the text that `read` returned last holds no character that is a fault. */
  readonly clean: boolean;
}

/** Bytes of the longest text whose entities are resolved byte by byte. */
const LONG = 1_024;

export function createTextReader(): TextReader {
  const scratch = Buffer.allocUnsafe(LONG);
  const reader = {
    clean: true,
    read(bytes: Buffer, from: number, to: number, kind: TextKind): string {
      if (kind === TextKind.ascii) {
        reader.clean = true;
        return asciiText(bytes, from, to);
      }
      const length = kind === TextKind.marked ? resolved(bytes, from, to, scratch) : -1;
      if (length >= 0 || kind === TextKind.utf8) {
        const text = length >= 0 ? utf8Text(scratch, 0, length) : utf8Text(bytes, from, to);
        reader.clean = !text.includes('\ufffd');
        return text;
      }
      const text = unescapeSheetText(xmlText(bytes, from, to));
      reader.clean = textFault(text, 0, Number.POSITIVE_INFINITY) === undefined;
      return text;
    },
  };
  return reader;
}

/**
 * Writes a text with its entities resolved into `out` and returns its length. -1 for what is rare: other entities than
 * `&amp;`, `&lt;` and `&gt;`, escaped characters (`_x000D_`), line ends to fold, NUL, and long texts.
 */
function resolved(bytes: Buffer, from: number, to: number, out: Buffer): number {
  if (to - from > out.length) return -1;
  let length = 0;
  for (let i = from; i < to; i++) {
    let byte = bytes[i]!;
    if (byte === 0x26) {
      const second = bytes[i + 1];
      if (second === 0x61 && bytes[i + 2] === 0x6d && bytes[i + 3] === 0x70 && bytes[i + 4] === 0x3b) i += 4;
      else if ((second === 0x6c || second === 0x67) && bytes[i + 2] === 0x74 && bytes[i + 3] === 0x3b) {
        byte = second === 0x6c ? 0x3c : 0x3e;
        i += 3;
      } else return -1;
    } else if (byte === 0x0d || byte === 0 || (byte === 0x5f && bytes[i + 1] === 0x78)) return -1;
    out[length++] = byte;
  }
  return length;
}
