import { stat } from 'node:fs/promises';
import { RunError } from '../model/error.js';
import type { OpenSource, SourceFormat, SourceOptions } from '../model/source.js';
import { headBytes, isGzip, readFault, unpackedHead } from './bytes.js';
import { openCsv } from './csv-read.js';
import { type SourceLimits, withLimits } from './limits.js';
import { openNdjson } from './ndjson-read.js';
import { sniffFormat } from './sniff.js';
import { openXlsx } from './xlsx-read.js';

const HEAD = 64 * 1024;

/**
 * Opens a table: CSV, XLSX or NDJSON, each also gzipped, known by its bytes and not by its name. What the options leave
 * open is detected and stated in `meta`, with the evidence. The file is looked through to its end first, so that a
 * damaged or cut-off file is refused whole, before a row is handed out; rows are then read again, as a stream.
 *
 * Throws `RunError('failed')` for a file that cannot be read as a table, `RunError('usage')` for options that
 * contradict the file. Faults of single rows are values (`SheetRow.faults`).
 */
export async function openSource(
  path: string,
  options: SourceOptions = {},
  limits: Partial<SourceLimits> = {},
): Promise<OpenSource> {
  const bounds = withLimits(limits);
  try {
    await assertRegularFile(path);
    let head = await headBytes(path, HEAD);
    const gzip = isGzip(head);
    if (gzip) head = await unpackedHead(path, HEAD, bounds);
    if (head.length === 0) {
      throw new RunError('failed', `${path}: the file is empty${gzip ? ' once unpacked' : ''}. Nothing was sent.`);
    }
    const found = await sniffFormat(path, head);
    const format = settle(path, found, options.format);
    switch (format) {
      case 'csv':
        return await openCsv({ path, gzip, head }, options, bounds);
      case 'ndjson':
        return await openNdjson({ path, gzip, head }, options, bounds);
      case 'xlsx':
        return await openXlsx({ path, gzip }, options, bounds);
    }
  } catch (error) {
    throw readFault(path, error);
  }
}

async function assertRegularFile(path: string): Promise<void> {
  const info = await stat(path);
  if (info.isDirectory()) throw new RunError('failed', `${path}: this is a folder. Name a file.`);
  if (!info.isFile()) throw new RunError('failed', `${path}: this is a pipe or device, not a file. Name a file.`);
}

/** Text may be read as CSV or NDJSON, as the job says; a workbook is a workbook. */
function settle(path: string, found: SourceFormat, stated: SourceOptions['format']): SourceFormat {
  if (stated === undefined || stated === 'auto' || stated === found) return found;
  if (found === 'xlsx' || stated === 'xlsx') {
    const what = found === 'xlsx' ? 'a zip file (a workbook)' : 'text';
    throw new RunError(
      'usage',
      `${path}: source.format is ${stated}, but the file is ${what}. Remove source.format or name the right file.`,
    );
  }
  return stated;
}
