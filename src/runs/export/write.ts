import { writeAtomically } from '../../files/atomic-write.js';
import { tableFormat, type WrittenTable, writeTable } from '../../files/table-write.js';
import type { TableRows } from '../../model/table.js';
import type { SummaryTarget } from '../../report/summary.js';
import { writeBase } from './base.js';
import type { ExportPlan, Records } from './read.js';
import { type ExportRun, jobFileBeside } from './run.js';
import { createLayout, type Layout, recordMapper } from './table-layout.js';

/** The file as it was written, and its data rows. */
export type WrittenExport = SummaryTarget & { readonly rows: number };

/**
 * Writes the table, and the job file beside it. At every moment the target is the old file or the complete new one.
 */
export async function writeRecords(plan: ExportPlan, list: Records): Promise<WrittenExport> {
  const layout = await createLayout(plan, list);
  const { imported } = layout;
  if (!imported) return writeFiles(plan, list, layout);
  const fields = imported.map(({ field }) => field);
  return writeBase(plan.run.folder, fields, (add) =>
    writeFiles(plan, list, layout, (id, row) =>
      add(
        id,
        imported.map(({ index }) => row[index] ?? ''),
      ),
    ),
  );
}

type OnRow = (id: number, row: readonly string[]) => void;

async function writeFiles(
  plan: ExportPlan,
  list: Records,
  { columns, selection, about, job }: Layout,
  onRow?: OnRow,
): Promise<WrittenExport> {
  const { run } = plan;
  const { file } = run.request;
  const toRecord = recordMapper(plan);
  async function* rows(): TableRows {
    for await (const batch of list.read(selection.ids)) {
      const made: string[][] = [];
      for (const json of batch) {
        const record = toRecord(json);
        const row = columns.map((column) => column.text(record));
        if (onRow && record.read) onRow(record.read.id, row);
        made.push(row);
      }
      yield made;
    }
  }
  const written = await writeTable(file, columns, rows(), about, {
    signal: run.signal,
    writer: run.folder.run,
    onRows: (done) => run.progress('writing', done, selection.rows),
  });
  warnOfShortened(run, written);
  const { bytes, sha256, sheet, rows: count } = written;
  const jobFile = job && (await writeJob(file, job(sheet)));
  return {
    path: file,
    ...tableFormat(file),
    bytes,
    sha256,
    columns: columns.length,
    rows: count,
    ...(sheet !== undefined && { sheets: [sheet] }),
    ...(jobFile !== undefined && { job: jobFile }),
  };
}

async function writeJob(target: string, text: string): Promise<string> {
  const path = jobFileBeside(target);
  await writeAtomically(path, (write) => write(text));
  return path;
}

function warnOfShortened(run: ExportRun, { shortened }: WrittenTable): void {
  if (!shortened) return;
  run.warn(
    `Texts longer than the 32,767 characters that a cell of a workbook can hold, which were cut: ${shortened.cells} (the first in ${shortened.first}). ` +
      'Export as CSV or NDJSON to have them whole.',
  );
}
