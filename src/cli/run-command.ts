import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { type CallOptions, type RunHandle, secretsOf } from '../library/open.js';
import { EXIT, RunError } from '../model/error.js';
import { shellWord } from '../model/yaml-text.js';
import type { RunResult } from '../runs/run/conclude.js';
import type { RunContext } from '../runs/run/context.js';
import type { SettingFlags, Settings } from '../runs/settings.js';
import { type Cli, print, printErr, printJson, reportInterrupted } from './io.js';
import { openMessages } from './messages.js';

/**
 * Carries a run out: progress and notices on stderr, then the summary on stdout, as text or as one JSON object.
 * Returns the exit code; after a signal that stopped the run it is 130 or 143, and the way to go on is named.
 */
export async function executeRun(
  cli: Cli,
  settings: Settings,
  options: { json: boolean },
  work: (context: RunContext) => Promise<RunResult>,
): Promise<{ code: number; result?: RunResult }> {
  const messages = await openMessages(cli, settings);
  const interruption = onInterrupt((signal) => {
    messages.listener.notice({
      level: 'warn',
      text: `${signal}: finishing the requests in flight and writing the reports; a second signal ends at once`,
    });
  });
  const printResumeHint = (run: string) => printErr(cli, `Go on with: rowferry runs resume ${run}`);
  try {
    const result = await work({
      settings,
      listener: messages.listener,
      log: messages.log,
      signal: interruption.signal,
    });
    messages.stop();
    const stopped = result.summary.status === 'interrupted';
    await printResult(cli, result, options.json, messages.seen);
    // What the text of the summary says to people.
    if (options.json && stopped) printResumeHint(result.summary.run);
    return { code: stopped ? (interruption.exitCode() ?? result.exitCode) : result.exitCode, result };
  } catch (error) {
    messages.stop();
    const code = interruption.exitCode();
    // A run that is stopped before it can write reports ends by throwing; that is no fault.
    const usage = error instanceof RunError && error.kind === 'usage';
    const run = messages.run();
    if (run !== undefined && !usage) cli.run = run;
    if (code === undefined || usage) throw error;
    const message = `Interrupted before the run could write its reports${error instanceof Error ? `: ${error.message}` : '.'}`;
    reportInterrupted(cli, message, code, options.json);
    if (run) printResumeHint(run);
    return { code };
  } finally {
    interruption.release();
  }
}

/** The same for a run of the library; `cli` has the exit code. */
export async function executeCall(
  cli: Cli,
  settings: Settings,
  flags: SettingFlags & { json?: true },
  begin: (call: CallOptions) => RunHandle,
): Promise<void> {
  const { code } = await executeRun(cli, settings, { json: flags.json === true }, (context) =>
    followRun(begin(callOptions(cli, flags, context)), context),
  );
  cli.code = code;
}

/** What a command tells the library: settings, the signal, and where notices and log lines go. */
export function callOptions(
  { io }: Cli,
  flags: SettingFlags,
  { signal, listener, log }: Pick<RunContext, 'signal' | 'listener' | 'log'>,
): CallOptions {
  const company = flags.company === undefined ? {} : { company: Number(flags.company) };
  const settings = settingFlags(flags) as CallOptions['settings'] & object;
  return { settings, env: io.env, envFile: '.env', cwd: io.cwd, ...company, signal, onNotice: listener.notice, log };
}

/** Shows the progress of a run of the library, to its end. */
export async function followRun(run: RunHandle, { listener }: Pick<RunContext, 'listener'>): Promise<RunResult> {
  for await (const progress of run) listener.progress(progress);
  return run;
}

/** The summary of a run that has ended, as text or as one JSON object. What was `seen` on the terminal is not said again. */
export async function printResult(
  cli: Cli,
  result: RunResult,
  json: boolean,
  seen: ReadonlySet<string> = new Set(),
): Promise<void> {
  const { status, reason, warnings } = result.summary;
  if (json) {
    printJson(cli, result.summary);
    if (reason !== undefined && status !== 'interrupted') printErr(cli, `error: ${reason}`);
    return;
  }
  const { presentSummary } = await import('../runs/run/present.js');
  const unseen = cli.io.stdout.isTTY ? warnings.filter((text) => !seen.has(text)) : warnings;
  print(cli, presentSummary({ ...result, summary: { ...result.summary, warnings: unseen } }));
}

/**
 * SIGINT and SIGTERM while a command works.
 *
 *   working --first signal--> stopping: `signal` is aborted; requests in flight finish and the reports are written
 *   stopping --second signal--> the process ends at once; the journal holds what is needed to resume
 */
export function onInterrupt(announce: (signal: NodeJS.Signals) => void): {
  /** Its reason is the signal's name. */
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal has come. */
  exitCode(): number | undefined;
  /** Stops listening. */
  release(): void;
} {
  const controller = new AbortController();
  let code: number | undefined;
  const listen = (name: 'SIGINT' | 'SIGTERM') => () => {
    const own = name === 'SIGINT' ? EXIT.sigint : EXIT.sigterm;
    if (code !== undefined) process.exit(own);
    code = own;
    announce(name);
    controller.abort(name);
  };
  const listeners = { SIGINT: listen('SIGINT'), SIGTERM: listen('SIGTERM') };
  process.on('SIGINT', listeners.SIGINT);
  process.on('SIGTERM', listeners.SIGTERM);
  return {
    signal: controller.signal,
    exitCode: () => code,
    release() {
      process.off('SIGINT', listeners.SIGINT);
      process.off('SIGTERM', listeners.SIGTERM);
    },
  };
}

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
} as const satisfies { readonly [name in keyof SettingFlags]: readonly [string, string] };

/** A command of rowferry. */
export class CliCommand extends Command {
  /** Takes these settings as flags. */
  settings(...names: (keyof typeof FLAGS)[]): this {
    for (const name of names) {
      const [flag, description] = FLAGS[name];
      this.option(flag, description);
    }
    return this;
  }

  /** Examples and whatever else stands below the list of flags. */
  helpBelow(text: string): this {
    return this.addHelpText('after', text);
  }
}

/** Reads an option that takes a whole number. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** The part of a command's options that are settings. */
function settingFlags(options: SettingFlags): SettingFlags {
  return Object.fromEntries((Object.keys(FLAGS) as (keyof typeof FLAGS)[]).map((name) => [name, options[name]]));
}

/** @throws RunError `usage` with every wrong setting. */
export async function readSettings(cli: Cli, flags: SettingFlags): Promise<Settings> {
  const { resolveSettings } = await import('../runs/settings.js');
  const settings = resolveSettings(cli.io.env, settingFlags(flags), cli.io.cwd);
  cli.secrets.push(...secretsOf(settings));
  cli.debug = settings.logLevel === 'debug' || settings.logLevel === 'trace';
  return settings;
}

/** The folder that holds package.json, jobs/ and fixtures/. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));

/** A file of the package, as a person in a folder would type it. */
export function packageFile(from: string, ...parts: readonly string[]): string {
  const path = join(packageRoot, ...parts);
  return shellWord(path.startsWith(`${from}/`) ? path.slice(from.length + 1) : path);
}

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '?';
}
