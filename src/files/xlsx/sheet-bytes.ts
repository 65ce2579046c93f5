/**
 * Where the next `</row` begins, or -1. It is found by its `w`, the rarest of its letters in a sheet; where texts are full
 * of it, -1 leaves the row to the general scan.
 */
export function rowEnd(bytes: Buffer, at: number): number {
  let from = at;
  for (let misses = 0; misses < 32; misses++) {
    const w = bytes.indexOf(0x77, from);
    if (w < 0) return -1;
    if (bytes[w - 1] === 0x6f && bytes[w - 2] === 0x72 && bytes[w - 3] === 0x2f && bytes[w - 4] === 0x3c) return w - 4;
    from = w + 1;
  }
  return -1;
}

/** 0-based column of a cell reference such as `AB12`, or -1. */
export function columnOf(bytes: Buffer, from: number, to: number): number {
  let column = 0;
  for (let i = from; i < to; i++) {
    const letter = bytes[i]! & 0xdf;
    if (letter < 0x41 || letter > 0x5a) break;
    column = column * 26 + (letter - 0x40);
  }
  return column - 1;
}

export function integerOf(bytes: Buffer, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * 10 + (bytes[i]! - 0x30);
  return number;
}

/** The position of the `>` of a start tag whose attributes begin at `at`; -1 for an empty element and any odd form. */
export function tagEnd(bytes: Buffer, at: number, end: number): number {
  let quotes = 0;
  for (let i = at; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === 0x22) quotes++;
    else if (byte === 0x27) return -1;
    else if (byte === 0x3e && (quotes & 1) === 0) return bytes[i - 1] === 0x2f ? -1 : i;
  }
  return -1;
}
