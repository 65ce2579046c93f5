import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { diskErrorText, usageError } from '../../model/error.js';
import { type FileJobKind, type JobFile, type JobFiles, takesFiles } from '../job-files.js';
import { displayName, RESERVED_FOLDERS } from './claim.js';
import { errorCode, isFolder, lstatIfExists, makeFolders, writeOnce } from './disk.js';

/** A file, or what else may be one, in the folder of a job. */
export interface Dropped {
  readonly job: string;
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly info: Stats;
  /** Its `.ready` marker; `isCurrent`: put there since the file last changed, so that it speaks of this file as it is. */
  readonly marker?: { readonly path: string; readonly isCurrent: boolean };
}

type Alerts = ReturnType<typeof openAlerts>;

/** What the operator is told once, until it is over. */
export function openAlerts(notice: (level: 'info' | 'warn', text: string) => void) {
  const raised = new Map<string, string>();
  return {
    raise(key: string, text: string): void {
      if (!raised.has(key)) notice('warn', text);
      raised.set(key, text);
    },
    /** Told only where there was something. */
    clear(key: string, text?: string): void {
      if (raised.delete(key) && text !== undefined) notice('info', text);
    },
    /** The inbox cannot do its work while it lasts, which health reports. */
    get problem(): string | undefined {
      return raised.get('dir');
    },
  };
}

/**
 * Makes the drop folder where it is missing, before a worker begins.
 * @throws RunError `usage` naming the folder and what is in the way.
 */
export async function assertInbox(dir: string): Promise<void> {
  try {
    await makeInbox(dir);
  } catch (error) {
    throw usageError(
      `The drop folder ${dir} cannot be used: ${diskErrorText(error)}. Name another folder with --inbox or ROWFERRY_INBOX; a worker for the queue alone (--queue-only) needs none.`,
      [],
      { cause: error },
    );
  }
}

/** It may be a link to a folder; in it none may. */
async function makeInbox(dir: string): Promise<void> {
  const info = await stat(dir).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
  if (!info) await makeFolders(dir);
  else if (!info.isDirectory()) throw new Error('it is no folder');
}

/**
 * Keeps the folders of the inbox in order, and looks at what was dropped. Undefined where the inbox cannot be used. `jobs` is
 * undefined where they cannot be read; `scheduled`: absolute paths that schedules read, which are left alone.
 */
export function openFolderScan(
  dir: string,
  alerts: Alerts,
): (jobs: JobFiles | undefined, scheduled: readonly string[]) => Promise<Dropped[] | undefined> {
  const readmes = new Set<string>();
  let isMade = false;

  async function prepareInbox(): Promise<boolean> {
    try {
      // Nothing is made in the place of a disk that is away: it would vanish from sight when the disk is back.
      if (isMade && !(await isFolder(join(dir, '.ledger')))) {
        throw new Error('what was in it is gone; bring its disk back, or start the worker again where it was deleted');
      }
      await makeInbox(dir);
      for (const place of [...RESERVED_FOLDERS, '.ledger']) await makeFolders(join(dir, place));
      isMade = true;
      alerts.clear('dir', `The drop folder ${dir} can be used again.`);
      return true;
    } catch (error) {
      const again = 'Nothing is taken; it is looked at again every few seconds.';
      alerts.raise('dir', `The drop folder ${dir} cannot be used: ${diskErrorText(error)}. ${again}`);
      return false;
    }
  }

  async function prepareJob({ name: job, kind }: JobFile & { readonly kind: FileJobKind }): Promise<void> {
    const folder = join(dir, job);
    try {
      if (isReservedFolder(job) || isIgnored(job)) throw new Error('it has another purpose, so rename the job file');
      await makeFolders(folder);
      if (!readmes.has(job)) await writeOnce(join(folder, 'README.txt'), readmeText(job, kind));
      readmes.add(job);
      alerts.clear(`job:${job}`);
    } catch (error) {
      alerts.raise(
        `job:${job}`,
        `The folder ${displayName(folder)} of that job cannot be used: ${diskErrorText(error)}.`,
      );
    }
  }

  async function scanJobFolder(
    job: string,
    jobs: JobFiles,
    scheduled: ReadonlySet<string>,
  ): Promise<readonly Dropped[]> {
    const folder = join(dir, job);
    const listing = await scanFolder(folder).catch((error: unknown) => {
      const text = `The folder ${displayName(folder)} cannot be read: ${diskErrorText(error)}. Nothing is taken from it.`;
      if (errorCode(error) !== 'ENOENT') alerts.raise(`read:${job}`, text);
    });
    if (!listing) return [];
    alerts.clear(`read:${job}`);
    const { undecodable } = listing;
    if (undecodable === undefined) alerts.clear(`name:${job}`);
    else
      alerts.raise(`name:${job}`, `A name in ${displayName(folder)} is not UTF-8: rename ${displayName(undecodable)}.`);
    const at = await realPathOf(folder);
    const files = listing.files.filter(({ name }) => !scheduled.has(join(at, name)));
    if (jobs.has(job)) return files;
    // Those of no job are refused, but not where a schedule reads, or may: that of a faulty job cannot be told.
    const mayBeScheduled =
      [...jobs.values()].some(({ faulty }) => faulty) || [...scheduled].some((file) => file.startsWith(at + sep));
    if (!mayBeScheduled) alerts.clear(`stranger:${job}`);
    if (!mayBeScheduled || files.length === 0) return files;
    const text = `${displayName(folder)} belongs to no job, and a schedule reads there, or may, as a job file has faults. Its files are left alone.`;
    alerts.raise(`stranger:${job}`, text);
    return [];
  }

  return async (jobs = new Map(), paths) => {
    if (!(await prepareInbox())) return undefined;
    for (const job of jobs.values()) {
      const text = `The job file of "${displayName(job.name)}" has faults: \`rowferry check ${displayName(job.name)}\` lists them.`;
      if (job.faulty) alerts.raise(`faulty:${job.name}`, text);
      else {
        alerts.clear(`faulty:${job.name}`);
        if (takesFiles(job)) await prepareJob(job);
      }
    }
    const top = await scanFolder(dir);
    // Whoever puts them there means the schedule. Links on the way are followed: a file may be named in two ways.
    const scheduled = new Set(
      await Promise.all(paths.map(async (path) => join(await realPathOf(dirname(path)), basename(path)))),
    );
    const at = await realPathOf(dir);
    const strayFile = top.files.find(({ name }) => !jobs.has(name) && !scheduled.has(join(at, name)));
    if (!strayFile) alerts.clear('loose');
    else {
      const text = `"${displayName(strayFile.name)}" lies directly in the drop folder ${dir}, where nothing happens: put files into the folder of a job.`;
      alerts.raise('loose', text);
    }
    const dropped: Dropped[] = [];
    for (const name of top.folders) {
      if (!isReservedFolder(name)) dropped.push(...(await scanJobFolder(name, jobs, scheduled)));
    }
    return dropped;
  };
}

const isReservedFolder = (name: string): boolean => RESERVED_FOLDERS.some((place) => place === name);
const realPathOf = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

/** Names that no file to be imported has: marks and unfinished files of other programs, our own README and results. */
const IGNORED =
  /^(?:~\$|\.)|\.(?:tmp|part|partial|crdownload|filepart|ready|result\.txt)$|^(?:thumbs\.db|desktop\.ini|readme\.txt)$/i;

export function isIgnored(name: string): boolean {
  return IGNORED.test(name);
}

/**
 * What lies in a folder, without what is ignored; `undecodable` is a name that is not UTF-8, by which nothing can be asked for.
 * Rejects where the folder cannot be read.
 */
export async function scanFolder(folder: string) {
  const names = new Set(await readdir(folder));
  const candidates = [...names].filter((name) => !isIgnored(name));
  const infos = await Promise.all(candidates.map((name) => lstatIfExists(join(folder, name))));
  const files: Dropped[] = [];
  const folders: string[] = [];
  for (const [i, name] of candidates.entries()) {
    const info = infos[i];
    if (info?.isDirectory()) folders.push(name);
    // Gone between the two looks: taken by another worker, or by whoever put it there.
    if (!info || info.isDirectory()) continue;
    const marker = await statMarker(folder, markerOf(name, names), info);
    files.push({ job: basename(folder), path: join(folder, name), name, info, ...(marker && { marker }) });
  }
  return { files, folders, undecodable: candidates.find((name, i) => !infos[i] && name.includes('\ufffd')) };
}

/** `assets.csv.ready`, or `assets.ready` where that is not the marker of a file `assets`. */
function markerOf(name: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(`${name}.ready`)) return `${name}.ready`;
  const stem = name.replace(/(?!^)\.[^.]*$/, '');
  return !names.has(stem) && names.has(`${stem}.ready`) ? `${stem}.ready` : undefined;
}

/** Judged by the time that nobody can set: copies bring their file's own time along. */
async function statMarker(folder: string, name: string | undefined, file: Stats): Promise<Dropped['marker']> {
  if (name === undefined) return undefined;
  const path = join(folder, name);
  const info = await lstatIfExists(path);
  return info && { path, isCurrent: info.ctimeMs >= file.ctimeMs };
}

/** README.txt of a job's folder: for people who know spreadsheets and nothing of this program. */
function readmeText(job: string, kind: FileJobKind): string {
  const compares = kind === 'reconcile';
  const done = compares ? 'compared' : 'imported';
  return `This folder ${compares ? 'compares spreadsheets with the service' : 'imports spreadsheets'}: job "${displayName(job)}"

Put a spreadsheet (.xlsx, .ods, .csv, .ndjson; each also as .gz) into this folder. As soon as nobody has changed it for
2 seconds it is taken out of here and ${done}. A program that delivers the file can put an empty file beside it when
it is done, for assets.xlsx assets.xlsx.ready: then it is taken at once.
${compares ? COMPARE_NOTE : ''}
Afterwards your file is in done/${displayName(job)}, or in failed/${displayName(job)} where it was not ${done}, seen from the folder
above this one, in a folder of its own whose name says date and time (UTC), the file, and what came of it. In it:

  report.html    the run on one page; open it first
  rejected.xlsx  (or rejected.csv) only the rows that need you, with what is wrong in each
  ERROR.txt      if the file could not be ${done}, or a brake stopped it: why, and what to do
${compares ? INCOMPLETE_NOTE : CORRECTION_NOTE}
Links, folders and names that begin with . or ~$ or end in .tmp, .part or .crdownload are left alone or refused.
Ask whoever runs rowferry in your house, and give the name of the folder with date and time.
`;
}

const COMPARE_NOTE = `The file must be whole: what it does not hold counts as missing. Whether differences are put right, or only reported,
says the job. The same file may be put here again and again.
`;
const INCOMPLETE_NOTE = `
reconcile.xlsx has all differences and orphans on two sheets. Correct rejected rows where the file comes from: do not put
rejected.xlsx here, it is not whole.
`;
const CORRECTION_NOTE = `
Correct rejected.xlsx in place and put it into this folder again; leave the columns that begin with _ as they are. A file
whose content was imported before is not imported again: NOTE.txt says so.
`;
