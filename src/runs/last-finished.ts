import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../files/make-folder.js';
import { writeSafely } from '../files/safe-write.js';
import { HOME, nameOfKey } from './layout.js';

/** Where it is kept how the last finished run of a job (`jobKey`) ended; the next one and restarted workers look at it. */
export function lastRunFile(home: string, job: string, company: number): string {
  return join(home, 'jobs', `${job}-${company}.json`);
}

/** Notes how many rows a finished run had. What a later run of the job noted stays: an older one may be taken up after it. */
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
  const file = lastRunFile(home, job, company);
  const last = await lastRun(file);
  if (last !== undefined && last.run > run) return;
  await writeSafely(file, (write) => write(`${JSON.stringify({ run, rows })}\n`));
}

/** How many rows the last finished run of a job had; undefined where there was none, or where that can no longer be read. */
export async function lastRows(home: string, job: string, company: number): Promise<number | undefined> {
  return (await lastRun(lastRunFile(home, job, company)))?.rows;
}

async function lastRun(file: string): Promise<{ readonly run: string; readonly rows: number } | undefined> {
  try {
    const { run, rows } = JSON.parse(await readFile(file, 'utf8')) as { run?: unknown; rows?: unknown };
    return typeof run === 'string' && typeof rows === 'number' ? { run, rows } : undefined;
  } catch {
    return undefined;
  }
}

/** When the jobs of a data folder last finished a run, milliseconds since 1970; of several companies the latest. */
export async function lastFinished(home: string): Promise<{ readonly job: string; readonly at: number }[]> {
  const dir = join(home, 'jobs');
  const latest = new Map<string, number>();
  for (const file of await readdir(dir).catch(() => [])) {
    const job = nameOfKey(/^(.+)-\d+\.json$/.exec(file)?.[1] ?? '');
    const info = job === '' ? undefined : await stat(join(dir, file)).catch(() => undefined);
    if (info) latest.set(job, Math.max(latest.get(job) ?? 0, info.mtimeMs));
  }
  return [...latest].map(([job, at]) => ({ job, at }));
}
