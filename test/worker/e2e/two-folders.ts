import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Told } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { type Crew, type RunningWorker, told } from '../../support/worker.js';

/** A worker with a data folder and a drop folder of its own: what is dropped there is run by it and nobody else. */
export interface Own extends RunningWorker {
  drop(file: string, content: string, job?: string): Promise<void>;
  /** Folders of its runs that ended. */
  endedRuns(job?: string): Promise<string[]>;
  /** Waits for the end of its only run of a job. */
  only(withinMs: number, job?: string): Promise<Told & { readonly dir: string }>;
}

export async function ownWorker(crew: Crew, name: string, env: Readonly<Record<string, string>> = {}): Promise<Own> {
  const inbox = join(crew.dir, `drop-${name}`);
  await mkdir(inbox, { recursive: true });
  const worker = await crew.worker(name, { env: { ROWFERRY_INBOX: inbox, ...env } });
  const endedRuns = async (job = 'assets') => {
    const folders = ['done', 'failed'].map((place) => join(inbox, place, job));
    const found = await Promise.all(folders.map((one) => readdir(one).catch((): string[] => [])));
    return found.flatMap((runs, i) => runs.map((run) => join(folders[i] ?? '', run)));
  };
  return Object.assign(Object.create(worker) as RunningWorker, {
    endedRuns,
    async drop(file: string, content: string, job = 'assets') {
      const target = join(inbox, job, file);
      await mkdir(join(inbox, job), { recursive: true });
      await writeFile(`${target}.tmp`, content);
      await rename(`${target}.tmp`, target);
    },
    async only(withinMs: number, job = 'assets') {
      await until(async () => (await endedRuns(job)).length > 0, {
        withinMs,
        what: `the end of the run of ${name}`,
      }).catch((error: unknown) => {
        throw new Error(`${(error as Error).message}\n${worker.err().slice(-4_000)}`);
      });
      const [dir = '', ...more] = await endedRuns(job);
      if (more.length > 0) throw new Error(`more than one run: ${[dir, ...more].join(', ')}`);
      return { ...(await told(dir)), dir };
    },
  });
}

/** How many records there are of each value that there is more than once of. */
export function repeated(values: readonly unknown[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([value, count]) => `${value}: ${count}`);
}
