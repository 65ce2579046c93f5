import { resolve } from 'node:path';
import { Command } from 'commander';
import { RunError } from '../../model/error.js';
import type { SettingFlags } from '../../runs/settings.js';
import type { Cli } from '../io.js';
import { carryOut } from '../run-command.js';
import { readSettings, settingOptions } from '../setup.js';

type Options = SettingFlags & {
  dryRun?: true;
  retire?: readonly string[];
  force?: true;
  json?: true;
  report?: string;
};

export function undoCommand(cli: Cli, run: string): Command {
  const command = new Command('undo')
    .description('put records back to what they were before a run, but for what somebody changed since')
    .argument('<run>', run)
    .option('--dry-run', 'say what would be put back; nothing is written to the service')
    .option(
      '--retire <field=value...>',
      'what records that the run created are to be given, in place of `retire` in its job',
    )
    .option('--force', 'go on although the company is archived')
    .option('--report <dir>', 'folder for the reports; by default the folder of the new run')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText(
      'after',
      `
Goes field by field: what still holds the value that the run wrote gets its old value back; what somebody changed since is
left, and named in results.csv. The service has no delete: records that the run created get the values of \`retire\`. The job is
that of the run, as it was when the run began.

Examples:
  $ rowferry runs undo last --dry-run
  $ rowferry runs undo 20261121T08
  $ rowferry runs undo last --retire lifecycle_stage=Retired
  $ rowferry runs undo last             once more: undoes the undo`,
    )
    .action(async (wanted: string, options: Options) => {
      const retire = options.retire && retireValues(options.retire);
      const settings = await readSettings(cli, options);
      const { undoRun } = await import('../../runs/undo.js');
      const request = {
        dryRun: options.dryRun === true,
        force: options.force === true,
        ...(retire === undefined ? {} : { retire }),
        ...(options.report === undefined ? {} : { reportDir: resolve(cli.io.cwd, options.report) }),
        ...(options.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
      };
      const json = options.json === true;
      cli.code = (await carryOut(cli, settings, { json }, (context) => undoRun(wanted, request, context))).code;
    });
  return settingOptions(command, 'home', 'concurrency', 'apiUrl', 'maxRps', 'logLevel');
}

/** `field=value`, several times or one after the other. */
function retireValues(texts: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const field = text.slice(0, Math.max(at, 0)).trim();
    const value = text.slice(at + 1).trim();
    if (field === '' || value === '') {
      throw new RunError(
        'usage',
        `--retire ${text}: write field=value, for example: rowferry runs undo last --retire lifecycle_stage=Retired`,
      );
    }
    values[field] = value;
  }
  return values;
}
