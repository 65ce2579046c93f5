import type { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { RunError } from '../model/error.js';
import { assertUnpacked } from './bytes.js';
import { type SourceLimits, sizeText } from './limits.js';

/** The parts of a workbook: checked for names, number and sizes before anything is unpacked. */
export interface Archive {
  has(name: string): boolean;
  names(): Iterable<string>;
  /** The part's bytes in chunks of up to 256 KB; throws `RunError('failed')` where they are damaged. */
  stream(name: string): AsyncGenerator<Buffer>;
  /** A small part whole. */
  whole(name: string): Promise<Buffer>;
}

const CHUNK = 256 * 1024;

function damaged(path: string, reason: string): RunError {
  return new RunError(
    'failed',
    `${path}: the zip file is damaged or cut off (${reason}). It was refused whole, nothing was sent. ` +
      'Fetch it again, or open it in the spreadsheet program and save it as .xlsx.',
  );
}

/** `source`: the path of the file, or the bytes of one that was unpacked from gzip. */
async function open(path: string, source: string | Buffer): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true } as const;
  try {
    return await (typeof source === 'string'
      ? yauzl.openPromise(source, options)
      : yauzl.fromBufferPromise(source, options));
  } catch (error) {
    throw damaged(path, error instanceof Error ? error.message : String(error));
  }
}

/**
 * Lists a zip file. The file is closed again after the listing and after each stream, so that an archive that is
 * kept holds no handle. Throws `RunError('failed')` for more entries or larger parts than the limits allow,
 * for encrypted ones, and for names that leave the archive.
 */
export async function openArchive(path: string, source: string | Buffer, limits: SourceLimits): Promise<Archive> {
  const entries = new Map<string, Entry>();
  const zip = await open(path, source);
  try {
    if (zip.entryCount > limits.zipEntries) {
      throw new RunError('failed', `${path}: the zip file has ${zip.entryCount} parts; no workbook has so many.`);
    }
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName.replace(/^\//, '');
      if (entries.has(name.toLowerCase())) throw damaged(path, `two parts are named ${name}`);
      if (entry.isEncrypted()) {
        throw new RunError('failed', `${path}: the zip file is protected by a password. Save it without one.`);
      }
      assertUnpacked(`${path}: ${name}`, entry.compressedSize, entry.uncompressedSize, limits);
      entries.set(name.toLowerCase(), entry);
    }
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw damaged(path, error instanceof Error ? error.message : String(error));
  } finally {
    zip.close();
  }

  async function* stream(name: string): AsyncGenerator<Buffer> {
    const entry = entries.get(name.toLowerCase());
    if (!entry) throw damaged(path, `the part ${name} is missing`);
    const file = await open(path, source);
    let packed: Readable | undefined;
    let size = 0;
    let checksum = 0;
    try {
      if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
        throw damaged(path, `${name} is packed by method ${entry.compressionMethod}`);
      }
      packed = await file.openReadStreamPromise(entry, { decodeFileData: false });
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
      throw damaged(path, `${name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      packed?.destroy();
      file.close();
    }
  }

  return {
    has: (name) => entries.has(name.toLowerCase()),
    names: () => [...entries.values()].map((entry) => entry.fileName),
    stream,
    async whole(name) {
      const entry = entries.get(name.toLowerCase());
      if (entry && entry.uncompressedSize > limits.partBytes) {
        throw new RunError(
          'failed',
          `${path}: the part ${name} unpacks to ${sizeText(entry.uncompressedSize)}; no workbook needs so much there.`,
        );
      }
      const parts: Buffer[] = [];
      for await (const chunk of stream(name)) parts.push(chunk);
      return Buffer.concat(parts);
    },
  };
}
