import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { relative } from 'node:path';
import { type FolderPurpose, probeFolder } from '../../files/make-folder.js';
import { diskErrorText, RunError, systemCodes } from '../../model/error.js';
import type { Json, Service } from '../../service/port.js';
import { HOME, INBOX } from '../run/layout.js';
import { withService } from '../run/open-service.js';
import { requireService, type Settings } from '../settings.js';

/** The drop folder lies in the data folder where no other is named: what is wrong there is said once. */
async function checkFolders({ home, inbox, jobsDir }: Settings): Promise<Check[]> {
  const checks = [await checkWritable(home, HOME)];
  if (existsSync(inbox) || relative(home, inbox).startsWith('..')) checks.push(await checkWritable(inbox, INBOX));
  return [...checks, await checkJobsFolder(jobsDir)];
}

async function checkWritable(folder: string, purpose: FolderPurpose): Promise<Check> {
  const name = purpose.what;
  const existed = existsSync(folder);
  try {
    await probeFolder(folder, purpose);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const advice = `give write permission, or name another folder with ${purpose.namedBy}`;
    return { name, state: 'bad', found: error.message, advice };
  }
  const found = existed ? `${folder} can be written` : `${folder} does not exist yet and can be made`;
  return { name, state: 'ok', found };
}

const JOBS_FOLDER = 'jobs folder';

/** It is read alone, and not needed by whoever names job files by their path. */
async function checkJobsFolder(folder: string): Promise<Check> {
  const name = JOBS_FOLDER;
  try {
    await readdir(folder);
    return { name, state: 'ok', found: `${folder} can be read` };
  } catch (error) {
    if (systemCodes(error)[0] === 'ENOENT') return { name, state: 'ok', found: `${folder} does not exist yet` };
    const found = `The jobs folder ${folder} cannot be read: ${diskErrorText(error)}.`;
    return { name, state: 'bad', found, advice: 'give read permission, or name another folder with ROWFERRY_JOBS_DIR' };
  }
}

/** Asks a queue; throws a `RunError` that says what is wrong. Undefined for an embedded one that no worker has open. */
type InspectQueue = (settings: Settings) => Promise<{ readonly address: string; readonly workers: number } | undefined>;

export async function checkQueue(settings: Settings, inspect: InspectQueue): Promise<Check> {
  const name = 'queue';
  try {
    const queue = await inspect(settings);
    // Its start takes seconds, and is not worth a look.
    if (!queue) return { name, state: 'ok', found: 'embedded, in the data folder (opened by `worker` and `enqueue`)' };
    const workers = queue.workers === 1 ? '1 worker is connected' : `${queue.workers || 'no'} workers are connected`;
    return { name, state: 'ok', found: `${queue.address}, ${workers}` };
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
export async function runChecks(
  settings: Settings | RunError,
  options: { readonly signal?: AbortSignal; readonly inspectQueue: InspectQueue },
): Promise<Check[]> {
  if (settings instanceof Error) {
    const found = [settings.message, ...settings.details].join('\n');
    return [{ name: 'settings', state: 'bad', settings: true, found }];
  }
  return [
    ...checkSettings(settings),
    ...(await checkFolders(settings)),
    ...(await checkService(settings, options.signal)),
    await checkQueue(settings, options.inspectQueue),
  ];
}

/** 0 all is well, 1 something is not, 2 the settings are not. */
export function checksExitCode(checks: readonly Check[]): 0 | 1 | 2 {
  const bad = checks.filter((check) => check.state === 'bad');
  if (bad.length === 0) return 0;
  return bad.some((check) => check.settings) ? 2 : 1;
}

/** What the probe does without. */
const WORKER_ONLY: ReadonlySet<string> = new Set(['queue', INBOX.what, JOBS_FOLDER]);

/** Names of the checks that keep the probe from being carried out; none: it can be. */
export function probeBlockers(checks: readonly Check[]): string[] {
  return checks.flatMap(({ name, state }) => (state === 'bad' && !WORKER_ONLY.has(name) ? [name] : []));
}

function checkSettings(settings: Settings): Check[] {
  let missing: readonly string[] = [];
  try {
    requireService(settings);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    missing = error.details;
  }
  const settingsText = [
    `company ${settings.company}`,
    `at most ${settings.concurrency} requests in flight`,
    ...(settings.maxRps === undefined ? [] : [`at most ${settings.maxRps} requests a second`]),
    `data folder ${settings.home}`,
    settings.auth ? `sign-in by ${SIGN_IN[settings.auth.kind]}` : 'no way to sign in',
  ].join(', ');
  const found = [settingsText, ...missing].join('\n');
  const advice =
    'set the variables in the shell or in a .env file here; to try without a service, start `rowferry sandbox`';
  return [
    missing.length > 0
      ? { name: 'settings', state: 'bad', settings: true, found, advice }
      : { name: 'settings', state: 'ok', found },
    ...settings.warnings.map((found): Check => ({ name: 'settings', state: 'warn', found })),
  ];
}

const SIGN_IN = { token: 'ROWFERRY_API_TOKEN', file: 'a token file', oauth: 'OAuth client credentials' } as const;

const TOKEN_ADVICE = {
  token: 'check ROWFERRY_API_TOKEN',
  file: 'check the file of ROWFERRY_API_TOKEN_FILE; the service was not asked',
  oauth: 'check the ROWFERRY_OAUTH_… variables and that the token service is up; the service itself was not asked',
} as const;

/** How long a check waits for the service; an import has more patience. */
const PATIENCE_MS = 5_000;

/** Reachable, token accepted, company; what depends on a step that failed is left out. */
async function checkService(settings: Settings, signal?: AbortSignal): Promise<Check[]> {
  const { apiUrl, auth, company } = settings;
  if (apiUrl === undefined || auth === undefined) return [];
  const serviceOk: Check = { name: 'service', state: 'ok', found: `${apiUrl} answers` };
  return withService(settings, { patienceMs: PATIENCE_MS, signal }, async (service) => {
    try {
      await service.page('company', 1);
    } catch (error) {
      const found = runErrorText(error);
      if (error instanceof RunError && (error.status === 401 || error.status === 403))
        return [serviceOk, { name: 'token', state: 'bad', found, advice: 'check the token and its rights' }];
      if (error instanceof RunError && error.code === 'token_unavailable')
        return [{ name: 'token', state: 'bad', found, advice: TOKEN_ADVICE[auth.kind] }];
      return [
        { name: 'service', state: 'bad', found, advice: 'check ROWFERRY_API_URL, the network, proxy and firewall' },
      ];
    }
    return [serviceOk, { name: 'token', state: 'ok', found: 'is accepted' }, await checkCompany(service, company)];
  });
}

async function checkCompany(service: Service, company: number): Promise<Check> {
  const name = 'company';
  const advice = 'set ROWFERRY_COMPANY, or `company` in the job';
  try {
    const found = await service.get('company', company);
    if (found === undefined) {
      const { results } = await service.page('company', 1);
      const companies = results.map(companyText).join(', ');
      return { name, state: 'bad', found: `there is no company ${company}; there are: ${companies || 'none'}`, advice };
    }
    if (found['status'] === 'active') return { name, state: 'ok', found: companyText(found) };
    return { name, state: 'bad', found: `${companyText(found)} is ${String(found['status'])}, not active`, advice };
  } catch (error) {
    return { name, state: 'bad', found: runErrorText(error), advice };
  }
}

const companyText = (company: Json): string => `${String(company['id'])} "${String(company['name'])}"`;

function runErrorText(error: unknown): string {
  if (error instanceof RunError) return [error.message, ...error.details].join('\n');
  throw error;
}
