import { Command } from 'commander';
import type { Cli } from '../io.js';
import { type RowsOptions, rowsRequest } from '../rows-command.js';
import { carryOut } from '../run-command.js';
import { settingOptions } from '../setup.js';

interface Options extends RowsOptions {
  dryRun?: true;
}

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
    .action(async (file: string, options: Options) => {
      cli.code = await importFileCommand(cli, file, options);
    });
  return settingOptions(command, 'company', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel');
}

async function importFileCommand(cli: Cli, file: string, options: Options): Promise<number> {
  const { settings, request } = await rowsRequest(cli, file, options, {
    example: 'rowferry import assets.xlsx --job assets',
    load: 'loadJob',
    dryRun: options.dryRun === true,
  });
  const { importFile } = await import('../../runs/import.js');
  const { code } = await carryOut(cli, settings, { json: options.json === true }, (context) =>
    importFile(request, context),
  );
  return code;
}
