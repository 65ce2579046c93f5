import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { visible } from '../model/visible.js';
import type { Notice, RunListener } from '../runs/progress.js';
import type { SettingFlags, Settings } from '../runs/settings.js';
import type { Cli } from './io.js';
import { openScreen } from './screen.js';

/** Flags that stand in for settings; every command takes those it has a use for. None has a default of its own. */
const FLAGS = {
  apiUrl: ['--api-url <url>', 'address of the service (ROWFERRY_API_URL)'],
  company: ['--company <id>', 'company to act for (ROWFERRY_COMPANY)'],
  home: ['--home <dir>', 'data folder (ROWFERRY_HOME)'],
  jobsDir: ['--jobs-dir <dir>', 'folder of the job files (ROWFERRY_JOBS_DIR)'],
  concurrency: ['--concurrency <n>', 'most requests in flight (ROWFERRY_CONCURRENCY)'],
  maxRps: ['--max-rps <n>', 'ceiling of requests per second (ROWFERRY_MAX_RPS)'],
  inbox: ['--inbox <dir>', 'drop folder (ROWFERRY_INBOX)'],
  http: ['--http <[host:]port>', 'where health and metrics are answered, or off (ROWFERRY_HTTP)'],
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
  const { apiUrl, company, home, jobsDir, concurrency, maxRps, logLevel, inbox, http } = options;
  return { apiUrl, company, home, jobsDir, concurrency, maxRps, logLevel, inbox, http };
}

/** @throws RunError `usage` with every wrong setting. */
export async function readSettings(cli: Cli, flags: SettingFlags): Promise<Settings> {
  const { resolveSettings } = await import('../runs/settings.js');
  const settings = resolveSettings(cli.io.env, settingFlags(flags), cli.io.cwd);
  cli.secrets.push(...settings.secrets);
  cli.debug = settings.logLevel === 'debug' || settings.logLevel === 'trace';
  if (settings.auth?.kind === 'file') cli.secrets.push(...tokenIn(settings.auth.path));
  return settings;
}

/** For the redactor alone; a file that cannot be read is reported by what needs it. */
function tokenIn(path: string): string[] {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return [text, text.replace(/^bearer\s+/i, '')];
  } catch {
    return [];
  }
}

/** What a run tells while it works: log, notices, progress. */
export interface Telling {
  readonly log: Logger;
  readonly listener: RunListener;
  /** The run that reported progress last. */
  run(): string | undefined;
  /** Takes the progress line away; text after it stands on a line of its own. */
  stop(): void;
}

/**
 * On a terminal notices are plain lines above the progress line. In a pipe everything a run tells is a log line, so that
 * stderr can be read by a program.
 */
export async function openTelling(cli: Cli, settings: Settings): Promise<Telling> {
  const { openLog } = await import('./log.js');
  const { stderr } = cli.io;
  const screen = await openScreen(cli.io);
  const terminal = stderr.isTTY === true;
  const log = await openLog({ level: settings.logLevel, terminal, screen, secrets: cli.secrets });
  let run: string | undefined;
  const notice = ({ level, text }: Notice) => {
    if (terminal) screen.write(visible(level === 'warn' ? `warning: ${text}\n` : `${text}\n`));
    else log[level](text);
  };
  for (const text of settings.warnings) notice({ level: 'warn', text });
  return {
    log,
    listener: {
      notice,
      progress(progress) {
        run = progress.run;
        screen.progress(progress);
      },
    },
    run: () => run,
    stop: () => screen.stop(),
  };
}
