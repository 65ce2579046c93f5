import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { systemCodes } from '../model/error.js';

/** Far more than a secret has. */
const MAX_BYTES = 64 * 1024;
/** Whoever fills a pipe may have to ask somebody first. */
const PIPE_MS = 10_000;
const PAUSE_MS = 20;

/**
 * What a file holds that a setting names, without the blanks around it. A pipe is read to its end, as of `<(pass show token)`;
 * one that nobody writes to is empty. Never waits for good, and never reads on and on. Throws an `Error` that says what the file is or does.
 */
export function readSecretFile(path: string): { readonly secret: string; readonly isPipe: boolean } {
  let file: number | undefined;
  try {
    // Non-blocking, so that a pipe without a writer is not waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const secret = readToEnd(file).trim();
    if (secret === '') throw new Error('is empty');
    return { secret, isPipe: !fstatSync(file).isFile() };
  } catch (error) {
    const [code] = systemCodes(error);
    throw code === undefined ? error : new Error(`cannot be read (${code})`, { cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readToEnd(file: number): string {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  const until = performance.now() + PIPE_MS;
  for (let size = 0; size <= MAX_BYTES; ) {
    try {
      const count = readSync(file, bytes.subarray(size));
      if (count === 0) return bytes.toString('utf8', 0, size);
      size += count;
    } catch (error) {
      if (systemCodes(error)[0] !== 'EAGAIN') throw error;
      // Nothing has come yet.
      if (performance.now() > until) throw new Error('comes to no end');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
  throw new Error(`is larger than ${MAX_BYTES / 1024} KB, and holds no secret`);
}
