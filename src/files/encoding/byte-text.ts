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
