import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path, { join } from 'node:path';
import { RunError, systemCodes, usageError } from '../model/error.js';
import type { Job } from '../model/job.js';
import { nameHint } from '../pipeline/map/headings.js';
import { type CheckedText, checkJobText } from './job/check.js';
import { exportRequest, localDate, outputOf, targetProblems, withDate } from './job/export.js';
import type { Loaded } from './job/shape.js';
import type { JobProblem } from './job/yaml.js';

export type { CheckedText } from './job/check.js';
export type { ExportOccasion, ExportOverrides } from './job/export.js';
export type { JobKind, Loaded, LoadedExportJob, LoadedJob, LoadedReconcileJob } from './job/shape.js';
export type { JobProblem } from './job/yaml.js';
export { checkJobText, exportRequest, localDate, outputOf, targetProblems, withDate };

/** A job file is written by hand; a megabyte is a mistake or an attack. */
const MAX_BYTES = 1024 * 1024;

/** Where a job that is named without a folder lies; a path is meant below `cwd`, by default the folder of the process. */
interface JobsFolder {
  readonly jobsDir: string;
  readonly cwd?: string;
}

/** A path, the name of a file in `jobsDir`, or the job itself as data with the keys of a job file. */
export type JobSource = string | object;

/**
 * Loads a job of a kind for a run. Throws `RunError('usage')` with every fault as `file:line:column message` in its details (of
 * a job that is data, the lines of the data written as JSON), and for a job of another kind.
 */
export async function loadJob<K extends Job['kind']>(
  kind: K,
  job: JobSource,
  { jobsDir, cwd = process.cwd() }: JobsFolder,
) {
  if (typeof job !== 'string') return inlineJob(kind, job);
  const file = await findJobFile(job, jobsDir, cwd);
  return assertKind(kind, loadText(await readJobFile(file), file, jobNameOf(file)));
}

/** A job that is handed over as data (a queue's inline job). The same checks; lines refer to the data written as JSON. */
export function inlineJob<K extends Job['kind']>(kind: K, value: unknown) {
  return assertKind(kind, loadText(jsonOf(value ?? null), '', 'inline'));
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch (cause) {
    throw usageError('The inline job cannot be written as JSON: it holds itself, or a bigint.', [], {
      cause,
    });
  }
}

function assertKind<K extends Job['kind']>(kind: K, one: Loaded<Job>): Loaded<Extract<Job, { readonly kind: K }>> {
  const found = one.job.kind;
  if (found === kind) return one as Loaded<Extract<Job, { readonly kind: K }>>;
  const label = one.path === '' ? 'inline job' : `job file ${displayPath(one.path)}`;
  const command = `rowferry ${found}${found === 'export' ? '' : ' FILE'} --job ${one.path === '' ? 'JOB' : one.name}`;
  throw usageError(
    `The ${label} is of kind ${found}, not ${kind}: it is run with \`${command}\`, or as a job \`${found}\` of the queue.`,
  );
}

/** Checks one job file without running it. Throws `RunError('usage')` only where it cannot be found or read. */
export async function checkJobFile(
  nameOrPath: string,
  options: { readonly jobsDir: string },
): Promise<CheckedText & { readonly path: string }> {
  const file = await findJobFile(nameOrPath, options.jobsDir, process.cwd());
  return { path: file, ...checkJobText(await readJobFile(file)) };
}

/** `jobs/assets.yaml:12:3 unknown key …`, of a job that came as data `job.columns.Cost (line 12 as JSON): …`; warnings say so. */
export function problemLine(file: string, { line, column, path: key, message, severity }: JobProblem): string {
  const place = file ? `${file}:${line}:${column}` : `\`job${key && `.${key}`}\` (line ${line} as JSON):`;
  return `${place} ${severity === 'warning' ? 'warning: ' : ''}${message}`;
}

function loadText(text: string, file: string, name: string): Loaded<Job> {
  const { job, problems } = checkJobText(text);
  const label = displayPath(file);
  const lines = (severity: JobProblem['severity']) =>
    problems.filter((one) => one.severity === severity).map((one) => problemLine(label, one));
  if (!job) {
    const faults = lines('error');
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    throw usageError(
      `${file ? `The job file ${label}` : 'The inline job'} has ${count}. Nothing was sent; correct what is listed and run again.`,
      faults,
    );
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { job, name, path: file && path.resolve(file), text, sha256, warnings: lines('warning') };
}

/** There is no such job file here; another machine may have it. */
export class JobUnavailable extends RunError {
  constructor(message: string) {
    super('usage', message);
  }
}

async function findJobFile(nameOrPath: string, jobsDir: string, cwd: string): Promise<string> {
  const isPath = nameOrPath.includes('/') || nameOrPath.includes(path.sep);
  const isFileName = /\.ya?ml$/i.test(nameOrPath);
  const candidates =
    isPath || isFileName
      ? [path.resolve(cwd, nameOrPath)]
      : (await jobPaths(jobsDir)).filter((file) => jobNameOf(file) === nameOrPath);
  if (isFileName && !isPath) candidates.push(path.join(jobsDir, nameOrPath));
  for (const candidate of candidates) if (existsSync(candidate)) return candidate;
  const searched = isPath ? path.dirname(path.resolve(cwd, nameOrPath)) : jobsDir;
  const available = (await jobPaths(searched)).map(isPath ? (file) => path.basename(file) : jobNameOf);
  const folder = displayPath(searched);
  const wanted = isPath ? path.basename(nameOrPath) : nameOrPath;
  const hint = nameHint(wanted, available);
  const listed =
    available.length > 0 ? ` There are: ${available.slice(0, 20).join(', ')}.` : ` ${folder} holds no job files.`;
  throw new JobUnavailable(
    `There is no job ${isPath ? 'file ' : ''}\`${nameOrPath}\`${isPath ? '' : ` in ${folder}`}${hint || '.'}${listed}`,
  );
}

/** Below the working folder as people write it there, otherwise whole. */
function displayPath(file: string, cwd = process.cwd()): string {
  const relativePath = file === '' ? '' : path.relative(cwd, file);
  return relativePath === '' || relativePath.startsWith('..') ? file : relativePath;
}

/** File names of the jobs in a folder, sorted: of `assets.yaml` and `assets.yml` the first is run. Rejects as `readdir` does. */
export async function jobFileNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((entry) => /^[^.~].*\.ya?ml$/i.test(entry)).sort();
}
export function jobNameOf(file: string): string {
  return path.basename(file).replace(/\.ya?ml$/i, '');
}

async function readJobFile(file: string): Promise<string> {
  try {
    const info = await stat(file);
    if (!info.isFile()) throw usageError(`${displayPath(file)} is not a file; give the path of a job file (.yaml).`);
    if (info.size > MAX_BYTES) {
      throw usageError(`${displayPath(file)} is ${info.size} bytes long; a job file may have ${MAX_BYTES} at most.`);
    }
    // A BOM is dropped by the decoder; anything that is not UTF-8 is refused rather than guessed.
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof RunError) throw error;
    if (error instanceof TypeError) {
      throw usageError(`${displayPath(file)} is not UTF-8 text; save the job file as UTF-8.`, [], {
        cause: error,
      });
    }
    throw usageError(`${displayPath(file)} cannot be read (${systemCodes(error)[0] ?? String(error)}).`, [], {
      cause: error,
    });
  }
}

interface CheckedJob {
  readonly isValid: boolean;
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
  const jobs = named.length > 0 ? (await Promise.all(named.map(expandPath))).flat() : await jobPaths(options.jobsDir);
  if (jobs.length === 0) {
    throw usageError(`There are no job files in ${options.jobsDir}. Name a file, or the folder with --jobs-dir.`);
  }
  return Promise.all(jobs.map((job) => checkOne(job, options)));
}

/** The files of a folder; anything else is left to be found by its name. */
async function expandPath(job: string): Promise<string[]> {
  const info = await stat(job).catch(() => undefined);
  return info?.isDirectory() ? jobPaths(job) : [job];
}

async function checkOne(job: string, options: { jobsDir: string; cwd: string }): Promise<CheckedJob> {
  try {
    const { path, problems } = await checkJobFile(job, options);
    const label = displayPath(path, options.cwd);
    return {
      isValid: problems.every((problem) => problem.severity !== 'error'),
      lines: problems.map((problem) => problemLine(label, problem)),
    };
  } catch (error) {
    if (error instanceof RunError) return { isValid: false, lines: [], failure: error };
    throw error;
  }
}

/** Paths of the job files of a folder, in order of name; none where there is no such folder. */
export async function jobPaths(folder: string): Promise<string[]> {
  return (await jobFileNames(folder).catch((): string[] => [])).map((name) => join(folder, name));
}
