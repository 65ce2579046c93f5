import { resolve } from 'node:path';
import { Command } from 'commander';
import type { SettingFlags } from '../../runs/settings.js';
import type { Cli } from '../io.js';
import { carryOut } from '../run-command.js';
import { readSettings, settingOptions } from '../setup.js';

type Options = SettingFlags & { force?: true; json?: true; report?: string };

export function retryCommand(cli: Cli, run: string): Command {
  const command = new Command('retry')
    .description('take up the rows of a run that failed or were left unknown, and no others')
    .argument('<run>', run)
    .option('--force', 'go on although the company is archived')
    .option('--report <dir>', 'folder for the reports; by default the folder of the new run')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText(
      'after',
      `
A new run on the same copy of the file. What became of an unknown row is looked up first, and nothing is sent twice. Rows
that were rejected or invalid are corrected in the rejected file of the run and imported from there.

Examples:
  $ rowferry runs retry last
  $ rowferry runs retry 20261121T08 --json | jq .rows`,
    )
    .action(async (wanted: string, options: Options) => {
      const settings = await readSettings(cli, options);
      const { retryRun } = await import('../../runs/retry.js');
      const request = {
        force: options.force === true,
        ...(options.report === undefined ? {} : { reportDir: resolve(cli.io.cwd, options.report) }),
        ...(options.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
      };
      const json = options.json === true;
      cli.code = (await carryOut(cli, settings, { json }, (context) => retryRun(wanted, request, context))).code;
    });
  return settingOptions(command, 'home', 'concurrency', 'apiUrl', 'maxRps', 'logLevel');
}
