import { isBlank, type RowFault, type SheetRow } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { cellFault, raggedFault, strayFault } from '../cell-faults.js';
import { openText, type TextFile } from '../encoding/open-text.js';
import { unescapeFormula } from '../formula.js';
import type { SourceLimits } from '../limits.js';
import { createRecordFeed, fed, type ScannedRecord } from './scan.js';
import { type Survey, surveyCsv, swallowedFault } from './survey.js';

const BATCH = 500;

/**
 * Opens a CSV file: detects what the options leave open, then scans it once to its end, so that a file that is cut off
 * is refused before any row is handed out. Throws `RunError`.
 */
export async function openCsv(file: TextFile, options: SourceOptions, limits: SourceLimits): Promise<OpenSource> {
  const { path, gzip } = file;
  const opened = await openText(file, options.encoding, limits, (text) => surveyCsv(path, text, options, limits));
  const { encoding, bom, found: survey } = opened;
  const meta: SourceMeta = {
    format: 'csv',
    gzip,
    encoding,
    bom,
    sheet: null,
    ...survey.meta,
    evidence: [opened.evidence, ...survey.meta.evidence],
    warnings: [...opened.warnings, ...survey.meta.warnings],
  };
  return { meta, rows: () => dataRows(path, opened.text(), survey, limits) };
}

async function* dataRows(
  path: string,
  chunks: AsyncIterable<Buffer>,
  { shape, swallowed }: Survey,
  limits: SourceLimits,
): AsyncGenerator<readonly SheetRow[]> {
  const feed = createRecordFeed({ path, ...shape, limits, collect: true, whole: true, skip: 'rows' });
  let batch: SheetRow[] = [];
  for await (const _ of fed(feed, chunks)) {
    while (feed.next()) {
      if (feed.row <= shape.headerRow || feed.record.blank) continue;
      const row = toRow(feed.row, feed.record, shape.width, limits);
      if (row) batch.push(swallowed.has(row.row) ? withFault(row, swallowedFault(row.cells)) : row);
      if (batch.length >= BATCH) {
        yield batch;
        batch = [];
      }
    }
  }
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
