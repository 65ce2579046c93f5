import { Command } from 'commander';
import type { Cli } from '../io.js';
import { type RowsOptions, rowsRequest } from '../rows-command.js';
import { carryOut } from '../run-command.js';
import { settingOptions } from '../setup.js';

interface Options extends RowsOptions {
  apply?: true;
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
    .action(async (file: string, options: Options) => {
      cli.code = await reconcileFileCommand(cli, file, options);
    });
  return settingOptions(command, 'company', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel');
}

async function reconcileFileCommand(cli: Cli, file: string, options: Options): Promise<number> {
  const { settings, request } = await rowsRequest(cli, file, options, {
    example: 'rowferry reconcile erp.csv --job reconcile-assets',
    load: 'loadReconcileJob',
    dryRun: options.apply !== true,
  });
  const { reconcileFile } = await import('../../runs/reconcile.js');
  const { code } = await carryOut(cli, settings, { json: options.json === true }, (context) =>
    reconcileFile(request, context),
  );
  return code;
}
