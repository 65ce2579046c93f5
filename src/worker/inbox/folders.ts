import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { diskWords, RunError } from '../../model/error.js';
import { type JobFile, type JobFiles, type TakingKind, takesFiles } from '../job-files.js';
import { PLACES, shown } from './claim.js';
import { codeOf, isFolder, lookAtEntry, makeFolders, writeOnce } from './disk.js';

/** A file, or what else may be one, in the folder of a job. */
export interface Dropped {
  /** Name of the folder, which is the job's. */
  readonly job: string;
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly info: Stats;
  /** Its `.ready` marker; `young`: put there since the file last changed, so that it speaks of this file as it is. */
  readonly marker?: { readonly path: string; readonly young: boolean };
}

type Troubles = ReturnType<typeof openTroubles>;

/** What the operator is told once, until it is over. */
export function openTroubles(notice: (level: 'info' | 'warn', text: string) => void) {
  const told = new Map<string, string>();
  return {
    tell(key: string, text: string): void {
      if (!told.has(key)) notice('warn', text);
      told.set(key, text);
    },
    /** Told only where there was something. */
    over(key: string, text?: string): void {
      if (told.delete(key) && text !== undefined) notice('info', text);
    },
    /** The inbox cannot do its work while it lasts, which health reports. */
    get problem(): string | undefined {
      return told.get('dir');
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
    throw new RunError(
      'usage',
      `The drop folder ${dir} cannot be used: ${diskWords(error)}. Name another folder with --inbox or ROWFERRY_INBOX; a worker for the queue alone (--queue-only) needs none.`,
      [],
      { cause: error },
    );
  }
}

/** It may be a link to a folder; in it none may. */
async function makeInbox(dir: string): Promise<void> {
  const info = await stat(dir).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  if (!info) await makeFolders(dir);
  else if (!info.isDirectory()) throw new Error('it is no folder');
}

/**
 * Keeps the folders of the inbox in order, and looks at what was dropped. Undefined where the inbox cannot be used. `jobs` is
 * undefined where they cannot be read; `scheduled`: absolute paths that schedules read, which are left alone.
 */
export function openFolders(
  dir: string,
  troubles: Troubles,
): (jobs: JobFiles | undefined, scheduled: readonly string[]) => Promise<Dropped[] | undefined> {
  const readmes = new Set<string>();
  let made = false;

  async function prepare(): Promise<boolean> {
    try {
      // Nothing is made in the place of a disk that is away: it would vanish from sight when the disk is back.
      if (made && !(await isFolder(join(dir, '.ledger')))) {
        throw new Error('what was in it is gone; bring its disk back, or start the worker again where it was deleted');
      }
      await makeInbox(dir);
      for (const place of [...PLACES, '.ledger']) await makeFolders(join(dir, place));
      made = true;
      troubles.over('dir', `The drop folder ${dir} can be used again.`);
      return true;
    } catch (error) {
      const again = 'Nothing is taken; it is looked at again every few seconds.';
      troubles.tell('dir', `The drop folder ${dir} cannot be used: ${diskWords(error)}. ${again}`);
      return false;
    }
  }

  /** Makes the folder of a job, with its README. */
  async function prepareJob({ name: job, kind }: JobFile & { readonly kind: TakingKind }): Promise<void> {
    const folder = join(dir, job);
    try {
      if (isPlace(job) || isIgnored(job)) throw new Error('it has another purpose, so rename the job file');
      await makeFolders(folder);
      if (!readmes.has(job)) await writeOnce(join(folder, 'README.txt'), readmeText(job, kind));
      readmes.add(job);
      troubles.over(`job:${job}`);
    } catch (error) {
      troubles.tell(`job:${job}`, `The folder ${shown(folder)} of that job cannot be used: ${diskWords(error)}.`);
    }
  }

  async function lookIntoJob(job: string, jobs: JobFiles, scheduled: ReadonlySet<string>): Promise<readonly Dropped[]> {
    const folder = join(dir, job);
    const look = await lookInto(folder).catch((error: unknown) => {
      const text = `The folder ${shown(folder)} cannot be read: ${diskWords(error)}. Nothing is taken from it.`;
      if (codeOf(error) !== 'ENOENT') troubles.tell(`read:${job}`, text);
    });
    if (!look) return [];
    troubles.over(`read:${job}`);
    const { garbled } = look;
    if (garbled === undefined) troubles.over(`name:${job}`);
    else troubles.tell(`name:${job}`, `A name in ${shown(folder)} is not UTF-8: rename ${shown(garbled)}.`);
    const at = await real(folder);
    const files = look.files.filter(({ name }) => !scheduled.has(join(at, name)));
    if (jobs.has(job)) return files;
    // Those of no job are refused, but not where a schedule reads, or may: that of a faulty job cannot be told.
    const mayBeRead =
      [...jobs.values()].some(({ faulty }) => faulty) || [...scheduled].some((file) => file.startsWith(at + sep));
    if (!mayBeRead) troubles.over(`stranger:${job}`);
    if (!mayBeRead || files.length === 0) return files;
    const text = `${shown(folder)} belongs to no job, and a schedule reads there, or may, as a job file has faults. Its files are left alone.`;
    troubles.tell(`stranger:${job}`, text);
    return [];
  }

  return async (jobs = new Map(), paths) => {
    if (!(await prepare())) return undefined;
    for (const job of jobs.values()) {
      const text = `The job file of "${shown(job.name)}" has faults: \`rowferry check ${shown(job.name)}\` lists them.`;
      if (job.faulty) troubles.tell(`faulty:${job.name}`, text);
      else {
        troubles.over(`faulty:${job.name}`);
        if (takesFiles(job)) await prepareJob(job);
      }
    }
    const top = await lookInto(dir);
    // Whoever puts them there means the schedule. Links on the way are followed: a file may be named in two ways.
    const scheduled = new Set(
      await Promise.all(paths.map(async (path) => join(await real(dirname(path)), basename(path)))),
    );
    const at = await real(dir);
    const loose = top.files.find(({ name }) => !jobs.has(name) && !scheduled.has(join(at, name)));
    if (!loose) troubles.over('loose');
    else {
      const text = `"${shown(loose.name)}" lies directly in the drop folder ${dir}, where nothing happens: put files into the folder of a job.`;
      troubles.tell('loose', text);
    }
    const dropped: Dropped[] = [];
    for (const name of top.folders) {
      if (!isPlace(name)) dropped.push(...(await lookIntoJob(name, jobs, scheduled)));
    }
    return dropped;
  };
}

const isPlace = (name: string): boolean => PLACES.some((place) => place === name);
const real = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

/** Names that no file to be imported has: marks and unfinished files of other programs, our own README and results. */
const IGNORED =
  /^(?:~\$|\.)|\.(?:tmp|part|partial|crdownload|filepart|ready|result\.txt)$|^(?:thumbs\.db|desktop\.ini|readme\.txt)$/i;

export function isIgnored(name: string): boolean {
  return IGNORED.test(name);
}

interface FolderLook {
  readonly files: readonly Dropped[];
  readonly folders: readonly string[];
  /** A name that is not UTF-8, by which nothing can be asked for. */
  readonly garbled?: string | undefined;
}

/** What lies in a folder, without what is ignored. Rejects where the folder cannot be read. */
export async function lookInto(folder: string): Promise<FolderLook> {
  const names = new Set(await readdir(folder));
  const wanted = [...names].filter((name) => !isIgnored(name));
  const infos = await Promise.all(wanted.map((name) => lookAtEntry(join(folder, name))));
  const files: Dropped[] = [];
  const folders: string[] = [];
  for (const [i, name] of wanted.entries()) {
    const info = infos[i];
    if (info?.isDirectory()) folders.push(name);
    // Gone between the two looks: taken by another worker, or by whoever put it there.
    if (!info || info.isDirectory()) continue;
    const marker = await lookAtMarker(folder, markerOf(name, names), info);
    files.push({ job: basename(folder), path: join(folder, name), name, info, ...(marker && { marker }) });
  }
  return { files, folders, garbled: wanted.find((name, i) => !infos[i] && name.includes('\ufffd')) };
}

/** `assets.csv.ready`, or `assets.ready` where that is not the marker of a file `assets`. */
function markerOf(name: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(`${name}.ready`)) return `${name}.ready`;
  const stem = name.replace(/(?!^)\.[^.]*$/, '');
  return !names.has(stem) && names.has(`${stem}.ready`) ? `${stem}.ready` : undefined;
}

/** Judged by the time that nobody can set: copies bring their file's own time along. */
async function lookAtMarker(folder: string, name: string | undefined, file: Stats): Promise<Dropped['marker']> {
  if (name === undefined) return undefined;
  const path = join(folder, name);
  const info = await lookAtEntry(path);
  return info && { path, young: info.ctimeMs >= file.ctimeMs };
}

/** README.txt of a job's folder: for people who know spreadsheets and nothing of this program. */
function readmeText(job: string, kind: TakingKind): string {
  const compares = kind === 'reconcile';
  const done = compares ? 'compared' : 'imported';
  return `This folder ${compares ? 'compares spreadsheets with the service' : 'imports spreadsheets'}: job "${shown(job)}"

Put a spreadsheet (.xlsx, .ods, .csv, .ndjson; each also as .gz) into this folder. As soon as nobody has changed it for
2 seconds it is taken out of here and ${done}. A program that delivers the file can put an empty file beside it when
it is done, for assets.xlsx assets.xlsx.ready: then it is taken at once.
${compares ? COMPARED : ''}
Afterwards your file is in done/${shown(job)}, or in failed/${shown(job)} where it was not ${done}, seen from the folder
above this one, in a folder of its own whose name says date and time (UTC), the file, and what came of it. In it:

  report.html    the run on one page; open it first
  rejected.xlsx  (or rejected.csv) only the rows that need you, with what is wrong in each
  ERROR.txt      if the file could not be ${done}, or a brake stopped it: why, and what to do
${compares ? NOT_WHOLE : CORRECTED}
Links, folders and names that begin with . or ~$ or end in .tmp, .part or .crdownload are left alone or refused.
Ask whoever runs rowferry in your house, and give the name of the folder with date and time.
`;
}

const COMPARED = `The file must be whole: what it does not hold counts as missing. Whether differences are put right, or only reported,
says the job. The same file may be put here again and again.
`;
const NOT_WHOLE = `
reconcile.xlsx has all differences and orphans on two sheets. Correct rejected rows where the file comes from: do not put
rejected.xlsx here, it is not whole.
`;
const CORRECTED = `
Correct rejected.xlsx in place and put it into this folder again; leave the columns that begin with _ as they are. A file
whose content was imported before is not imported again: NOTE.txt says so.
`;
