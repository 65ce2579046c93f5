import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../model/error.js';
import { readJobYaml } from '../runs/job/yaml.js';
import { loadExportJob, loadJob, loadReconcileJob } from '../runs/job-file.js';
import type { Settings } from '../runs/settings.js';
import type { RunsApi } from '../worker/api/runs.js';
import { checkJobData } from '../worker/jobs/check-data.js';
import { DATA_LIMITS, type JobKind } from '../worker/jobs/data.js';
import { fileBelowRoots } from '../worker/jobs/roots.js';
import { uploadsDir } from '../worker/jobs/rows-delivery.js';
import { targetBelowRoots, targetFolders } from '../worker/jobs/target.js';
import type { Io } from './io.js';
import { inputFile } from './setup.js';

/** A job that is fit for the queue; nothing is copied yet. */
export interface PreparedJob {
  /** Copies the file into the data folder, if workers may not read it where it lies, and returns the data of the job. */
  place(runs: Pick<RunsApi, 'queue'>): Promise<Readonly<Record<string, unknown>>>;
  /** Removes the copy again. */
  takeBack(): Promise<void>;
}

/**
 * Checks job, file and options of an import or a reconciliation as a worker would.
 * @throws RunError `usage` with every fault; `failed` where the file is not there.
 */
export async function prepareRows(
  kind: 'import' | 'reconcile',
  job: string,
  file: string,
  settings: Settings,
  io: Pick<Io, 'cwd' | 'stdin'>,
  options: Readonly<Record<string, unknown>>,
): Promise<PreparedJob> {
  const from = file === '-' ? undefined : await inputFile(file, io.cwd);
  const data = {
    job: await jobData(job, settings.jobsDir, kind === 'import' ? loadJob : loadReconcileJob),
    ...(from === undefined ? { rows: await rowsFrom(io.stdin) } : { file: from }),
    ...(Object.keys(options).length > 0 && { options }),
  };
  refuseFaults(kind, data);
  if (from === undefined) return { place: async () => data, takeBack: async () => undefined };
  const { worker, home } = settings;
  let copy: string | undefined;
  return {
    async place(runs) {
      const roots = (await runs.queue()).roots ?? worker.roots;
      const below = await fileBelowRoots(from, { roots, inbox: worker.inbox }).catch((error: unknown) => {
        if (error instanceof RunError) return undefined;
        throw error;
      });
      if (below !== undefined) return { ...data, file: below };
      copy = path.join(uploadsDir(home), `${randomBytes(8).toString('hex')}-${shortName(from)}`);
      await mkdir(path.dirname(copy), { recursive: true });
      await copyFile(from, copy, constants.COPYFILE_EXCL);
      // A copy has the rights of what it was made of.
      await chmod(copy, 0o600);
      // Not absolute: workers with another data folder then leave the job to those with this one.
      return { ...data, file: path.relative(home, copy) };
    },
    async takeBack() {
      if (copy !== undefined) await rm(copy, { force: true });
    },
  };
}

/**
 * The same for an export; `target` is the file to write, in place of the one that the job names.
 * @throws RunError `usage` also where workers may not write there.
 */
export async function prepareExport(
  job: string,
  target: string | undefined,
  settings: Settings,
  io: Pick<Io, 'cwd'>,
  options: Readonly<Record<string, unknown>>,
): Promise<PreparedJob> {
  const file = target === undefined ? undefined : path.resolve(io.cwd, target);
  const data = {
    job: await jobData(job, settings.jobsDir, loadExportJob),
    ...(file !== undefined && { file }),
    ...(Object.keys(options).length > 0 && { options }),
  };
  refuseFaults('export', data);
  return {
    async place(runs) {
      if (file === undefined) return data;
      const { roots = settings.worker.roots } = await runs.queue();
      await targetBelowRoots(file, targetFolders(settings, roots));
      return data;
    },
    takeBack: async () => undefined,
  };
}

function refuseFaults(kind: JobKind, data: unknown): void {
  const checked = checkJobData(kind, data);
  if (!('faults' in checked)) return;
  throw new RunError('usage', 'This is no job for the queue; nothing was put on it.', checked.faults);
}

type Load = (job: string, options: { readonly jobsDir: string }) => Promise<{ readonly text: string }>;

/** A name goes as it is, checked where the file is here too; the job of a path goes whole. */
async function jobData(job: string, jobsDir: string, load: Load): Promise<unknown> {
  const isPath = job.includes('/') || job.includes(path.sep) || /\.ya?ml$/i.test(job);
  if (isPath) return readJobYaml((await load(job, { jobsDir })).text).value;
  for (const ending of ['yaml', 'yml']) {
    const file = path.join(jobsDir, `${job}.${ending}`);
    if (await stat(file).catch(() => undefined)) await load(file, { jobsDir });
  }
  return job;
}

/** The ending tells the kind of file; names of copies stay within what file systems take. */
function shortName(file: string): string {
  return path.basename(file).slice(-100);
}

/** NDJSON, one object a line. */
async function rowsFrom(stdin: Io['stdin']): Promise<unknown[]> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stdin) {
    const bytes = Buffer.from(piece as Buffer | string);
    size += bytes.length;
    if (size > DATA_LIMITS.bytes) {
      throw new RunError('usage', `More than ${DATA_LIMITS.bytes} bytes came on stdin. Put the rows into a file.`);
    }
    pieces.push(bytes);
  }
  const rows: unknown[] = [];
  for (const [index, line] of Buffer.concat(pieces).toString('utf8').split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      rows.push(JSON.parse(line));
    } catch (error) {
      throw new RunError('usage', `Line ${index + 1} on stdin is no JSON object; one object a line is expected.`, [], {
        cause: error,
      });
    }
  }
  return rows;
}
