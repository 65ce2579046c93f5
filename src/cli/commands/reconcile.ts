import { resolve } from 'node:path';
import { Command } from 'commander';
import { RunError } from '../../model/error.js';
import type { Cli } from '../io.js';
import { carryOut } from '../run-command.js';
import { readSettings, settingOptions } from '../setup.js';

interface Options {
  job?: string;
  apply?: true;
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

export function reconcileCommand(cli: Cli): Command {
  const command = new Command('reconcile')
    .description('compare a spreadsheet with the service, field by field, and make them agree')
    .argument('<file>', 'spreadsheet: .xlsx, .csv or .ndjson, each also .gz')
    .option('--job <job>', 'job file of kind reconcile, or the name of one in the jobs folder; required')
    .option('--apply', 'write the differences; without it they are only reported')
    .option('--report <dir>', 'folder for the reports; by default the folder of the run')
    .option('--force', 'go on although a brake would stop the run')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry reconcile erp.csv --job reconcile-assets            what differs? nothing is written
  $ rowferry reconcile erp.csv --job reconcile-assets --apply    put it right
  $ rowferry runs approve last --by "Ann Lee"                    carry out a plan that was looked at
  $ rowferry runs undo last                                      put everything back

The report to open in the morning is reconcile.xlsx, or report.html.`,
    )
    .action(async (file: string, options: Options) => {
      cli.code = await reconcileFileCommand(cli, file, options);
    });
  return settingOptions(command, 'company', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel');
}

async function reconcileFileCommand(cli: Cli, file: string, options: Options): Promise<number> {
  // Checked here: an option of a similar name is then reported as what it is, a misspelling.
  if (options.job === undefined) {
    throw new RunError(
      'usage',
      '--job is missing: it names the job file that says which column is which field. For example: rowferry reconcile erp.csv --job reconcile-assets',
    );
  }
  const settings = await readSettings(cli, options);
  const [{ requireService }, { loadReconcileJob }, { inputFile }] = await Promise.all([
    import('../../runs/settings.js'),
    import('../../runs/job-file.js'),
    import('../input-file.js'),
  ]);
  requireService(settings);
  const job = await loadReconcileJob(options.job, { jobsDir: settings.jobsDir });
  const request = {
    file: await inputFile(file, cli.io.cwd),
    job,
    dryRun: options.apply !== true,
    force: options.force === true,
    ...(options.report === undefined ? {} : { reportDir: resolve(cli.io.cwd, options.report) }),
    ...(options.company === undefined ? {} : { company: settings.company }),
    ...(options.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
  };
  const { reconcileFile } = await import('../../runs/reconcile.js');
  const { code } = await carryOut(cli, settings, { json: options.json === true }, (context) =>
    reconcileFile(request, context),
  );
  return code;
}
