import { stat } from 'node:fs/promises';
import { RunError } from '../model/error.js';
import type { OpenSource, SourceFormat, SourceOptions } from '../model/source.js';
import { assertFile, headBytes, isGzip, readFault } from './bytes.js';
import type { TextFile } from './encoding/open-text.js';
import { DEFAULT_LIMITS, type SourceLimits } from './limits.js';
import { type FileForm, sniffFormat } from './sniff.js';
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
  if (form === 'ndjson') return (await import('./ndjson-read.js')).openNdjson(file, options, bounds);
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
