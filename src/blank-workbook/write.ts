import { writeFile } from 'node:fs/promises';
import ExcelJS from 'exceljs';
import { placeSafely } from '../files/safe-write.js';
import { addDataSheet, addExampleSheet } from './data-sheet.js';
import { addHelpSheet, type HelpFacts } from './help-sheet.js';
import { addListsSheet } from './lists-sheet.js';
import type { BlankWorkbook } from './plan.js';

/**
 * Writes the workbook and the job file beside it; each is the old file or the complete new one at every moment. The
 * workbook is held in memory: its size goes with the lists it offers, not with the rows it has room for.
 */
export async function writeBlankWorkbook(
  plan: BlankWorkbook,
  facts: HelpFacts,
  target: { readonly workbook: string; readonly job: string; readonly jobText: string },
): Promise<void> {
  const book = new ExcelJS.Workbook();
  book.creator = 'rowferry';
  addDataSheet(book, plan);
  addExampleSheet(book, plan);
  addHelpSheet(book, plan, facts);
  addListsSheet(book, plan);
  const bytes = Buffer.from(await book.xlsx.writeBuffer());
  // The job goes into place when the workbook lies ready to follow it.
  await placeSafely(target.workbook, async (temporary) => {
    await writeFile(temporary, bytes, { flag: 'wx' });
    await placeSafely(target.job, (other) => writeFile(other, target.jobText, { flag: 'wx' }));
  });
}
