import type { ByteSink } from '../table-sink.js';
import {
  appPart,
  type BookSheet,
  bookPart,
  bookRelationsPart,
  contentTypesPart,
  corePart,
  rootRelationsPart,
} from './package-parts.js';
import { type PageSheet, writePageSheet } from './page-sheet.js';
import { rowFeed } from './row-feed.js';
import { filterRange, SHEET_ROWS } from './sheet.js';
import { freeName, numberedName, sheetName } from './sheet-names.js';
import { stylesPart } from './styles.js';
import { type ToneColumn, type ToneRow, writeToneSheet } from './tone-sheet.js';
import { columnWidths } from './widths.js';
import { zipPack } from './zip-pack.js';

/** A table of a report: a sheet, or as many as its rows take (`Differences`, `Differences (2)`). */
export interface ToneTable {
  readonly name: string;
  readonly columns: readonly (ToneColumn & {
    /** Characters; as wide as the first rows want unless stated. */
    readonly width?: number;
  })[];
  readonly rows: () => AsyncIterable<readonly ToneRow[]>;
  /** Said where there are no rows. */
  readonly empty: string;
}

export type ReportSheet = { readonly page: PageSheet } | { readonly table: ToneTable };

/** Rows whose texts say how wide the columns are. */
const SAMPLE = 1_000;

/**
 * Writes a workbook of several sheets in one pass: pages to be read, tables whose cells have looks. Holds the
 * first 1,000 rows of a table in memory, and nothing that grows with the others. The same content gives the same bytes.
 * `rowsPerSheet`: rows of a sheet with its heading; as many as a sheet can hold unless stated otherwise.
 */
export async function writeReportBook(
  sink: ByteSink,
  title: string,
  content: readonly ReportSheet[],
  rowsPerSheet = SHEET_ROWS,
): Promise<void> {
  const zip = zipPack(sink);
  const part = (name: string, text: string) => zip.part(name, async (write) => void (await write(text)));
  // First what tells programs that the file is a workbook.
  await part('_rels/.rels', rootRelationsPart());
  await part('docProps/app.xml', appPart());
  await part('docProps/core.xml', corePart(title));
  await part('xl/styles.xml', stylesPart());

  const sheets: BookSheet[] = [];
  // Further sheets of a table must not take the name of a sheet that follows.
  const names = content.map((one) => sheetName(nameOf(one)));
  const sheetPart = () => `xl/worksheets/sheet${sheets.length + 1}.xml`;

  const writeTable = async (table: ToneTable, name: string) => {
    const feed = rowFeed(table.rows());
    try {
      const sample = await feed.sample(SAMPLE);
      const widths = widthsOf(table, sample);
      const layout = { ...table, widths, rows: rowsPerSheet };
      for (let number = 1; number === 1 || (await feed.more()); number++) {
        let lastRow = 1;
        await zip.part(sheetPart(), async (write) => {
          lastRow = await writeToneSheet(layout, feed, sheets.length === 0, write);
        });
        const taken = [...names, ...sheets.map((sheet) => sheet.name)];
        const own = number === 1 ? name : freeName(numberedName(name, number), taken);
        sheets.push({ name: own, filter: filterRange(table.columns.length, lastRow) });
      }
    } finally {
      await feed.close();
    }
  };

  for (const [i, one] of content.entries()) {
    const name = names[i]!;
    if ('page' in one) {
      await zip.part(sheetPart(), (write) => writePageSheet(one.page, sheets.length === 0, write));
      sheets.push({ name });
    } else await writeTable(one.table, name);
  }
  await part('xl/workbook.xml', bookPart(sheets));
  await part('xl/_rels/workbook.xml.rels', bookRelationsPart(sheets));
  await part('[Content_Types].xml', contentTypesPart(sheets));
  await zip.end();
}

function nameOf(one: ReportSheet): string {
  return 'page' in one ? one.page.name : one.table.name;
}

function widthsOf({ columns }: Pick<ToneTable, 'columns'>, rows: readonly ToneRow[]): number[] {
  const wanted = columnWidths(
    columns.map(({ heading }) => ({ heading, kind: 'text' })),
    rows.map(({ cells }) => cells),
  );
  return columns.map(({ kind, width }, i) => width ?? (kind === 'instant' ? 18 : wanted[i]!));
}
