import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { RunError } from '../model/error.js';
import { checkJobFile, problemLine } from './job-file.js';

export interface CheckedJob {
  readonly fine: boolean;
  /** `jobs/assets.yaml:12:3 unknown key …`, faults and remarks. */
  readonly lines: readonly string[];
  /** The file could not be found or read. */
  readonly failure?: RunError;
}

/**
 * Checks job files without running them; with none named, all of the jobs folder.
 * @throws RunError `usage` where the folder holds none.
 */
export async function checkJobs(
  named: readonly string[],
  options: { jobsDir: string; cwd: string },
): Promise<CheckedJob[]> {
  const jobs = named.length > 0 ? (await Promise.all(named.map(filesOf))).flat() : await jobsIn(options.jobsDir);
  if (jobs.length === 0) {
    throw new RunError(
      'usage',
      `There are no job files in ${options.jobsDir}. Name a file, or the folder with --jobs-dir.`,
    );
  }
  return Promise.all(jobs.map((job) => checkOne(job, options)));
}

/** The files of a folder; anything else is left to be found by its name. */
async function filesOf(job: string): Promise<string[]> {
  const info = await stat(job).catch(() => undefined);
  return info?.isDirectory() ? jobsIn(job) : [job];
}

async function checkOne(job: string, options: { jobsDir: string; cwd: string }): Promise<CheckedJob> {
  try {
    const { path, problems } = await checkJobFile(job, options);
    const near = relative(options.cwd, path);
    const shown = near.startsWith('..') ? path : near;
    return {
      fine: problems.every((problem) => problem.severity !== 'error'),
      lines: problems.map((problem) => problemLine(shown, problem)),
    };
  } catch (error) {
    if (error instanceof RunError) return { fine: false, lines: [], failure: error };
    throw error;
  }
}

/** Paths of the job files of a folder, in order of name; none where there is no such folder. */
export async function jobsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => /^[^.~].*\.ya?ml$/i.test(name))
    .sort()
    .map((name) => join(folder, name));
}
