import type { Readable, Writable } from 'node:stream';
import { secretForms } from '../model/secret-forms.js';
import { visible, visibleJson } from '../model/visible.js';

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

/** A result for stdout, with control characters made visible and the line ended. */
export function print(io: Io, text: string): void {
  io.stdout.write(`${visible(text)}\n`);
}

/** A message for stderr, with control characters made visible and the line ended. */
export function tell(io: Io, text: string): void {
  io.stderr.write(`${visible(text)}\n`);
}

/** Exactly one JSON object on stdout. */
export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${visibleJson(JSON.stringify(value))}\n`);
}

/** Shorter ones are words of everyday text (`sandbox`): replacing them would garble messages and hide nothing. */
const SHORTEST = 8;

/** Replaces secrets wherever they appear in a text, also as they look inside JSON or a URL. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue;
    for (const form of secretForms(secret)) forms.add(form);
  }
  // Longest first, so that a secret that contains another one leaves no remains.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((clean, form) => clean.replaceAll(form, '[secret]'), text);
}
