import { once } from 'node:events';
import { createReadStream, type Stats } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { sizeText } from '../model/count-text.js';
import { errorText, RunError, runFailure, systemCodes } from '../model/error.js';
import { DEFAULT_LIMITS, type SourceLimits } from './limits.js';

/** Also what is looked through in one go, without a turn for anybody else: it may hold 100,000 rows. */
const CHUNK = 128 * 1024;

/** The first bytes of a file, at most `length`, unpacked where it is gzipped. */
export async function headBytes(
  path: string,
  length: number,
  gzip = false,
  limits: SourceLimits = DEFAULT_LIMITS,
): Promise<Buffer> {
  return (await collectBytes(fileBytes(path, gzip, limits), length)).subarray(0, length);
}

export function isGzip(head: Buffer): boolean {
  return head.length >= 3 && head[0] === 0x1f && head[1] === 0x8b && head[2] === 0x08;
}

/** Refuses what is no plain file. */
export function assertFile(path: string, info: Pick<Stats, 'isFile' | 'isDirectory'>): void {
  if (info.isDirectory()) throw runFailure(`${path}: this is a folder. Name a file.`);
  if (!info.isFile()) throw runFailure(`${path}: this is a pipe or device, not a file. Name a file.`);
}

/** What kept a file from being read, in plain words. */
export function readFault(path: string, error: unknown): RunError {
  if (error instanceof RunError) return error;
  const fault = (text: string) => runFailure(`${path}: ${text}`);
  const gzipFault = (how: string) =>
    fault(`the gzip file is ${how}. It was refused whole, nothing was sent. Fetch or pack it again.`);
  switch (systemCodes(error)[0]) {
    case 'ENOENT':
      return fault('there is no such file. Check the path.');
    case 'EACCES':
    case 'EPERM':
      return fault('the file may not be read by this user. Change its permissions.');
    case 'EISDIR':
      return fault('this is a folder. Name a file.');
    case 'Z_BUF_ERROR':
      return gzipFault('cut off');
    case 'Z_DATA_ERROR':
      return gzipFault('damaged');
  }
  const reason = errorText(error);
  return runFailure(`${path}: the file cannot be read (${reason}).`, [], { cause: error });
}

/**
 * The file's bytes in chunks, unpacked where it is gzipped. A damaged or cut-off gzip file, and one that unpacks to
 * more than the limits allow, throws `RunError('failed')`.
 */
export async function* fileBytes(path: string, gzip: boolean, limits: SourceLimits): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK });
  let packed = 0;
  let unpacked = 0;
  try {
    if (!gzip) {
      for await (const chunk of file) yield chunk as Buffer;
      return;
    }
    const gunzip = createGunzip({ chunkSize: CHUNK });
    file.on('data', (chunk) => {
      packed += chunk.length;
    });
    file.on('error', (error) => gunzip.destroy(error));
    for await (const chunk of file.pipe(gunzip) as AsyncIterable<Buffer>) {
      unpacked += chunk.length;
      assertUnpackedSize(path, packed, unpacked, limits);
      yield chunk;
    }
  } catch (error) {
    throw readFault(path, error);
  } finally {
    file.destroy();
    if (!file.closed) await once(file, 'close').catch(() => undefined);
  }
}

/** Refuses what unpacks to more than the limits allow. */
export function assertUnpackedSize(what: string, packed: number, unpacked: number, limits: SourceLimits): void {
  if (unpacked > limits.unpackedBytes) {
    throw runFailure(
      `${what}: unpacks to more than ${sizeText(limits.unpackedBytes)}, the most that is read. Split the file.`,
    );
  }
  if (unpacked > limits.ratioFromBytes && unpacked > packed * limits.ratio) {
    throw runFailure(
      `${what}: unpacks to more than ${limits.ratio} times its size, as files made to exhaust a computer do. ` +
        'If it is genuine, save the table as .csv.',
    );
  }
}

/** All bytes in one piece, or the first ones: whole chunks, until they are at least `length` bytes. */
export async function collectBytes(chunks: AsyncIterable<Buffer>, length = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size >= length) break;
  }
  return Buffer.concat(parts);
}

/** Hands pieces to a scan one by one: whoever goes over this takes what was found in between, until nothing more is of concern. */
export async function* pushPieces(
  scan: { push(piece: Buffer): void; finish(): void; readonly ended?: boolean },
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<void> {
  for await (const piece of pieces) {
    scan.push(piece);
    yield;
    if (scan.ended) return;
  }
  scan.finish();
  yield;
}
