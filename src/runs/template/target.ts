import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SHEET } from '../../blank-workbook/columns.js';
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

/**
 * Only an untouched template is written over. A workbook that somebody has filled in is not, and neither is a file that
 * cannot be read as one: protected by a password, cut off, of another program, or a workbook of somebody's own.
 */
async function checkWorkbook(target: string, shown: string, sheet: string): Promise<void> {
  const [first, ...others] = [...new Set([sheet, ...Object.values(SHEET)])];
  let blank: Looked | undefined;
  let unreadable: string | undefined;
  for (const name of [first ?? sheet, ...others]) {
    const looked = await lookAt(target, name);
    if (looked.kind === 'filled') {
      throw new RunError(
        'usage',
        `${shown} is there already and holds rows that somebody filled in (row ${looked.row} of "${name}"). Nothing was written. Name another file, or move this one.`,
      );
    }
    if (looked.kind === 'blank') blank = looked;
    else unreadable ??= looked.why;
  }
  const help = blank ? await lookAt(target, HELP) : undefined;
  if (blank && help?.kind !== 'unreadable') return;
  const why = blank ? `it has no sheet "${HELP}"` : unreadable;
  throw new RunError(
    'usage',
    `${shown} is there already, and it is not a blank workbook of \`rowferry template\`: ${why}${/[.!?]$/.test(why ?? '') ? '' : '.'} Nothing was written. Name another file, or move this one.`,
  );
}

/** A sheet of every template. */
const HELP = 'Help';

type Looked =
  | { readonly kind: 'blank' }
  | { readonly kind: 'filled'; readonly row: number }
  | { readonly kind: 'unreadable'; readonly why: string };

async function lookAt(target: string, sheet: string): Promise<Looked> {
  try {
    const source = await openSource(target, { format: 'xlsx', sheet, header_row: 1 });
    for await (const batch of source.rows()) {
      const filled = batch.find(({ cells }) => !cells.every(isBlank));
      if (filled) return { kind: 'filled', row: filled.row };
    }
    return { kind: 'blank' };
  } catch (error) {
    if (error instanceof RunError) return { kind: 'unreadable', why: withoutPath(error.message, target) };
    throw error;
  }
}

const withoutPath = (text: string, path: string) => text.replace(`${path}: `, '').replace(/ Nothing was sent\.$/, '');
