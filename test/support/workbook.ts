import { writeSafely } from '../../src/files/safe-write.js';
import { openBook, sheetName } from '../../src/files/workbook/book.js';
import { type BookRow, type BookTable, writeTable } from '../../src/files/workbook/table.js';

export interface TestSheet extends Partial<Pick<BookTable, 'headingRow' | 'inSight'>> {
  readonly sheet: string;
  readonly headings: readonly string[];
  readonly rows: readonly BookRow[] | AsyncIterable<readonly BookRow[]>;
}

/** A workbook of one sheet, whose cells a reader hands back as they are given. */
export async function writeWorkbook(path: string, { sheet, headings, rows, ...more }: TestSheet): Promise<void> {
  const name = sheetName(sheet);
  const columns = headings.map((heading) => ({ heading, kind: 'cell' as const }));
  await writeSafely(path, async (write) => {
    const book = await openBook({ write }, [name]);
    await writeTable(book, { name, columns, rows: Array.isArray(rows) ? batch(rows) : rows, ...more } as BookTable);
    await book.end();
  });
}

async function* batch(rows: readonly BookRow[]) {
  yield rows;
}
