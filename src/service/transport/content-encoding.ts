import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** `too_large`: it would be more than allowed. `unreadable`: not what it says it is, or a coding that was never asked for. */
export type Decoded =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'unreadable'; readonly coding: string };

type Inflate = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const CODINGS: Readonly<Record<string, Inflate>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  br: brotliDecompressSync,
  // With the zlib header, as the standard has it, or without, as some send it.
  deflate: (bytes, options) => ((bytes[0] ?? 0) % 16 === 8 ? inflateSync : inflateRawSync)(bytes, options),
};

/**
 * Undoes the `Content-Encoding` of an answer. Requests ask for none; a gateway may compress all the same. Never makes more
 * than `maxBytes`: 10 MB of gzip can hold 10 GB.
 */
export function decode(encoding: string, bytes: Buffer, maxBytes: number): Decoded {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  let out = bytes;
  // The last one was put on last.
  for (const coding of codings.reverse()) {
    const inflate = CODINGS[coding];
    // An empty answer (204, or a write without a body) holds nothing to undo.
    if (out.length === 0) break;
    if (!inflate) return { kind: 'unreadable', coding };
    try {
      out = inflate(out, { maxOutputLength: maxBytes });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      return code === 'ERR_BUFFER_TOO_LARGE' ? { kind: 'too_large' } : { kind: 'unreadable', coding };
    }
  }
  return { kind: 'bytes', bytes: out };
}
