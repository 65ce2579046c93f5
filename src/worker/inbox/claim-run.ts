import { createHash } from 'node:crypto';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RunError } from '../../model/error.js';
import { visible } from '../../model/visible.js';
import { reached } from '../../trace/milestones.js';
import { type Claim, COMPLETE, claimFolder, endedPrefix, isDataName, segment, shown } from './claim.js';
import { codeOf, isFolder, makeFolders, openPlain, placeText, reasonOf } from './disk.js';
import { type Ledger, openLedger } from './ledger.js';

/** The run that had the same content first. */
export interface FirstRun {
  readonly run: string;
  /** Name of its file as it was dropped. */
  readonly file: string;
  /** When it was begun, ISO 8601. */
  readonly at: string;
}

export type ContentCheck =
  | { readonly verdict: 'run'; readonly sha256: string }
  | { readonly verdict: 'repeated' | 'wait'; readonly sha256: string; readonly first: FirstRun };

/** The drop folder, as the run of a claim needs it. */
export interface DropFolder {
  readonly dir: string;
  readonly ledger: Ledger;
}

export function openDropFolder(dir: string): DropFolder {
  return { dir, ledger: openLedger(dir) };
}

/**
 * Before a claim is run: `run` (also where this very claim had begun before), `repeated` where its content was run to the
 * end with the same job and company, `wait` while another claim with that content is being run: ask again in a while.
 * `repeat`: the job's own; then always `run`.
 * @throws RunError `failed` where the file cannot be read or is none, or the ledger cannot be written.
 */
export async function checkContent(
  { dir, ledger }: DropFolder,
  claim: Claim,
  jobSha256: string,
  company: number,
  repeat: boolean,
): Promise<ContentCheck> {
  const sha256 = await hashOf(claim);
  if (repeat) return { verdict: 'run', sha256 };
  const purpose = createHash('sha256').update(`${jobSha256}\0${company}`).digest('hex').slice(0, 16);
  try {
    const first = await ledger.enter(claim, `${sha256}-${purpose}`);
    if (!first) return { verdict: 'run', sha256 };
    const { run, file, at, state } = first;
    return { verdict: state === 'finished' ? 'repeated' : 'wait', sha256, first: { run, file, at } };
  } catch (error) {
    throw new RunError(
      'failed',
      `Whether "${shown(claim.name)}" was imported before cannot be found out: in the drop folder ${dir}, ${reasonOf(error)}. ` +
        'Nothing was sent. Put that right and drop the file again.',
      [],
      { cause: error },
    );
  }
}

async function hashOf(claim: Claim): Promise<string> {
  try {
    const handle = await openPlain(claim.file);
    try {
      if (!(await handle.stat()).isFile()) throw new Error('it is no plain file');
      const hash = createHash('sha256');
      for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk);
      return hash.digest('hex');
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new RunError(
      'failed',
      `The file ${shown(claim.file)} cannot be read: ${reasonOf(error)}. Nothing was sent. Drop the file again.`,
      [],
      { cause: error },
    );
  }
}

/** NOTE.txt of a claim that is not run because of `first`, whose reports lie in a folder of the drop folder. */
export function repeatedNote(
  claim: Claim,
  first: FirstRun,
  reports: string | undefined,
): { name: 'NOTE.txt'; text: string } {
  const text = [
    `The file "${shown(claim.name)}" was not imported: its content has been imported before, by the same job.`,
    '',
    `First imported:  ${first.at}, as "${shown(first.file)}"`,
    `Run:             ${first.run}`,
    `Its reports:     ${reports ?? 'they are not in the drop folder any more'}`,
    '',
    'Nothing was sent to the service this time. To import new data, change the file and drop it again.',
    `To import the same content every time it is dropped, put the line "repeat: true" into the job file of "${shown(claim.job)}".`,
    '',
  ];
  return { name: 'NOTE.txt', text: text.join('\n') };
}

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
 *   note written → ledger settled → place said to the ledger → folder moved → own mark removed        every step may be done again
 *
 * @throws RunError `failed` where the folder cannot be moved; it is still in `processing/`.
 */
export async function endClaim(folder: DropFolder, claim: Claim, end: ClaimEnd): Promise<string> {
  const { dir, ledger } = folder;
  const from = claimFolder(dir, claim);
  const parent = join(dir, end.place, segment(claim.job));
  const name = `${endedPrefix(claim)} - ${end.result}`;
  try {
    const here = await isFolder(from);
    if (here && end.note) await placeText(join(from, end.note.name), visible(end.note.text));
    await ledger.settle(claim, end.finished);
    const before = await endedFolder(folder, claim);
    if (!here && before === undefined) return join(parent, name);
    const now = before ?? (await move(folder, claim, join(end.place, claim.job, name)));
    if (here && before !== undefined) await merge(from, before);
    if (here) reached('archived');
    await rm(join(now, COMPLETE), { force: true });
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

/** The folder in which a claim has ended; undefined for one that has not, or whose folder somebody removed. */
export async function endedFolder(
  { dir, ledger }: DropFolder,
  claim: Pick<Claim, 'job' | 'run'>,
): Promise<string | undefined> {
  const relative = await ledger.movedTo(claim);
  // The ledger is told before the folder moves: while its file lies in `processing/`, it has not.
  if (relative === undefined || (await holdsFile(claimFolder(dir, claim)))) return undefined;
  const folder = join(dir, relative);
  return (await isFolder(dirname(folder))) && (await isFolder(folder)) ? folder : undefined;
}

async function holdsFile(folder: string): Promise<boolean> {
  return (await readdir(folder).catch((): string[] => [])).some(isDataName);
}

/** A name that another run has there gets a number. A folder that holds something is never replaced by a rename. */
async function move(folder: DropFolder, claim: Claim, relative: string): Promise<string> {
  const { dir, ledger } = folder;
  await makeFolders(join(dir, dirname(relative)));
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? relative : `${relative} (${number})`;
    await ledger.moving(claim, numbered);
    try {
      await rename(claimFolder(dir, claim), join(dir, numbered));
      return join(dir, numbered);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(error))) throw error;
    }
  }
}

/** A run that was delivered once more has written reports after its folder moved: they join the others. */
async function merge(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name));
  await rmdir(from);
}
