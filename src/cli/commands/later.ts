import { Command } from 'commander';
import { RunError } from '../../model/error.js';

/** Commands that are named already, so that scripts can be written against them, and whose work this version lacks. */
export function laterCommands(): Command[] {
  return [
    later(
      new Command('reconcile')
        .description('compare a spreadsheet with the service and make them agree')
        .argument('<file>', 'spreadsheet')
        .requiredOption('--job <job>', 'job file or name')
        .option('--apply', 'write the differences; without it they are only reported')
        .option('--report <dir>', 'folder for the reports')
        .option('--json', 'print the summary as one JSON object'),
    ),
  ];
}

function later(command: Command): Command {
  return command
    .addHelpText('after', '\nNot in this version yet.')
    .action(() => notYet(command.name(), 'Import a file with `rowferry import FILE --job JOB`.'));
}

export function notYet(name: string, instead: string): never {
  throw new RunError('usage', `\`rowferry ${name}\` is not in this version yet. ${instead}`);
}
