import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Takes the bytes of a file in order. `write` resolves when the next piece is wanted: whoever does not wait fills memory. */
export interface ByteSink {
  write(bytes: Buffer): Promise<void>;
}

const FLUSH_AT = 256 * 1024;

/** Fills a new file with what `produce` writes, in large pieces, counted and hashed. */
export async function fillFile(
  path: string,
  produce: (sink: ByteSink) => Promise<void>,
  mode = 0o666,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  let buffered: Buffer[] = [];
  let size = 0;
  const file = await open(path, 'wx', mode);
  const flush = async () => {
    const piece = Buffer.concat(buffered);
    buffered = [];
    size = 0;
    for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
  };
  try {
    await produce({
      async write(piece) {
        hash.update(piece);
        bytes += piece.length;
        buffered.push(piece);
        size += piece.length;
        if (size >= FLUSH_AT) await flush();
      },
    });
    await flush();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Bytes that wait to be packed, beside the main thread, while more is made. */
export const BUFFER_OPTIONS = { highWaterMark: 512 * 1024 };

/** Packs what `produce` writes with a zlib stream, and hands the result to `to`. It throws what either threw. */
export async function writeCompressed(
  compressor: Transform,
  to: ByteSink,
  produce: (sink: ByteSink) => Promise<void>,
): Promise<void> {
  const drained = pipeline(compressor, async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) await to.write(piece);
  });
  // Told at the end.
  drained.catch(() => undefined);
  try {
    await produce({
      async write(bytes) {
        if (!compressor.write(bytes)) await once(compressor, 'drain');
        if (compressor.errored) throw compressor.errored;
      },
    });
    compressor.end();
  } catch (error) {
    compressor.destroy(error as Error);
  }
  await drained;
}
