import { stat } from 'node:fs/promises';
import { RunError } from '../../model/error.js';
import { codeOf, makeFolders, reasonOf } from './disk.js';

/** What passes by itself: the watching says so, and goes on trying. */
const PASSING: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN']);

/**
 * Makes the drop folder where it is missing, before a worker begins: one that can never be made is a wrong setting.
 * @throws RunError `usage` naming the folder and what is in the way.
 */
export async function assertInbox(dir: string): Promise<void> {
  let why: string;
  let cause: unknown;
  try {
    // It may be a link to a folder; in it none may.
    const info = await stat(dir).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    if (!info) await makeFolders(dir);
    if (!info || info.isDirectory()) return;
    why = 'it is no folder';
  } catch (error) {
    if (PASSING.has(codeOf(error))) return;
    cause = error;
    why = WHY[codeOf(error)] ?? reasonOf(error);
  }
  throw new RunError(
    'usage',
    `The drop folder ${dir} cannot be used: ${why}. Name another folder with --inbox or ROWFERRY_INBOX; a worker for the queue alone (--queue-only) needs none.`,
    [],
    { cause },
  );
}

const WHY: Readonly<Record<string, string>> = {
  ENOTDIR: 'it lies below a file',
  ENOENT: 'it lies where no folders can be made',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'links lead round in a circle',
};
