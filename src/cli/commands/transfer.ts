import { pickDefined, type RunHandle } from '../../library/open.js';
import {
  type ExportOptions,
  exportRecords,
  type ImportOptions,
  importFile,
  reconcileFile,
} from '../../library/runs.js';
import { usageError } from '../../model/error.js';
import { EXPORTABLE, type ExportableName } from '../../model/resource-names.js';
import type { SettingFlags } from '../../runs/settings.js';
import type { Cli } from '../io.js';
import { CliCommand, executeCall, readSettings } from '../run-command.js';

/** The commands that take the rows of a file into the service. */

type RowsFlags = SettingFlags & {
  job?: string;
  dryRun?: true;
  apply?: true;
  report?: string;
  force?: true;
  json?: true;
};

const SETTINGS = ['company', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel'] as const;

export function importCommand(cli: Cli): CliCommand {
  const command = new CliCommand('import')
    .description('import a spreadsheet: create and update records, one outcome per row')
    .option('--job <job>', 'job file, or the name of one in the jobs folder; required')
    .option('--dry-run', 'say what would happen; nothing is written to the service')
    .helpBelow(`
Examples:
  $ rowferry import assets.xlsx --job assets --dry-run
  $ rowferry import assets.xlsx --job jobs/assets.yaml --report reports/today
  $ rowferry import rejected.xlsx --job assets            the corrected rows of an earlier run
  $ rowferry import assets.csv --job assets --json | jq .rows

Stopped by Ctrl-C or killed: \`rowferry runs resume last\` goes on, and writes no row twice.`);
  return rowsCommand(cli, command, 'rowferry import assets.xlsx --job assets', (request, { dryRun = false }) =>
    importFile({ ...request, dryRun }),
  );
}

export function reconcileCommand(cli: Cli): CliCommand {
  const command = new CliCommand('reconcile')
    .description('compare a spreadsheet with the service, field by field, and make them agree')
    .option('--job <job>', 'job file of kind reconcile, or the name of one in the jobs folder; required')
    .option('--apply', 'write the differences; without it they are only reported')
    .helpBelow(`
Examples:
  $ rowferry reconcile erp.csv --job reconcile-assets            what differs? nothing is written
  $ rowferry reconcile erp.csv --job reconcile-assets --apply    put it right
  $ rowferry runs approve last --by "Ann Lee"                    carry out a plan that was looked at
  $ rowferry runs undo last                                      put everything back

The report to open in the morning is report.html; reconcile.xlsx has all differences and orphans to filter.`);
  return rowsCommand(cli, command, 'rowferry reconcile erp.csv --job reconcile-assets', (request, { apply = false }) =>
    reconcileFile({ ...request, apply }),
  );
}

/**
 * A command that takes the rows of a file. `example`: a command line that would be right. Its action throws a `RunError` of kind
 * `usage` for settings, job or file that are missing or wrong.
 */
function rowsCommand(
  cli: Cli,
  command: CliCommand,
  example: string,
  run: (request: Omit<ImportOptions, 'job' | 'dryRun'> & { readonly job: string }, flags: RowsFlags) => RunHandle,
): CliCommand {
  return command
    .argument('<file>', 'spreadsheet: .xlsx, .ods, .csv or .ndjson, each also .gz')
    .option('--report <dir>', 'folder for the reports; by default the folder of the run')
    .option('--force', 'go on although a brake would stop the run')
    .option('--json', 'print the summary as one JSON object')
    .action(async (file: string, options: RowsFlags) => {
      const { job, force = false, report } = options;
      // Checked here: an option of a similar name is then reported as what it is, a misspelling.
      if (job === undefined) {
        throw usageError(
          `--job is missing: it names the job file that says which column is which field. For example: ${example}`,
        );
      }
      const settings = await readSettings(cli, options);
      const request = { file, job, force, ...pickDefined({ reportDir: report }) };
      await executeCall(cli, settings, options, (call) => run({ ...request, ...call }, options));
    })
    .settings(...SETTINGS);
}

type ExportFlags = SettingFlags & {
  job?: string;
  output?: string;
  columns?: string;
  filter?: string[];
  order?: string;
  editable?: true;
  json?: true;
};

export function exportCommand(cli: Cli): CliCommand {
  return new CliCommand('export')
    .description('write the records of a resource to a file, complete also while they change')
    .argument('[resource]', `one of ${EXPORTABLE.join(', ')}; not needed with --job`)
    .option('-o, --output <file>', 'file to write: .xlsx, .csv or .ndjson, each also .gz; required')
    .option('--job <job>', 'export job file, or the name of one in the jobs folder; the other flags win over it')
    .option('--columns <a,b>', 'only these headings or fields, in this order')
    .option('--filter <k=v...>', 'only records with this value; may be given several times')
    .option('--order <field>', 'order of the records; -field for descending')
    .option('--editable', 'to be changed and imported again: writes the job file for that beside it')
    .option('--json', 'print the summary as one JSON object')
    .helpBelow(`
Examples:
  $ rowferry export asset -o assets.xlsx
  $ rowferry export contract -o open.csv.gz --filter status=active --order -contract_end_date
  $ rowferry export asset -o dell.ndjson --filter manufacturer=Dell --columns id,name,serial_number
  $ rowferry export asset -o assets.xlsx --editable && rowferry import assets.xlsx --job assets.yaml --dry-run
  $ rowferry export --job export-assets

The file is the old one or the complete new one at every moment. Exit code 3: the list changed so much while it was read
that it could not be established that nothing is missing. \`rowferry runs resume last\` goes on after Ctrl-C or a kill.`)
    .action(async (resource: string | undefined, options: ExportFlags) => {
      const settings = await readSettings(cli, options);
      const request = await exportOptionsOf(resource, options);
      await executeCall(cli, settings, options, (call) => exportRecords({ ...request, ...call }));
    })
    .settings(...SETTINGS);
}

async function exportOptionsOf(resource: string | undefined, options: ExportFlags): Promise<ExportOptions> {
  const { job, output, columns, filter, order, editable } = options;
  if (output === '-') throw usageError('-o - is not supported: name a file, such as -o assets.csv.');
  const { parseFilter } = await import('../../runs/export.js');
  const chosen = pickDefined({
    columns: columns === undefined ? undefined : splitColumns(columns),
    filter: filter && parseFilter(filter),
    order,
    editable,
  });
  // A resource beside a job is held against that of the job.
  if (job !== undefined)
    return { ...chosen, job, ...pickDefined({ output, resource: resource as ExportableName | undefined }) };
  const name = await parseResource(resource);
  if (output === undefined) {
    throw usageError(
      `-o is missing: it names the file to write. For example: rowferry export ${name} -o ${name}s.xlsx`,
    );
  }
  return { ...chosen, resource: name, output };
}

async function parseResource(input: string | undefined): Promise<ExportableName> {
  if (input === undefined) {
    throw usageError(`What is to be exported? Name one of: ${EXPORTABLE.join(', ')}; or a job with --job.`);
  }
  const found = EXPORTABLE.find((name) => name === input.toLowerCase());
  if (found) return found;
  const { nameHint } = await import('../../runs/job/shape.js');
  throw usageError(
    `There is no resource \`${input}\`${nameHint(input, EXPORTABLE) || '.'} There are: ${EXPORTABLE.join(', ')}.`,
  );
}

/** Headings may hold commas themselves; a backslash keeps them. */
function splitColumns(text: string): string[] {
  return text
    .split(/(?<!\\),/)
    .map((one) => one.replaceAll('\\,', ',').trim())
    .filter((one) => one !== '');
}
