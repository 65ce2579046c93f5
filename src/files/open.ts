import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { RunError } from '../model/error.js';
import type { OpenSource, SourceFormat, SourceOptions } from '../model/source.js';
import { assertFile, headBytes, isGzip, readFault } from './bytes.js';
import { encodingOfHead, type TextFile, unicodeText } from './encoding/open-text.js';
import { DEFAULT_LIMITS, type SourceLimits } from './limits.js';
import { markNoRecords } from './table/footer.js';

const HEAD = 64 * 1024;

/**
 * Opens a table: CSV, XLSX, ODS or NDJSON, each also gzipped, known by its bytes and not by its name. What the options leave
 * open is detected and stated in `meta`, with the evidence. The file is looked through to its end first, so that a
 * damaged or cut-off file is refused whole, before a row is handed out; rows are then read again, as a stream.
 *
 * Rows that seem to be no records are marked (`markNoRecords`). Between two batches of rows whoever else waits has a turn.
 *
 * Throws `RunError('failed')` for a file that cannot be read as a table, `RunError('usage')` for options that
 * contradict the file. Faults of single rows are values (`SheetRow.faults`).
 */
export async function openSource(
  path: string,
  options: SourceOptions = {},
  limits: Partial<SourceLimits> = {},
): Promise<OpenSource> {
  const bounds = { ...DEFAULT_LIMITS, ...limits };
  try {
    assertFile(path, await stat(path));
    let head = await headBytes(path, HEAD);
    const gzip = isGzip(head);
    if (gzip) head = await headBytes(path, HEAD, gzip, bounds);
    if (head.length === 0) {
      throw new RunError('failed', `${path}: the file is empty${gzip ? ' once unpacked' : ''}. Nothing was sent.`);
    }
    const found = await sniffFormat(path, head);
    const file = { path, gzip, head, whole: head.length < HEAD };
    const table = await openAs(settle(path, found, options.format), file, options, bounds);
    const { meta, rows } = markNoRecords(table, options.footer);
    const evidence = [...withoutMeaning(options, meta.format), ...meta.evidence];
    return { meta: { ...meta, evidence }, rows: () => inTurns(rows()) };
  } catch (error) {
    throw readFault(path, error);
  }
}

/** What a job states about files of other formats: one job may serve for several, so it is said and left at that. */
function withoutMeaning(options: SourceOptions, format: SourceFormat): string[] {
  const [what, names]: [string, (keyof SourceOptions)[]] =
    format === 'csv'
      ? ['a CSV file', ['sheet']]
      : format === 'ndjson'
        ? ['an NDJSON file', ['sheet', 'header_row', 'delimiter']]
        : ['a workbook', ['encoding', 'delimiter']];
  return names
    .filter((name) => options[name] !== undefined && options[name] !== 'auto')
    .map((name) => `source.${name} is stated; ${what} has none, so it has no meaning here.`);
}

async function* inTurns<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const batch of batches) {
    yield batch;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Loads the reader that the file needs, and no other. */
async function openAs(
  form: FileForm,
  file: TextFile,
  options: SourceOptions,
  bounds: SourceLimits,
): Promise<OpenSource> {
  if (form === 'csv') return (await import('./csv/read.js')).openCsv(file, options, bounds);
  if (form === 'ndjson') return (await import('./ndjson.js')).openNdjson(file, options, bounds);
  const { path, gzip } = file;
  const { workbookArchive, workbookKind } = await import('./package/zip.js');
  const archive = await workbookArchive(path, gzip, bounds);
  const book = { path, gzip, archive };
  return (await workbookKind(path, archive)) === 'ods'
    ? (await import('./ods/read.js')).openOds(book, options, bounds)
    : (await import('./xlsx/read.js')).openXlsx(book, options, bounds);
}

/**
 * Text may be read as CSV or NDJSON, as the job says; a workbook is a workbook. Which of the two kinds it is, the file
 * itself tells: a job that states one is given the other when its rejected rows come back corrected.
 */
function settle(path: string, found: FileForm, stated: SourceOptions['format']): FileForm {
  if (stated === undefined || stated === 'auto' || stated === found) return found;
  const isBook = found === 'zip';
  const wantsBook = stated === 'xlsx' || stated === 'ods';
  if (isBook && wantsBook) return found;
  if (isBook || wantsBook) {
    const what = isBook ? 'a zip file (a workbook)' : 'text';
    throw new RunError(
      'usage',
      `${path}: source.format is ${stated}, but the file is ${what}. Remove source.format or name the right file.`,
    );
  }
  return stated;
}

const OLE2 = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);

/** Files known by their first bytes that hold no table this program reads, and what to do instead. */
const FOREIGN: readonly (readonly [string, readonly string[]])[] = [
  ['a PDF document', ['%PDF-']],
  ['a rich text document', ['{\\rtf']],
  ['a 7-Zip archive', ['7z\xbc\xaf']],
  ['a RAR archive', ['Rar!\x1a']],
  ['a bzip2 archive', ['BZh1', 'BZh6', 'BZh9']],
  ['an xz archive', ['\xfd7zXZ']],
  ['a Zstandard archive', ['\x28\xb5\x2f\xfd']],
  ['a Parquet file', ['PAR1']],
  ['an SQLite database', ['SQLite format 3']],
  ['a PNG image', ['\x89PNG']],
  ['a JPEG image', ['\xff\xd8\xff']],
  ['a GIF image', ['GIF87a', 'GIF89a']],
  ['a program', ['\x7fELF', 'MZ\x90']],
  ['a text in UTF-32', ['\xff\xfe\0\0', '\0\0\xfe\xff']],
  [
    'a workbook of an early Excel (before 1997)',
    ['\x09\x00\x04\x00', '\x09\x02\x06\x00', '\x09\x04\x06\x00', '\x09\x08'],
  ],
];

const SAVE_AGAIN = 'Open it in the spreadsheet program and save it as .xlsx or .csv.';
const XML = '(?:<\\?xml\\b|<(?:\\w+:)?(?:Workbook|document|office))';

/** Text in a form that is not read: how it begins, what it is, and what to do instead. */
const OTHER_TEXT: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body|table|thead|tbody|tr|center|font|meta|style|div)\b/i,
    `an HTML page, whatever its name says. Web applications often export one under the name .xls. ${SAVE_AGAIN}`,
  ],
  [/^MIME-Version:\s*1\.0\r?\n/i, `a web archive (MHTML), whatever its name says. ${SAVE_AGAIN}`],
  [/^ID;P\w*(?:;\w+)*\r?\n(?:[PFBCO];|NN;)/, `a SYLK file (.slk), which is not read. ${SAVE_AGAIN}`],
  [/^TABLE\s*\r?\n0,1\r?\n"/, `a DIF file (.dif), which is not read. ${SAVE_AGAIN}`],
  [
    new RegExp(`^${XML}[^]*(?:urn:schemas-microsoft-com:office:spreadsheet|progid="Excel)`, 'i'),
    'an XML spreadsheet of Excel 2003, which is not read. Save it as .xlsx or .csv.',
  ],
  [
    new RegExp(`^(?=${XML})[^]*<(?:\\w+:)?document\\s[^>]*opendocument\\.spreadsheet`, 'i'),
    'a flat OpenDocument spreadsheet (.fods), which is not read. Save it as .xlsx or .csv.',
  ],
  [new RegExp(`^${XML}`, 'i'), 'an XML document, which is not read. Save it as .xlsx or .csv.'],
  [
    /^\[\s*(?:\{|\[|$)/,
    'a JSON array. NDJSON is read: one object on each line, without brackets and commas between them.',
  ],
];

/** What the first bytes of a file tell; which workbook a zip file is, its parts tell. */
type FileForm = 'csv' | 'ndjson' | 'zip';

/** What the file is, from its first (unpacked) bytes; throws `RunError('failed')` naming what cannot be read. */
async function sniffFormat(path: string, head: Buffer): Promise<FileForm> {
  if (head.subarray(0, 8).equals(OLE2)) throw await oleFault(path);
  if (head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5 || head[2] === 7)) return 'zip';
  const start = head.subarray(0, 16).toString('latin1');
  for (const [name, beginnings] of FOREIGN) {
    if (beginnings.some((beginning) => start.startsWith(beginning))) {
      throw new RunError('failed', `${path}: this is ${name}, not a table. Save the table as .xlsx or .csv.`);
    }
  }
  const mark = encodingOfHead(head);
  const text = (mark?.encoding.startsWith('utf-16') ? unicodeText(head, mark.encoding) : head.toString('utf8'))
    .replace(/^[\ufeff\s]+/, '')
    .slice(0, 4_000);
  const other = OTHER_TEXT.find(([form]) => form.test(text));
  if (other) throw new RunError('failed', `${path}: this is ${other[1]}`);
  return /^\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})/.test(text) ? 'ndjson' : 'csv';
}

/** OLE2 holds either an encrypted .xlsx (a stream named EncryptedPackage) or an old binary format. */
async function oleFault(path: string): Promise<RunError> {
  const encrypted = Buffer.from('EncryptedPackage', 'utf16le');
  const overlap = encrypted.length;
  let tail = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024, end: 64 * 1024 * 1024 })) {
    const bytes = Buffer.concat([tail, chunk as Buffer]);
    if (bytes.includes(encrypted)) {
      return new RunError(
        'failed',
        `${path}: the workbook is protected by a password, so it cannot be read. ` +
          'Remove the password in the spreadsheet program (File, Info, Protect Workbook) and save it again.',
      );
    }
    tail = bytes.subarray(Math.max(0, bytes.length - overlap));
  }
  return new RunError(
    'failed',
    `${path}: this is a workbook or document in the old binary format (.xls, .doc), which is not read. ` +
      'Open it in the spreadsheet program and save it as .xlsx.',
  );
}
