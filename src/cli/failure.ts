import { EXIT, RunError } from '../model/error.js';
import { noOutcomes } from '../model/outcome.js';
import { type Cli, printJson, tell } from './io.js';

/** Why a command did not do its work. */
interface Failure {
  readonly code: number;
  readonly status: 'failed' | 'braked' | 'interrupted';
  readonly message: string;
  readonly details: readonly string[];
}

/** Tells a person why the command could not do its work, and returns the exit code. */
export function presentFailure(error: unknown, cli: Cli, options: { json: boolean }): number {
  const failure = explain(error);
  const { message, details, code } = failure;
  const lines = [`error: ${message}`, ...details.map((detail) => `  ${detail}`)];
  if (cli.debug && !(error instanceof RunError)) lines.push(error instanceof Error ? (error.stack ?? '') : '');
  tell(cli, lines.join('\n'));
  if (options.json) printFailure(cli, failure);
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
export function interrupted(cli: Cli, message: string, code: number, json: boolean, more?: object): number {
  tell(cli, message);
  if (json) printFailure(cli, { status: 'interrupted', message, details: [], code }, more);
  return code;
}

function explain(error: unknown): Failure {
  if (error instanceof RunError) {
    const { kind, message, details } = error;
    return { code: CODES[kind], status: kind === 'braked' ? 'braked' : 'failed', message, details };
  }
  const code = EXIT.failed;
  if (error instanceof Error && 'syscall' in error && 'code' in error) {
    const advice = SYSTEM[String(error.code)] ?? 'the system refused that; put it right and run again';
    return { code, status: 'failed', message: error.message, details: [advice] };
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const details = ['this is a bug in rowferry; ROWFERRY_LOG_LEVEL=debug shows where it happened'];
  return { code, status: 'failed', message: `unexpected ${text}`, details };
}

const CODES: Readonly<Record<RunError['kind'], number>> = {
  usage: EXIT.usage,
  failed: EXIT.failed,
  braked: EXIT.braked,
};

/** Faults of the machine, which are nobody's bug. */
const SYSTEM: Readonly<Record<string, string>> = {
  EACCES: 'give permission, or name another folder',
  EPERM: 'give permission, or name another folder',
  EROFS: 'the disk cannot be written; name another folder',
  ENOSPC: 'the disk is full; make room and run again',
  EDQUOT: 'the quota of this user is used up; make room and run again',
  EFBIG: 'the file would be larger than this disk or user may have (ulimit -f); raise the limit and run again',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
  EIO: 'the disk failed; look at the system log',
  ENOTDIR: 'a part of the path is a file, not a folder',
};
