import { resolve } from 'node:path';
import { Command } from 'commander';
import { inputFile } from '../../library/open.js';
import { EXIT, RunError } from '../../model/error.js';
import { visible } from '../../model/visible.js';
import type { MapRequest, MapResult } from '../../runs/map-file.js';
import { type Cli, print, printJson, tell } from '../io.js';
import { given } from '../setup.js';

interface Options {
  resource?: string;
  output?: string;
  force?: true;
  json?: true;
  sheet?: string;
  headerRow?: string;
}

export function mapCommand(cli: Cli): Command {
  return new Command('map')
    .description("suggest a job file from a spreadsheet's headings and values; needs no service")
    .argument('<file>', 'spreadsheet: .xlsx, .ods, .csv or .ndjson, each also .gz')
    .option('--resource <resource>', 'asset, contract, supplier or customer; required')
    .option('-o, --output <job>', 'job file to write; without it the job goes to stdout')
    .option('--force', 'replace the job file if it is there')
    .option('--sheet <name>', 'sheet of a workbook: its name, or its number from 1')
    .option('--header-row <n>', 'row of the headings, where it is not found by itself')
    .option('--json', 'print what was found, and the job, as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry map inventory.xlsx --resource asset -o jobs/inventory.yaml
  $ rowferry map suppliers.csv --resource supplier > suppliers.yaml
  $ rowferry map contracts.csv --resource contract --json | jq '.columns[] | {heading, field, confidence}'

Every guess says why, and how certain it is; what is not certain enough is left out, with the reason behind it.
Exit code 0 if there is a job, 3 if no column could be mapped.`,
    )
    .action(async (file: string, options: Options) => {
      cli.code = await suggest(cli, file, options);
    });
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
  const { mapFile } = await import('../../runs/map-file.js');
  const { cwd } = cli.io;
  const result = await mapFile({
    file: await inputFile(file, cwd),
    resource,
    cwd,
    ...given({
      output: options.output && resolve(cwd, options.output),
      force: options.force,
      source: sourceOf(options),
    }),
  });
  if (options.json) printJson(cli, result.summary);
  else present(cli, result, options.output);
  return result.job === undefined ? EXIT.needsPerson : EXIT.ok;
}

function present(cli: Cli, result: MapResult, output: string | undefined): void {
  const { job, reason, table } = result;
  if (job === undefined) {
    tell(cli, table);
    tell(cli, `\n${reason}`);
    tell(
      cli,
      'Name the columns as the fields are named, or write the job by hand: docs/reference/fields.md lists them.',
    );
  } else if (output === undefined) {
    tell(cli, table);
    cli.io.stdout.write(visible(job));
  } else {
    print(cli, table);
    print(cli, `\nThe job is in ${output}. Look at it, then: rowferry check ${output}`);
  }
}

function sourceOf({ sheet, headerRow }: Options): MapRequest['source'] | undefined {
  if (headerRow !== undefined && !/^[1-9]\d{0,6}$/.test(headerRow)) {
    throw new RunError(
      'usage',
      `--header-row is "${headerRow}"; give the number of the row, as the spreadsheet program shows it.`,
    );
  }
  return given({
    sheet: sheet !== undefined && /^[1-9]\d{0,4}$/.test(sheet) ? Number(sheet) : sheet,
    header_row: headerRow === undefined ? undefined : Number(headerRow),
  });
}
