import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { asRunError, RunError, RunInterrupted, runFailure, usageError } from '../model/error.js';
import type { Log, Notice, Progress } from '../model/progress.js';
import { redactor } from '../model/secret-forms.js';
import type { RunResult } from '../report/summary.js';
import type { RunContext } from '../runs/run/context.js';
import type { Settings, SettingsInput } from '../runs/settings.js';

/**
 * A run at work: a promise of its result, and its progress while it lasts. Iterating is optional, and may begin at any time. A
 * slow reader sees the latest state and none in between; the iteration ends, without throwing, when the run has ended, whatever
 * its end. Leaving it early leaves the run alone.
 */
export interface RunHandle extends Promise<RunResult>, AsyncIterable<Progress> {}

/** `work` is given where to tell its progress. */
export function runHandle(work: (report: (progress: Progress) => void) => Promise<RunResult>): RunHandle {
  let latest: Progress | undefined;
  let updates = 0;
  let wake = resolvers();
  let ended = false;
  const wakeReader = () => {
    wake.resolve();
    wake = resolvers();
  };
  const result = work((progress) => {
    latest = progress;
    updates++;
    wakeReader();
  }).finally(() => {
    ended = true;
    wakeReader();
  });
  async function* progress(): AsyncGenerator<Progress, void, undefined> {
    // Whoever iterates learns of a fault from the promise.
    result.catch(() => undefined);
    for (let seen = 0; ; ) {
      if (seen < updates && latest) {
        seen = updates;
        yield latest;
      } else if (ended) return;
      else await wake.promise;
    }
  }
  return Object.assign(result, { [Symbol.asyncIterator]: progress });
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function resolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** What every call may be given. */
export interface CallOptions {
  /** Settings of this call; they win over the environment. */
  readonly settings?: SettingsInput;
  /** In place of the environment of the process. `.env` is then read only where `envFile` names it: `{}` is a clean room. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** File of settings, which need not be there; false: none. Default: `.env`. */
  readonly envFile?: string | false;
  /** The folder in which relative paths are meant. Default: that of the process. */
  readonly cwd?: string;
  /** Company to act for; wins over the job. */
  readonly company?: number;
  /** Ends the run in order: requests in flight finish, nothing new is sent, and it can be resumed. */
  readonly signal?: AbortSignal;
  /** Sentences for people while the run goes on: whose data changes, what was detected, what is waited for. */
  readonly onNotice?: (notice: Notice) => void;
  /** Lines for programs, such as a pino logger or `console`. */
  readonly log?: Log;
}

/** What a call works with. */
export interface CallContext {
  readonly settings: Settings;
  readonly cwd: string;
  readonly context: RunContext;
}

/** Carries out a call that makes a run: its settings are read, its errors are ours. It takes these options beside those of every call. */
export function beginRun(
  options: CallOptions,
  allowed: readonly string[],
  work: (opened: CallContext) => Promise<RunResult>,
): RunHandle {
  return runHandle((progress) =>
    call(options, allowed, async (opened) => {
      const { requireService } = await import('../runs/settings.js');
      requireService(opened.settings);
      const { context } = opened;
      return work({ ...opened, context: { ...context, listener: { ...context.listener, progress } } });
    }),
  );
}

/** Carries out a call. It rejects with a `RunError` alone, and without secrets. */
export async function call<T>(
  options: CallOptions,
  allowed: readonly string[],
  work: (opened: CallContext) => Promise<T>,
): Promise<T> {
  const { signal = new AbortController().signal, cwd = process.cwd() } = options ?? {};
  let secrets: readonly string[] = [];
  try {
    if (signal.aborted) throw new RunInterrupted();
    assertOptions(options, [...allowed, ...COMMON_OPTIONS], RULES);
    const settings = await settingsOf(options, cwd);
    secrets = secretsOf(settings);
    const redact = redactor(secrets);
    const notice = ({ level, text }: Notice) => options.onNotice?.({ level, text: redact(text) });
    const listener = { notice, progress: () => undefined };
    return await work({
      settings,
      cwd,
      context: { settings, signal, listener, log: redactedLog(options.log, redact) },
    });
  } catch (error) {
    throw publicError(error, redactor(secrets), signal.aborted);
  }
}

const COMMON_OPTIONS = ['settings', 'env', 'envFile', 'cwd', 'company', 'signal', 'onNotice', 'log'];

export type Rule = readonly [fits: (value: unknown) => boolean, words: string];
export const FLAG: Rule = [(value) => typeof value === 'boolean', 'true or false'];
export const TEXT: Rule = [(value) => typeof value === 'string', 'text'];
/** One that is null is missing, which is said where it is needed. */
const NEEDED: Rule = [(value) => value === null || typeof value === 'string', 'text'];
export const oneOf = (values: readonly string[]): Rule => [
  (value) => values.some((one) => one === value),
  `one of: ${values.join(', ')}`,
];
export const CALLBACK: Rule = [(value) => typeof value === 'function', 'a function'];
const OBJECT: Rule = [(value) => typeof value === 'object' && value !== null, 'an object'];
export const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
/** What the options must be whose kind nobody asks for later. */
const RULES: ReadonlyMap<string, Rule> = new Map([
  ...['dryRun', 'apply', 'force', 'editable', 'retry'].map((name) => [name, FLAG] as const),
  ...['file', 'output', 'run'].map((name) => [name, NEEDED] as const),
  ...['reportDir', 'order', 'cwd'].map((name) => [name, TEXT] as const),
  ...['settings', 'env', 'log', 'filter'].map((name) => [name, OBJECT] as const),
  ['envFile', [(value) => value === false || typeof value === 'string', 'text or false']],
  ['onNotice', CALLBACK],
  ['company', [(value) => Number.isSafeInteger(value) && Number(value) > 0, 'a whole number from 1']],
  ['columns', [isTexts, 'a list of texts']],
  ['signal', [(value) => typeof (value as AbortSignal)?.addEventListener === 'function', 'an AbortSignal']],
]);

/** Not every program is checked by a compiler, and a misspelt `dryRun` would be a run that writes. */
export function assertOptions(options: object, names: readonly string[], rules: ReadonlyMap<string, Rule>): void {
  if (typeof options !== 'object' || options === null)
    throw usageError(`The call takes one object with options, such as \`{ ${names.slice(0, 2).join(', ')} }\`.`);
  const faults = Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    if (!names.includes(name)) return `\`${name}\` is no option of this call`;
    const [fits, words] = rules.get(name) ?? [];
    return fits?.(value) === false ? `\`${name}\` must be ${words}` : [];
  });
  if (faults.length > 0) throw usageError('The call is wrong. Correct what is listed.', faults);
}

async function settingsOf({ settings = {}, env, envFile }: CallOptions, cwd: string): Promise<Settings> {
  const { resolveSettings } = await import('../runs/settings.js');
  return resolveSettings(env ?? process.env, settings, cwd, {
    envFile: envFile ?? (env === undefined ? '.env' : false),
    namedAs: 'options',
  });
}

/** All that may appear in no text: also the token of a file, as it is now. */
export function secretsOf({ secrets, auth }: Settings): string[] {
  if (auth?.kind !== 'file') return [...secrets];
  try {
    const text = readFileSync(auth.path, 'utf8').trim();
    return [...secrets, text, text.replace(/^bearer\s+/i, '')];
  } catch {
    // What needs the file reports it.
    return [...secrets];
  }
}

/** What a program is told of whatever was thrown. After the signal it is an interruption, unless the call itself was wrong. */
function publicError(thrown: unknown, redact: (text: string) => string, aborted: boolean): RunError {
  // What waits ends with the reason of the signal.
  const error = aborted && !(thrown instanceof Error) ? new RunInterrupted() : asRunError(thrown);
  const interrupted = aborted && error.kind !== 'usage' && error.code !== 'interrupted';
  const message = redact(error.message);
  const details = error.details.map(redact);
  const isClean = message === error.message && details.every((line, i) => line === error.details[i]);
  if (!interrupted && isClean) return error;
  return new RunError(error.kind, message, details, {
    ...(isClean && { cause: error }),
    ...(error.status !== undefined && { status: error.status }),
    code: interrupted ? 'interrupted' : error.code,
  });
}

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;

const SILENT: Log = { error() {}, warn() {}, info() {}, debug() {} };

/** Texts in a line lose what is secret. */
function redactedLog(log: Log | undefined, redact: (text: string) => string): Log {
  if (!log) return SILENT;
  const redactValue = (value: unknown) => (typeof value === 'string' ? redact(value) : value);
  const writer = (level: (typeof LEVELS)[number]) => (details: object | string, text?: string) => {
    if (typeof details === 'string') return log[level](redact(details));
    const entries = Object.entries(details).map(([name, value]) => [name, redactValue(value)]);
    const line: object = Object.fromEntries(entries);
    return text === undefined ? log[level](line) : log[level](line, redact(text));
  };
  return Object.fromEntries(LEVELS.map((level) => [level, writer(level)])) as unknown as Log;
}

/**
 * Absolute path of the spreadsheet that is meant.
 * @throws RunError `file_not_found` where there is none.
 */
export async function inputFile(file: string, cwd: string): Promise<string> {
  if (file.trim() === '') throw usageError('The file name is blank; give the path of a spreadsheet.');
  const path = resolve(cwd, file);
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) throw runFailure(`${file} is a folder; give the path of a spreadsheet.`);
  if (info) return path;
  const where = path === file ? '' : `: ${path} does not exist`;
  throw runFailure(`There is no file ${file}${where}.`, [], { code: 'file_not_found' });
}

/** A member of the options that a call cannot do without. */
export function requireOption<T>(value: T | undefined | null, name: string, what: string): T {
  if (value === undefined || value === null) throw usageError(`\`${name}\` is missing: ${what}.`);
  return value;
}

/** The members that hold something, for values that may be left out. */
export function pickDefined<T extends object>(values: T): { [name in keyof T]?: Exclude<T[name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
