import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tryFolder } from '../../files/make-folder.js';
import { RunError } from '../../model/error.js';
import type { Json, Service } from '../../service/port.js';
import { checkJobs, jobsIn } from '../job-file.js';
import { HOME } from '../run/layout.js';
import { withService } from '../run/open-service.js';
import { requireService, SETTINGS, type SettingRow, type Settings } from '../settings.js';

/** What can be told without the service. */

/** Below this a large import may not find room for its reports. */
const LITTLE_SPACE = 1024 ** 3;
/** Below this even the journal of a small one may not. */
const NO_SPACE = 100 * 1024 ** 2;

async function checkFolders(home: string): Promise<Check[]> {
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
async function checkRights(
  { home, ownFiles }: Settings,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check[]> {
  const checks: Check[] = [];
  const name = 'rights';
  const kept = await readdir(home).catch(() => []);
  const wide: string[] = [];
  for (const path of new Set([join(cwd, '.env'), ...ownFiles, home, ...kept.map((one) => join(home, one))])) {
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

async function checkJobFiles(jobsDir: string, cwd: string): Promise<Check[]> {
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
type QueueLook = (settings: Settings) => Promise<{ readonly address: string; readonly workers: number } | undefined>;

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

/** Whether everything an import needs is there. Settings that could not be resolved are handed over as their fault. */
export async function checkUp(
  settings: Settings | RunError,
  options: {
    cwd: string;
    env: Readonly<Record<string, string | undefined>>;
    signal?: AbortSignal;
    lookAtQueue: QueueLook;
  },
): Promise<Check[]> {
  if (settings instanceof Error) {
    const found = [settings.message, ...settings.details].join('\n');
    return [{ name: 'settings', state: 'bad', settings: true, found }];
  }
  return [
    ...checkSettings(settings, options.env),
    ...(await checkFolders(settings.home)),
    ...(await checkRights(settings, options.cwd, options.env)),
    ...(await checkJobFiles(settings.jobsDir, options.cwd)),
    ...(await checkService(settings, options.signal)),
    await checkQueue(settings, options.lookAtQueue),
  ];
}

/** 0 all is well, 1 something is not, 2 the settings are not. */
export function checkUpCode(checks: readonly Check[]): 0 | 1 | 2 {
  const bad = checks.filter((check) => check.state === 'bad');
  if (bad.length === 0) return 0;
  return bad.some((check) => check.settings) ? 2 : 1;
}

/** What the probe needs; a faulty job file, say, is nothing to it. */
const PROBE_NEEDS = ['settings', 'data folder', 'service', 'token', 'company'];

/** Names of the checks that keep the probe from being carried out; none: it can be. */
export function hindersProbe(checks: readonly Check[]): string[] {
  return PROBE_NEEDS.filter((name) => checks.some((check) => check.name === name && check.state === 'bad'));
}

function checkSettings(settings: Settings, env: Readonly<Record<string, string | undefined>>): Check[] {
  let lacking: readonly string[] = [];
  try {
    requireService(settings);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    lacking = error.details;
  }
  const secrets = SETTINGS.filter((row: SettingRow) => row.secret).map((row): string => row.name);
  const names = new Set([...SETTINGS.map((row): string => row.name), ...secrets.map((name) => `${name}_FILE`)]);
  const shown = [...names]
    .filter((name) => env[name]?.trim())
    .map((name) => `${name}=${secrets.includes(name) ? '(set)' : env[name]}`);
  const inForce = [
    `company ${settings.company}`,
    `at most ${settings.concurrency} requests in flight`,
    ...(settings.maxRps === undefined ? [] : [`at most ${settings.maxRps} requests a second`]),
    `data folder ${settings.home}`,
    `jobs in ${settings.jobsDir}`,
    settings.auth ? `sign-in by ${SIGN_IN[settings.auth.kind]}` : 'no way to sign in',
  ].join(', ');
  const found = [inForce, ...(shown.length > 0 ? [`from the environment: ${shown.join(' ')}`] : []), ...lacking].join(
    '\n',
  );
  const advice =
    'set the variables in the shell or in a .env file here; to try without a service, start `rowferry sandbox`';
  return [
    lacking.length > 0
      ? { name: 'settings', state: 'bad', settings: true, found, advice }
      : { name: 'settings', state: 'ok', found },
    ...settings.warnings.map((found): Check => ({ name: 'settings', state: 'warn', found })),
  ];
}

const SIGN_IN = { token: 'ROWFERRY_API_TOKEN', file: 'a token file', oauth: 'OAuth client credentials' } as const;

/** How long a check waits for the service; an import has more patience. */
const PATIENCE_MS = 5_000;

/** Reachable, token accepted, company; what depends on a step that failed is left out. */
async function checkService(settings: Settings, signal?: AbortSignal): Promise<Check[]> {
  const { apiUrl, auth, company } = settings;
  if (apiUrl === undefined || auth === undefined) return [];
  const reached: Check = { name: 'service', state: 'ok', found: `${apiUrl} answers` };
  return withService(settings, { patienceMs: PATIENCE_MS, signal }, async (service) => {
    try {
      await service.page('company', 1);
    } catch (error) {
      const found = reasonOf(error);
      if (error instanceof RunError && (error.status === 401 || error.status === 403))
        return [reached, { name: 'token', state: 'bad', found, advice: 'check the token and its rights' }];
      return [
        { name: 'service', state: 'bad', found, advice: 'check ROWFERRY_API_URL, the network, proxy and firewall' },
      ];
    }
    return [reached, { name: 'token', state: 'ok', found: 'is accepted' }, await checkCompany(service, company)];
  });
}

async function checkCompany(service: Service, company: number): Promise<Check> {
  const name = 'company';
  const advice = 'set ROWFERRY_COMPANY, or `company` in the job';
  try {
    const found = await service.get('company', company);
    if (found === undefined) {
      const { results } = await service.page('company', 1);
      const there = results.map(companyText).join(', ');
      return { name, state: 'bad', found: `there is no company ${company}; there are: ${there || 'none'}`, advice };
    }
    if (found['status'] === 'active') return { name, state: 'ok', found: companyText(found) };
    return { name, state: 'bad', found: `${companyText(found)} is ${String(found['status'])}, not active`, advice };
  } catch (error) {
    return { name, state: 'bad', found: reasonOf(error), advice };
  }
}

const companyText = (company: Json): string => `${String(company['id'])} "${String(company['name'])}"`;

function reasonOf(error: unknown): string {
  if (error instanceof RunError) return [error.message, ...error.details].join('\n');
  throw error;
}
