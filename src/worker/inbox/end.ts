import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RunError } from '../../model/error.js';
import { visible } from '../../model/visible.js';
import { reached } from '../../trace/milestones.js';
import { type Claim, claimFolder } from './claim.js';
import { CLAIM_NOTE, readClaimNote } from './claim-note.js';
import { codeOf, isFolder, makeFolders, placeText, reasonOf } from './disk.js';
import { noteFinished, withdraw } from './ledger.js';

export interface ClaimEnd {
  readonly place: 'done' | 'failed';
  /** Then the content counts as run, and is not run again. */
  readonly finished: boolean;
  readonly note?: { readonly name: 'ERROR.txt' | 'NOTE.txt'; readonly text: string };
}

/**
 * Ends a claim: the folder moves as a whole to `<dir>/<place>/<job>/<run id>`. May be called again after a crash, or for a
 * claim that has ended; one that ended elsewhere stays there. Returns the folder in which things lie now.
 *
 *   note written → ledger settled → folder moved → own note removed        every step may be done again
 *
 * @throws RunError `failed` where the folder cannot be moved; it is still in `processing/`.
 */
export async function endClaim(dir: string, claim: Claim, end: ClaimEnd): Promise<string> {
  const from = claimFolder(dir, 'processing', claim);
  const to = claimFolder(dir, end.place, claim);
  try {
    const here = await isFolder(from);
    if (here && end.note) await placeText(join(from, end.note.name), visible(end.note.text));
    const note = (await readClaimNote(from)) ?? (await readClaimNote(to));
    const key = note === 'torn' ? undefined : note?.ledger;
    if (key !== undefined) await (end.finished ? noteFinished : withdraw)(dir, claim, key);
    if (here) {
      await move(from, to);
      reached('archived');
    } else if (!(await isFolder(dirname(to))) || !(await isFolder(to))) return await elsewhere(dir, claim, end.place);
    await rm(join(to, CLAIM_NOTE), { force: true });
    return to;
  } catch (error) {
    throw new RunError(
      'failed',
      `The folder ${from} cannot be moved to ${to}: ${reasonOf(error)}. It is left where it is; put that right, and it is tried again.`,
      [],
      { cause: error },
    );
  }
}

async function elsewhere(dir: string, claim: Claim, place: ClaimEnd['place']): Promise<string> {
  const other = claimFolder(dir, place === 'done' ? 'failed' : 'done', claim);
  return (await isFolder(other)) ? other : claimFolder(dir, place, claim);
}

async function move(from: string, to: string): Promise<void> {
  await makeFolders(dirname(to));
  try {
    await rename(from, to);
  } catch (error) {
    switch (codeOf(error)) {
      case 'ENOENT':
        // Another process ended it.
        if (await isFolder(to)) return;
        throw error;
      case 'ENOTEMPTY':
      case 'EEXIST':
        return merge(from, to);
      default:
        throw error;
    }
  }
}

/** A run that was delivered once more has written reports after its folder moved: they join the others. */
async function merge(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name));
  await rmdir(from);
}
