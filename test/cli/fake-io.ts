import { PassThrough, Writable } from 'node:stream';
import type { Io, Output } from '../../src/cli/io.js';
import { openCli, runCli } from '../../src/cli/program.js';

export interface Captured {
  readonly stream: Output;
  text(): string;
}

/** A stream that keeps what is written to it; with `terminal` it looks like a terminal of 100 columns. */
export function capture(terminal = false): Captured {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString('utf8');
      done();
    },
  });
  return { stream: Object.assign(stream, terminal ? { isTTY: true, columns: 100 } : {}), text: () => text };
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line inside this process. */
export async function cli(
  argv: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<Ran> {
  const [stdout, stderr] = [capture(), capture()];
  const io: Io = {
    env: options.env ?? {},
    cwd: options.cwd,
    stdin: new PassThrough(),
    stdout: stdout.stream,
    stderr: stderr.stream,
  };
  const code = await runCli(argv, openCli(io));
  return { code, out: stdout.text(), err: stderr.text() };
}
