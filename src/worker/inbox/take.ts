import { rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSharedFolder, newRunId } from '../../runs/layout.js';
import { reached } from '../../trace/milestones.js';
import { type Claim, claimedName, segment, shown } from './claim.js';
import { codeOf, makeFolders } from './disk.js';
import type { Candidate } from './waiting.js';

/**
 * Takes a file by renaming it into a folder of its own: of several workers one succeeds. Undefined where another one, or
 * whoever dropped it, was faster. Rejects with the fault of the file system; the file is then where it was.
 */
export async function take(dir: string, { job, path, raw, ready }: Candidate): Promise<Claim | undefined> {
  const parent = join(dir, 'processing', segment(job));
  await makeFolders(parent);
  const run = await freshRun(parent);
  const folder = join(parent, run);
  const file = join(folder, claimedName(raw));
  try {
    // The marker first: one that outlived its file would have the next file of that name taken half written.
    if (ready) await unlink(ready);
    await rename(path, file);
    reached('claimed');
  } catch (error) {
    await rmdir(folder).catch(() => undefined);
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  return { job, run, dir: folder, file, name: shownRaw(raw) };
}

let lastRun = 0;

/** Makes the folder of a run. Ids of this process never fall into the same millisecond: many files come at once. */
async function freshRun(parent: string): Promise<string> {
  for (;;) {
    lastRun = Math.max(Date.now(), lastRun + 1);
    const run = newRunId(new Date(lastRun));
    try {
      await makeSharedFolder(join(parent, run));
      return run;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** A name that is no UTF-8 is told as well as it can be. */
function shownRaw(raw: Buffer): string {
  const text = raw.toString('utf8');
  return Buffer.from(text, 'utf8').equals(raw) ? text : shown(text);
}
