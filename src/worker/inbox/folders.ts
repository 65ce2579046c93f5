import type { BigIntStats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { codesOf, diskWords, RunError } from '../../model/error.js';
import { type JobFile, type JobFiles, type TakingKind, takesFiles } from '../job-files.js';
import { PLACES, shown } from './claim.js';
import { codeOf, isFolder, lookAtEntry, makeFolders, writeOnce } from './disk.js';

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
  /** Its `.ready` marker; `young`: put there since the file last changed, so that it speaks of this file as it is. */
  readonly marker?: { readonly path: Buffer; readonly young: boolean };
}

type Troubles = ReturnType<typeof openTroubles>;

/** What is remembered; beyond it the oldest are forgotten, and may be told again. */
const MOST_TROUBLES = 1000;

/** What the operator is told once, until it is over. */
export function openTroubles(notice: (level: 'info' | 'warn', text: string) => void) {
  const told = new Map<string, string>();
  return {
    tell(key: string, text: string): void {
      const known = told.has(key);
      told.set(key, text);
      if (known) return;
      const [oldest] = told.keys();
      if (told.size > MOST_TROUBLES && oldest !== undefined) told.delete(oldest);
      notice('warn', text);
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

/** What passes by itself: the watching says so, and goes on trying. */
const PASSING: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN']);

/**
 * Makes the drop folder where it is missing, before a worker begins: one that can never be made is a wrong setting.
 * @throws RunError `usage` naming the folder and what is in the way.
 */
export async function assertInbox(dir: string): Promise<void> {
  try {
    await makeInbox(dir);
  } catch (error) {
    if (codesOf(error).some((code) => PASSING.has(code))) return;
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
    const trouble = await ready(job, folder, kind).catch(
      (error: unknown) =>
        `cannot be made ready (made, or given its README.txt): ${diskWords(error)}. It is tried again.`,
    );
    if (trouble === undefined) troubles.over(`job:${job}`);
    else troubles.tell(`job:${job}`, `The drop folder of the job "${shown(job)}", ${folder}, ${trouble}`);
  }

  /** Why nothing can be dropped there. */
  async function ready(job: string, folder: string, kind: TakingKind): Promise<string | undefined> {
    if (isPlace(job) || isIgnored(job)) return 'has another purpose. Rename the job file.';
    const info = await lookAtEntry(folder);
    if (info && !info.isDirectory()) return 'must be a folder, no link and no file: nothing is taken from it.';
    if (!info) await makeFolders(folder);
    if (!info || !readmes.has(job)) await writeOnce(join(folder, 'README.txt'), readmeText(job, kind));
    readmes.add(job);
    return undefined;
  }

  async function lookIntoJob(job: string, jobs: JobFiles, scheduled: ReadonlySet<string>): Promise<Dropped[]> {
    const folder = join(dir, job);
    const look = await lookInto(folder).catch((error: unknown) => {
      const text = `The folder ${shown(folder)} cannot be read: ${diskWords(error)}. Nothing is taken from it.`;
      if (codeOf(error) !== 'ENOENT') troubles.tell(`read:${job}`, text);
    });
    if (!look) return [];
    troubles.over(`read:${job}`);
    for (const name of look.folders) {
      const text = `There is a folder "${shown(name)}" in ${folder}. Folders are left alone: put the files themselves into ${folder}.`;
      troubles.tell(`folder:${job}/${name}`, text);
    }
    const at = await real(folder);
    const files = look.files.filter(({ name }) => !scheduled.has(join(at, name)));
    if (jobs.has(job)) return files;
    // Those of no job are refused, but not where a schedule reads, or may: that of a faulty job cannot be told.
    const faulty = [...jobs.values()].find((one) => one.faulty)?.name;
    const reader =
      faulty !== undefined
        ? `until the job file of "${shown(faulty)}" is put right, whose schedule may read them`
        : [...scheduled].some((file) => file.startsWith(at + sep)) && 'as a schedule reads another file there';
    const [first] = files;
    if (!reader || !first) {
      troubles.over(`stranger:${job}`);
      return files;
    }
    const text = `${folder} belongs to no job. Its files are left alone ${reader}, such as "${shown(first.name)}".`;
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
    const [loose] = top.files.filter(({ name }) => !jobs.has(name) && !scheduled.has(join(at, name)));
    if (loose) {
      const jobsHere = takerNames(jobs).slice(0, 20).join(', ');
      const where =
        jobsHere === ''
          ? 'make a job file, and put it into the folder of that job'
          : `put files into the folder of a job: ${jobsHere}`;
      const text = `"${shown(loose.name)}" lies directly in the drop folder ${dir}, where nothing happens: ${where}.`;
      troubles.tell('loose', text);
    } else troubles.over('loose');
    const dropped: Dropped[] = [];
    for (const name of top.folders) {
      if (!isPlace(name)) dropped.push(...(await lookIntoJob(name, jobs, scheduled)));
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
}

/** What lies in a folder, without what is ignored. Rejects where the folder cannot be read. */
export async function lookInto(folder: string): Promise<FolderLook> {
  const raws = await readdir(folder, { encoding: 'buffer' });
  // As Latin-1 every byte is one character: names compare byte for byte.
  const names = new Set(raws.map((raw) => raw.toString('latin1')));
  const wanted = raws.filter((raw) => !isIgnored(raw.toString('utf8')));
  const files: Dropped[] = [];
  const folders: string[] = [];
  const infos = await Promise.all(wanted.map((raw) => lookAtEntry(below(folder, raw))));
  for (const [i, raw] of wanted.entries()) {
    const info = infos[i];
    const name = raw.toString('utf8');
    if (info?.isDirectory()) folders.push(name);
    // Gone between the two looks: taken by another worker, or by whoever put it there.
    if (!info || info.isDirectory()) continue;
    const marker = await lookAtMarker(folder, markerOf(raw.toString('latin1'), names), info);
    files.push({ job: basename(folder), path: below(folder, raw), raw, name, info, ...(marker && { marker }) });
  }
  return { files, folders };
}

/** `assets.csv.ready`, or `assets.ready` where that is not the marker of a file `assets`. */
function markerOf(name: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(`${name}.ready`)) return `${name}.ready`;
  const stem = name.replace(/(?!^)\.[^.]*$/, '');
  return !names.has(stem) && names.has(`${stem}.ready`) ? `${stem}.ready` : undefined;
}

/** Judged by the time that nobody can set: copies bring their file's own time along. */
async function lookAtMarker(folder: string, name: string | undefined, file: BigIntStats): Promise<Dropped['marker']> {
  if (name === undefined) return undefined;
  const path = below(folder, Buffer.from(name, 'latin1'));
  const info = await lookAtEntry(path);
  return info && { path, young: info.ctimeNs >= file.ctimeNs };
}

function below(folder: string, raw: Buffer): Buffer {
  return Buffer.concat([Buffer.from(join(folder, '/')), raw]);
}

/** README.txt of a job's folder: for people who know spreadsheets and nothing of this program. */
function readmeText(job: string, kind: TakingKind): string {
  const compares = kind === 'reconcile';
  const done = compares ? 'compared' : 'imported';
  return `This folder ${compares ? 'compares spreadsheets with the service' : 'imports spreadsheets'}: job "${shown(job)}"
${'='.repeat(45)}

WHAT TO DO
  Put a spreadsheet (.xlsx, .ods, .csv, .ndjson; each also as .gz) into this folder. That is all.

WHAT HAPPENS THEN
  As soon as nobody has changed the file for 2 seconds, it is taken out of this folder and ${done}.
  An empty file is taken after 10 seconds.
  If another program delivers the file, it can put an empty file beside it when it is done:
  for assets.xlsx the name is assets.xlsx.ready. The file is then taken at once.
${compares ? COMPARED : ''}
WHERE YOUR FILE IS AFTERWARDS, seen from the folder above this one
  ${compares ? 'Compared:' : 'Imported:'}      done/${shown(job)}
  Not ${done}:  failed/${shown(job)}
  Each run has a folder of its own there. Its name says date and time (UTC), the file, and what came of it.
  Here a note says so, too: assets.xlsx.result.txt of assets.xlsx. You may delete it.

WHAT YOU FIND THERE
  report.html     the run on one page; open it first
${compares ? '  differences.csv what differs; orphans.csv what is missing from the file\n' : ''}\
  rejected.xlsx   (or rejected.csv) only the rows that need you, with what is wrong in each.
${compares ? NOT_WHOLE : CORRECTED}\
  results.csv     every row of your file and what became of it
  ERROR.txt       if the file could not be ${done}, or a brake stopped it: why, and what to do
${compares ? '' : BEFORE}
WHAT IS LEFT ALONE
  Names that begin with . or ~$, names that end in .tmp .part .partial .crdownload .filepart
  .ready .result.txt, Thumbs.db, desktop.ini, and this README.txt. Folders are left alone, too: put files here.
  Links are not taken: copy the file itself.

WHOM TO ASK
  Whoever runs rowferry in your house. Give the name of the folder with date and time.
`;
}

const COMPARED = `  The file must be whole: what it does not hold counts as missing. Whether differences are put right,
  or only reported, says the job. The same file may be put here again and again.
`;
const NOT_WHOLE = `                  Correct them where the file comes from. Do not put this one here: it is not whole.
`;
const CORRECTED = `                  Correct them in that very file and put it into this folder again;
                  leave the columns that begin with _ as they are, they are not imported.
`;
const BEFORE = `  NOTE.txt        if the file was not imported because its content had been imported before,
                  or was changed by somebody after it had been read
`;
