import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RunError } from '../../model/error.js';
import { visible } from '../../model/visible.js';
import { reached } from '../../trace/milestones.js';
import { type Claim, claimFolder, endedPrefix, segment } from './claim.js';
import { CLAIM_NOTE, readClaimNote } from './claim-note.js';
import { codeOf, createText, isFolder, makeFolders, placeText, reasonOf, textOf } from './disk.js';
import { noteFinished, withdraw } from './ledger.js';

export interface ClaimEnd {
  readonly place: 'done' | 'failed';
  /** What became of it, in a few words: the end of the folder's name. */
  readonly result: string;
  /** Then the content counts as run, and is not run again. */
  readonly finished: boolean;
  readonly note?: { readonly name: 'ERROR.txt' | 'NOTE.txt'; readonly text: string };
}

/**
 * Ends a claim: the folder moves as a whole to `<dir>/<place>/<job>/`, under a name that people can read. May be called again
 * after a crash, or for a claim that has ended; one that ended elsewhere stays there. Returns the folder in which things lie now.
 *
 *   note written → ledger settled → name reserved → folder moved → own note removed        every step may be done again
 *
 * @throws RunError `failed` where the folder cannot be moved; it is still in `processing/`.
 */
export async function endClaim(dir: string, claim: Claim, end: ClaimEnd): Promise<string> {
  const from = claimFolder(dir, claim);
  const parent = join(dir, end.place, segment(claim.job));
  const name = `${endedPrefix(claim)} - ${end.result}`;
  try {
    const here = await isFolder(from);
    if (here && end.note) await placeText(join(from, end.note.name), visible(end.note.text));
    const before = await endedFolder(dir, claim);
    const note = (await readClaimNote(from)) ?? (before === undefined ? undefined : await readClaimNote(before));
    const key = note === 'torn' ? undefined : note?.ledger;
    if (key !== undefined) await (end.finished ? noteFinished : withdraw)(dir, claim, key);
    if (!here && before === undefined) return join(parent, name);
    const to = before ?? join(parent, await reserve(dir, claim, name, end.place));
    const now = here ? await move(dir, claim, from, to) : to;
    if (here) reached('archived');
    await rm(join(now, CLAIM_NOTE), { force: true });
    return now;
  } catch (error) {
    throw new RunError(
      'failed',
      `The folder ${from} cannot be moved to ${parent}: ${reasonOf(error)}. It is left where it is; put that right, and it is tried again.`,
      [],
      { cause: error },
    );
  }
}

/** The folder in which a claim has ended. */
export async function endedFolder(
  dir: string,
  claim: Pick<Claim, 'job' | 'run' | 'name'>,
): Promise<string | undefined> {
  const ledger = join(dir, '.ledger', segment(claim.job));
  const prefix = `${endedPrefix(claim)} - `;
  for (const entry of await readdir(ledger).catch((): string[] => [])) {
    const [, name = '', place = ''] = /^(.+)\.(done|failed)$/.exec(entry) ?? [];
    if (!name.startsWith(prefix) || (await textOf(join(ledger, entry))) !== claim.run) continue;
    const parent = join(dir, place, claim.job);
    if ((await isFolder(parent)) && (await isFolder(join(parent, name)))) return join(parent, name);
  }
  return undefined;
}

/**
 * A name that no other run has, in the place where it ends: a file of it, in the ledger of the job, holds the run's id. So the
 * runs of a minute keep apart, and one that is taken up in the middle of its move finds its folder.
 */
async function reserve(dir: string, claim: Claim, name: string, place: ClaimEnd['place']): Promise<string> {
  const ledger = join(dir, '.ledger', segment(claim.job));
  await makeFolders(ledger);
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? name : `${name} (${number})`;
    const entry = join(ledger, `${numbered}.${place}`);
    if ((await createText(entry, claim.run)) || (await textOf(entry)) === claim.run) return numbered;
  }
}

async function move(dir: string, claim: Claim, from: string, to: string): Promise<string> {
  await makeFolders(dirname(to));
  try {
    await rename(from, to);
  } catch (error) {
    switch (codeOf(error)) {
      case 'ENOENT': {
        // Another process ended it.
        const ended = await endedFolder(dir, claim);
        if (ended !== undefined) return ended;
        throw error;
      }
      case 'ENOTEMPTY':
      case 'EEXIST':
        await merge(from, to);
        break;
      default:
        throw error;
    }
  }
  return to;
}

/** A run that was delivered once more has written reports after its folder moved: they join the others. */
async function merge(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name));
  await rmdir(from);
}
