import { resolve } from 'node:path';
import { Command } from 'commander';
import { RunError } from '../../model/error.js';
import { EXPORTABLE, type ExportableName } from '../../model/resource-names.js';
import type { ExportRequest } from '../../runs/export.js';
import type { SettingFlags, Settings } from '../../runs/settings.js';
import type { Cli } from '../io.js';
import { carryOut } from '../run-command.js';
import { given, readSettings, settingOptions } from '../setup.js';

type Options = SettingFlags & {
  job?: string;
  output?: string;
  columns?: string;
  filter?: string[];
  order?: string;
  editable?: true;
  json?: true;
};

export function exportCommand(cli: Cli): Command {
  const command = new Command('export')
    .description('write the records of a resource to a file, complete also while they change')
    .argument('[resource]', `one of ${EXPORTABLE.join(', ')}; not needed with --job`)
    .option('-o, --output <file>', 'file to write: .xlsx, .csv or .ndjson, each also .gz; required')
    .option('--job <job>', 'export job file, or the name of one in the jobs folder; the other flags win over it')
    .option('--columns <a,b>', 'only these headings or fields, in this order')
    .option('--filter <k=v...>', 'only records with this value; may be given several times')
    .option('--order <field>', 'order of the records; -field for descending')
    .option('--editable', 'to be changed and imported again: writes the job file for that beside it')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry export asset -o assets.xlsx
  $ rowferry export contract -o open.csv.gz --filter status=active --order -contract_end_date
  $ rowferry export asset -o dell.ndjson --filter manufacturer=Dell --columns id,name,serial_number
  $ rowferry export asset -o assets.xlsx --editable && rowferry import assets.xlsx --job assets.yaml --dry-run
  $ rowferry export --job export-assets

The file is the old one or the complete new one at every moment. Exit code 3: the list changed so much while it was read
that it could not be established that nothing is missing. \`rowferry runs resume last\` goes on after Ctrl-C or a kill.`,
    )
    .action(async (resource: string | undefined, options: Options) => {
      cli.code = await exportFile(cli, resource, options);
    });
  return settingOptions(command, 'company', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel');
}

async function exportFile(cli: Cli, resource: string | undefined, options: Options): Promise<number> {
  const settings = await readSettings(cli, options);
  const { requireService } = await import('../../runs/settings.js');
  const request = await requestOf(cli, settings, resource, options);
  requireService(settings);
  const { exportRecords } = await import('../../runs/export.js');
  const { code } = await carryOut(cli, settings, { json: options.json === true }, (context) =>
    exportRecords(request, context),
  );
  return code;
}

async function requestOf(
  cli: Cli,
  settings: Settings,
  resource: string | undefined,
  options: Options,
): Promise<ExportRequest> {
  const { output, columns, filter, order, editable, company, concurrency } = options;
  const stated = given({
    target: output === undefined ? undefined : targetOf(output, cli.io.cwd),
    columns: columns === undefined ? undefined : splitColumns(columns),
    filter,
    order,
    editable,
    company: company === undefined ? undefined : settings.company,
    concurrency: concurrency === undefined ? undefined : settings.concurrency,
  });
  if (options.job !== undefined) {
    const { exportRequest, loadExportJob } = await import('../../runs/job-file.js');
    const job = await loadExportJob(options.job, { jobsDir: settings.jobsDir });
    if (resource !== undefined && resource !== job.job.resource) {
      throw new RunError(
        'usage',
        `The job ${options.job} exports ${job.job.resource} records, not ${resource}. Leave the resource out, or the job.`,
      );
    }
    const request = exportRequest(job, stated, { cwd: cli.io.cwd });
    // A job names a place that need not be there yet, as for the worker; a name typed by hand may be a slip.
    return stated.target === undefined ? { ...request, makeFolder: true } : request;
  }
  const { target } = stated;
  const name = await resourceOf(resource, options.filter);
  if (target === undefined) {
    throw new RunError(
      'usage',
      `-o is missing: it names the file to write. For example: rowferry export ${name} -o ${name}s.xlsx`,
    );
  }
  return { filter: [], editable: false, job: { name }, ...stated, resource: name, target };
}

async function resourceOf(given: string | undefined, filter: readonly string[] = []): Promise<ExportableName> {
  if (given === undefined) {
    const taken = EXPORTABLE.find((name) => filter.some((one) => one.toLowerCase() === name));
    if (taken) {
      throw new RunError(
        'usage',
        `\`${taken}\` was taken for a filter: --filter takes every word up to the next option. Name the resource first: rowferry export ${taken} -o FILE --filter …`,
      );
    }
    throw new RunError('usage', `What is to be exported? Name one of: ${EXPORTABLE.join(', ')}; or a job with --job.`);
  }
  const found = EXPORTABLE.find((name) => name === given.toLowerCase());
  if (found) return found;
  const { didYouMean } = await import('../../runs/job/shape.js');
  throw new RunError(
    'usage',
    `There is no resource \`${given}\`${didYouMean(given, EXPORTABLE) || '.'} There are: ${EXPORTABLE.join(', ')}.`,
  );
}

function targetOf(output: string, cwd: string): string {
  if (output === '-') throw new RunError('usage', '-o - is not supported: name a file, such as -o assets.csv.');
  return resolve(cwd, output);
}

/** Headings may hold commas themselves; a backslash keeps them. */
function splitColumns(text: string): string[] {
  return text
    .split(/(?<!\\),/)
    .map((one) => one.replaceAll('\\,', ',').trim())
    .filter((one) => one !== '');
}
