import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RunsApi } from '../api/runs.js';
import { RunError } from '../model/error.js';
import { readJobYaml } from '../runs/job/yaml.js';
import { type JobSource, loadExportJob, loadJob, loadReconcileJob } from '../runs/job-file.js';
import { HOME, makeFolder } from '../runs/run/layout.js';
import type { Settings } from '../runs/settings.js';
import type { JobKind } from '../worker/jobs/data.js';
import { checkJobData } from '../worker/jobs/data.js';
import { fileBelowRoots, targetBelowRoots, targetFolders, uploadsDir } from '../worker/jobs/roots.js';

/** A job that is fit for the queue; nothing is copied yet. */
export interface PreparedJob {
  /** Copies the file into the data folder, if workers may not read it where it lies, and returns the data of the job. */
  place(runs: Pick<RunsApi, 'queue'>): Promise<Readonly<Record<string, unknown>>>;
  /** Removes the copy again. */
  takeBack(): Promise<void>;
}

/** What is asked for. Files are absolute, those to read are there. */
interface Order {
  readonly job: JobSource;
  readonly given: { readonly file?: string } | { readonly rows: readonly object[] };
  readonly settings: Settings;
  readonly cwd: string;
}

const LOADERS = { import: loadJob, reconcile: loadReconcileJob, export: loadExportJob };

/**
 * Checks job, file and options as a worker would; the file of an export is what it writes, in place of the one that the job
 * names.
 * @throws RunError `usage` with every fault.
 */
export async function prepareJob(
  kind: JobKind,
  { job, given, settings, cwd }: Order,
  options: Readonly<Record<string, unknown>>,
): Promise<PreparedJob> {
  const from = 'file' in given ? given.file : undefined;
  const data = {
    job: await jobData(job, { jobsDir: settings.jobsDir, cwd }, LOADERS[kind]),
    ...given,
    ...(Object.keys(options).length > 0 && { options }),
  };
  refuseFaults(kind, data);
  const { home } = settings;
  let copy: string | undefined;
  return {
    async place(runs) {
      if (from === undefined) return data;
      const { roots = settings.roots } = await runs.queue();
      if (kind === 'export') {
        await targetBelowRoots(from, targetFolders(settings, roots));
        return data;
      }
      const below = await fileBelowRoots(from, { ...settings, roots }).catch((error: unknown) => {
        if (error instanceof RunError) return undefined;
        throw error;
      });
      if (below !== undefined) return { ...data, file: below };
      // The ending tells the kind of file; names of copies stay within what file systems take.
      copy = path.join(uploadsDir(home), `${randomBytes(8).toString('hex')}-${path.basename(from).slice(-100)}`);
      await makeFolder(path.dirname(copy), HOME);
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

function refuseFaults(kind: JobKind, data: unknown): void {
  const checked = checkJobData(kind, data);
  if (!('faults' in checked)) return;
  throw new RunError('usage', 'This is no job for the queue; nothing was put on it.', checked.faults);
}

interface Place {
  readonly jobsDir: string;
  readonly cwd: string;
}
type Load = (job: JobSource, place: Place) => Promise<{ readonly text: string }>;

/** A name goes as it is, checked where the file is here too; the job of a path, or given as data, goes whole. */
async function jobData(job: JobSource, place: Place, load: Load): Promise<unknown> {
  if (typeof job !== 'string') return job;
  const isPath = job.includes('/') || job.includes(path.sep) || /\.ya?ml$/i.test(job);
  if (isPath) return readJobYaml((await load(job, place)).text).value;
  for (const ending of ['yaml', 'yml']) {
    const file = path.join(place.jobsDir, `${job}.${ending}`);
    if (await stat(file).catch(() => undefined)) await load(file, place);
  }
  return job;
}
