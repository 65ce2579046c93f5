import { mkdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkJobs, jobsIn } from '../check-jobs.js';
import type { Settings } from '../settings.js';
import type { Check } from './check.js';

/** What can be told without the service. */

const LEAST_NODE = [20, 19] as const;

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fine = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  if (fine) return { name: 'Node', state: 'ok', found: version };
  return { name: 'Node', state: 'bad', found: version, advice: `install Node ${LEAST_NODE.join('.')} or newer` };
}

/** Below this a large import may not find room for its reports. */
const LITTLE_SPACE = 1024 ** 3;
/** Below this even the journal of a small one may not. */
const NO_SPACE = 100 * 1024 ** 2;

export async function checkFolders(home: string): Promise<Check[]> {
  const existed = await stat(home).catch(() => undefined);
  const probe = join(home, `.doctor-${process.pid}`);
  let made: string | undefined;
  try {
    made = await mkdir(home, { recursive: true });
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = 'give write permission, or name another folder with ROWFERRY_HOME';
    return [{ name: 'data folder', state: 'bad', found: `${home} cannot be written: ${reason}`, advice }];
  }
  const space = await checkSpace(home);
  // A check leaves nothing behind.
  if (made !== undefined) await rm(made, { recursive: true, force: true });
  const found = existed ? `${home} can be written` : `${home} does not exist yet and can be made`;
  return [{ name: 'data folder', state: 'ok', found }, space];
}

async function checkSpace(home: string): Promise<Check> {
  const disk = await statfs((await stat(home).catch(() => undefined)) ? home : dirname(home));
  const free = disk.bavail * disk.bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GB free`;
  const name = 'disk space';
  if (free < NO_SPACE) return { name, state: 'bad', found, advice: `make room on the disk of ${home}` };
  if (free < LITTLE_SPACE) return { name, state: 'warn', found, advice: 'a large import may need more' };
  return { name, state: 'ok', found };
}

export async function checkJobFiles(jobsDir: string, cwd: string): Promise<Check> {
  const name = 'job files';
  const paths = await jobsIn(jobsDir);
  if (paths.length === 0) {
    const advice = 'name another folder with ROWFERRY_JOBS_DIR, or give --job the path of a file';
    return { name, state: 'warn', found: `there are none in ${jobsDir}`, advice };
  }
  const results = await checkJobs(paths, { jobsDir, cwd });
  const lines = results
    .filter((result) => !result.fine)
    .flatMap((result) => [...result.lines, ...failureLine(result.failure)]);
  if (lines.length === 0) return { name, state: 'ok', found: `${paths.length} in ${jobsDir}, all fine` };
  return {
    name,
    state: 'bad',
    found: lines.join('\n'),
    advice: 'correct what is listed; `rowferry check` looks again',
  };
}

const failureLine = (failure: Error | undefined): string[] => (failure ? [failure.message] : []);

/** The form alone: the worker is what opens the queue. */
export function checkQueue(settings: Settings): Check {
  const name = 'queue';
  const { queueUrl } = settings;
  if (queueUrl === undefined) return { name, state: 'ok', found: 'embedded, in the data folder (used by the worker)' };
  const scheme = queueUrl.slice(0, queueUrl.indexOf(':'));
  const host = queueUrl.replace(/^[^:]+:\/\/(?:[^@/]*@)?/, '').replace(/[/?].*$/, '');
  return { name, state: 'ok', found: `${scheme} at ${host} (used by the worker; not opened here)` };
}
