import { createHash, randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

export { createAtomically } from '../../files/atomic-write.js';
export { makeFolder, makePrivate, makeSharedFolder, shareLikeFolder } from '../../files/make-folder.js';

/** The data folder as messages speak of it. */
export const HOME = { what: 'data folder', namedBy: '--home or ROWFERRY_HOME', isPrivate: true } as const;
export const INBOX = { what: 'drop folder', namedBy: '--inbox or ROWFERRY_INBOX' } as const;

/**
 * What tells a job from all others, as the name of a file or folder: its name, and a hash of its file's place as seen from the
 * data folder, so that both may move together; of a job without a file, of its content.
 */
export function jobKey(
  { name, path, sha256 }: { readonly name: string; readonly path: string; readonly sha256: string },
  home: string,
): string {
  const location = path === '' ? sha256 : relative(realPath(home), join(realPath(dirname(path)), basename(path)));
  const plain = name.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 100);
  return `${plain}~${createHash('sha256').update(location).digest('hex').slice(0, 12)}`;
}

/** The name of the job that a key was made from. */
export const nameOfKey = (key: string): string => key.replace(/~[0-9a-f]{12}$/, '');

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

export type RunFolder = ReturnType<typeof runFolder>;

/** The id of a run inside another one, in whose folder it lies; runs are listed without those. */
export const innerRunId = (run: string, part: string): string => `${run}.${part}`;

/** The run in which a run lies, and its name there; that name is absent where it lies in none. */
export function outerRun(run: string): readonly [outer: string, part?: string] {
  const at = run.lastIndexOf('.');
  return at < 0 ? [run] : [run.slice(0, at), run.slice(at + 1)];
}

/** Where a run keeps its things: `<home>/runs/<run id>/`. Reports lie there too, or in the folder asked for. */
export function runFolder(home: string, run: string) {
  const [whole = '', ...parts] = run.split('.');
  const dir = join(home, 'runs', whole, ...parts.flatMap((part) => ['work', part]));
  const work = join(dir, 'work');
  return {
    run,
    dir,
    /** What the run was asked to do, so that `runs resume` needs nothing else. */
    request: join(dir, 'run.json'),
    /** Private copy of the file, under its own extension. */
    source: (extension: string) => join(work, `source${extension}`),
    staged: join(work, 'staged.ndjson'),
    resolved: join(work, 'resolved.ndjson'),
    /** Keys of the rows, while a process works on the run. */
    keys: join(work, 'keys.ndjson'),
    plan: join(work, 'plan.ndjson'),
    snapshot: join(work, 'snapshot.ndjson'),
    /** Exports: the records as they were read. */
    records: join(work, 'records.ndjson'),
    /** What the run must not lose: `RunStore`. */
    store: join(dir, 'run.db'),
    /** There once nothing more is to be done with it; empty where somebody said so, else with the reason. */
    aside: join(dir, 'aside'),
    /** Held by the process that works on the run: `takeLock`. */
    lock: join(dir, 'lock'),
  } as const;
}

/**
 * An id that sorts after all those that are there, also where the clock was put back since the last of them was given;
 * a clock that was a day ahead is not followed, or every run would bear the date of that day.
 */
export function nextRunId(now: Date, newest: string | undefined): string {
  const last = Date.parse(startTimeOf(newest ?? ''));
  const ahead = last - now.getTime();
  return newRunId(ahead >= 0 && ahead < 86_400_000 ? new Date(last + 1) : now);
}

/** `20261121T081502123Z-3f9a` → `2026-11-21T08:15:02.123Z` */
export function startTimeOf(run: string): string {
  return run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-.*$/, '$1-$2-$3T$4:$5:$6.$7Z');
}

/** Run ids sort by time: `20261121T081502123Z-3f9a`. */
export function newRunId(now: Date = new Date()): string {
  return `${now.toISOString().replace(/[-:.]/g, '')}-${randomBytes(2).toString('hex')}`;
}
