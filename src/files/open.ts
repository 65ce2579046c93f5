import { stat } from 'node:fs/promises';
import { type RunError, runFailure, usageError } from '../model/error.js';
import type { OpenSource, SourceOptions } from '../model/source.js';
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
      throw runFailure(`${path}: the file is empty${gzip ? ' once unpacked' : ''}. Nothing was sent.`);
    }
    const found = await sniffFormat(path, head);
    const file = { path, gzip, head, whole: head.length < HEAD };
    const table = await openAs(resolveForm(path, found, options.format), file, options, bounds);
    const { meta, rows } = markNoRecords(table, options.footer);
    return { meta, rows: () => yieldBetween(rows()) };
  } catch (error) {
    throw readFault(path, error);
  }
}

async function* yieldBetween<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
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
function resolveForm(path: string, found: FileForm, stated: SourceOptions['format']): FileForm {
  if (stated === undefined || stated === 'auto' || stated === found) return found;
  const isBook = found === 'zip';
  const wantsBook = stated === 'xlsx' || stated === 'ods';
  if (isBook && wantsBook) return found;
  if (isBook || wantsBook) {
    const what = isBook ? 'a zip file (a workbook)' : 'text';
    throw usageError(
      `${path}: source.format is ${stated}, but the file is ${what}. Remove source.format or name the right file.`,
    );
  }
  return stated;
}

const OLE2 = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);

/** Files known by their first bytes that hold no table this program reads. */
const UNSUPPORTED_BINARY: readonly (readonly [name: string, beginning: string])[] = [
  ['a PDF document', '%PDF-'],
  ['a RAR archive', 'Rar!\x1a'],
  ['an SQLite database', 'SQLite format 3'],
  ['a PNG image', '\x89PNG'],
  ['a gzip file within another', '\x1f\x8b'],
  ['a bzip2 archive', 'BZh91AY&SY'],
  ['a text in UTF-32', '\xff\xfe\0\0'],
  ['a text in UTF-32', '\0\0\xfe\xff'],
];

const SAVE_AGAIN = 'Open it in the spreadsheet program and save it as .xlsx or .csv.';
const XML = '(?:<\\?xml\\b|<(?:\\w+:)?(?:Workbook|document|office))';

/** Text in a form that is not read: how it begins, what it is, and what to do instead. */
const UNSUPPORTED_TEXT: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body|table|thead|tbody|tr|center|font|meta|style|div)\b/i,
    `an HTML page, whatever its name says. Web applications often export one under the name .xls. ${SAVE_AGAIN}`,
  ],
  [
    new RegExp(`^${XML}[^]*(?:urn:schemas-microsoft-com:office:spreadsheet|progid="Excel)`, 'i'),
    'an XML spreadsheet of Excel 2003, which is not read. Save it as .xlsx or .csv.',
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
  const foreign = UNSUPPORTED_BINARY.find(([, beginning]) => start.startsWith(beginning))?.[0];
  if (foreign) throw runFailure(`${path}: this is ${foreign}, not a table. Save the table as .xlsx or .csv.`);
  const mark = encodingOfHead(head);
  const text = (mark?.encoding.startsWith('utf-16') ? unicodeText(head, mark.encoding) : head.toString('utf8'))
    .replace(/^[\ufeff\s]+/, '')
    .slice(0, 4_000);
  const other = UNSUPPORTED_TEXT.find(([form]) => form.test(text));
  if (other) throw runFailure(`${path}: this is ${other[1]}`);
  return /^\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})/.test(text) ? 'ndjson' : 'csv';
}

const OLE2_BYTES = 64 * 1024 * 1024;

/** OLE2 holds either an encrypted .xlsx (a stream named EncryptedPackage) or an old binary format. */
async function oleFault(path: string): Promise<RunError> {
  if ((await headBytes(path, OLE2_BYTES)).includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
    return runFailure(
      `${path}: the workbook is protected by a password, so it cannot be read. ` +
        'Remove the password in the spreadsheet program (File, Info, Protect Workbook) and save it again.',
    );
  }
  return runFailure(
    `${path}: this is a workbook or document in the old binary format (.xls, .doc), which is not read. ` +
      'Open it in the spreadsheet program and save it as .xlsx.',
  );
}
