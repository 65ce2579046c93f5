import { resolve } from 'node:path';
import { RunError } from '../model/error.js';
import type { LoadedJob } from '../runs/job-file.js';
import type { ImportRequest } from '../runs/run.js';
import type { Settings } from '../runs/settings.js';
import type { Cli } from './io.js';
import { readSettings } from './setup.js';

/** Flags of the commands that take the rows of a file into the service. */
export interface RowsOptions {
  job?: string;
  report?: string;
  company?: string;
  force?: true;
  json?: true;
  concurrency?: string;
  jobsDir?: string;
  home?: string;
  apiUrl?: string;
  maxRps?: string;
  logLevel?: string;
}

/** What differs between them. */
export interface RowsWork {
  /** A command line that would be right. */
  readonly example: string;
  readonly load: 'loadJob' | 'loadReconcileJob';
  readonly dryRun: boolean;
}

/** Reads settings, job and file of such a command. Throws a `RunError` of kind `usage` for what is missing or wrong. */
export async function rowsRequest(
  cli: Cli,
  file: string,
  options: RowsOptions,
  { example, load, dryRun }: RowsWork,
): Promise<{ readonly settings: Settings; readonly request: ImportRequest }> {
  // Checked here: an option of a similar name is then reported as what it is, a misspelling.
  if (options.job === undefined) {
    throw new RunError(
      'usage',
      `--job is missing: it names the job file that says which column is which field. For example: ${example}`,
    );
  }
  const settings = await readSettings(cli, options);
  const [{ requireService }, loaders, { inputFile }] = await Promise.all([
    import('../runs/settings.js'),
    import('../runs/job-file.js'),
    import('./input-file.js'),
  ]);
  requireService(settings);
  const job: LoadedJob = await loaders[load](options.job, { jobsDir: settings.jobsDir });
  const request = {
    file: await inputFile(file, cli.io.cwd),
    job,
    dryRun,
    force: options.force === true,
    ...(options.report === undefined ? {} : { reportDir: resolve(cli.io.cwd, options.report) }),
    ...(options.company === undefined ? {} : { company: settings.company }),
    ...(options.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
  };
  return { settings, request };
}
