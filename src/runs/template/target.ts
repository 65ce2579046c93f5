import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isTemplateJob } from '../../blank-workbook/job-text.js';
import { openSource } from '../../files/open.js';
import { RunError } from '../../model/error.js';
import { isBlank } from '../../model/row.js';

/**
 * Refuses a target that cannot or must not be written, before anything is. Returns the path of the job file beside it.
 * `shown` is the file as the person named it; `sheet` the one that is filled in.
 */
export async function checkTarget(target: string, shown: string, sheet: string): Promise<string> {
  if (!/[^/\\]\.xlsx$/i.test(target)) {
    throw new RunError(
      'usage',
      `The template is a workbook, and ${shown} does not end in .xlsx. Name a file such as assets.xlsx.`,
    );
  }
  const folder = await stat(dirname(target)).catch(() => undefined);
  if (!folder?.isDirectory()) {
    throw new RunError(
      'usage',
      `${shown}: the folder ${dirname(target)} ${folder ? 'is a file' : 'does not exist. Create it first'}.`,
    );
  }
  const job = target.replace(/\.xlsx$/i, '.yaml');
  await checkJob(job);
  const there = await stat(target).catch(() => undefined);
  if (there && !there.isFile()) {
    throw new RunError('usage', `${shown} is ${there.isDirectory() ? 'a folder' : 'no plain file'}. Name a file.`);
  }
  if (there && there.size > 0) await checkWorkbook(target, shown, sheet);
  return job;
}

async function checkJob(job: string): Promise<void> {
  const there = await stat(job).catch(() => undefined);
  if (!there) return;
  if (there.isFile() && isTemplateJob(await readFile(job, 'utf8'))) return;
  throw new RunError(
    'usage',
    `The template's job file would be ${job}, and ${there.isFile() ? 'the one there was not written by `rowferry template`' : 'that is no plain file'}. Nothing was written. Name another workbook, or move that file.`,
  );
}

/** A workbook that somebody has filled in is not written over. What is no workbook at all is, as any output file. */
async function checkWorkbook(target: string, shown: string, sheet: string): Promise<void> {
  const rows = (await filledRows(target, sheet)) ?? (await filledRows(target));
  if (!rows) return;
  throw new RunError(
    'usage',
    `${shown} is there already and holds rows that somebody filled in (row ${rows.row} of "${rows.sheet}"). Nothing was written. Name another file, or move this one.`,
  );
}

async function filledRows(target: string, sheet?: string): Promise<{ row: number; sheet: string } | false | undefined> {
  try {
    const source = await openSource(target, sheet === undefined ? {} : { sheet, header_row: 1 });
    for await (const batch of source.rows()) {
      const filled = batch.find(({ cells }) => !cells.every(isBlank));
      if (filled) return { row: filled.row, sheet: source.meta.sheet ?? '' };
    }
    return false;
  } catch (error) {
    if (error instanceof RunError) return undefined;
    throw error;
  }
}
