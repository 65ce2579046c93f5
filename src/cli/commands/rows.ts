import { Command } from 'commander';
import type { RunHandle } from '../../library/handle.js';
import { type ImportOptions, importFile, reconcileFile } from '../../library/runs.js';
import { RunError } from '../../model/error.js';
import type { SettingFlags } from '../../runs/settings.js';
import type { Cli } from '../io.js';
import { callOptions, carryOut, shown } from '../run-command.js';
import { given, readSettings, settingOptions } from '../setup.js';

/** The commands that take the rows of a file into the service. */

type Options = SettingFlags & {
  job?: string;
  dryRun?: true;
  apply?: true;
  report?: string;
  force?: true;
  json?: true;
};

export function importCommand(cli: Cli): Command {
  const command = new Command('import')
    .description('import a spreadsheet: create and update records, one outcome per row')
    .argument('<file>', 'spreadsheet: .xlsx, .ods, .csv or .ndjson, each also .gz')
    .option('--job <job>', 'job file, or the name of one in the jobs folder; required')
    .option('--dry-run', 'say what would happen; nothing is written to the service')
    .option('--report <dir>', 'folder for the reports; by default the folder of the run')
    .option('--force', 'go on although a brake of the job would stop the run')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry import assets.xlsx --job assets --dry-run
  $ rowferry import assets.xlsx --job jobs/assets.yaml --report reports/today
  $ rowferry import rejected.xlsx --job assets            the corrected rows of an earlier run
  $ rowferry import assets.csv --job assets --json | jq .rows

Stopped by Ctrl-C or killed: \`rowferry runs resume last\` goes on, and writes no row twice.`,
    )
    .action((file: string, options: Options) =>
      takeRows(cli, file, options, {
        example: 'rowferry import assets.xlsx --job assets',
        run: (request) => importFile({ ...request, dryRun: options.dryRun === true }),
      }),
    );
  return settingOptions(command, 'company', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel');
}

export function reconcileCommand(cli: Cli): Command {
  const command = new Command('reconcile')
    .description('compare a spreadsheet with the service, field by field, and make them agree')
    .argument('<file>', 'spreadsheet: .xlsx, .ods, .csv or .ndjson, each also .gz')
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
    .action((file: string, options: Options) =>
      takeRows(cli, file, options, {
        example: 'rowferry reconcile erp.csv --job reconcile-assets',
        run: (request) => reconcileFile({ ...request, apply: options.apply === true }),
      }),
    );
  return settingOptions(command, 'company', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel');
}

/** What differs between them. */
interface Work {
  /** A command line that would be right. */
  readonly example: string;
  run(request: Omit<ImportOptions, 'job' | 'dryRun'> & { readonly job: string }): RunHandle;
}

/** Throws a `RunError` of kind `usage` for settings, job or file that are missing or wrong. */
async function takeRows(cli: Cli, file: string, options: Options, work: Work): Promise<void> {
  const { job, force, report } = options;
  // Checked here: an option of a similar name is then reported as what it is, a misspelling.
  if (job === undefined) {
    throw new RunError(
      'usage',
      `--job is missing: it names the job file that says which column is which field. For example: ${work.example}`,
    );
  }
  const settings = await readSettings(cli, options);
  const request = { file, job, force: force === true, ...given({ reportDir: report }) };
  const { code } = await carryOut(cli, settings, { json: options.json === true }, (context) =>
    shown(work.run({ ...request, ...callOptions(cli, options, context) }), context),
  );
  cli.code = code;
}
