import { resolve } from 'node:path';
import { Command } from 'commander';
import { inputFile } from '../../library/open.js';
import { EXIT, RunError } from '../../model/error.js';
import { visible } from '../../model/visible.js';
import type { MapRequest, MapResult } from '../../runs/map-file.js';
import { type Cli, print, printJson, tell } from '../io.js';
import { given, readSettings, settingOptions } from '../setup.js';

interface Options {
  resource?: string;
  output?: string;
  force?: true;
  json?: true;
  sheet?: string;
  headerRow?: string;
  apiUrl?: string;
  company?: string;
}

export function mapCommand(cli: Cli): Command {
  const command = new Command('map')
    .description("suggest a job file from a spreadsheet's headings and values; a service is asked for names, if set")
    .argument('<file>', 'spreadsheet: .xlsx, .ods, .csv or .ndjson, each also .gz')
    .option('--resource <resource>', 'asset, contract, supplier or customer; required')
    .option('-o, --output <job>', 'job file to write; without it the job goes to stdout')
    .option('--force', 'replace the job file if it is there')
    .option('--sheet <name>', 'sheet of a workbook: its name, or its number from 1')
    .option('--header-row <n>', 'row of the headings, where it is not found by itself; none: there are no headings')
    .option('--json', 'print what was found, and the job, as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry map inventory.xlsx --resource asset -o jobs/inventory.yaml
  $ rowferry map suppliers.csv --resource supplier > suppliers.yaml
  $ rowferry map contracts.csv --resource contract --json | jq '.columns[] | {heading, field, confidence}'

There is always a job, with every column in it. Every guess says why, and how certain it is; what is not certain enough
stays ~, with the reason behind it. The last line is the question to answer next.
Exit code 0, or 3 if no column could be mapped.`,
    )
    .action(async (file: string, options: Options) => {
      cli.code = await suggest(cli, file, options);
    });
  return settingOptions(command, 'apiUrl', 'company');
}

async function suggest(cli: Cli, file: string, options: Options): Promise<number> {
  const { resource } = options;
  if (resource === undefined) {
    throw new RunError(
      'usage',
      `--resource is missing: what are the rows? For example: rowferry map ${file} --resource asset`,
    );
  }
  if (options.output === '-') throw new RunError('usage', '-o - is not needed: without -o the job goes to stdout.');
  const [{ mapFile }, settings] = await Promise.all([import('../../runs/map-file.js'), readSettings(cli, options)]);
  const { cwd } = cli.io;
  const result = await mapFile({
    file: await inputFile(file, cwd),
    resource,
    cwd,
    settings,
    ...given({
      output: options.output && resolve(cwd, options.output),
      force: options.force,
      source: sourceOf(options),
    }),
  });
  if (options.json) printJson(cli, result.summary);
  else present(cli, result, options.output);
  return result.reason === undefined ? EXIT.ok : EXIT.needsPerson;
}

function present(cli: Cli, { job, reason, table }: MapResult, output: string | undefined): void {
  const say = output === undefined ? tell : print;
  say(cli, table);
  if (reason !== undefined) say(cli, `\n${reason} docs/reference/fields.md lists the fields.`);
  if (output === undefined) cli.io.stdout.write(visible(job));
  else print(cli, `\nThe job is in ${output}. Look at it, then: rowferry check ${output}`);
}

function sourceOf({ sheet, headerRow }: Options): MapRequest['source'] | undefined {
  if (headerRow !== undefined && headerRow !== 'none' && !/^[1-9]\d{0,6}$/.test(headerRow)) {
    throw new RunError(
      'usage',
      `--header-row is "${headerRow}"; give the number of the row, as the spreadsheet program shows it, or none.`,
    );
  }
  return given({
    sheet: sheet !== undefined && /^[1-9]\d{0,4}$/.test(sheet) ? Number(sheet) : sheet,
    header_row: headerRow === undefined || headerRow === 'none' ? headerRow : Number(headerRow),
  });
}
