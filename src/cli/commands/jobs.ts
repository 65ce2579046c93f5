import { resolve } from 'node:path';
import { inputFile, pickDefined } from '../../library/open.js';
import { visible } from '../../model/control-characters.js';
import { formatNumber } from '../../model/count-text.js';
import { EXIT, usageError } from '../../model/error.js';
import { shellWord } from '../../model/yaml-text.js';
import type { MapRequest, MapResult } from '../../runs/map-file.js';
import type { SettingFlags } from '../../runs/settings.js';
import type { TemplateResult } from '../../runs/template.js';
import { type Cli, presentFailure, print, printErr, printJson, reportInterrupted } from '../io.js';
import { CliCommand, onInterrupt, packageFile, readSettings } from '../run-command.js';

export function checkCommand(cli: Cli): CliCommand {
  return new CliCommand('check')
    .description('validate job files; every problem is listed with its line')
    .argument(
      '[job...]',
      'job files, folders of them, or names of jobs in the jobs folder; without any: all of that folder',
    )
    .helpBelow(`
Examples:
  $ rowferry check jobs/assets.yaml
  $ rowferry check jobs/*.yaml

Exit code 0 if every file can be run, 2 if one cannot.`)
    .action(async (jobs: string[], options: { jobsDir?: string }) => {
      cli.code = await checkJobs(cli, jobs, options);
    })
    .settings('jobsDir');
}

async function checkJobs(cli: Cli, jobs: readonly string[], options: { jobsDir?: string }): Promise<number> {
  const { jobsDir } = await readSettings(cli, options);
  const { checkJobs } = await import('../../runs/job-file.js');
  const results = await checkJobs(jobs, { jobsDir, cwd: cli.io.cwd });
  let bad = 0;
  for (const result of results) {
    if (result.failure) presentFailure(result.failure, cli, { json: false });
    for (const line of result.lines) print(cli, line);
    if (!result.isValid) bad++;
  }
  const files = (count: number) => (count === 1 ? '1 job file' : `${count} job files`);
  if (bad > 0) print(cli, `${bad} of ${files(results.length)} cannot be run`);
  else print(cli, `${files(results.length)} ${results.length === 1 ? 'is' : 'are'} fine`);
  return bad > 0 ? EXIT.usage : EXIT.ok;
}

interface MapFlags {
  resource?: string;
  output?: string;
  force?: true;
  json?: true;
  sheet?: string;
  headerRow?: string;
  apiUrl?: string;
  company?: string;
}

export function mapCommand(cli: Cli): CliCommand {
  return new CliCommand('map')
    .description("suggest a job file from a spreadsheet's headings and values; a service is asked for names, if set")
    .argument('<file>', 'spreadsheet: .xlsx, .ods, .csv or .ndjson, each also .gz')
    .option('--resource <resource>', 'asset, contract, supplier or customer; required')
    .option('-o, --output <job>', 'job file to write; without it the job goes to stdout')
    .option('--force', 'replace the job file if it is there')
    .option('--sheet <name>', 'sheet of a workbook: its name, or its number from 1')
    .option('--header-row <n>', 'row of the headings, where it is not found by itself; none: there are no headings')
    .option('--json', 'print what was found, and the job, as one JSON object')
    .helpBelow(`
Examples:
  $ rowferry map inventory.xlsx --resource asset -o jobs/inventory.yaml
  $ rowferry map suppliers.csv --resource supplier > suppliers.yaml
  $ rowferry map contracts.csv --resource contract --json | jq '.columns[] | {heading, field, confidence}'

There is always a job, with every column in it. Every guess says why, and how certain it is; what is not certain enough
stays ~, with the reason behind it. The last line is the question to answer next.
Exit code 0, or 3 if no column could be mapped.`)
    .action(async (file: string, options: MapFlags) => {
      cli.code = await suggest(cli, file, options);
    })
    .settings('apiUrl', 'company');
}

async function suggest(cli: Cli, file: string, options: MapFlags): Promise<number> {
  const { resource } = options;
  if (resource === undefined) {
    throw usageError(`--resource is missing: what are the rows? For example: rowferry map ${file} --resource asset`);
  }
  if (options.output === '-') throw usageError('-o - is not needed: without -o the job goes to stdout.');
  const [{ mapFile }, settings] = await Promise.all([import('../../runs/map-file.js'), readSettings(cli, options)]);
  const { cwd } = cli.io;
  const result = await mapFile({
    file: await inputFile(file, cwd),
    resource,
    cwd,
    settings,
    ...pickDefined({
      output: options.output && resolve(cwd, options.output),
      force: options.force,
      source: sourceOf(options),
    }),
  });
  if (options.json) printJson(cli, result.summary);
  else printMapping(cli, result, options.output);
  return result.reason === undefined ? EXIT.ok : EXIT.needsPerson;
}

function printMapping(cli: Cli, { job, reason, table }: MapResult, output: string | undefined): void {
  const printLine = output === undefined ? printErr : print;
  printLine(cli, table);
  if (reason !== undefined) {
    const fields = packageFile(cli.io.cwd, 'docs', 'reference', 'fields.md');
    printLine(cli, `\n${reason} ${fields} lists the fields.`);
  }
  if (output === undefined) cli.io.stdout.write(visible(job));
  else print(cli, `\nThe job is in ${output}. Look at it, then: rowferry check ${shellWord(output)}`);
}

function sourceOf({ sheet, headerRow }: MapFlags): MapRequest['source'] | undefined {
  if (headerRow !== undefined && headerRow !== 'none' && !/^[1-9]\d{0,6}$/.test(headerRow)) {
    throw usageError(
      `--header-row is "${headerRow}"; give the number of the row, as the spreadsheet program shows it, or none.`,
    );
  }
  return pickDefined({
    sheet: sheet !== undefined && /^[1-9]\d{0,4}$/.test(sheet) ? Number(sheet) : sheet,
    header_row: headerRow === undefined || headerRow === 'none' ? headerRow : Number(headerRow),
  });
}

type TemplateFlags = SettingFlags & { output: string; all?: true; json?: true };

export function templateCommand(cli: Cli): CliCommand {
  return new CliCommand('template')
    .description('write a blank workbook with headings, drop-down lists and notes, and the job file that imports it')
    .argument('<resource>', 'asset, contract, supplier or customer')
    .requiredOption('-o, --output <file>', 'workbook to write (.xlsx); the job file is written beside it (.yaml)')
    .option('--all', 'every field and custom field, not only the fifteen that people use')
    .option('--json', 'print what was written as one JSON object')
    .helpBelow(`
Examples:
  $ rowferry template asset -o assets.xlsx
  $ rowferry template contract -o contracts.xlsx --all
  $ rowferry import assets.xlsx --job assets.yaml --dry-run      once it is filled in

With ROWFERRY_API_URL and a token, the drop-down lists offer the service's own names (categories, owners, suppliers …)
and with --all its custom fields are columns. Without, the workbook has the fields and values of the interface alone.`)
    .action(async (resource: string, options: TemplateFlags) => {
      cli.code = await template(cli, resource, options);
    })
    .settings('apiUrl', 'company', 'home', 'concurrency', 'maxRps');
}

async function template(cli: Cli, resource: string, options: TemplateFlags): Promise<number> {
  const { io } = cli;
  const settings = await readSettings(cli, options);
  const { writeTemplate } = await import('../../runs/template.js');
  const interruption = onInterrupt((signal) => printErr(cli, `${signal}: stopping`));
  try {
    const result = await writeTemplate(
      {
        resource,
        file: options.output,
        cwd: io.cwd,
        ...pickDefined({
          all: options.all,
          company: options.company === undefined ? undefined : settings.company,
        }),
      },
      {
        settings,
        signal: interruption.signal,
        notice: ({ level, text }) => printErr(cli, level === 'warn' ? `warning: ${text}` : text),
      },
    );
    if (options.json) printJson(cli, result);
    else print(cli, resultText(result));
    return EXIT.ok;
  } catch (error) {
    const code = interruption.exitCode();
    if (code === undefined) throw error;
    return reportInterrupted(cli, 'Interrupted; nothing was written.', code, options.json === true);
  } finally {
    interruption.release();
  }
}

function resultText({ file, job, sheet, columns, more, lists }: TemplateResult): string {
  const requiredCount = columns.filter(({ required }) => required).length;
  return [
    `${file}: sheet "${sheet}" with ${columns.length} columns, ${requiredCount} of them required${more > 0 ? `; ${more} more with --all` : ''}`,
    ...(lists.length > 0
      ? [`Drop-down lists: ${lists.map(({ list, values }) => `${list} (${formatNumber(values)})`).join(', ')}`]
      : []),
    `${job}: the job that imports it`,
    `Fill it in, then: rowferry import ${shellWord(file)} --job ${shellWord(job)} --dry-run`,
  ].join('\n');
}
