import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { visible, visibleJson } from '../model/control-characters.js';
import { asRunError, EXIT, type RunError } from '../model/error.js';
import { noOutcomes } from '../model/outcome.js';
import { redactor } from '../model/secret-forms.js';

/** A stream of messages; `isTTY` where a person watches it. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What the command line is given from outside: the process, or a test. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Results: the summary, tables, JSON. */
  readonly stdout: Output;
  /** Everything else: progress, notices, logs, errors. */
  readonly stderr: Output;
}

export function processIo(): Io {
  return {
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
  };
}

/** One call of the program. A command leaves its exit code here; the texts to keep secret are added as they are learned. */
export interface Cli {
  readonly io: Io;
  code: number;
  readonly secrets: string[];
  /** Whether debug or trace is the log level: a stack trace may then be shown. */
  debug: boolean;
  /** The run that had begun when the command failed. */
  run?: string;
}

/** A result for stdout: without secrets, control characters made visible, the line ended. */
export function print(cli: Cli, text: string): void {
  writeText(cli, cli.io.stdout, text);
}

/** The same for a message on stderr. */
export function printErr(cli: Cli, text: string): void {
  writeText(cli, cli.io.stderr, text);
}

function writeText({ io, secrets }: Cli, stream: Output, text: string): void {
  stream.write(colorize(`${visible(redactor(secrets)(text))}\n`, stream, io.env));
}

/** Exactly one JSON object on stdout, without secrets. */
export function printJson(cli: Cli, value: unknown): void {
  cli.io.stdout.write(`${visibleJson(redactor(cli.secrets)(JSON.stringify(value)))}\n`);
}

/** What is wrong or asks for something is found at a glance. Lines are painted by how they begin. */
const LINE_STYLES = [
  [/^error:/gm, 'red'],
  [/^warning:/gm, 'yellow'],
  [/^! .*$/gm, 'yellow'],
  [/^Next:/gm, 'bold'],
] as const;

/** Text for a stream, with colours where a person watches: not in a pipe, not where `NO_COLOR` is set (no-color.org). */
export function colorize(
  text: string,
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (stream.isTTY !== true || env['NO_COLOR'] || env['TERM'] === 'dumb') return text;
  return LINE_STYLES.reduce((all, [begin, style]) => all.replace(begin, (words) => styleText(style, words)), text);
}

/** Why a command did not do its work. */
interface Failure {
  readonly code: number;
  readonly status: 'failed' | 'braked' | 'interrupted';
  readonly message: string;
  readonly details: readonly string[];
}

/** Tells a person why the command could not do its work, and returns the exit code. */
export function presentFailure(error: unknown, cli: Cli, options: { json: boolean }): number {
  const fault = asRunError(error);
  const { kind, message, details } = fault;
  const code = EXIT_CODES[kind];
  const lines = [`error: ${message}`, ...details.map((detail) => `  ${detail}`)];
  const { cause } = fault;
  if (cli.debug && cause instanceof Error && (fault !== error || fault.code === 'unexpected'))
    lines.push(cause.stack ?? '');
  printErr(cli, lines.join('\n'));
  if (options.json) printFailure(cli, { code, status: kind === 'braked' ? 'braked' : 'failed', message, details });
  return code;
}

/**
 * What `--json` prints where there is no summary. `reason` and `rows` are what scripts read in a summary: where no run
 * began, no row has an outcome. Of a run that did begin the counts are not known here, and are left out.
 */
export function printFailure(cli: Cli, { status, message, details, code }: Failure, more: object = {}): void {
  const about = cli.run === undefined ? { rows: { ...noOutcomes(), total: 0 } } : { run: cli.run };
  printJson(cli, { status, error: message, reason: message, details, ...about, exit_code: code, ...more });
}

/** The end of a command that a signal stopped before it had a result. Returns the exit code. */
export function reportInterrupted(cli: Cli, message: string, code: number, json: boolean, more?: object): number {
  printErr(cli, message);
  if (json) printFailure(cli, { status: 'interrupted', message, details: [], code }, more);
  return code;
}

const EXIT_CODES: Readonly<Record<RunError['kind'], number>> = {
  usage: EXIT.usage,
  failed: EXIT.failed,
  braked: EXIT.braked,
};
