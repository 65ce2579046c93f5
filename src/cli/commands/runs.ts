import { Command } from 'commander';
import { RunError } from '../../model/error.js';
import type { RunEntry } from '../../runs/list.js';
import type { SettingFlags } from '../../runs/settings.js';
import { type Cli, print, printJson } from '../io.js';
import { carryOut } from '../run-command.js';
import { readSettings, settingOptions } from '../setup.js';
import { approveCommand } from './runs-approve.js';
import { retryCommand } from './runs-retry.js';
import { undoCommand } from './runs-undo.js';

type Options = SettingFlags & { json?: true };

const RUN = 'run id, the beginning of one, or `last`';

/** Faults that `runs show` lists; all of them are in faults.csv. */
const FIRST_FAULTS = 10;

export function runsCommand(cli: Cli): Command {
  const command = new Command('runs').description('list, show, resume, retry, undo and approve runs').addHelpText(
    'after',
    `
Examples:
  $ rowferry runs                       all runs, newest first
  $ rowferry runs show last             summary, report files and first faults
  $ rowferry runs resume 20261121T08    go on with the run whose id begins so
  $ rowferry runs retry last            take up its rows that failed or are unknown
  $ rowferry runs undo last --dry-run   what would be put back`,
  );
  command.addCommand(listCommand(cli), { isDefault: true });
  command.addCommand(showCommand(cli));
  command.addCommand(resumeCommand(cli));
  command.addCommand(retryCommand(cli, RUN));
  command.addCommand(undoCommand(cli, RUN));
  command.addCommand(approveCommand(cli, RUN));
  return command;
}

function listCommand(cli: Cli): Command {
  const command = new Command('list')
    .description('all runs of the data folder, newest first')
    .option('--json', 'print them as one JSON object')
    // As the default of `runs` it is also handed what is no command of `runs`.
    .allowExcessArguments(true)
    .action(async (options: Options, self: Command) => {
      await refuseUnknown(self);
      const { home } = await readSettings(cli, options);
      const [{ listRuns }, { nearPath, table, count }] = await Promise.all([
        import('../../runs/list.js'),
        import('../../runs/present.js'),
      ]);
      const runs = await listRuns(home);
      if (options.json) return printJson(cli.io, { runs });
      if (runs.length === 0) return print(cli.io, `No runs in ${nearPath(home)} yet.`);
      const number = (value: number | undefined) => (value === undefined ? '' : count(value));
      print(
        cli.io,
        table(
          ['RUN', 'WHEN', 'KIND', 'JOB', 'FILE', 'STATUS', 'ROWS', 'NEEDS A PERSON'],
          runs.map((run) => [
            run.run,
            localTime(run.startedAt),
            kindText(run),
            run.job,
            // The file of an undo is a list of its own; what it is about is the run.
            run.kind === 'undo' ? (run.ofRun ?? '') : nearPath(run.file),
            statusText(run),
            number(run.rows),
            number(run.needsPerson),
          ]),
        ),
      );
    });
  return settingOptions(command, 'home');
}

async function refuseUnknown(list: Command): Promise<void> {
  const [word] = list.args;
  if (word === undefined) return;
  const { didYouMean } = await import('../../runs/nearest.js');
  const names = (list.parent?.commands ?? []).map((command) => command.name());
  throw new RunError(
    'usage',
    `\`rowferry runs\` has no command \`${word}\`${didYouMean(word, names) || '.'} It has: ${names.join(', ')}.`,
  );
}

function showCommand(cli: Cli): Command {
  const command = new Command('show')
    .description('summary, report files and first faults of a run')
    .argument('<run>', RUN)
    .option('--json', 'print the summary as one JSON object')
    .action(async (wanted: string, options: Options) => {
      const { home } = await readSettings(cli, options);
      const [{ findRun, firstFaults, readRun, readRunSummary }, { faultText, nearPath, presentSummary }] =
        await Promise.all([import('../../runs/list.js'), import('../../runs/present.js')]);
      const entry = await readRun(home, await findRun(home, wanted));
      const summary = await readRunSummary(home, entry.run);
      if (options.json) return printJson(cli.io, summary ?? entry);
      if (!summary) {
        const resume = `rowferry runs resume ${entry.run}`;
        const next =
          entry.status === 'running'
            ? 'It is running; its reports are not written yet.'
            : entry.reportsOf === undefined
              ? `It ended without reports. Go on with: ${resume}`
              : `Its reports are not in ${nearPath(entry.reportDir)}: those of the run ${entry.reportsOf} are. To go on with it, or to write them again: ${resume}`;
        return print(
          cli.io,
          `Run ${entry.run} of ${localTime(entry.startedAt)}: ${kindText(entry)} ${entry.job} ${nearPath(entry.file)}\n${next}`,
        );
      }
      if (entry.reportsOf !== undefined) {
        const lost = `Its reports were in ${nearPath(entry.reportDir)}, where those of the run ${entry.reportsOf} are now.`;
        return print(
          cli.io,
          [presentSummary({ summary: { ...summary, reports: [] }, reportDir: entry.reportDir }), '', lost].join('\n'),
        );
      }
      const faults = await firstFaults(entry.reportDir, FIRST_FAULTS);
      const list = faults.map((fault) => `  ${faultText(fault)}`);
      const more = faults.length === FIRST_FAULTS ? ['  … all of them are in faults.csv'] : [];
      const shown = faults.length > 0 ? ['', 'First faults:', ...list, ...more] : [];
      print(cli.io, [presentSummary({ summary, reportDir: entry.reportDir }), ...shown].join('\n'));
    });
  return settingOptions(command, 'home');
}

function resumeCommand(cli: Cli): Command {
  const command = new Command('resume')
    .description('go on with a run that was interrupted or killed; no row is written twice')
    .argument('<run>', RUN)
    .option('--json', 'print the summary as one JSON object')
    .action(async (wanted: string, options: Options) => {
      const settings = await readSettings(cli, options);
      const [{ requireService }, { findRun }] = await Promise.all([
        import('../../runs/settings.js'),
        import('../../runs/list.js'),
      ]);
      requireService(settings);
      const run = await findRun(settings.home, wanted);
      const { resumeRun } = await import('../../runs/resume.js');
      const json = options.json === true;
      cli.code = (await carryOut(cli, settings, { json }, (context) => resumeRun(run, context))).code;
    });
  return settingOptions(command, 'home', 'concurrency', 'apiUrl', 'maxRps', 'logLevel');
}

/** `import`, `import (retry)`, `reconcile (approved)`, `undo`. */
function kindText({ kind, manner }: RunEntry): string {
  return manner === undefined ? kind : `${kind} (${manner})`;
}

function statusText(run: RunEntry): string {
  if (!run.dryRun || run.status === 'running') return run.status;
  return `${run.status} (${run.kind === 'reconcile' ? 'report only' : 'dry run'})`;
}

/** `2026-11-21 08:15` in the time of this machine. */
function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
