import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { RunError } from '../../model/error.js';
import { assertUnpacked } from '../bytes.js';
import { type SourceLimits, sizeText } from '../limits.js';
import { assertApart, assertTogether, damaged, partName, zipReason } from './zip-check.js';

/**
 * The parts of a workbook: checked for names, number and sizes before anything is unpacked. Nothing is ever written to
 * disk under the name of a part.
 */
export interface Archive {
  has(name: string): boolean;
  names(): Iterable<string>;
  /** The part's bytes in chunks of up to 512 KB; throws `RunError('failed')` where they are damaged. */
  stream(name: string): AsyncGenerator<Buffer>;
  /** A small part whole. */
  whole(name: string): Promise<Buffer>;
}

/** Bytes that are unpacked at a time; less would be more waiting for the other thread than work. */
const CHUNK = 512 * 1024;
const PACKED_CHUNK = 256 * 1024;

/** Reads that cannot be, at places a damaged file names, end as errors of the file and not of the process. */
class FileReader extends yauzl.RandomAccessReader {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, done: (error: Error | null) => void) {
    const read = async () => {
      if (!Number.isSafeInteger(position) || position < 0) throw new Error('a part lies beyond the end of the file');
      const { bytesRead } = await this.#file.read(buffer, offset, length, position);
      if (bytesRead < length) throw new Error('unexpected EOF');
    };
    read().then(() => done(null), done);
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return this.#file.createReadStream({ start, end: end - 1, autoClose: false });
  }

  override close(done: (error: Error | null) => void) {
    this.#file.close().then(() => done(null), done);
  }
}

/** `source`: the path of the file, or the bytes of one that was unpacked from gzip. */
async function open(path: string, source: string | Buffer): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true, decodeStrings: false } as const;
  try {
    if (typeof source !== 'string') return await yauzl.fromBufferPromise(source, options);
    const handle = await openFile(source);
    try {
      return await yauzl.fromRandomAccessReaderPromise(new FileReader(handle), (await handle.stat()).size, options);
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    throw damaged(path, zipReason(error));
  }
}

/** What is in hand is handed out as a file is: whoever else waits has a turn between. */
async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PACKED_CHUNK) {
    yield bytes.subarray(at, at + PACKED_CHUNK);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The bytes of an entry as they stand in the file. */
async function packedBytes(path: string, source: string | Buffer, entry: Entry): Promise<Readable> {
  const file = await open(path, source);
  try {
    const { fileDataStart: start } = await file.readLocalFileHeaderPromise(entry, { minimal: true });
    const end = start + entry.compressedSize;
    if (entry.compressedSize === 0) return Readable.from([]);
    if (typeof source !== 'string') return Readable.from(pieces(source.subarray(start, end)));
    return createReadStream(source, { start, end: end - 1, highWaterMark: PACKED_CHUNK });
  } finally {
    file.close();
  }
}

/**
 * Lists a zip file. The file is closed again after the listing and after each stream, so that an archive that is
 * kept holds no handle. Throws `RunError('failed')` for more entries or larger parts than the limits allow,
 * for encrypted ones, for parts that share bytes or a name, and for names that leave the archive.
 */
export async function openArchive(path: string, source: string | Buffer, limits: SourceLimits): Promise<Archive> {
  const entries = new Map<string, { readonly name: string; readonly entry: Entry }>();
  const zip = await open(path, source);
  try {
    if (zip.entryCount > limits.zipEntries) {
      throw new RunError(
        'failed',
        `${path}: the zip file has ${zip.entryCount.toLocaleString('en-US')} parts, more than any workbook. ` +
          'It was refused. Save the table as .xlsx or .csv.',
      );
    }
    for await (const entry of zip.eachEntry()) {
      const name = partName(path, entry);
      if (entries.has(name.toLowerCase())) throw damaged(path, `two parts are named ${name}`);
      if (entry.isEncrypted()) {
        throw new RunError(
          'failed',
          `${path}: the zip file is protected by a password. Open it with the password and save it without one.`,
        );
      }
      assertUnpacked(`${path}: ${name}`, entry.compressedSize, entry.uncompressedSize, limits);
      entries.set(name.toLowerCase(), { name, entry });
    }
    const all = [...entries.values()];
    assertTogether(path, all, limits);
    assertApart(path, all);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw damaged(path, zipReason(error));
  } finally {
    zip.close();
  }

  async function* stream(name: string): AsyncGenerator<Buffer> {
    const entry = entries.get(name.toLowerCase())?.entry;
    if (!entry) throw damaged(path, `the part ${name} is missing`);
    let packed: Readable | undefined;
    let size = 0;
    let checksum = 0;
    try {
      if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
        throw damaged(path, `${name} is packed by method ${entry.compressionMethod}`);
      }
      packed = await packedBytes(path, source, entry);
      const unpacked = entry.compressionMethod === 8 ? packed.pipe(createInflateRaw({ chunkSize: CHUNK })) : packed;
      if (unpacked !== packed) packed.once('error', (error) => unpacked.destroy(error));
      for await (const chunk of unpacked as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > entry.uncompressedSize) throw damaged(path, `${name} is longer than it says`);
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
      if (size !== entry.uncompressedSize) throw damaged(path, `${name} is shorter than it says`);
      if (checksum !== entry.crc32) throw damaged(path, `the checksum of ${name} is wrong`);
    } catch (error) {
      if (error instanceof RunError) throw error;
      throw damaged(path, `${name}: ${zipReason(error)}`);
    } finally {
      packed?.destroy();
      if (packed && !packed.closed) await once(packed, 'close').catch(() => undefined);
    }
  }

  return {
    has: (name) => entries.has(name.toLowerCase()),
    names: () => [...entries.values()].map(({ name }) => name),
    stream,
    async whole(name) {
      const entry = entries.get(name.toLowerCase())?.entry;
      if (entry && entry.uncompressedSize > limits.partBytes) {
        throw new RunError(
          'failed',
          `${path}: the part ${name} unpacks to ${sizeText(entry.uncompressedSize)}; no workbook needs so much there. ` +
            'It was refused. Save the table as .xlsx or .csv.',
        );
      }
      const parts: Buffer[] = [];
      for await (const chunk of stream(name)) parts.push(chunk);
      return Buffer.concat(parts);
    },
  };
}
