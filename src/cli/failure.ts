import { asRunError, EXIT, type RunError } from '../model/error.js';
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
  const fault = asRunError(error);
  const { kind, message, details } = fault;
  const code = CODES[kind];
  const lines = [`error: ${message}`, ...details.map((detail) => `  ${detail}`)];
  const { cause } = fault;
  if (cli.debug && cause instanceof Error && (fault !== error || fault.code === 'unexpected'))
    lines.push(cause.stack ?? '');
  tell(cli, lines.join('\n'));
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
export function interrupted(cli: Cli, message: string, code: number, json: boolean, more?: object): number {
  tell(cli, message);
  if (json) printFailure(cli, { status: 'interrupted', message, details: [], code }, more);
  return code;
}

const CODES: Readonly<Record<RunError['kind'], number>> = {
  usage: EXIT.usage,
  failed: EXIT.failed,
  braked: EXIT.braked,
};
