import { Command } from 'commander';
import { EXIT } from '../../model/error.js';
import { grouped } from '../../model/grouped.js';
import type { SettingFlags } from '../../runs/settings.js';
import type { TemplateResult } from '../../runs/template.js';
import { interrupted } from '../failure.js';
import { type Cli, print, printJson, tell } from '../io.js';
import { onInterrupt } from '../run-command.js';
import { given, readSettings, settingOptions } from '../setup.js';

type Options = SettingFlags & { output: string; columns?: string[]; all?: true; json?: true };

export function templateCommand(cli: Cli): Command {
  const command = new Command('template')
    .description('write a blank workbook with headings, drop-down lists and notes, and the job file that imports it')
    .argument('<resource>', 'asset, contract, supplier or customer')
    .requiredOption('-o, --output <file>', 'workbook to write (.xlsx); the job file is written beside it (.yaml)')
    .option('--columns <a,b>', 'only these fields, and those that every row needs', listed)
    .option('--all', 'every field and custom field, not only the fifteen that people use')
    .option('--json', 'print what was written as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry template asset -o assets.xlsx
  $ rowferry template contract -o contracts.xlsx --columns description,payment_terms
  $ rowferry import assets.xlsx --job assets.yaml --dry-run      once it is filled in

With ROWFERRY_API_URL and a token, the drop-down lists offer the service's own names (categories, owners, suppliers …)
and with --all its custom fields are columns. Without, the workbook has the fields and values of the interface alone.`,
    )
    .action(async (resource: string, options: Options) => {
      cli.code = await template(cli, resource, options);
    });
  return settingOptions(command, 'apiUrl', 'company', 'home', 'concurrency', 'maxRps');
}

/** `a,b` and repeated options alike. */
function listed(text: string, before: string[] = []): string[] {
  return [
    ...before,
    ...text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ];
}

async function template(cli: Cli, resource: string, options: Options): Promise<number> {
  const { io } = cli;
  const settings = await readSettings(cli, options);
  const { writeTemplate } = await import('../../runs/template.js');
  const interruption = onInterrupt((signal) => tell(cli, `${signal}: stopping; nothing is written`));
  try {
    const result = await writeTemplate(
      {
        resource,
        file: options.output,
        cwd: io.cwd,
        ...given({
          columns: options.columns,
          all: options.all,
          company: options.company === undefined ? undefined : settings.company,
        }),
      },
      {
        settings,
        signal: interruption.signal,
        notice: ({ level, text }) => tell(cli, level === 'warn' ? `warning: ${text}` : text),
      },
    );
    if (options.json) printJson(cli, result);
    else print(cli, resultText(result));
    return EXIT.ok;
  } catch (error) {
    const code = interruption.exitCode();
    if (code === undefined) throw error;
    return interrupted(cli, 'Interrupted; nothing was written.', code, options.json === true);
  } finally {
    interruption.release();
  }
}

function resultText({ file, job, sheet, columns, more, lists }: TemplateResult): string {
  const needed = columns.filter(({ required }) => required).length;
  const word = (path: string) => (/^[\w./@%+:,-]+$/.test(path) ? path : `"${path}"`);
  return [
    `${file}: sheet "${sheet}" with ${columns.length} columns, ${needed} of them required${more > 0 ? `; ${more} more with --all` : ''}`,
    ...(lists.length > 0
      ? [`Drop-down lists: ${lists.map(({ list, values }) => `${list} (${grouped(values)})`).join(', ')}`]
      : []),
    `${job}: the job that imports it`,
    `Fill it in, then: rowferry import ${word(file)} --job ${word(job)} --dry-run`,
  ].join('\n');
}
