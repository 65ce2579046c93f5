import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../model/error.js';
import type { ImportJob } from '../model/job.js';
import { checkJobText } from './job/check.js';
import type { JobProblem } from './job/yaml.js';
import { didYouMean } from './nearest.js';

export type { JobProblem } from './job/yaml.js';
export { checkJobText };

/** A job file that is fit to run. */
export interface LoadedJob {
  readonly job: ImportJob;
  /** File name without folder and ending; `inline` for a job that came without a file. */
  readonly name: string;
  /** As the person would open it; '' for a job that came without a file. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  /** Remarks that stop nothing, as `file:line:column message`. */
  readonly warnings: readonly string[];
}

/** A job file is written by hand; a megabyte is a mistake or an attack. */
const MAX_BYTES = 1024 * 1024;

/**
 * Loads a job for a run. `nameOrPath`: a path, or the name of a file in `jobsDir`.
 * Throws `RunError('usage')` with every fault as `file:line:column message` in its details.
 */
export async function loadJob(nameOrPath: string, options: { readonly jobsDir: string }): Promise<LoadedJob> {
  const file = await findJobFile(nameOrPath, options.jobsDir);
  return loaded(await readJobFile(file), file, jobNameOf(file));
}

/** A job handed over as data (a queue's inline job). The same checks; lines refer to the data written as JSON. */
export function inlineJob(value: unknown): LoadedJob {
  return loaded(JSON.stringify(value ?? null, null, 2), '', 'inline');
}

/** Checks one job file without running it. Throws `RunError('usage')` only where it cannot be found or read. */
export async function checkJobFile(
  nameOrPath: string,
  options: { readonly jobsDir: string },
): Promise<{ readonly path: string; readonly job?: ImportJob; readonly problems: readonly JobProblem[] }> {
  const file = await findJobFile(nameOrPath, options.jobsDir);
  return { path: file, ...checkJobText(await readJobFile(file)) };
}

/** `jobs/assets.yaml:12:3 unknown key …`; warnings say so. */
export function problemLine(file: string, problem: JobProblem): string {
  const remark = problem.severity === 'warning' ? 'warning: ' : '';
  return `${file || 'inline job'}:${problem.line}:${problem.column} ${remark}${problem.message}`;
}

function loaded(text: string, file: string, name: string): LoadedJob {
  const { job, problems } = checkJobText(text);
  const shown = asShown(file);
  const lines = (severity: JobProblem['severity']) =>
    problems.filter((one) => one.severity === severity).map((one) => problemLine(shown, one));
  if (!job) {
    const faults = lines('error');
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    throw new RunError(
      'usage',
      `${file ? `The job file ${shown}` : 'The inline job'} has ${count}. Nothing was sent; correct what is listed and run again.`,
      faults,
    );
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { job, name, path: file, text, sha256, warnings: lines('warning') };
}

async function findJobFile(nameOrPath: string, jobsDir: string): Promise<string> {
  const isPath = nameOrPath.includes('/') || nameOrPath.includes(path.sep);
  const isFileName = /\.ya?ml$/i.test(nameOrPath);
  const candidates =
    isPath || isFileName
      ? [nameOrPath]
      : [path.join(jobsDir, `${nameOrPath}.yaml`), path.join(jobsDir, `${nameOrPath}.yml`)];
  if (isFileName && !isPath) candidates.push(path.join(jobsDir, nameOrPath));
  for (const candidate of candidates) if (await exists(candidate)) return candidate;
  const searched = isPath ? path.dirname(nameOrPath) : jobsDir;
  const there = await jobNames(searched, isPath);
  const folder = asShown(searched);
  const wanted = isPath ? path.basename(nameOrPath) : nameOrPath;
  const near = didYouMean(wanted, there);
  const listed = there.length > 0 ? ` There are: ${there.slice(0, 20).join(', ')}.` : ` ${folder} holds no job files.`;
  throw new RunError(
    'usage',
    `There is no job ${isPath ? 'file ' : ''}\`${nameOrPath}\`${isPath ? '' : ` in ${folder}`}${near || '.'}${listed}`,
  );
}

/** Below the working folder as people write it there, otherwise whole. */
function asShown(file: string): string {
  const near = file === '' ? '' : path.relative(process.cwd(), file);
  return near === '' || near.startsWith('..') ? file : near;
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

async function jobNames(folder: string, withEnding: boolean): Promise<string[]> {
  const files = await jobFiles(folder).catch((): string[] => []);
  return withEnding ? files : files.map(jobNameOf);
}

/** File names of the jobs in a folder, sorted: of `assets.yaml` and `assets.yml` the first is run. Rejects as `readdir` does. */
export async function jobFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((entry) => /^[^.~].*\.ya?ml$/i.test(entry)).sort();
}

/** The name by which the job of a file is known. */
export function jobNameOf(file: string): string {
  return path.basename(file).replace(/\.ya?ml$/i, '');
}

async function readJobFile(file: string): Promise<string> {
  try {
    const info = await stat(file);
    if (!info.isFile())
      throw new RunError('usage', `${asShown(file)} is not a file; give the path of a job file (.yaml).`);
    if (info.size > MAX_BYTES) {
      throw new RunError(
        'usage',
        `${asShown(file)} is ${info.size} bytes long; a job file may have ${MAX_BYTES} at most.`,
      );
    }
    // A BOM is dropped by the decoder; anything that is not UTF-8 is refused rather than guessed.
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof RunError) throw error;
    if (error instanceof TypeError) {
      throw new RunError('usage', `${asShown(file)} is not UTF-8 text; save the job file as UTF-8.`, [], {
        cause: error,
      });
    }
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new RunError('usage', `${asShown(file)} cannot be read (${reason}).`, [], { cause: error });
  }
}
