import type { RunError } from '../model/error.js';
import {
  type Check,
  checkFolders,
  checkJobFiles,
  checkNode,
  checkQueue,
  checkRights,
  type QueueLook,
} from './doctor/here.js';
import { checkService } from './doctor/service.js';
import { SETTINGS, type SettingRow, type Settings } from './settings.js';

export type { Check } from './doctor/here.js';

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
  const node = checkNode(process.versions.node);
  if (settings instanceof Error) {
    return [
      node,
      { name: 'settings', state: 'bad', settings: true, found: [settings.message, ...settings.details].join('\n') },
    ];
  }
  return [
    node,
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
  const lacking: string[] = [];
  if (settings.apiUrl === undefined)
    lacking.push('ROWFERRY_API_URL is not set: the address of the service, without /api/v2');
  if (settings.auth === undefined) {
    lacking.push('ROWFERRY_API_TOKEN is not set (or ROWFERRY_API_TOKEN_FILE, or the ROWFERRY_OAUTH_… variables)');
  }
  const shown = SETTINGS.map((row): SettingRow => row)
    .filter((row) => env[row.name]?.trim())
    .map((row) => `${row.name}=${row.secret ? '(set)' : env[row.name]}`);
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
