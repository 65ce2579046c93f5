import { writeAtomically } from '../../files/atomic-write.js';
import { tableFormat, type WrittenTable, writeTable } from '../../files/table-write.js';
import { RunInterrupted } from '../../model/error.js';
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
 * `confirmed`: the new one is placed once it resolves; where it rejects, the old one stays.
 */
export async function writeRecords(plan: ExportPlan, list: Records, confirmed?: Promise<void>): Promise<WrittenExport> {
  const layout = await createLayout(plan, list);
  const { imported } = layout;
  if (!imported) return writeFiles(plan, list, layout, { confirmed });
  const fields = imported.map(({ field }) => field);
  return writeBase(plan.run.folder, fields, (add) =>
    writeFiles(plan, list, layout, {
      confirmed,
      onRow: (id, row) =>
        add(
          id,
          imported.map(({ index }) => row[index] ?? ''),
        ),
    }),
  );
}

type OnRow = (id: number, row: readonly string[]) => void;

async function writeFiles(
  plan: ExportPlan,
  list: Records,
  { columns, selection, about, job }: Layout,
  { confirmed, onRow }: { readonly confirmed: Promise<void> | undefined; readonly onRow?: OnRow },
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
    await confirmed;
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

/** Rows between two looks at the answers of the service: about a millisecond of work. */
const DRAFT_BATCH_ROWS = 50;

/**
 * The file, made from the first reading while the list is read again: most lists are at rest, and the process has little
 * else to do. It takes the place of the target once the second reading has shown the same.
 *
 *   begun → rows are written → waits → the readings agree: in its place
 *                                    → they do not, or the reading failed: thrown away, as if it had never been begun
 */
export function openDraft(plan: ExportPlan) {
  const { run } = plan;
  const discarding = new AbortController();
  let drafted: Promise<WrittenExport> | undefined;
  let isReading = true;
  /** What it has to say is said when it counts. */
  const heldWarnings: string[] = [];
  let confirm: () => void = () => undefined;
  const confirmed = new Promise<void>((resolve, reject) => {
    confirm = resolve;
    discarding.signal.addEventListener('abort', () => reject(new RunInterrupted()));
  });
  confirmed.catch(() => undefined);

  const drafting: ExportRun = {
    ...run,
    signal: AbortSignal.any([run.signal, discarding.signal]),
    warn: (text) => (isReading ? heldWarnings.push(text) : run.warn(text)),
    progress(phase, done, total) {
      if (!isReading) run.progress(phase, done, total);
    },
  };

  /** The records in small batches, with answers of the service in between. */
  async function* read(list: Records, ids?: Iterable<number>): ReturnType<Records['read']> {
    for await (const batch of list.read(ids)) {
      for (let from = 0; from < batch.length; from += DRAFT_BATCH_ROWS) {
        if (isReading) await new Promise((resolve) => setImmediate(resolve));
        yield batch.slice(from, from + DRAFT_BATCH_ROWS);
      }
    }
  }

  async function discard(): Promise<void> {
    discarding.abort();
    await drafted?.catch(() => undefined);
  }
  run.closers.push(discard);

  return {
    /** `list`: what the first reading showed. */
    begin(list: Records): void {
      // Its import needs names that are asked for, which is left until the list has been read.
      if (run.request.editable) return;
      drafted = writeRecords({ ...plan, run: drafting }, { ...list, read: (ids) => read(list, ids) }, confirmed);
      drafted.catch(() => undefined);
    },
    /** What was written, once it is in its place; undefined where there is no draft of this list. Throws what `writeRecords` does. */
    async finish(list: Records): Promise<WrittenExport | undefined> {
      isReading = false;
      if (drafted && !list.asFirst) await discard();
      if (!drafted || !list.asFirst) return undefined;
      heldWarnings.forEach(run.warn);
      confirm();
      const written = await drafted;
      run.progress('writing', written.rows, written.rows);
      return written;
    },
  };
}
