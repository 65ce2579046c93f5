import { resolve } from 'node:path';
import { Command } from 'commander';
import { RunError } from '../../model/error.js';
import type { Cli } from '../io.js';
import { carryOut } from '../run-command.js';
import { readSettings, settingOptions } from '../setup.js';

interface Options {
  job?: string;
  dryRun?: true;
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

export function importCommand(cli: Cli): Command {
  const command = new Command('import')
    .description('import a spreadsheet: create and update records, one outcome per row')
    .argument('<file>', 'spreadsheet: .xlsx, .csv or .ndjson, each also .gz')
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
  // Checked here: an option of a similar name is then reported as what it is, a misspelling.
  if (options.job === undefined) {
    throw new RunError(
      'usage',
      '--job is missing: it names the job file that says which column is which field. For example: rowferry import assets.xlsx --job assets',
    );
  }
  const settings = await readSettings(cli, options);
  const [{ requireService }, { loadJob }, { inputFile }] = await Promise.all([
    import('../../runs/settings.js'),
    import('../../runs/job-file.js'),
    import('../input-file.js'),
  ]);
  requireService(settings);
  const job = await loadJob(options.job, { jobsDir: settings.jobsDir });
  const request = {
    file: await inputFile(file, cli.io.cwd),
    job,
    dryRun: options.dryRun === true,
    force: options.force === true,
    ...(options.report === undefined ? {} : { reportDir: resolve(cli.io.cwd, options.report) }),
    ...(options.company === undefined ? {} : { company: settings.company }),
    ...(options.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
  };
  const { importFile } = await import('../../runs/import.js');
  const { code } = await carryOut(cli, settings, { json: options.json === true }, (context) =>
    importFile(request, context),
  );
  return code;
}
