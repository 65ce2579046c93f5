import { writeAtomically } from '../../files/atomic-write.js';
import { createBook } from '../../files/workbook/book.js';
import { type BookColumn, writeTableSheet } from '../../files/workbook/table.js';
import { DIFFERENCE_COLUMNS, ORPHAN_COLUMNS } from '../report-lines.js';

type Lines = AsyncIterable<readonly string[][]>;

const KINDS: Readonly<Record<string, BookColumn['kind']>> = { row: 'integer', absences: 'integer', since: 'date' };

const columnsOf = (names: readonly string[]) =>
  names.map((heading): BookColumn => ({ heading, kind: KINDS[heading] ?? 'text' }));

/**
 * reconcile.xlsx: the lines of differences.csv and orphans.csv as sheets to filter, which spreadsheet programs open alike
 * whatever their country separates columns with.
 */
export async function writeWorkbook(path: string, differences: Lines, orphans: Lines): Promise<void> {
  const tables = [
    { name: 'Differences', columns: columnsOf(DIFFERENCE_COLUMNS), rows: differences, empty: 'No field differs.' },
    { name: 'Orphans', columns: columnsOf(ORPHAN_COLUMNS), rows: orphans, empty: 'There are no orphans.' },
  ];
  await writeAtomically(path, async (write) => {
    const names = tables.map(({ name }) => name);
    const book = await createBook({ write }, names);
    for (const table of tables) await writeTableSheet(book, table);
    await book.end();
  });
}
