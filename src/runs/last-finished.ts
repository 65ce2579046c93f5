import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../files/make-folder.js';
import { HOME } from './layout.js';

/** Where it is kept how a job's last finished run ended; the next one and restarted workers look at it. */
export function lastRunFile(home: string, job: string, company: number): string {
  const name = job.replace(/[^\p{L}\p{N}._-]+/gu, '_');
  return join(home, 'jobs', `${name}-${company}.json`);
}

/** Notes how many rows a finished run had. */
export async function rememberRun(
  home: string,
  {
    run,
    job,
    company,
    rows,
  }: { readonly run: string; readonly job: string; readonly company: number; readonly rows: number },
): Promise<void> {
  await makeFolder(join(home, 'jobs'), HOME);
  await writeFile(lastRunFile(home, job, company), `${JSON.stringify({ run, rows })}\n`);
}

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
