import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { usageError } from '../../model/error.js';
import { isReportName } from '../../runs/run/present.js';

/** A file that was taken from the drop folder; contract section 9. */
export interface Claim {
  readonly job: string;
  /** Id of the run that imports it: `newRunId`. Ids sort by the time of the claim. */
  readonly run: string;
  /** `<inbox>/processing/<job>/<run id>`; the reports of the run belong here (`reportDir`). */
  readonly dir: string;
  /** Absolute path of the data file, in `dir`. Its name is the dropped one, except where a report would overwrite it. */
  readonly file: string;
  /** The file's name as it was dropped. It may hold any character but `/`. */
  readonly name: string;
}

/** Folders of the inbox that are no job's: what was taken, and what has ended. */
export const RESERVED_FOLDERS = ['processing', 'done', 'failed'] as const;

/** The claim whose data file lies in its folder under this name. */
export function claimOf(inbox: string, job: string, run: string, file: string): Claim {
  const dir = claimFolder(inbox, { job, run });
  return { job, run, dir, file: join(dir, file), name: droppedName(file) };
}

/** Where a claim lies until it ends. */
export function claimFolder(inbox: string, claim: Pick<Claim, 'job' | 'run'>): string {
  return join(inbox, 'processing', safeSegment(claim.job), safeSegment(claim.run));
}

/**
 * How the name of the folder begins in which a claim ends: `2026-11-22 13.41 assets`, with its time in UTC and the file's
 * name, of characters that shares of Windows keep, too.
 */
export function endedPrefix({ run, name }: Pick<Claim, 'run' | 'name'>): string {
  const [, year, month, day, hour, minute] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/.exec(run) ?? [];
  const at = year === undefined ? safeSegment(run) : `${year}-${month}-${day} ${hour}.${minute}`;
  return `${at} ${plainName(name)}`;
}

function plainName(name: string): string {
  const plain = displayName(name)
    .normalize('NFC')
    .replace(/(?!^)\.[a-z0-9]{1,8}(?:\.gz)?$/i, '')
    .replace(/[<>:"/\\|?*]/g, '_');
  return Array.from(plain).slice(0, 40).join('').trim();
}

/** Whether the name of a folder in which a claim has ended is made of the one that a file has in it. */
export function isNamedAfter(folder: string, file: string): boolean {
  const [, rest = ''] = ENDED_FOLDER.exec(basename(folder).normalize('NFC')) ?? [];
  return isDataName(file) && rest.startsWith(`${plainName(droppedName(file))} - `);
}

/** How names of folders begin in which claims end: `endedPrefix`. */
export const ENDED_FOLDER = /^\d{4}-\d\d-\d\d \d\d\.\d\d (.*)$/s;

/** Names come back from the queue: one that leads elsewhere is refused. */
export function safeSegment(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)) return name;
  throw usageError(`"${displayName(name)}" cannot be the name of a folder in the drop folder.`);
}

/** What rowferry itself writes beside the file. People drop a corrected `rejected.csv` again: it must not be overwritten. */
const isOwnFile = (name: string): boolean =>
  isReportName(name) || /^(?:(?:error|note|readme)\.txt|reconcile\.json)$/i.test(name);
const DROPPED_PREFIX = 'dropped-';

/** How the name of a note ends that lies where a file was dropped, and says what became of it. */
export const RESULT_SUFFIX = '.result.txt';

/** The name that a dropped file has in its claim: its own, or one beside it where a report has that. */
export function claimedName(name: string): string {
  return isOwnFile(name) ? `${DROPPED_PREFIX}${name}` : name;
}
function droppedName(claimed: string): string {
  const rest = claimed.startsWith(DROPPED_PREFIX) ? claimed.slice(DROPPED_PREFIX.length) : '';
  return isOwnFile(rest) ? rest : claimed;
}

/** A name for people: without characters that steer a terminal or turn the text round, and of bounded length. */
export function displayName(name: string): string {
  const clean = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '?');
  return clean.length > 120 ? `${clean.slice(0, 100)}…${clean.slice(-16)}` : clean;
}

/**
 * Claims, oldest first: those of this process, of others, and of processes that are gone. A claim that is offered twice must
 * become one job; its run id is the same. What cannot be read is left out.
 */
export async function listClaims(inbox: string): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const job of await visibleFolders(join(inbox, 'processing'))) {
    for (const run of await visibleFolders(join(inbox, 'processing', job))) {
      const file = await dataFileIn(claimFolder(inbox, { job, run }));
      if (file !== undefined) claims.push(claimOf(inbox, job, run, file));
    }
  }
  return claims.sort((a, b) => (a.run < b.run ? -1 : 1));
}

/** Runs of a job's claims that came before this one, oldest first; their files may be gone. */
export async function runsBefore(inbox: string, { job, run }: Pick<Claim, 'job' | 'run'>): Promise<string[]> {
  const runs = await visibleFolders(join(inbox, 'processing', safeSegment(job)));
  return runs.filter((other) => other < run).sort();
}

/** Name of the data file of a claim; undefined where it is just being moved in, or is gone. */
export async function dataFileIn(folder: string): Promise<string | undefined> {
  return (await readdir(folder).catch((): string[] => [])).find(isDataName);
}

export function isDataName(name: string): boolean {
  return !name.startsWith('.') && !isOwnFile(name);
}

async function visibleFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map((entry) => entry.name);
}
