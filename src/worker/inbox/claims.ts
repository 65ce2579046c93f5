import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Claim, droppedName, isDataName } from './claim.js';
import { readClaimNote } from './claim-note.js';

/**
 * Claims in `<dir>/processing/` whose file is complete, oldest first: those of this process, of others, and of processes
 * that are gone. A claim that is offered twice must become one job; its run id is the same. Never throws: what cannot be
 * read is left out.
 */
export async function listClaims(dir: string): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const { job, run, folder } of await claimFolders(dir)) {
    const claim = await readClaim(job, run, folder).catch(() => undefined);
    if (claim) claims.push(claim);
  }
  return claims.sort((a, b) => (a.run < b.run ? -1 : a.run > b.run ? 1 : 0));
}

export interface ClaimFolder {
  readonly job: string;
  readonly run: string;
  readonly folder: string;
}

/** All folders of claims, whatever is in them. */
export async function claimFolders(dir: string): Promise<ClaimFolder[]> {
  const processing = join(dir, 'processing');
  const found: ClaimFolder[] = [];
  for (const job of await foldersIn(processing)) {
    for (const run of await foldersIn(join(processing, job))) {
      found.push({ job, run, folder: join(processing, job, run) });
    }
  }
  return found;
}

/** The name of the data file of a claim that has no note yet; undefined where there is none. */
export async function dataFileIn(folder: string): Promise<string | undefined> {
  return (await readdir(folder)).find(isDataName);
}

async function readClaim(job: string, run: string, folder: string): Promise<Claim | undefined> {
  const note = await readClaimNote(folder);
  if (note === undefined) return undefined;
  const file = note === 'torn' ? await dataFileIn(folder) : note.file;
  if (file === undefined) return undefined;
  const name = note === 'torn' ? droppedName(file) : note.name;
  return { job, run, dir: folder, file: join(folder, file), name };
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map((entry) => entry.name);
}
