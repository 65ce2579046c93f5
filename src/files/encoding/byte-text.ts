import { isUtf8 } from 'node:buffer';

/**
 * Buffer's own decoders. `toString` looks up the encoding by its name on every call, which for short cells costs as
 * much as the decoding.
 */
interface DecodingBuffer extends Buffer {
  latin1Slice(from: number, to: number): string;
  utf8Slice(from: number, to: number): string;
}

/** The text of bytes that are known to be ASCII. */
export function asciiText(bytes: Buffer, from: number, to: number): string {
  return (bytes as DecodingBuffer).latin1Slice(from, to);
}

/** The text of UTF-8 bytes; what is no UTF-8 becomes U+FFFD. */
export function utf8Text(bytes: Buffer, from: number, to: number): string {
  return (bytes as DecodingBuffer).utf8Slice(from, to);
}

/** Text with everything that is not UTF-8 spelled out (`\xE9`), so that a person sees what stands there. */
export function escapeInvalidUtf8(bytes: Buffer): string {
  let text = '';
  let i = 0;
  while (i < bytes.length) {
    let plain = i;
    while (plain < bytes.length && bytes[plain]! < 0x80) plain++;
    if (plain > i) {
      text += asciiText(bytes, i, plain);
      i = plain;
      continue;
    }
    const lead = bytes[i]!;
    const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const piece = bytes.subarray(i, i + length);
    if (isUtf8(piece)) {
      text += piece.toString('utf8');
      i += length;
    } else {
      text += `\\x${lead.toString(16).toUpperCase().padStart(2, '0')}`;
      i++;
    }
  }
  return text;
}
