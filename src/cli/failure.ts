import { EXIT, RunError } from '../model/error.js';
import { noOutcomes } from '../model/outcome.js';
import { visible } from '../model/visible.js';
import { type Cli, printJson, redactor } from './io.js';

/** What a person is told, in the order of the lines. */
interface Failure {
  readonly code: number;
  readonly status: 'failed' | 'braked';
  readonly message: string;
  readonly details: readonly string[];
}

/**
 * Tells a person why the command could not do its work, and returns the exit code.
 * With `json`, stdout gets one object in place of the summary that does not exist.
 */
export function presentFailure(error: unknown, cli: Cli, options: { json: boolean }): number {
  const clean = redactor(cli.secrets);
  const { code, status, message, details } = explain(error);
  const lines = [`error: ${message}`, ...details.map((detail) => `  ${detail}`)];
  if (cli.debug && !(error instanceof RunError)) lines.push(error instanceof Error ? (error.stack ?? '') : '');
  cli.io.stderr.write(`${visible(clean(lines.join('\n')))}\n`);
  if (options.json) {
    const run = cli.run === undefined ? {} : { run: cli.run };
    printJson(cli.io, failureObject({ status, error: clean(message), details: details.map(clean), code, ...run }));
  }
  return code;
}

/**
 * What `--json` prints where there is no summary. `reason` and `rows` are what scripts read in a summary: where no run
 * began, no row has an outcome. Of a run that did begin the counts are not known here, and are left out.
 */
export function failureObject(failure: {
  readonly status: 'failed' | 'braked' | 'interrupted';
  readonly error: string;
  readonly details: readonly string[];
  readonly code: number;
  readonly run?: string;
}): Readonly<Record<string, unknown>> {
  const { status, error, details, code, run } = failure;
  return {
    status,
    error,
    reason: error,
    details,
    ...(run === undefined ? { rows: { ...noOutcomes(), total: 0 } } : { run }),
    exit_code: code,
  };
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
