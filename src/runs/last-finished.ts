import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** When the jobs of a data folder last finished a run, milliseconds since 1970; of several companies the latest. */
export async function lastFinished(home: string): Promise<{ readonly job: string; readonly at: number }[]> {
  const dir = join(home, 'jobs');
  const latest = new Map<string, number>();
  for (const file of await readdir(dir).catch(() => [])) {
    const job = /^(.+)-\d+\.json$/.exec(file)?.[1];
    const info = job === undefined ? undefined : await stat(join(dir, file)).catch(() => undefined);
    if (job !== undefined && info) latest.set(job, Math.max(latest.get(job) ?? 0, info.mtimeMs));
  }
  return [...latest].map(([job, at]) => ({ job, at }));
}
