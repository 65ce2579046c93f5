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
 * The editable export of this data folder that wrote a workbook, as its sheet About says, with the job that imports the changed
 * file: it writes only cells that were changed. Undefined where the workbook is none, or its export is not at hand.
 */
export async function writtenBy(
  file: string,
  { sheets }: SourceMeta,
  home: string,
  resource: string,
): Promise<(WrittenBy & { readonly text: string }) | undefined> {
  const run = sheets?.includes(ABOUT) ? await runIn(file) : undefined;
  const path = run && (await readRunSummary(home, run).catch(() => undefined))?.target?.job;
  const text = path && (await readFile(path, 'utf8').catch(() => undefined));
  if (!run || !text?.startsWith(EDITABLE_MARK)) return undefined;
  const { job } = checkJobText(text);
  if (job?.kind !== 'import' || job.resource !== resource || job.edited_from !== run) return undefined;
  const fields = Object.entries(job.columns).flatMap(([heading, given]) =>
    targetsOf(given).map(({ field }) => [heading, field] as const),
  );
  return { run, text, fields: new Map(fields) };
}

async function runIn(file: string): Promise<string | undefined> {
  const { rows } = await openSource(file, { sheet: ABOUT, header_row: 'none' });
  for await (const batch of rows())
    for (const { cells } of batch) {
      const [name, value] = cells;
      if (name === 'Run' && typeof value === 'string' && isRunId(value)) return value;
    }
  return undefined;
}
