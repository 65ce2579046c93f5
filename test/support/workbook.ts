import { writeAtomically } from '../../src/files/atomic-write.js';
import { createBook, sheetName } from '../../src/files/workbook/book.js';
import { type BookTable, type TableRow, writeTableSheet } from '../../src/files/workbook/table.js';

export interface TestSheet extends Partial<Pick<BookTable, 'headingRow' | 'inSight'>> {
  readonly sheet: string;
  readonly headings: readonly string[];
  readonly rows: readonly TableRow[] | AsyncIterable<readonly TableRow[]>;
}

/** A workbook of one sheet, whose cells a reader hands back as they are given. */
export async function writeWorkbook(path: string, { sheet, headings, rows, ...more }: TestSheet): Promise<void> {
  const name = sheetName(sheet);
  const columns = headings.map((heading) => ({ heading, kind: 'cell' as const }));
  await writeAtomically(path, async (write) => {
    const book = await createBook({ write }, [name]);
    await writeTableSheet(book, {
      name,
      columns,
      rows: Array.isArray(rows) ? batch(rows) : rows,
      ...more,
    } as BookTable);
    await book.end();
  });
}

async function* batch(rows: readonly TableRow[]) {
  yield rows;
}
