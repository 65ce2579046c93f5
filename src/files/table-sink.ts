import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Transform } from 'node:stream';

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
  let held: Buffer[] = [];
  let size = 0;
  const file = await open(path, 'wx', mode);
  const flush = async () => {
    const piece = Buffer.concat(held);
    held = [];
    size = 0;
    for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
  };
  try {
    await produce({
      async write(piece) {
        hash.update(piece);
        bytes += piece.length;
        held.push(piece);
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

/**
 * Packs what `produce` writes with a zlib stream, which works beside the main thread, and hands the result to `to`. While
 * one piece is packed the next is made: `write` waits until the piece before is packed. It throws what `to` threw.
 */
export async function writePacked(
  packer: Transform,
  to: ByteSink,
  produce: (sink: ByteSink) => Promise<void>,
): Promise<void> {
  let fault: { readonly error: unknown } | undefined;
  let before: Promise<void> | undefined;
  const waiting = new Set<() => void>();
  const moved = (async () => {
    for await (const piece of packer as AsyncIterable<Buffer>) await to.write(piece);
  })();
  const settled = moved.catch((error: unknown) => {
    fault = { error };
    for (const go of waiting) go();
  });
  const packed = (bytes: Buffer) =>
    new Promise<void>((resolve) => {
      const go = () => {
        waiting.delete(go);
        resolve();
      };
      waiting.add(go);
      packer.write(bytes, go);
    });
  const check = () => {
    if (fault) throw fault.error;
  };
  try {
    await produce({
      async write(bytes) {
        check();
        const earlier = before;
        before = packed(bytes);
        await earlier;
        check();
      },
    });
    packer.end();
    await moved;
  } catch (error) {
    packer.destroy();
    await settled;
    throw error;
  }
}
