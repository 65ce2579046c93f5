import { RunError } from '../../model/error.js';
import type { TableAbout, TableColumn, TableRows } from '../../model/table.js';
import type { ByteSink } from '../table-sink.js';
import { type CellNews, cellWriter } from './cells.js';
import { choicesOf } from './choices.js';
import { writeCover } from './cover.js';
import { commentsPart, headingNotes, notesDrawingPart } from './notes.js';
import {
  appPart,
  type BookSheet,
  bookPart,
  bookRelationsPart,
  contentTypesPart,
  corePart,
  rootRelationsPart,
  sheetRelationsPart,
} from './package-parts.js';
import { rowFeed } from './row-feed.js';
import { filterRange, SHEET_ROWS, type SheetLayout, writeSheet } from './sheet.js';
import { freeName, numberedName, sheetName } from './sheet-names.js';
import { stylesPart } from './styles.js';
import { columnWidths } from './widths.js';
import { zipPack } from './zip-pack.js';

/** Texts that were cut to what a cell can hold, 32,767 characters; they end with `…`. */
export interface Shortened {
  readonly cells: number;
  /** The first of them, at most 10: sheet, reference (`C17`) and heading of the cell. */
  readonly first: readonly { readonly sheet: string; readonly cell: string; readonly heading: string }[];
}

export interface WrittenBook {
  /** Data rows. */
  readonly rows: number;
  /** The names of the sheets that hold them, in order. */
  readonly sheets: readonly string[];
  readonly shortened?: Shortened;
}

/** Data rows that one sheet can hold. */
export const DATA_ROWS = SHEET_ROWS - 1;
const SHEET_COLUMNS = 16_384;

/** Rows whose texts say how wide the columns are. */
const SAMPLE = 1_000;

const KEPT_PLACES = 10;

/** Throws `RunError('usage')` for a table with more columns than a sheet has. */
export function assertFits(path: string, columns: readonly TableColumn[]): void {
  if (columns.length <= SHEET_COLUMNS) return;
  throw new RunError(
    'usage',
    `${path}: the table has ${columns.length.toLocaleString('en-US')} columns, a sheet of a workbook at most ` +
      `${SHEET_COLUMNS.toLocaleString('en-US')}. Write it as .csv, or choose fewer columns.`,
  );
}

/**
 * Writes a workbook in one pass: the data first, on as many sheets as it takes, then the lists of its drop-downs
 * (hidden), then the cover. Every sheet of data has a frozen, filterable heading with notes, and columns as wide as they
 * want. Holds the first 1,000 rows in memory, and nothing that grows with the others.
 * `rowsPerSheet`: data rows of a sheet, 1,048,575 unless stated otherwise.
 */
export async function writeBook(
  sink: ByteSink,
  columns: readonly TableColumn[],
  rows: TableRows,
  about: TableAbout,
  rowsPerSheet = DATA_ROWS,
): Promise<WrittenBook> {
  const feed = rowFeed(rows);
  try {
    const widths = columnWidths(columns, await feed.sample(SAMPLE));
    const zip = zipPack(sink);
    const part = (name: string, text: string) => zip.part(name, async (write) => void (await write(text)));
    // First what tells programs that the file is a workbook.
    await part('_rels/.rels', rootRelationsPart());
    await part('docProps/app.xml', appPart());
    await part('docProps/core.xml', corePart(about.title));
    await part('xl/styles.xml', stylesPart());

    const title = sheetName(about.title);
    const notes = headingNotes(columns);
    const listSheet = freeName('Lists', [title]);
    const choices = choicesOf(columns, listSheet);
    const layout: SheetLayout = {
      columns,
      widths,
      choices,
      notes: notes.length > 0,
      rows: Math.min(rowsPerSheet + 1, SHEET_ROWS),
    };
    const sheets: BookSheet[] = [];
    const places: Shortened['first'][number][] = [];
    let [count, cut] = [0, 0];
    do {
      const number = sheets.length + 1;
      const name = number === 1 ? title : numberedName(title, number);
      const news: CellNews = {
        lines: 1,
        shortened(cell, heading) {
          cut++;
          if (places.length < KEPT_PLACES) places.push({ sheet: name, cell, heading });
        },
      };
      const writers = columns.map((column, i) => cellWriter(column, i, news, column.readOnly ? 'soft' : 'plain'));
      let lastRow = 1;
      await zip.part(`xl/worksheets/sheet${number}.xml`, async (write) => {
        lastRow = await writeSheet(layout, writers, news, feed, number === 1, write);
      });
      sheets.push({ name, filter: filterRange(columns.length, lastRow), notes: layout.notes });
      count += lastRow - 1;
      if (!layout.notes) continue;
      await part(`xl/worksheets/_rels/sheet${number}.xml.rels`, sheetRelationsPart(number));
      await part(`xl/comments${number}.xml`, commentsPart(notes));
      await part(`xl/drawings/vmlDrawing${number}.vml`, notesDrawingPart(notes, widths));
    } while (await feed.more());

    const data = sheets.map(({ name }) => name);
    if (choices.sheet) {
      sheets.push({ name: listSheet, hidden: true });
      await zip.part(`xl/worksheets/sheet${sheets.length}.xml`, choices.sheet);
    }
    sheets.push({ name: freeName('About', [...data, listSheet]) });
    await zip.part(`xl/worksheets/sheet${sheets.length}.xml`, (write) => writeCover(about, columns, write));
    await part('xl/workbook.xml', bookPart(sheets));
    await part('xl/_rels/workbook.xml.rels', bookRelationsPart(sheets));
    await part('[Content_Types].xml', contentTypesPart(sheets));
    await zip.end();
    return { rows: count, sheets: data, ...(cut > 0 ? { shortened: { cells: cut, first: places } } : {}) };
  } finally {
    await feed.close();
  }
}
