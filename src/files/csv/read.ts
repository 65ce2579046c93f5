import { formatNumber } from '../../model/count-text.js';
import { runFailure } from '../../model/error.js';
import { isBlank, type RowFault, type SheetRow } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { collectBytes, pushPieces } from '../bytes.js';
import { cellFault, raggedRowFault, strayQuoteFault } from '../cell-faults.js';
import { assertText, openText, type TextFile } from '../encoding/open-text.js';
import { unescapeFormula } from '../formula.js';
import type { SourceLimits } from '../limits.js';
import { columnName } from '../table/cell-range.js';
import { blankHeadingsWarning, chooseHeading, HEADING_SAMPLE, headingTexts, type SampleRow } from '../table/header.js';
import { detectDialect, parseDelimiter } from './detect.js';
import { type CsvShape, createRecordFeed, type RecordFeed } from './scan.js';

const BATCH = 500;

/**
 * Opens a CSV file: detects what the options leave open, then scans it once to its end, so that a file that is cut off
 * is refused before any row is handed out. Throws `RunError`.
 */
export async function openCsv(file: TextFile, options: SourceOptions, limits: SourceLimits): Promise<OpenSource> {
  const { path, gzip } = file;
  const opened = await openText(file, options.encoding, limits, (text) => surveyCsv(path, text, options, limits));
  const { encoding, guessed, bom, found: survey } = opened;
  const meta: SourceMeta = {
    format: 'csv',
    gzip,
    encoding,
    guessed,
    bom,
    sheet: null,
    ...survey.meta,
    evidence: [opened.evidence, ...survey.meta.evidence],
    warnings: [...opened.warnings, ...survey.meta.warnings],
  };
  return { meta, rows: () => dataRows(path, opened.text(), survey.shape, limits) };
}

async function* dataRows(
  path: string,
  chunks: AsyncIterable<Buffer>,
  shape: CsvShape,
  limits: SourceLimits,
): AsyncGenerator<readonly SheetRow[]> {
  const feed = createRecordFeed({ path, ...shape, limits, collect: true, complete: true, skip: 'rows' });
  let batch: SheetRow[] = [];
  for await (const _ of pushPieces(feed, chunks)) {
    while (feed.next()) {
      if (feed.row <= shape.headerRow || feed.record.blank) continue;
      const row = toRow(feed.row, feed.record, shape, limits);
      if (row)
        batch.push(
          containsRows(feed, shape) ? { ...row, faults: [swallowedRowsFault(row.cells), ...(row.faults ?? [])] } : row,
        );
      if (batch.length >= BATCH) {
        yield batch;
        batch = [];
      }
    }
  }
  if (batch.length > 0) yield batch;
}

/** The mark that DOS programs write at the end of a file. */
const END_OF_FILE = '\x1a';

/**
 * One record as a data row: as many cells as the heading, and surplus ones behind them that are not blank, un-escaped,
 * with the faults the record has. Undefined where nothing but blanks is left once it is un-escaped, and for the mark of the
 * end of the file.
 */
function toRow(
  row: number,
  record: RecordFeed['record'],
  { width, headerRow }: CsvShape,
  limits: SourceLimits,
): SheetRow | undefined {
  const cells = record.cells;
  if (record.count === 1 && cells[0] === END_OF_FILE) return undefined;
  let faults: RowFault[] | undefined;
  if (record.strayCell >= 0) faults = [strayQuoteFault(record.strayCell, width)];
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
      const measure = headerRow === 0 ? 'most rows' : 'the heading';
      faults.push(raggedRowFault(record.count, width, cells.slice(width, filled), measure));
    }
    // Surplus cells stay with the row: the rejected file gives back what the input held.
    cells.length = filled > width ? filled : Math.min(cells.length, width);
    while (cells.length < width) cells.push('');
  }
  let escaped: number[] | undefined;
  for (let i = 0; i < cells.length; i++) {
    const text = cells[i]!;
    const first = text.charCodeAt(0);
    if (first !== 0x27 && first !== 0x3d) continue;
    const plain = unescapeFormula(text);
    if (plain === text) continue;
    cells[i] = plain;
    escaped ??= [];
    if (first === 0x27) escaped.push(i);
  }
  if (!escaped) return faults ? { row, cells, faults } : { row, cells };
  if (!faults && cells.every(isBlank)) return undefined;
  return { row, cells, escaped, ...(faults ? { faults } : {}) };
}

const SAMPLE_BYTES = 1024 * 1024;

/** Finds delimiter and heading, then looks through the text (UTF-8) to its end. Throws `RunError`. */
async function surveyCsv(
  path: string,
  text: () => AsyncIterable<Buffer>,
  options: SourceOptions,
  limits: SourceLimits,
) {
  const bytes = await collectBytes(text(), SAMPLE_BYTES);
  const whole = bytes.length < SAMPLE_BYTES;
  assertText(path, bytes);
  const dialect = detectDialect(
    { path, bytes, whole },
    options.delimiter === undefined || options.delimiter === 'auto' ? undefined : parseDelimiter(options.delimiter),
    limits,
  );
  const fixed = typeof options.header_row === 'number' ? options.header_row : undefined;
  const rows = await firstRows(path, whole ? [bytes] : text(), dialect, fixed ?? 0, limits);
  const heading = chooseHeading(path, 'the file', { ...options, even: true }, rows);
  if (!heading) throw runFailure(`${path}: the file holds no rows. Nothing was sent.`);
  if (heading.cells.length > limits.columns) {
    throw runFailure(
      `${path}: the heading in row ${heading.row} has more than ${formatNumber(limits.columns)} columns, ` +
        'the most that is read. Remove columns, or state the right source.delimiter.',
    );
  }
  const headings = dropSurplusHeadings(headingTexts(heading, rows, true).map(unescapeFormula));
  const { delimiter, hinted } = dialect;
  const shape: CsvShape = { delimiter, hinted, headerRow: heading.row, width: headings.length };
  const lineEnd = await surveyLineEnds(path, text(), shape, limits);
  const warnings = [dialect.warning, lineEnd.warning, ...heading.warnings, blankHeadingsWarning(headings)];
  return {
    meta: {
      delimiter,
      hinted,
      header_row: heading.row === 0 ? null : heading.row,
      headings,
      newline: lineEnd.newline,
      evidence: [dialect.evidence, lineEnd.evidence, heading.evidence],
      warnings: warnings.filter((text) => text !== undefined),
    },
    shape,
  };
}

/**
 * The headings of a file of rejected rows end with rowferry's own columns: what stands behind them is surplus, also
 * where a spreadsheet program has given the heading row blank cells there.
 */
function dropSurplusHeadings(headings: string[]): string[] {
  const end = headings.lastIndexOf('_message') + 1;
  const ours = headings.slice(Math.max(0, end - 4), end).join() === '_row,_outcome,_codes,_message';
  return ours && headings.slice(end).every(isBlank) ? headings.slice(0, end) : headings;
}

/** The first non-blank rows from row `from` on, enough to find the heading; row `from` itself also if it is blank. */
async function firstRows(
  path: string,
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  { delimiter, hinted }: Pick<CsvShape, 'delimiter' | 'hinted'>,
  from: number,
  limits: SourceLimits,
): Promise<SampleRow[]> {
  const feed = createRecordFeed({ path, delimiter, hinted, limits, collect: true, complete: false, skip: 'rows' });
  const rows: SampleRow[] = [];
  for await (const _ of pushPieces(feed, chunks)) {
    while (feed.next()) {
      if (feed.row < Math.max(1, from) || (feed.record.blank && feed.row !== from)) continue;
      rows.push({ row: feed.row, cells: feed.record.cells });
      if (rows.length >= HEADING_SAMPLE) return rows;
    }
  }
  return rows;
}

const NEWLINES = { CRLF: '\r\n', LF: '\n', CR: '\r' } as const;

/**
 * The line end of most rows, and what is said of it. Scans every record without building cells; throws where a record never
 * ends.
 */
async function surveyLineEnds(
  path: string,
  chunks: AsyncIterable<Buffer>,
  shape: CsvShape,
  limits: SourceLimits,
): Promise<{ newline: string; evidence: string; warning?: string }> {
  const feed = createRecordFeed({ path, ...shape, limits, collect: false, complete: true, skip: 'rows' });
  const counts = { CRLF: 0, LF: 0, CR: 0 };
  for await (const _ of pushPieces(feed, chunks)) {
    while (feed.next()) {
      const { position, bytes } = feed;
      const last = bytes[position - 1];
      if (last === 0x0a) counts[bytes[position - 2] === 0x0d ? 'CRLF' : 'LF']++;
      else if (last === 0x0d) counts.CR++;
    }
  }
  const kinds = (['CRLF', 'LF', 'CR'] as const).filter((kind) => counts[kind] > 0);
  const [most, other] = kinds.sort((a, b) => counts[b] - counts[a]);
  if (most === undefined) return { newline: '\n', evidence: 'The file has no line end; LF is assumed.' };
  const mixed = kinds.map((kind) => `${kind} ${counts[kind]} times`).join(', ');
  return {
    newline: NEWLINES[most],
    evidence: `Rows end with ${most}.`,
    ...(other && { warning: `Line ends are mixed: ${mixed}.` }),
  };
}

/** Lines within a cell that must look like rows. */
const FEWEST = 3;
/** Bytes of one record that are looked at. */
const LOOKED_AT = 1024 * 1024;

/**
 * A quotation mark too many opens a cell that goes on to the next quotation mark, however many rows away: RFC 4180 reads
 * all of them as one cell. It shows by its text, whose lines are cut into as many cells as rows of the table. Text of several
 * lines holds delimiters too, but not the same number of them in nearly every line.
 */
function containsRows({ record, bytes, start, position }: RecordFeed, { delimiter, width }: CsvShape): boolean {
  if (!record.multiline || width < 2 || position - start <= 3 * width) return false;
  const lines = bytes.toString('latin1', start, Math.min(position, start + LOOKED_AT)).split(/\r\n|[\r\n]/);
  const inner = lines.slice(1, -2).filter((line) => line.trim() !== '');
  const alike = inner.filter((line) => line.split(delimiter).length === width).length;
  return alike >= FEWEST && alike >= inner.length * 0.8;
}

/** The fault of a row that holds others. `cells` are those of the row. */
function swallowedRowsFault(cells: readonly unknown[]): RowFault {
  const index = cells.findIndex((cell) => typeof cell === 'string' && /[\r\n]/.test(cell));
  const text = String(cells[index] ?? '');
  const lines = text.split(/\r\n|[\r\n]/);
  const last = (lines.at(-1) ?? '').slice(0, 40);
  return {
    code: 'stray_quote',
    ...(index >= 0 ? { index } : {}),
    message:
      `A quotation mark opens the cell in column ${columnName(Math.max(0, index))} and is closed only ${lines.length - 1} lines ` +
      `further down${last.trim() ? ` (after "${last}")` : ''}; the lines between look like rows of their own. ` +
      'Remove the quotation mark, or close it in its own row.',
  };
}
