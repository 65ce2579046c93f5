import { Command, CommanderError } from 'commander';
import { visible } from '../model/control-characters.js';
import { EXIT } from '../model/error.js';
import { consoleCommand } from './commands/console.js';
import { doctorCommand } from './commands/doctor.js';
import { enqueueCommand } from './commands/enqueue.js';
import { demoCommand, initCommand } from './commands/init.js';
import { checkCommand, mapCommand, templateCommand } from './commands/jobs.js';
import { runsCommand } from './commands/runs.js';
import { sandboxCommand } from './commands/sandbox.js';
import { exportCommand, importCommand, reconcileCommand } from './commands/transfer.js';
import { workerCommand } from './commands/worker.js';
import type { Cli, Io } from './io.js';
import { presentFailure, printFailure } from './io.js';
import { packageVersion } from './run-command.js';

const INTRO = `Carries spreadsheets into the service of contracts, suppliers, customers and assets, and its records back to files.
Every row ends in exactly one outcome, and nothing is written twice.`;

const EXAMPLES = `
Examples:
  $ rowferry demo                                         see an import with good and bad rows, nothing to set up
  $ rowferry check jobs/assets.yaml                       is the job file right?
  $ rowferry import assets.xlsx --job assets --dry-run    what would happen?
  $ rowferry import assets.xlsx --job assets              do it
  $ rowferry reconcile erp.csv --job reconcile-assets     what differs between the ERP's file and the service?
  $ rowferry map vendors.csv --resource supplier          suggest a job file for a sheet
  $ rowferry template asset -o assets.xlsx                a blank workbook to fill in
  $ rowferry export asset -o assets.xlsx --editable       all records, to be changed and imported again
  $ rowferry runs resume last                             go on with a run that was interrupted
  $ rowferry console --open                               all of it in a browser

Exit codes: 0 every row ended well, 1 could not do the work, 2 wrong usage, settings or job file,
3 finished and some rows need a person, 4 stopped by a brake, 130/143 interrupted.`;

export function openCli(io: Io): Cli {
  const level = io.env['ROWFERRY_LOG_LEVEL'];
  return { io, code: EXIT.ok, secrets: [], debug: level === 'debug' || level === 'trace' };
}

/** Runs one command line and returns its exit code. Nothing is thrown, and the process is not ended. */
export async function runCli(argv: readonly string[], cli: Cli): Promise<number> {
  const json = wantsJson(argv);
  const program = buildProgram(cli);
  try {
    if (argv.length === 0) program.help({ error: true });
    await program.parseAsync([...argv], { from: 'user' });
    return cli.code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return presentFailure(error, cli, { json });
    // commander has already said what is wrong, or shown the help that was asked for.
    if (error.exitCode === 0) return EXIT.ok;
    const message = error.message.replace(/^error: /, '');
    if (json) printFailure(cli, { status: 'failed', message, details: [], code: EXIT.usage });
    return EXIT.usage;
  }
}

function buildProgram(cli: Cli): Command {
  const { io } = cli;
  const program = new Command('rowferry')
    .description(INTRO)
    .version(packageVersion(), '-V, --version', 'print the version')
    .addHelpText('after', EXAMPLES)
    .hook('preAction', (_, command) => refuseBlankValues(command));
  const commands = [
    importCommand(cli),
    exportCommand(cli),
    reconcileCommand(cli),
    templateCommand(cli),
    mapCommand(cli),
    checkCommand(cli),
    runsCommand(cli),
    sandboxCommand(cli),
    workerCommand(cli),
    consoleCommand(cli),
    enqueueCommand(cli),
    doctorCommand(cli),
    demoCommand(cli),
    initCommand(cli),
  ];
  for (const command of commands) program.addCommand(command);
  eachCommand(program, (command) => {
    command
      .exitOverride()
      .showHelpAfterError(`Run \`${fullName(command)} --help\` for what it takes.`)
      .configureOutput({
        writeOut: (text) => io.stdout.write(visible(text)),
        writeErr: (text) => io.stderr.write(visible(text)),
        getOutHelpWidth: () => helpWidth(io.stdout.columns),
        getErrHelpWidth: () => helpWidth(io.stderr.columns),
      });
  });
  return program;
}

/** A variable of the shell that is not set must not stand for the working folder, or for nothing. */
function refuseBlankValues(command: Command): void {
  for (const option of command.options) {
    if (command.getOptionValue(option.attributeName()) !== '') continue;
    command.error(`error: option '${option.flags}' has a blank value; give it one, or leave the option out`);
  }
}

function eachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) eachCommand(child, visit);
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

const helpWidth = (columns: number | undefined): number => Math.min(columns || 120, 120);

/** `--json` of any command, also when its other arguments are wrong. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).includes('--json');
}
