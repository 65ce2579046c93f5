import { readFile } from 'node:fs/promises';
import { EDITABLE_MARK } from '../export/editable.js';
import { openSource } from '../files/open.js';
import { targetsOf } from '../model/job.js';
import type { SourceMeta } from '../model/source.js';
import type { WrittenBy } from '../suggest/suggest.js';
import { checkJobText } from './job-file.js';
import { isRunId, readRunSummary } from './run/list.js';

/** The sheet of a workbook of ours that says where its records are from. */
const ABOUT = 'About';

/**
 * The editable export that wrote a workbook, as its sheet About says, with the job that imports the changed file: it writes only
 * cells that were changed. Without `written` that export, or its job, is not at hand. Undefined where the workbook is none.
 */
export async function editedFile(
  file: string,
  { sheets }: SourceMeta,
  home: string,
  resource: string,
): Promise<{ readonly run: string; readonly text: string; readonly written?: WrittenBy } | undefined> {
  const run = sheets?.includes(ABOUT) ? await runIn(file) : undefined;
  if (run === undefined) return undefined;
  const path = (await readRunSummary(home, run).catch(() => undefined))?.target?.job;
  const text = (path && (await readFile(path, 'utf8').catch(() => undefined))) || '';
  const { job } = checkJobText(text.startsWith(EDITABLE_MARK) ? text : '');
  if (job?.kind !== 'import' || job.edited_from !== run) return { run, text };
  if (job.resource !== resource) return undefined;
  const fields = Object.entries(job.columns).flatMap(([heading, given]) =>
    targetsOf(given).map(({ field }) => [heading, field] as const),
  );
  return { run, text, written: { run, fields: new Map(fields) } };
}

async function runIn(file: string): Promise<string | undefined> {
  const { rows } = await openSource(file, { sheet: ABOUT, header_row: 'none' });
  let isEditable = false;
  for await (const batch of rows())
    for (const { cells } of batch) {
      const [name, value] = cells;
      isEditable ||= name === 'Changing it';
      if (name === 'Run' && isEditable && typeof value === 'string' && isRunId(value)) return value;
    }
  return undefined;
}
