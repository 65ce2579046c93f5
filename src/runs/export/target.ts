import { constants } from 'node:fs';
import { access, lstat, open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EDITABLE_MARK } from '../../export/editable.js';
import { makeFolder } from '../../files/make-folder.js';
import { tableFormat } from '../../files/table-write.js';
import { RunError } from '../../model/error.js';
import { IMPORTABLE } from '../../model/job.js';
import type { ExportRequest } from './request.js';

/** The folder of the target as messages speak of it. */
const OUTPUT = { what: 'folder of the export', namedBy: '`output` in the job, or -o' } as const;

/** `assets.xlsx`, `assets.csv.gz` → `assets.yaml` in the same folder. */
export function jobFileBeside(target: string): string {
  return join(dirname(target), `${basename(target).replace(/\.(csv|xlsx|ndjson)(\.gz)?$/i, '')}.yaml`);
}

/**
 * Whether the file can be written, before the service is asked for anything. Throws `RunError('usage')` for a name that is
 * no format, and `RunError('failed')` for a place that cannot be written.
 */
export async function checkTarget(request: ExportRequest): Promise<void> {
  const { target, editable, resource } = request;
  tableFormat(target);
  if (request.makeFolder) await makeFolder(dirname(target), OUTPUT);
  await checkFolder(target);
  const there = await stat(target).catch(() => undefined);
  if (there?.isDirectory()) throw new RunError('usage', `${target}: this is a folder. Name a file with -o.`);
  if (there && !there.isFile()) {
    throw new RunError('usage', `${target}: this is a pipe or device, not a file. Name a file with -o.`);
  }
  if (editable) await checkEditable(target, resource);
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
  if ((await headOf(job)).startsWith(EDITABLE_MARK)) return;
  throw new RunError(
    'usage',
    `${job} is there and was not written by \`rowferry export --editable\`: it is left alone. Nothing was read or written. ` +
      'Name another file with -o, or move that one away: the job that imports the changed file is written there.',
  );
}

async function headOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(200), 0, 200, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
