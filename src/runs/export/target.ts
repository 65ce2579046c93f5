import { constants } from 'node:fs';
import { access, lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EDITABLE_MARK } from '../../export/editable.js';
import { makeFolder } from '../../files/make-folder.js';
import { LONGER_NAME, tableFormat } from '../../files/table-write.js';
import { RunError } from '../../model/error.js';
import { IMPORTABLE } from '../../model/resource-names.js';
import type { ExportRequest } from './request.js';

/** The folder of the target as messages speak of it. */
const OUTPUT = { what: 'folder of the export', namedBy: '`output` in the job, or -o' } as const;

/** `assets.xlsx`, `assets.csv.gz` → `assets.yaml` in the same folder. */
export function jobFileBeside(target: string): string {
  return join(dirname(target), `${basename(target).replace(/\.(csv|xlsx|ndjson)(\.gz)?$/i, '')}.yaml`);
}

/**
 * The file to write, once it is known that it can be written and before the service is asked for anything. `byHand`: a link to a
 * file is followed, where a worker replaces it. Throws `RunError('usage')` for a name that is no format, and `RunError('failed')`
 * for a place that cannot be written.
 */
export async function checkTarget(request: ExportRequest, { byHand }: { byHand: boolean }): Promise<string> {
  const { editable, resource } = request;
  if (request.makeFolder) await makeFolder(dirname(request.target), OUTPUT);
  const real = byHand ? await realpath(request.target).catch(() => undefined) : undefined;
  if (byHand && !real && (await lstat(request.target).catch(() => undefined))?.isSymbolicLink()) {
    throw new RunError(
      'usage',
      `${request.target}: this is a link to a file that is not there. Remove the link, or make the file it leads to.`,
    );
  }
  const target = real ?? request.target;
  tableFormat(target);
  // Bytes on Linux, characters elsewhere, of which there are no more.
  if (Buffer.byteLength(basename(target)) > LONGEST_NAME - LONGER_NAME) {
    throw new RunError(
      'usage',
      `${target}: the name is too long: while the file grows it has a longer one. Name a shorter one.`,
    );
  }
  await checkFolder(target);
  const there = await stat(target).catch(() => undefined);
  if (there?.isDirectory()) throw new RunError('usage', `${target}: this is a folder. Name a file with -o.`);
  if (there && !there.isFile()) {
    throw new RunError('usage', `${target}: this is a pipe or device, not a file. Name a file with -o.`);
  }
  if (there && !(await isWritable(target, there.mode))) {
    throw new RunError(
      'failed',
      `${target}: this file is there and is write-protected. Nothing was read. Make it writable, or name another file.`,
    );
  }
  if (editable) await checkEditable(target, resource);
  return target;
}

/** Longest name of a file. */
const LONGEST_NAME = 255;

/** The administrator may write to every file; what nobody may write is meant to stay. */
async function isWritable(path: string, mode: number): Promise<boolean> {
  if ((mode & 0o222) === 0) return false;
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function checkFolder(target: string): Promise<void> {
  const folder = dirname(target);
  const info = await stat(folder).catch(() => undefined);
  if (!info) throw new RunError('usage', `${target}: the folder ${folder} does not exist. Create it first.`);
  if (!info.isDirectory()) throw new RunError('usage', `${target}: ${folder} is a file, not a folder.`);
  const may = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!may) throw new RunError('failed', `${target}: this user may not write to ${folder}. Name another folder.`);
}

async function checkEditable(target: string, resource: string): Promise<void> {
  if (!IMPORTABLE.some((one) => one === resource)) {
    throw new RunError(
      'usage',
      `A ${resource} cannot be changed through the service, so --editable has no meaning for it. It is for ${IMPORTABLE.join(', ')}. Leave --editable out.`,
    );
  }
  const job = jobFileBeside(target);
  if (!(await lstat(job).catch(() => undefined))) return;
  const head = await headOf(job);
  if (head.startsWith(EDITABLE_MARK)) {
    const other = fileOf(head);
    if (other === undefined || other === oneLine(basename(target))) return;
    throw new RunError(
      'usage',
      `${job} is the job of ${other}, and would become the job of ${basename(target)}. Nothing was read or written. ` +
        `Name another file with -o; or, if ${other} is not to be imported any more, delete ${job}.`,
    );
  }
  throw new RunError(
    'usage',
    `${job} is there and was not written by \`rowferry export --editable\`: it is left alone. Nothing was read or written. ` +
      'Name another file with -o, or move that one away: the job that imports the changed file is written there.',
  );
}

/** Bytes in which the comment at the top of a job file names its file. */
const HEAD = 4096;

/** The file that a job belongs to, as the first command in its comment names it. */
function fileOf(head: string): string | undefined {
  return /^# +rowferry import (.+) --job .+ --dry-run$/m.exec(head)?.[1];
}

/** As comments have it. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

async function headOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
