import { isBlank, type RowFault, type SheetRow } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { fileBytes } from '../bytes.js';
import { cellFault, raggedFault, strayFault } from '../cell-faults.js';
import { againstMark, asUtf8, encodingOfHead, encodingOfText, statedEncoding } from '../encoding/encoding.js';
import { utf8Check } from '../encoding/survey.js';
import { unescapeFormula } from '../formula.js';
import type { SourceLimits } from '../limits.js';
import { createRecordFeed, type ScannedRecord } from './scan.js';
import { assertText, type Survey, surveyCsv, swallowedFault } from './survey.js';

const BATCH = 500;

interface CsvFile {
  readonly path: string;
  readonly gzip: boolean;
  /** The first bytes, unpacked; `whole`: they are all it has. */
  readonly head: Buffer;
  readonly whole: boolean;
}

/** The bytes from their beginning; of a small file they are in hand. */
async function* bytesOf({ path, gzip, head, whole }: CsvFile, limits: SourceLimits): AsyncGenerator<Buffer> {
  if (whole) yield head;
  else yield* fileBytes(path, gzip, limits);
}

/**
 * Opens a CSV file: detects what the options leave open, then scans it once to its end, so that a file that is cut off
 * is refused before any row is handed out. Whether it is UTF-8 shows on the same way. Throws `RunError`.
 */
export async function openCsv(file: CsvFile, options: SourceOptions, limits: SourceLimits): Promise<OpenSource> {
  const raw = () => bytesOf(file, limits);
  const mark = encodingOfHead(file.head);
  const stated = statedEncoding(options.encoding, mark);
  const against = againstMark(stated, mark);
  const surveyed =
    stated && !against
      ? { encoding: stated, evidence: statedEvidence(options.encoding!, stated), survey: undefined, warning: undefined }
      : { ...(mark ?? (await encodingByReading(file, options, limits))) };
  const { encoding, evidence, warning } = surveyed;
  const skip = mark && mark.bom > 0 && mark.encoding === encoding ? mark.bom : 0;
  const text = () => asUtf8(raw(), encoding, skip);
  const survey = ('survey' in surveyed && surveyed.survey) || (await surveyCsv(file.path, text, options, limits));
  const meta: SourceMeta = {
    format: 'csv',
    gzip: file.gzip,
    encoding,
    bom: skip > 0,
    sheet: null,
    ...survey.meta,
    evidence: [evidence, ...survey.meta.evidence],
    warnings: [...[against, warning].filter((text) => text !== undefined), ...survey.meta.warnings],
  };
  return { meta, rows: () => dataRows(file.path, text(), survey, limits) };
}

function statedEvidence(name: string, encoding: string): string {
  if (!/^(?:latin-?[15]|iso[-_ ]?8859[-_ ]?[19])$/i.test(name.trim())) return `The encoding is ${encoding}, as stated.`;
  return (
    `The encoding is stated as ${name} and read as ${encoding}, which has the same characters and more: ` +
    'those that files of that name hold in fact.'
  );
}

/**
 * Takes the file for UTF-8 while it is looked through. Where it turns out to be none, its bytes tell what it is, and it is
 * looked through again.
 */
async function encodingByReading(file: CsvFile, options: SourceOptions, limits: SourceLimits) {
  // Of a packed file it counts first that it unpacks well.
  if (!file.gzip) assertText(file.path, file.head);
  const raw = () => bytesOf(file, limits);
  const check = utf8Check();
  async function* checked() {
    for await (const chunk of raw()) {
      check.push(chunk);
      yield chunk;
    }
  }
  let survey: Survey | undefined;
  let fault: unknown;
  try {
    survey = await surveyCsv(file.path, raw, options, limits, checked);
  } catch (error) {
    fault = error;
  }
  const finding = fault === undefined ? check.finding() : undefined;
  if (finding) return { ...finding, survey };
  const found = await encodingOfText(raw);
  // What was found wrong counts, if it was the right encoding after all.
  if (found.encoding === 'utf-8' && fault !== undefined) throw fault;
  return { ...found, survey: found.encoding === 'utf-8' ? survey : undefined };
}

async function* dataRows(
  path: string,
  chunks: AsyncIterable<Buffer>,
  { shape, swallowed }: Survey,
  limits: SourceLimits,
): AsyncGenerator<readonly SheetRow[]> {
  const { delimiter, hinted } = shape;
  const feed = createRecordFeed({ path, delimiter, hinted, limits, collect: true, whole: true, skip: 'rows' });
  if (shape.headerRow === 0) feed.width = shape.width;
  let batch: SheetRow[] = [];
  function* drain(): Generator<readonly SheetRow[]> {
    while (feed.next()) {
      if (feed.row === shape.headerRow) feed.width = shape.width;
      if (feed.row <= shape.headerRow || feed.record.blank) continue;
      const row = toRow(feed.row, feed.record, shape.width, limits);
      if (row) batch.push(swallowed.has(row.row) ? withFault(row, swallowedFault(row.cells)) : row);
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

function withFault(row: SheetRow, fault: RowFault): SheetRow {
  return { ...row, faults: [fault, ...(row.faults ?? [])] };
}

/** The mark that DOS programs write at the end of a file. */
const END_OF_FILE = '\x1a';

/**
 * One record as a data row: as many cells as the heading, and surplus ones behind them that are not blank, un-escaped,
 * with the faults the record has. Undefined where nothing but blanks is left once it is un-escaped, and for the mark of the
 * end of the file.
 */
function toRow(row: number, record: ScannedRecord, width: number, limits: SourceLimits): SheetRow | undefined {
  const cells = record.cells;
  if (record.count === 1 && cells[0] === END_OF_FILE) return undefined;
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
