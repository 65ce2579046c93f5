import type { Readable, Writable } from 'node:stream';
import { redactor } from '../model/secret-forms.js';
import { visible, visibleJson } from '../model/visible.js';
import { painted } from './colour.js';

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
  say(cli, cli.io.stdout, text);
}

/** The same for a message on stderr. */
export function tell(cli: Cli, text: string): void {
  say(cli, cli.io.stderr, text);
}

function say({ io, secrets }: Cli, stream: Output, text: string): void {
  stream.write(painted(`${visible(redactor(secrets)(text))}\n`, stream, io.env));
}

/** Exactly one JSON object on stdout, without secrets. */
export function printJson(cli: Cli, value: unknown): void {
  cli.io.stdout.write(`${visibleJson(redactor(cli.secrets)(JSON.stringify(value)))}\n`);
}
