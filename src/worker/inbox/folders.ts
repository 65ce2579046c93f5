import type { BigIntStats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { RunError } from '../../model/error.js';
import { type JobFile, type JobFiles, type TakingKind, takesFiles } from '../job-files.js';
import { PLACES, shown } from './claim.js';
import { codeOf, lookAtEntry, makeFolders, reasonOf, writeShared } from './disk.js';
import { readmeText } from './readme.js';

/** A file, or what else may be one, in the folder of a job. */
export interface Dropped {
  /** Name of the folder, which is the job's. */
  readonly job: string;
  /** Absolute, byte for byte: names need not be UTF-8. */
  readonly path: Buffer;
  readonly raw: Buffer;
  /** For people, and to compare with names from elsewhere. */
  readonly name: string;
  readonly info: BigIntStats;
  /** Its `.ready` marker. */
  readonly ready?: Buffer;
}

type Troubles = ReturnType<typeof openTroubles>;

/** What is remembered; beyond it the oldest are forgotten, and may be told again. */
const MOST_TROUBLES = 1000;

/** What the operator is told once, until it is over. */
export function openTroubles(notice: (level: 'info' | 'warn', text: string) => void) {
  const told = new Map<string, { text: string; lasting: boolean }>();
  return {
    /** `lasting`: the inbox cannot do its work while it lasts, which health reports. */
    tell(key: string, text: string, lasting = false): void {
      const known = told.has(key);
      told.set(key, { text, lasting });
      if (known) return;
      const [oldest] = told.keys();
      if (told.size > MOST_TROUBLES && oldest !== undefined) told.delete(oldest);
      notice('warn', text);
    },
    /** Told only where there was something. */
    over(key: string, text?: string): void {
      if (told.delete(key) && text !== undefined) notice('info', text);
    },
    get problem(): string | undefined {
      return [...told.values()].find(({ lasting }) => lasting)?.text;
    },
  };
}

/** What passes by itself: the watching says so, and goes on trying. */
const PASSING: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN']);

/**
 * Makes the drop folder where it is missing, before a worker begins: one that can never be made is a wrong setting.
 * @throws RunError `usage` naming the folder and what is in the way.
 */
export async function assertInbox(dir: string): Promise<void> {
  try {
    // It may be a link to a folder; in it none may.
    const info = await statOf(dir);
    if (!info) await makeFolders(dir);
    else if (!info.isDirectory()) throw new Error('it is no folder');
  } catch (error) {
    if (PASSING.has(codeOf(error))) return;
    throw new RunError(
      'usage',
      `The drop folder ${dir} cannot be used: ${reasonOf(error)}. Name another folder with --inbox or ROWFERRY_INBOX; a worker for the queue alone (--queue-only) needs none.`,
      [],
      { cause: error },
    );
  }
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
  let device: bigint | undefined;

  async function prepare(): Promise<boolean> {
    try {
      let info = await statOf(dir);
      // Nothing is made in the place of a disk that is away: it would vanish from sight when the disk is back.
      if (await isAway(info)) throw new Error('its disk is away');
      if (!info) {
        await makeFolders(dir);
        info = await stat(dir, { bigint: true });
        if (device !== undefined) troubles.tell('deleted', `The drop folder ${dir} was deleted. It was made again.`);
        readmes.clear();
      } else troubles.over('deleted');
      if (!info.isDirectory()) throw new Error('it is no folder');
      for (const place of [...PLACES, '.ledger']) await makeFolders(join(dir, place));
      device = info.dev;
      troubles.over('dir', `The drop folder ${dir} can be used again.`);
      return true;
    } catch (error) {
      const again = 'Nothing is taken; it is looked at again every few seconds.';
      troubles.tell('dir', `The drop folder ${dir} cannot be used: ${reasonOf(error)}. ${again}`, true);
      return false;
    }
  }

  /** Whether the disk of the folder went: with the folder, or leaving an empty one where it had been mounted. */
  async function isAway(info: BigIntStats | undefined): Promise<boolean> {
    if (device === undefined || info?.dev === device) return false;
    const above = await deviceAbove(dir);
    return info ? info.dev === above : above !== device;
  }

  /** Makes the folder of a job, with its README. */
  async function prepareJob({ name: job, kind }: JobFile & { readonly kind: TakingKind }): Promise<void> {
    const folder = join(dir, job);
    const key = `job:${job}`;
    try {
      const info = isOwn(job) ? undefined : await lookAtEntry(folder);
      if (isOwn(job)) {
        const text = `The job "${shown(job)}" has no drop folder: ${folder} has another purpose. Rename the job file.`;
        troubles.tell(key, text);
      } else if (info && !info.isDirectory()) {
        const text = `${folder} must be a folder, no link and no file: nothing is taken for the job "${shown(job)}".`;
        troubles.tell(key, text);
      } else {
        if (!info) await makeFolders(folder);
        if (!info || !readmes.has(job)) await writeOnce(join(folder, 'README.txt'), readmeText(job, kind));
        readmes.add(job);
        troubles.over(key);
      }
    } catch (error) {
      const text = `The drop folder of the job "${shown(job)}", ${folder}, cannot be made ready (made, or given its README.txt): ${reasonOf(error)}. It is tried again.`;
      troubles.tell(key, text);
    }
  }

  async function lookIntoJob(job: string, isJob: boolean, scheduled: Scheduled): Promise<Dropped[]> {
    const folder = join(dir, job);
    let look: FolderLook;
    try {
      look = await lookInto(folder);
      troubles.over(`read:${job}`);
    } catch (error) {
      const text = `The folder ${shown(folder)} cannot be read: ${reasonOf(error)}. Nothing is taken from it.`;
      if (codeOf(error) !== 'ENOENT') troubles.tell(`read:${job}`, text);
      return [];
    }
    for (const name of look.folders) {
      const text = `There is a folder "${shown(name)}" in ${folder}. Folders are left alone: put the files themselves into ${folder}.`;
      troubles.tell(`folder:${job}/${name}`, text);
    }
    const files = look.files.filter(({ name }) => !scheduled.has(folder, name));
    if (isJob || !scheduled.within(folder)) return files;
    if (files[0]) {
      const text = `${folder} holds files that no schedule reads, such as "${shown(files[0].name)}". They are left alone: no job has the name of that folder.`;
      troubles.tell(`scheduled:${job}`, text);
    }
    return [];
  }

  function tellOfLoose(names: readonly string[], jobs: JobFiles): void {
    const [name] = names;
    if (name === undefined) {
      troubles.over('loose');
      return;
    }
    const takers = takerNames(jobs);
    const where = takers.length > 0 ? `, one of: ${takers.slice(0, 20).join(', ')}` : '';
    troubles.tell(
      'loose',
      `${names.length === 1 ? 'A file lies' : `${names.length} files lie`} directly in the drop folder ${dir}, such as "${shown(name)}". ` +
        `Nothing happens there: put files into the folder of a job${where}.`,
    );
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
    const scheduled = await readScheduled(paths, dir);
    const loose = top.files.filter(({ name }) => !jobs.has(name) && !scheduled.has(dir, name));
    tellOfLoose(
      loose.map(({ name }) => name),
      jobs,
    );
    const dropped: Dropped[] = [];
    for (const name of top.folders) {
      if (!isPlace(name)) dropped.push(...(await lookIntoJob(name, jobs.has(name), scheduled)));
    }
    return dropped;
  };
}

/** Jobs that take files, for people. */
export function takerNames(jobs: JobFiles): string[] {
  const takers = [...jobs.values()].filter((job) => takesFiles(job) && !job.faulty);
  return takers.map(({ name }) => shown(name)).sort();
}

const isPlace = (name: string): boolean => PLACES.some((place) => place === name);
/** Whether a folder of that name is no job's. */
const isOwn = (name: string): boolean => isPlace(name) || isIgnored(name);

/** Names that no file to be imported has: marks and unfinished files of other programs, and our own README. */
const IGNORED = /^(?:~\$|\.)|\.(?:tmp|part|crdownload|filepart|ready)$|^(?:thumbs\.db|desktop\.ini|readme\.txt)$/i;

export function isIgnored(name: string): boolean {
  return IGNORED.test(name);
}

interface FolderLook {
  readonly files: readonly Dropped[];
  readonly folders: readonly string[];
}

/** Most looks at once: a network share answers many in the time of one. */
const BATCH = 64;

/** What lies in a folder, without what is ignored. Rejects where the folder cannot be read. */
export async function lookInto(folder: string): Promise<FolderLook> {
  const raws = await readdir(folder, { encoding: 'buffer' });
  // As Latin-1 every byte is one character: names compare byte for byte.
  const names = new Set(raws.map((raw) => raw.toString('latin1')));
  const wanted = raws.filter((raw) => !isIgnored(raw.toString('utf8')));
  const files: Dropped[] = [];
  const folders: string[] = [];
  for (let at = 0; at < wanted.length; at += BATCH) {
    const batch = wanted.slice(at, at + BATCH);
    const infos = await Promise.all(batch.map((raw) => lookAtEntry(below(folder, raw))));
    for (const [i, raw] of batch.entries()) {
      const info = infos[i];
      const name = raw.toString('utf8');
      if (info?.isDirectory()) folders.push(name);
      // Gone between the two looks: taken by another worker, or by whoever put it there.
      if (!info || info.isDirectory()) continue;
      const marker = markerOf(raw.toString('latin1'), names);
      const ready = marker === undefined ? undefined : below(folder, Buffer.from(marker, 'latin1'));
      files.push({ job: basename(folder), path: below(folder, raw), raw, name, info, ...(ready && { ready }) });
    }
  }
  return { files, folders };
}

/** `assets.csv.ready`, or `assets.ready` where that is not the marker of a file `assets`. */
function markerOf(name: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(`${name}.ready`)) return `${name}.ready`;
  const stem = name.replace(/(?!^)\.[^.]*$/, '');
  return !names.has(stem) && names.has(`${stem}.ready`) ? `${stem}.ready` : undefined;
}

function below(folder: string, raw: Buffer): Buffer {
  return Buffer.concat([Buffer.from(join(folder, '/')), raw]);
}

/** Files that schedules read: whoever puts them there means the schedule, not the drop folder. */
interface Scheduled {
  has(folder: string, name: string): boolean;
  /** Whether a schedule reads anything in a folder, or below it. */
  within(folder: string): boolean;
}

/** Links on the way are followed: the same file may be named in two ways. `dir` is where later questions begin. */
async function readScheduled(paths: readonly string[], dir: string): Promise<Scheduled> {
  const real = async (path: string) => realpath(path).catch(() => resolve(path));
  const files = new Set<string>();
  for (const path of paths) {
    files.add(resolve(path));
    files.add(join(await real(dirname(resolve(path))), basename(path)));
  }
  const root = await real(dir);
  const both = (path: string) => [path, path.startsWith(dir) ? root + path.slice(dir.length) : path];
  return {
    has: (folder, name) => both(join(folder, name)).some((path) => files.has(path)),
    within: (folder) => both(folder).some((path) => [...files].some((file) => file.startsWith(path + sep))),
  };
}

async function writeOnce(path: string, text: string): Promise<void> {
  await writeShared(path, text).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

/** Undefined where there is nothing. A link to a folder is that folder. */
async function statOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** The device of the nearest folder above that is there. */
async function deviceAbove(dir: string): Promise<bigint | undefined> {
  for (let at = dirname(dir); ; at = dirname(at)) {
    const info = await stat(at, { bigint: true }).catch(() => undefined);
    if (info || dirname(at) === at) return info?.dev;
  }
}
