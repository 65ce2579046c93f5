import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { checkJobFile } from '../runs/job-file.js';
import type { ScheduledJob } from './schedule/put-due.js';

/** The jobs of a folder that have a schedule. A job file with faults has none, until it is corrected. */
export async function readScheduledJobs(jobsDir: string): Promise<ScheduledJob[]> {
  const files = (await readdir(jobsDir).catch(() => [])).filter((name) => /^[^.~].*\.ya?ml$/i.test(name)).sort();
  const found = new Map<string, ScheduledJob>();
  for (const file of files) {
    const name = file.replace(/\.ya?ml$/i, '');
    if (found.has(name)) continue;
    const { job } = await checkJobFile(path.join(jobsDir, file), { jobsDir }).catch(() => ({ job: undefined }));
    if (job?.schedule) found.set(name, { name, schedule: job.schedule });
  }
  return [...found.values()];
}
