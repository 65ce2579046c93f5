import { resolve } from 'node:path';
import { Command } from 'commander';
import { RunError } from '../../model/error.js';
import type { SettingFlags } from '../../runs/settings.js';
import type { Cli } from '../io.js';
import { carryOut } from '../run-command.js';
import { readSettings, settingOptions } from '../setup.js';

type Options = SettingFlags & { json?: true; by?: string; report?: string };

export function approveCommand(cli: Cli, run: string): Command {
  const command = new Command('approve')
    .description('carry out exactly the plan of a run that a brake stopped, or that only reported')
    .argument('<run>', run)
    .option('--by <name>', 'who approves; required, and kept in the reports')
    .option('--report <dir>', 'folder for the reports; by default the folder of the new run')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText(
      'after',
      `
Nothing is written if a single row would now be written otherwise than the plan says.

Example:
  $ rowferry runs approve last --by "Ann Lee"`,
    )
    .action(async (wanted: string, options: Options) => {
      const by = options.by?.trim();
      if (by === undefined || by === '') {
        throw new RunError(
          'usage',
          '--by is missing: it says who approves. For example: rowferry runs approve last --by "Ann Lee"',
        );
      }
      const settings = await readSettings(cli, options);
      const { approveRun } = await import('../../runs/approve.js');
      const request = {
        by,
        ...(options.report === undefined ? {} : { reportDir: resolve(cli.io.cwd, options.report) }),
        ...(options.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
      };
      const json = options.json === true;
      cli.code = (await carryOut(cli, settings, { json }, (context) => approveRun(wanted, request, context))).code;
    });
  return settingOptions(command, 'home', 'concurrency', 'apiUrl', 'maxRps', 'logLevel');
}
