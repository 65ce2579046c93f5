import { open } from 'node:fs/promises';
import { RunError } from '../model/error.js';
import { MAX_LINE_BYTES } from '../model/row.js';

/** A line as it stands in the file: byte offset, length without the line end, and the bytes. */
export interface Line {
  readonly offset: number;
  readonly length: number;
  readonly bytes: Buffer;
}

const NEWLINE = 10;
const BLOCK = 256 << 10;

/**
 * The ended lines of a file in order, some hundred at a time; what stands behind the last line end is left out.
 * Reads what the file held when it was opened, so it may be written meanwhile. A missing file has no lines where
 * `missing` is `empty`; everything else that prevents reading throws a `RunError`. The bytes are valid until the next block.
 */
export async function* lineBlocks(
  path: string,
  what: string,
  missing: 'error' | 'empty',
): AsyncGenerator<readonly Line[]> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      let buffer: Buffer = Buffer.allocUnsafe(BLOCK);
      let carried = 0;
      let offset = 0;
      while (offset + carried < size) {
        if (carried === buffer.length) {
          if (carried >= MAX_LINE_BYTES) throw tooLong(path, what, offset);
          const grown = Buffer.allocUnsafe(buffer.length * 2);
          buffer.copy(grown);
          buffer = grown;
        }
        const wanted = Math.min(buffer.length - carried, size - offset - carried);
        const { bytesRead } = await handle.read(buffer, carried, wanted, offset + carried);
        if (bytesRead === 0) return;
        const bytes = buffer.subarray(0, carried + bytesRead);
        const lines: Line[] = [];
        let start = 0;
        for (let end = bytes.indexOf(NEWLINE, carried); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
          lines.push({ offset: offset + start, length: end - start, bytes: bytes.subarray(start, end) });
          start = end + 1;
        }
        if (lines.length) yield lines;
        bytes.copy(buffer, 0, start);
        carried = bytes.length - start;
        offset += start;
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof RunError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' && missing === 'empty') return;
    throw new RunError(
      'failed',
      code === 'ENOENT'
        ? `${what} ${path} does not exist. Check the run's id with "rowferry runs".`
        : `${what} ${path} cannot be read (${code ?? error}). Check the disk and the rights of this user, then try again.`,
      [],
      { cause: error },
    );
  }
}

function tooLong(path: string, what: string, offset: number): RunError {
  return new RunError(
    'failed',
    `${what} ${path} is damaged: from byte ${offset} on no line ends within ${MAX_LINE_BYTES >> 20} MB. Restore the file from a backup.`,
  );
}
