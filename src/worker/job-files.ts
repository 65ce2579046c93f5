import { stat } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../model/error.js';
import type { Notify } from '../model/job.js';
import {
  type CheckedText,
  checkJobFile,
  type JobKind,
  type JobProblem,
  jobFileNames,
  jobNameOf,
} from '../runs/job-file.js';
import type { ScheduledJob } from './schedules.js';

export interface JobFile {
  readonly name: string;
  /** What it says it is; absent where that cannot be told. */
  readonly kind?: JobKind;
  readonly faulty: boolean;
  /** Faults and remarks; of a file that cannot be read the reason. */
  readonly problems: readonly Pick<JobProblem, 'line' | 'column' | 'severity' | 'message'>[];
  /** Of a job file without faults. */
  readonly resource?: string;
  /** Of a job file without faults that has one. */
  readonly schedule?: ScheduledJob['schedule'];
  readonly notify?: Notify | undefined;
}

/** Job files by the name of their job. */
export type JobFiles = ReadonlyMap<string, JobFile>;

/** The kinds of job that take dropped files. */
export type FileJobKind = 'import' | 'reconcile';

/** Of a job that has faults, too: its run tells them. */
export function takesFiles(job: JobFile): job is JobFile & { readonly kind: FileJobKind } {
  return job.kind === 'import' || job.kind === 'reconcile';
}

/** A file that an editor is just replacing is not there for a moment. */
const FORGET_AFTER_MS = 10_000;

/**
 * Reads a folder of job files, again and again: they come and go while the worker runs. Only files that changed are read
 * anew. Rejects where the folder cannot be read.
 */
export function openJobFiles(jobsDir: string): () => Promise<JobFiles> {
  const cache = new Map<string, { readonly version: string; readonly file: JobFile; seen: number }>();
  return async () => {
    const files = await jobFileNames(jobsDir);
    const now = performance.now();
    for (const file of files) {
      const filePath = path.join(jobsDir, file);
      const info = await stat(filePath).catch(() => undefined);
      if (!info) continue;
      const version = `${info.ino} ${info.size} ${info.mtimeMs}`;
      const cached = cache.get(file);
      if (cached?.version === version) cached.seen = now;
      else cache.set(file, { version, file: await readJobFile(filePath, jobNameOf(file), jobsDir), seen: now });
    }
    for (const [file, { seen }] of cache) if (now - seen > FORGET_AFTER_MS) cache.delete(file);
    const jobs = new Map<string, JobFile>();
    for (const [, { file }] of [...cache].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!jobs.has(file.name)) jobs.set(file.name, file);
    }
    return jobs;
  };
}

async function readJobFile(file: string, name: string, jobsDir: string): Promise<JobFile> {
  try {
    return jobFileOf(name, await checkJobFile(file, { jobsDir }));
  } catch (error) {
    const message = error instanceof RunError ? error.message : String(error);
    return { name, faulty: true, problems: [{ line: 1, column: 1, severity: 'error', message }] };
  }
}

/** What a job file says of itself. */
export function jobFileOf(name: string, { kind, job, problems }: CheckedText): JobFile {
  return {
    ...{ name, faulty: job === undefined, problems, notify: job?.notify },
    ...(job && { resource: job.resource }),
    ...(kind !== undefined && { kind }),
    ...(job?.schedule && { schedule: job.schedule }),
  };
}

/** The jobs that have a schedule. */
export function scheduledJobs(jobs: JobFiles): ScheduledJob[] {
  return [...jobs.values()].flatMap(({ name, kind, schedule }) => (kind && schedule ? [{ name, kind, schedule }] : []));
}
