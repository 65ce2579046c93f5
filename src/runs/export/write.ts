import { writeSafely } from '../../files/safe-write.js';
import { tableFormat, type WrittenTable, writeTable } from '../../files/table-write.js';
import type { TableRows } from '../../model/table.js';
import type { SummaryTarget } from '../../report/summary.js';
import { writeBase } from './base.js';
import type { ReadConnection } from './connect.js';
import { type Layout, layOut } from './lay-out.js';
import type { ExportPlan } from './plan.js';
import type { Records } from './records.js';
import type { ExportRun } from './run.js';
import { recordMaker } from './select.js';
import { jobFileBeside } from './target.js';

/** The file as it was written, and its data rows. */
export type Written = SummaryTarget & { readonly rows: number };

/**
 * Writes the table, and the job file beside it. At every moment the target is the old file or the complete new one.
 * `confirmed`: the new one is placed once it resolves; where it rejects, the old one stays.
 */
export async function writeRecords(
  run: ExportRun,
  connection: ReadConnection,
  plan: ExportPlan,
  list: Records,
  confirmed?: Promise<void>,
): Promise<Written> {
  const layout = await layOut(run, connection, plan, list);
  const { imported } = layout;
  if (!imported) return writeFiles(run, connection, list, layout, { confirmed });
  const fields = imported.map(({ field }) => field);
  return writeBase(run.folder, fields, (base) =>
    writeFiles(run, connection, list, layout, {
      confirmed,
      onRow: (id, row) =>
        base.add(
          id,
          imported.map(({ index }) => row[index] ?? ''),
        ),
    }),
  );
}

type OnRow = (id: number, row: readonly string[]) => Promise<void>;

async function writeFiles(
  run: ExportRun,
  connection: ReadConnection,
  list: Records,
  { columns, cells, selection, about, job }: Layout,
  { confirmed, onRow }: { readonly confirmed: Promise<void> | undefined; readonly onRow?: OnRow },
): Promise<Written> {
  const { file } = run.request;
  const toRecord = recordMaker(run, connection);
  async function* rows(): TableRows {
    for await (const batch of list.read(selection.ids)) {
      const made: string[][] = [];
      for (const json of batch) {
        const record = toRecord(json);
        const row = cells.map((cell) => cell(record));
        if (onRow && record.read) await onRow(record.read.id, row);
        made.push(row);
      }
      yield made;
    }
    await confirmed;
  }
  const written = await writeTable(file, columns, rows(), about, {
    signal: run.signal,
    onRows: (done) => run.progress('writing', done, selection.rows),
  });
  warnOfShortened(run, written);
  const { bytes, sha256, sheets, rows: count } = written;
  const jobFile = job && (await writeJob(file, job(sheets?.[0])));
  return {
    path: file,
    ...tableFormat(file),
    bytes,
    sha256,
    columns: columns.length,
    rows: count,
    ...(sheets && { sheets }),
    ...(jobFile !== undefined && { job: jobFile }),
  };
}

async function writeJob(target: string, text: string): Promise<string> {
  const path = jobFileBeside(target);
  await writeSafely(path, (write) => write(text));
  return path;
}

function warnOfShortened(run: ExportRun, { shortened }: WrittenTable): void {
  if (!shortened) return;
  const { cells, first } = shortened;
  const places = first.map(({ sheet, cell, heading }) => `${sheet}!${cell} ${heading}`).join(', ');
  run.warn(
    `${cells === 1 ? 'One text is' : `${cells} texts are`} longer than the 32,767 characters that a cell of a workbook can hold and ${cells === 1 ? 'was' : 'were'} cut: ${places}${cells > first.length ? ' and others' : ''}. ` +
      'Export as CSV or NDJSON to have them whole.',
  );
}
