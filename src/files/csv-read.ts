import { RunError } from '../model/error.js';
import { isBlank, type RowFault, type SheetRow } from '../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../model/source.js';
import { fileBytes } from './bytes.js';
import { cellFault, raggedFault, strayFault } from './cell-faults.js';
import { detectDialect, statedDelimiter } from './csv-detect.js';
import { createRecordFeed, type RecordFeed } from './csv-feed.js';
import type { ScannedRecord } from './csv-scan.js';
import { asUtf8, encodingOfHead, encodingOfText, statedEncoding } from './encoding.js';
import { unescapeFormula } from './formula.js';
import { columnName, findHeading, HEADING_SAMPLE, headingTexts, type SampleRow } from './header.js';
import type { SourceLimits } from './limits.js';
import { withoutMeaning } from './stated.js';

const BATCH = 500;
const SAMPLE_BYTES = 1024 * 1024;

interface CsvFile {
  readonly path: string;
  readonly gzip: boolean;
  /** The first bytes, unpacked. */
  readonly head: Buffer;
}

interface Dialect {
  readonly delimiter: string;
  readonly headerRow: number;
  readonly width: number;
}

/**
 * Opens a CSV file: detects what the options leave open, then scans it once to its end, so that a file that is cut off
 * is refused before any row is handed out. Throws `RunError`.
 */
export async function openCsv(file: CsvFile, options: SourceOptions, limits: SourceLimits): Promise<OpenSource> {
  const evidence: string[] = withoutMeaning(options, ['sheet'], 'a CSV file');
  const warnings: string[] = [];
  const raw = () => fileBytes(file.path, file.gzip, limits);

  const mark = encodingOfHead(file.head);
  const stated = statedEncoding(file.path, options.encoding, mark);
  const finding = stated ? undefined : (mark ?? (await encodingOfText(raw)));
  const encoding = stated ?? finding!.encoding;
  const skip = mark && mark.bom > 0 && mark.encoding === encoding ? mark.bom : 0;
  evidence.push(finding?.evidence ?? `The encoding is ${encoding}, as stated.`);
  if (finding?.warning) warnings.push(finding.warning);
  const text = () => asUtf8(raw(), encoding, skip);

  const sample = await firstBytes(text(), SAMPLE_BYTES);
  assertText(file.path, sample.bytes);
  const dialect = detectDialect(
    { path: file.path, ...sample },
    options.delimiter === undefined || options.delimiter === 'auto' ? undefined : statedDelimiter(options.delimiter),
    limits,
  );
  evidence.push(...dialect.evidence);
  warnings.push(...dialect.warnings);

  const fixed = typeof options.header_row === 'number' ? options.header_row : undefined;
  const rows = await firstRows(file.path, text(), dialect.delimiter, fixed ?? 0, limits);
  const heading = fixed === undefined ? findHeading(rows) : statedHeading(file.path, fixed, rows);
  if (!heading) throw new RunError('failed', `${file.path}: the file holds no rows. Nothing was sent.`);
  evidence.push(heading.evidence);
  warnings.push(...heading.warnings);
  const headingRow = rows.find((row) => row.row === heading.row)!;
  if (headingRow.cells.length > limits.columns) {
    throw new RunError(
      'failed',
      `${file.path}: the heading in row ${heading.row} has more than ${limits.columns.toLocaleString('en-US')} columns, ` +
        'the most that is read. Remove columns, or state the right source.delimiter.',
    );
  }
  const headings = withinOurs(headingTexts(headingRow, rows, true).map(unescapeFormula));
  const shape: Dialect = { delimiter: dialect.delimiter, headerRow: heading.row, width: headings.length };
  const blank = headings.flatMap((heading, i) => (heading.trim() === '' ? [columnName(i)] : []));
  if (blank.length > 0) warnings.push(`Columns without a heading are not imported: ${blank.slice(0, 10).join(', ')}.`);
  await scanToEnd(file.path, text(), shape, limits);

  const meta: SourceMeta = {
    format: 'csv',
    gzip: file.gzip,
    encoding,
    bom: skip > 0,
    delimiter: dialect.delimiter,
    sheet: null,
    header_row: heading.row,
    headings,
    newline: dialect.newline,
    evidence,
    warnings,
  };
  return { meta, rows: () => dataRows(file.path, text(), shape, limits) };
}

/**
 * The headings of a file of rejected rows end with rowferry's own columns: what stands behind them is surplus, also
 * where a spreadsheet program has given the heading row blank cells there.
 */
function withinOurs(headings: string[]): string[] {
  const end = headings.lastIndexOf('_message') + 1;
  const ours = headings.slice(Math.max(0, end - 4), end).join() === '_row,_outcome,_codes,_message';
  return ours && headings.slice(end).every(isBlank) ? headings.slice(0, end) : headings;
}

async function firstBytes(chunks: AsyncIterable<Buffer>, length: number): Promise<{ bytes: Buffer; whole: boolean }> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size >= length) return { bytes: Buffer.concat(parts), whole: false };
  }
  return { bytes: Buffer.concat(parts), whole: true };
}

/** Control characters in number mean that the file is no text. */
function assertText(path: string, bytes: Buffer): void {
  const end = Math.min(bytes.length, 64 * 1024);
  let control = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i]!;
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) control++;
  }
  if (control > 16 && control * 20 > end) {
    throw new RunError(
      'failed',
      `${path}: the file is neither text nor a workbook; it cannot be read as a table. Save it as .xlsx or .csv.`,
    );
  }
}

/** The first non-blank rows from row `from` on, enough to find the heading; row `from` itself also if it is blank. */
async function firstRows(
  path: string,
  chunks: AsyncIterable<Buffer>,
  delimiter: string,
  from: number,
  limits: SourceLimits,
): Promise<SampleRow[]> {
  const feed = createRecordFeed({ path, delimiter, limits, collect: true, whole: false });
  const rows: SampleRow[] = [];
  for await (const record of recordsOf(chunks, feed)) {
    if (feed.row < from || (record.blank && feed.row !== from)) continue;
    rows.push({ row: feed.row, cells: record.cells });
    if (rows.length >= HEADING_SAMPLE) break;
  }
  return rows;
}

async function* recordsOf(chunks: AsyncIterable<Buffer>, feed: RecordFeed): AsyncGenerator<ScannedRecord> {
  for await (const chunk of chunks) {
    feed.push(chunk);
    while (feed.next()) yield feed.record;
  }
  feed.finish();
  while (feed.next()) yield feed.record;
}

function statedHeading(path: string, row: number, rows: readonly SampleRow[]) {
  const heading = rows[0];
  if (!heading || heading.row !== row) {
    throw new RunError('usage', `${path}: source.header_row is ${row}, but the file ends before that row.`);
  }
  if (heading.cells.every(isBlank)) {
    throw new RunError('usage', `${path}: source.header_row is ${row}, but that row is blank.`);
  }
  return { row, evidence: `Row ${row} is the heading, as stated.`, warnings: [] as string[] };
}

/** Scans every record without building cells; throws where a record never ends. */
async function scanToEnd(
  path: string,
  chunks: AsyncIterable<Buffer>,
  shape: Dialect,
  limits: SourceLimits,
): Promise<void> {
  const feed = createRecordFeed({ path, delimiter: shape.delimiter, limits, collect: false, whole: true });
  const drain = () => {
    while (feed.next()) if (feed.row === shape.headerRow) feed.width = shape.width;
  };
  for await (const chunk of chunks) {
    feed.push(chunk);
    drain();
  }
  feed.finish();
  drain();
}

async function* dataRows(
  path: string,
  chunks: AsyncIterable<Buffer>,
  shape: Dialect,
  limits: SourceLimits,
): AsyncGenerator<readonly SheetRow[]> {
  const feed = createRecordFeed({ path, delimiter: shape.delimiter, limits, collect: true, whole: true });
  let batch: SheetRow[] = [];
  function* drain(): Generator<readonly SheetRow[]> {
    while (feed.next()) {
      if (feed.row === shape.headerRow) feed.width = shape.width;
      if (feed.row <= shape.headerRow || feed.record.blank) continue;
      const row = toRow(feed.row, feed.record, shape.width, limits);
      if (row) batch.push(row);
      if (batch.length >= BATCH) {
        yield batch;
        batch = [];
      }
    }
  }
  for await (const chunk of chunks) {
    feed.push(chunk);
    yield* drain();
  }
  feed.finish();
  yield* drain();
  if (batch.length > 0) yield batch;
}

/**
 * One record as a data row: as many cells as the heading, and surplus ones behind them that are not blank, un-escaped,
 * with the faults the record has. Undefined where nothing but blanks is left once it is un-escaped.
 */
function toRow(row: number, record: ScannedRecord, width: number, limits: SourceLimits): SheetRow | undefined {
  const cells = record.cells;
  let faults: RowFault[] | undefined;
  if (record.stray >= 0) faults = [strayFault(record.stray, width)];
  if (record.faults.length > 0) {
    faults ??= [];
    for (const { code, index, text } of record.faults) {
      if (index < width) {
        const found = cellFault(code, index, limits.cellCharacters);
        faults.push(text === undefined ? found : { ...found, text: unescapeFormula(text) });
      } else if (text !== undefined && index < cells.length) cells[index] = text;
    }
  }
  if (record.count !== width) {
    let filled = cells.length;
    while (filled > width && isBlank(cells[filled - 1])) filled--;
    if (record.count < width || record.count > cells.length || filled > width) {
      faults ??= [];
      faults.push(raggedFault(record.count, width, cells.slice(width, filled)));
    }
    // Surplus cells stay with the row: the rejected file gives back what the input held.
    cells.length = filled > width ? filled : Math.min(cells.length, width);
    while (cells.length < width) cells.push('');
  }
  let escaped: number[] | undefined;
  for (let i = 0; i < cells.length; i++) {
    const text = cells[i]!;
    if (text.charCodeAt(0) !== 0x27) continue;
    const plain = unescapeFormula(text);
    if (plain === text) continue;
    cells[i] = plain;
    escaped ??= [];
    escaped.push(i);
  }
  if (!escaped) return faults ? { row, cells, faults } : { row, cells };
  if (!faults && cells.every(isBlank)) return undefined;
  return { row, cells, escaped, ...(faults ? { faults } : {}) };
}
