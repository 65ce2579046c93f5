import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { formatNumber, sizeText } from '../../model/count-text.js';
import { errorText, RunError, runFailure } from '../../model/error.js';
import { assertUnpackedSize, collectBytes, fileBytes } from '../bytes.js';
import type { SourceLimits } from '../limits.js';

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

export type Archive = Awaited<ReturnType<typeof openArchive>>;

/**
 * The parts of a workbook: checked for names, number and sizes before anything is unpacked. Nothing is ever written to
 * disk under the name of a part. The file is closed again after the listing and after each stream, so that an archive that is
 * kept holds no handle. Throws `RunError('failed')` for more entries or larger parts than the limits allow,
 * for encrypted ones, for parts that share bytes or a name, and for names that leave the archive.
 */
export async function openArchive(path: string, source: string | Buffer, limits: SourceLimits) {
  const parts = new Map<string, ZipPart>();
  const entryOf = (name: string) => parts.get(name.toLowerCase())?.entry;
  const zip = await open(path, source);
  try {
    if (zip.entryCount > limits.zipEntries) {
      throw runFailure(
        `${path}: the zip file has ${formatNumber(zip.entryCount)} parts, more than any workbook. ` +
          'It was refused. Save the table as .xlsx or .csv.',
      );
    }
    for await (const entry of zip.eachEntry()) {
      const name = partName(path, entry);
      if (entryOf(name)) throw damaged(path, `two parts are named ${name}`);
      if (entry.isEncrypted()) {
        throw runFailure(
          `${path}: the zip file is protected by a password. Open it with the password and save it without one.`,
        );
      }
      assertUnpackedSize(`${path}: ${name}`, entry.compressedSize, entry.uncompressedSize, limits);
      parts.set(name.toLowerCase(), { name, entry });
    }
    assertTotalSize(path, [...parts.values()], limits);
    assertNoOverlap(path, [...parts.values()]);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw damaged(path, zipReason(error));
  } finally {
    zip.close();
  }

  /** The part's bytes in chunks of up to 512 KB; throws `RunError('failed')` where they are damaged. */
  async function* stream(name: string): AsyncGenerator<Buffer> {
    const entry = entryOf(name);
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
    has: (name: string) => entryOf(name) !== undefined,
    /** Of all parts. */
    names: [...parts.values()].map(({ name }) => name),
    stream,
    /** A small part whole. */
    async readWhole(name: string): Promise<Buffer> {
      const size = entryOf(name)?.uncompressedSize ?? 0;
      if (size > limits.partBytes) {
        throw runFailure(
          `${path}: the part ${name} unpacks to ${sizeText(size)}; no workbook needs so much there. ` +
            'It was refused. Save the table as .xlsx or .csv.',
        );
      }
      return collectBytes(stream(name));
    },
  };
}

/** A part of a zip file under its name as it is looked up. */
interface ZipPart {
  readonly name: string;
  readonly entry: Entry;
}

function damaged(path: string, reason: string): RunError {
  return runFailure(
    `${path}: the zip file is damaged or cut off (${reason}). It was refused whole, nothing was sent. ` +
      'Fetch it again, or open it in the spreadsheet program and save it as .xlsx.',
  );
}

/** What the zip reader complains of, in words of ours where it has many. */
function zipReason(error: unknown): string {
  const text = errorText(error);
  if (text.startsWith('End of central directory')) return 'its list of parts is missing';
  if (text.startsWith('Invalid comment length')) return 'there are bytes behind its end';
  if (error instanceof RangeError) return 'a part begins beyond its end';
  return text.replace(/\s+/g, ' ').slice(0, 120);
}

/**
 * The name of an entry: slashes the usual way round, none before it. A name that would leave the archive is refused,
 * although nothing is ever written under it.
 */
function partName(path: string, entry: Entry): string {
  const raw = yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
  const name = raw.replace(/^\/+/, '');
  if (/^[a-z]:/i.test(name) || name.split('/').includes('..') || name.includes('\0')) {
    const quotedName = JSON.stringify(raw.slice(0, 80));
    throw runFailure(
      `${path}: the zip file holds a part named ${quotedName}, a name that leads out of it, as files made to attack a ` +
        'computer do. It was refused. Open it in the spreadsheet program and save it as .xlsx.',
    );
  }
  return name;
}

/** Parts that share bytes unpack to more than the file could hold: no program writes them. */
function assertNoOverlap(path: string, parts: readonly ZipPart[]): void {
  const ordered = [...parts].sort((a, b) => startOf(a) - startOf(b));
  for (const [i, { name, entry }] of ordered.entries()) {
    const next = ordered[i + 1];
    // 30 bytes and the name stand before the bytes of a part.
    const end = entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameRaw.length + entry.compressedSize;
    if (next && startOf(next) < end) throw damaged(path, `the parts ${name} and ${next.name} share bytes`);
  }
}

const startOf = ({ entry }: ZipPart) => entry.relativeOffsetOfLocalHeader;

/** The limits of one part hold for all of them together, so that many bombs are not better than one. */
function assertTotalSize(path: string, parts: readonly ZipPart[], limits: SourceLimits): void {
  const sum = (size: (entry: Entry) => number) => parts.reduce((all, { entry }) => all + size(entry), 0);
  const [packed, unpacked] = [sum((entry) => entry.compressedSize), sum((entry) => entry.uncompressedSize)];
  const together = { ...limits, unpackedBytes: Number.POSITIVE_INFINITY, ratioFromBytes: limits.ratioFromBytes * 2 };
  assertUnpackedSize(path, packed, unpacked, together);
}

/** A workbook file that is open; `gzip` where it is packed once more as a whole. */
export interface WorkbookFile {
  readonly path: string;
  readonly gzip: boolean;
  readonly archive: Archive;
}

/** The zip file that a workbook is. */
export async function workbookArchive(path: string, gzip: boolean, limits: SourceLimits): Promise<Archive> {
  if (!gzip) return openArchive(path, path, limits);
  const most = limits.gzippedWorkbookBytes;
  const bytes = await collectBytes(fileBytes(path, true, limits), most + 1);
  if (bytes.length > most) {
    throw runFailure(`${path}: the gzipped workbook unpacks to more than ${sizeText(most)}. Unpack it first.`);
  }
  return openArchive(path, bytes, limits);
}

const ODF = 'application/vnd.oasis.opendocument.';
const TO_A_TABLE = 'Copy the table into a spreadsheet and save it as .xlsx or .csv.';

/** Zip files known by a part of theirs: what they are, and what to do instead. */
const UNSUPPORTED_DOCUMENTS: readonly (readonly [part: string, what: string, todo: string])[] = [
  [
    'xl/workbook.bin',
    'a binary workbook (.xlsb), which is not read',
    'Open it in Excel or LibreOffice and save it as .xlsx.',
  ],
  ['Index/Document.iwa', 'an Apple Numbers document, which is not read', 'Choose File, Export To, Excel or CSV.'],
  ['word/document.xml', 'a Word document, not a table', TO_A_TABLE],
  ['ppt/presentation.xml', 'a PowerPoint presentation, not a table', TO_A_TABLE],
];

/**
 * Which workbook a zip file is. Throws `RunError('failed')` that names what else it is and says what to do; a zip file
 * that nothing is known of counts as .xlsx, whose reader says what it lacks.
 */
export async function workbookKind(path: string, archive: Archive): Promise<'xlsx' | 'ods'> {
  const refuse = (what: string, todo: string) => runFailure(`${path}: this is ${what}. ${todo}`);
  const other = UNSUPPORTED_DOCUMENTS.find(([part]) => archive.has(part));
  if (other) throw refuse(other[1], other[2]);
  if (archive.has('xl/workbook.xml') || !archive.has('META-INF/manifest.xml')) return 'xlsx';

  const manifest = (await archive.readWhole('META-INF/manifest.xml')).toString('latin1');
  const type = await documentType(archive, manifest);
  if (!type?.startsWith(ODF)) return 'xlsx';
  const kind = type.slice(ODF.length).replace(/-template$/, '');
  if (kind !== 'spreadsheet')
    throw refuse(
      `an OpenDocument file of the kind "${kind.replace(/\W+/g, ' ').slice(0, 30)}", not a table`,
      TO_A_TABLE,
    );
  if (/<(?:[\w.-]+:)?encryption-data[\s>]/.test(manifest) || archive.has('encrypted-package')) {
    throw refuse(
      'a spreadsheet protected by a password, so it cannot be read',
      'Open it in the spreadsheet program, save it without the password (LibreOffice: File, Save As, clear ' +
        '"Save with password") and send that file.',
    );
  }
  return 'ods';
}

/** The media type of the document: from the part made for that, else from the list of parts. */
async function documentType(archive: Archive, manifest: string): Promise<string | undefined> {
  if (archive.has('mimetype')) return (await archive.readWhole('mimetype')).toString('latin1', 0, 200).trim();
  const root = /<(?:[\w.-]+:)?file-entry\s[^>]*full-path="\/"[^>]*>/.exec(manifest)?.[0];
  return root === undefined ? undefined : /media-type="([^"]*)"/.exec(root)?.[1];
}
