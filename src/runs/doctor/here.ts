import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { tryFolder } from '../../files/make-folder.js';
import { RunError } from '../../model/error.js';
import { checkJobs, jobsIn } from '../job-file.js';
import { HOME } from '../run/layout.js';
import { SETTINGS, type Settings } from '../settings.js';

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
  try {
    await tryFolder(home, HOME);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const advice = 'give write permission, or name another folder with --home or ROWFERRY_HOME';
    return [{ name: 'data folder', state: 'bad', found: error.message, advice }];
  }
  const space = await checkSpace(home);
  const found = existed ? `${home} can be written` : `${home} does not exist yet and can be made`;
  return [{ name: 'data folder', state: 'ok', found }, space];
}

async function checkSpace(home: string): Promise<Check> {
  let there = home;
  while (dirname(there) !== there && !(await stat(there).catch(() => undefined))) there = dirname(there);
  const disk = await statfs(there);
  const free = disk.bavail * disk.bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GB free`;
  const name = 'disk space';
  if (free < NO_SPACE) return { name, state: 'bad', found, advice: `make room on the disk of ${home}` };
  if (free < LITTLE_SPACE) return { name, state: 'warn', found, advice: 'a large import may need more' };
  return { name, state: 'ok', found };
}

/** Whether others on this machine, or on the way to the service, may read what is not theirs. */
export async function checkRights(
  { home, auth }: Settings,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check[]> {
  const checks: Check[] = [];
  const name = 'rights';
  const secrets = SETTINGS.map((row): string => row.name).filter((one) => /_FILE$/.test(one));
  const files = secrets.flatMap((one) => env[one]?.trim() || []).map((file) => resolve(cwd, file));
  const kept = await readdir(home).catch(() => []);
  const wide: string[] = [];
  for (const path of new Set([
    join(cwd, '.env'),
    ...(auth?.kind === 'file' ? [auth.path] : []),
    ...files,
    home,
    ...kept.map((one) => join(home, one)),
  ])) {
    const mode = (await stat(path).catch(() => undefined))?.mode ?? 0;
    if (process.platform !== 'win32' && mode & 0o077) wide.push(`${path} (${(mode & 0o777).toString(8)})`);
  }
  if (wide.length > 0) {
    const found = `other users of this machine may reach ${wide.join(', ')}`;
    checks.push({ name, state: 'warn', found, advice: 'take the rights away: chmod -R go-rwx' });
  }
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const found = 'NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not checked; anybody on the way can read the token';
    const advice =
      'unset it; where the service has a certificate of your house, name its issuer in NODE_EXTRA_CA_CERTS';
    checks.push({ name: 'TLS', state: 'warn', found, advice });
  }
  if (wide.length === 0) checks.push({ name, state: 'ok', found: 'data folder and secrets are for this user alone' });
  return checks;
}

export async function checkJobFiles(jobsDir: string, cwd: string): Promise<Check[]> {
  const name = 'job files';
  const paths = await jobsIn(jobsDir);
  if (paths.length === 0) {
    const advice = 'name another folder with ROWFERRY_JOBS_DIR, or give --job the path of a file';
    return [{ name, state: 'warn', found: `there are none in ${jobsDir}`, advice }];
  }
  const results = await checkJobs(paths, { jobsDir, cwd });
  const bad = results.filter((result) => !result.fine);
  if (bad.length > 0) {
    const found = bad.flatMap((result) => [...result.lines, ...failureLine(result.failure)]).join('\n');
    return [{ name, state: 'bad', found, advice: 'correct what is listed; `rowferry check` looks again' }];
  }
  return [{ name, state: 'ok', found: `${results.length} in ${jobsDir}, all fine` }];
}

const failureLine = (failure: Error | undefined): string[] => (failure ? [failure.message] : []);

/** Asks a queue; throws a `RunError` that says what is wrong. Undefined for an embedded one that no worker has open. */
export type QueueLook = (
  settings: Settings,
) => Promise<{ readonly address: string; readonly workers: number } | undefined>;

export async function checkQueue(settings: Settings, look: QueueLook): Promise<Check> {
  const name = 'queue';
  try {
    const seen = await look(settings);
    // Its start takes seconds, and is not worth a look.
    if (!seen) return { name, state: 'ok', found: 'embedded, in the data folder (opened by `worker` and `enqueue`)' };
    const workers = seen.workers === 1 ? '1 worker is connected' : `${seen.workers || 'no'} workers are connected`;
    return { name, state: 'ok', found: `${seen.address}, ${workers}` };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return {
      name,
      state: 'bad',
      found: [error.message, ...error.details].join('\n'),
      advice: 'imports from the command line do without it; `worker` and `enqueue` need it',
    };
  }
}

/** One thing that `rowferry doctor` looked at. */
export interface Check {
  readonly name: string;
  /** `bad` makes the exit code 1 (settings: 2); `warn` does not. */
  readonly state: 'ok' | 'warn' | 'bad';
  readonly found: string;
  /** What to do, where something is to be done. */
  readonly advice?: string;
  readonly settings?: true;
}
