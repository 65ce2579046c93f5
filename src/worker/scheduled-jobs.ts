import { stat } from 'node:fs/promises';
import path from 'node:path';
import { checkJobFile, jobFiles, jobNameOf } from '../runs/job-file.js';
import type { ScheduledJob } from './schedule/put-due.js';

/**
 * Reads the jobs of a folder that have a schedule, again and again: only files that changed are read anew. A job file
 * with faults has no schedule until it is corrected.
 */
export function scheduledJobs(jobsDir: string): () => Promise<readonly ScheduledJob[]> {
  type Known = { readonly version: string; readonly job: Pick<ScheduledJob, 'kind' | 'schedule'> | undefined };
  let known = new Map<string, Known>();
  return async () => {
    const files = await jobFiles(jobsDir).catch((): string[] => []);
    const seen = new Map<string, Known>();
    const jobs = new Map<string, ScheduledJob>();
    for (const file of files) {
      const one = path.join(jobsDir, file);
      const info = await stat(one).catch(() => undefined);
      if (!info) continue;
      const version = `${info.ino} ${info.size} ${info.mtimeMs}`;
      let entry = known.get(file);
      if (entry?.version !== version) {
        const { job } = await checkJobFile(one, { jobsDir }).catch(() => ({ job: undefined }));
        entry = { version, job: job?.schedule && { kind: job.kind, schedule: job.schedule } };
      }
      seen.set(file, entry);
      const name = jobNameOf(file);
      if (entry.job && !jobs.has(name)) jobs.set(name, { name, ...entry.job });
    }
    known = seen;
    return [...jobs.values()];
  };
}
