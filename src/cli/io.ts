import type { Readable, Writable } from 'node:stream';

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
  io.stdout.write(`${printable(text)}\n`);
}

/** A message for stderr, with control characters made visible and the line ended. */
export function tell(io: Io, text: string): void {
  io.stderr.write(`${printable(text)}\n`);
}

/** Exactly one JSON object on stdout. */
export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value)}\n`);
}

/**
 * Text that came from a file or from the service must not steer the terminal: every control character but tab and
 * line feed is replaced by its visible picture, and so is what turns the direction of the text round.
 */
export function printable(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd';
  });
}

const range = (from: number, to: number) => `${String.fromCharCode(from)}-${String.fromCharCode(to)}`;
/** Built from code points, so that the source itself holds none of them: C0 without tab and line feed, DEL, C1. */
const CONTROLS = new RegExp(
  `[${range(0x00, 0x08)}${range(0x0b, 0x1f)}${range(0x7f, 0x9f)}\\u061c\\u2028-\\u202e\\u2066-\\u2069]`,
  'g',
);
