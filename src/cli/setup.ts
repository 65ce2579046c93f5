import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { secretsOf } from '../library/open.js';
import type { SettingFlags, Settings } from '../runs/settings.js';
import type { Cli } from './io.js';

/** Flags that stand in for settings; every command takes those it has a use for. None has a default of its own. */
const FLAGS = {
  apiUrl: ['--api-url <url>', 'address of the service (ROWFERRY_API_URL)'],
  company: ['--company <id>', 'company to act for (ROWFERRY_COMPANY)'],
  home: ['--home <dir>', 'data folder (ROWFERRY_HOME)'],
  jobsDir: ['--jobs-dir <dir>', 'folder of the job files (ROWFERRY_JOBS_DIR)'],
  concurrency: ['--concurrency <n>', 'most requests in flight (ROWFERRY_CONCURRENCY)'],
  maxRps: ['--max-rps <n>', 'ceiling of requests per second (ROWFERRY_MAX_RPS)'],
  keepDays: ['--keep-days <n>', 'days to keep what lies of runs (ROWFERRY_KEEP_DAYS)'],
  inbox: ['--inbox <dir>', 'drop folder (ROWFERRY_INBOX)'],
  http: ['--http <[host:]port>', 'where the console, the API, health and metrics are answered, or off (ROWFERRY_HTTP)'],
  logLevel: ['--log-level <level>', 'fatal, error, warn, info, debug, trace or silent (ROWFERRY_LOG_LEVEL)'],
} as const satisfies Record<keyof SettingFlags, readonly [string, string]>;

export function settingOptions(command: Command, ...names: (keyof SettingFlags)[]): Command {
  for (const name of names) {
    const [flag, description] = FLAGS[name];
    command.option(flag, description);
  }
  return command;
}

/** The part of a command's options that are settings. */
export function settingFlags(options: SettingFlags): SettingFlags {
  return Object.fromEntries((Object.keys(FLAGS) as (keyof SettingFlags)[]).map((name) => [name, options[name]]));
}

/** @throws RunError `usage` with every wrong setting. */
export async function readSettings(cli: Cli, flags: SettingFlags): Promise<Settings> {
  const { resolveSettings } = await import('../runs/settings.js');
  const settings = resolveSettings(cli.io.env, settingFlags(flags), cli.io.cwd);
  cli.secrets.push(...secretsOf(settings));
  cli.debug = settings.logLevel === 'debug' || settings.logLevel === 'trace';
  return settings;
}

/** The members that hold something, for values that may be left out. */
export function given<T extends object>(values: T): { [name in keyof T]?: Exclude<T[name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

/** The folder that holds package.json, jobs/ and fixtures/. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '?';
}
