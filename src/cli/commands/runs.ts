import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { pickDefined } from '../../library/open.js';
import { resumeRun } from '../../library/runs.js';
import { sizeText } from '../../model/count-text.js';
import { usageError } from '../../model/error.js';
import type { RunResult } from '../../runs/run/conclude.js';
import type { RunContext } from '../../runs/run/context.js';
import type { DamagedRun, RunEntry } from '../../runs/run/list.js';
import type { SettingFlags } from '../../runs/settings.js';
import { type Cli, print, printErr, printJson } from '../io.js';
import { CliCommand, callOptions, executeRun, followRun, readSettings } from '../run-command.js';

type Options = SettingFlags & {
  json?: true;
  report?: string;
  force?: true;
  dryRun?: true;
  retire?: readonly string[];
  by?: string;
  all?: true;
};

const RUN = 'run id, the beginning of one, or `last`';

/** Faults that `runs show` lists; all of them are in faults.csv. */
const FIRST_FAULTS = 10;
/** Runs that `runs list` shows where a person reads it. */
const LIST_LIMIT = 20;

export function runsCommand(cli: Cli): CliCommand {
  return new CliCommand('runs')
    .description('list, show, resume, retry, undo, approve and prune runs')
    .helpBelow(`
Examples:
  $ rowferry runs                       all runs, newest first
  $ rowferry runs show last             summary, report files and first faults
  $ rowferry runs resume 20261121T08    go on with the run whose id begins so
  $ rowferry runs retry last            take up its rows that failed or are unknown
  $ rowferry runs undo last --dry-run   what would be put back`)
    .addCommand(listCommand(cli), { isDefault: true })
    .addCommand(showCommand(cli))
    .addCommand(resumeCommand(cli))
    .addCommand(retryCommand(cli))
    .addCommand(undoCommand(cli))
    .addCommand(approveCommand(cli))
    .addCommand(pruneCommand(cli));
}

/** As the default of `runs` it is also handed what is no command of `runs`. */
function listCommand(cli: Cli): CliCommand {
  return new CliCommand('list')
    .description('all runs of the data folder, newest first')
    .option('--all', `all of them; by default the latest ${LIST_LIMIT} on a terminal`)
    .option('--json', 'print them as one JSON object')
    .allowExcessArguments(true)
    .action(async (options: Options, self: CliCommand) => {
      await refuseUnknown(self.parent ?? self, self.args);
      const { home } = await readSettings(cli, options);
      const [{ listRuns }, { relativePath, formatTable, formatNumber }] = await Promise.all([
        import('../../runs/run/list.js'),
        import('../../runs/run/present.js'),
      ]);
      const damaged: DamagedRun[] = [];
      const runs = await listRuns(home, (run) => damaged.push(run));
      for (const { run, reason } of damaged) printErr(cli, `warning: the run ${run} is not listed: ${reason}`);
      if (options.json) return printJson(cli, { runs, ...(damaged.length > 0 && { damaged }) });
      if (runs.length === 0 && damaged.length > 0) return;
      if (runs.length === 0) return print(cli, `No runs in ${relativePath(home)} yet.`);
      const number = (value: number | undefined) => (value === undefined ? '' : formatNumber(value));
      const { isTTY, columns } = cli.io.stdout;
      const listedRuns = isTTY && !options.all ? runs.slice(0, LIST_LIMIT) : runs;
      const more = runs.length - listedRuns.length;
      print(
        cli,
        formatTable(
          ['RUN', 'WHEN', 'KIND', 'JOB', 'FILE', 'STATUS', 'ROWS', 'NEEDS A PERSON'],
          listedRuns.map((run) => [
            run.run,
            localTime(run.started_at),
            kindText(run),
            run.job,
            // The file of an undo is a list of its own; what it is about is the run.
            run.kind === 'undo' ? (run.of_run ?? '') : relativePath(run.file),
            statusText(run),
            number(run.rows),
            number(run.needs_person),
          ]),
          // When a run began its id says, too.
          isTTY ? { width: columns || 80, shorten: 4, leaveOut: [1, 2, 4] } : undefined,
        ) + (more > 0 ? `\nand ${more} more: rowferry runs list --all` : ''),
      );
    })
    .settings('home');
}

/** Words behind a group of commands that are none of its commands, which commander hands to its default. */
export async function refuseUnknown(group: Command, [word]: readonly string[]): Promise<void> {
  if (word === undefined) return;
  const { nameHint } = await import('../../runs/job/shape.js');
  const names = group.commands.map((command) => command.name());
  throw usageError(
    `\`rowferry ${group.name()}\` has no command \`${word}\`${nameHint(word, names) || '.'} It has: ${names.join(', ')}.`,
  );
}

function showCommand(cli: Cli): CliCommand {
  return new CliCommand('show')
    .description('summary, report files and first faults of a run')
    .argument('<run>', RUN)
    .option('--json', 'print the summary as one JSON object')
    .action(async (runRef: string, options: Options) => {
      const { home } = await readSettings(cli, options);
      const [{ findRun, firstFaults, readRun, readRunSummary }, { faultText, relativePath, presentSummary }] =
        await Promise.all([import('../../runs/run/list.js'), import('../../runs/run/present.js')]);
      const entry = await readRun(home, await findRun(home, runRef));
      const summary = await readRunSummary(home, entry.run);
      if (options.json) return printJson(cli, summary ?? entry);
      if (!summary) {
        const resume = `rowferry runs resume ${entry.run}`;
        const next =
          entry.status === 'running'
            ? 'It is running; its reports are not written yet.'
            : entry.reports_of === undefined
              ? (entry.aside_reason ?? `It ended without reports. Go on with: ${resume}`)
              : `Its reports are not in ${relativePath(entry.report_dir)}: those of the run ${entry.reports_of} are. To go on with it, or to write them again: ${resume}`;
        return print(
          cli,
          `Run ${entry.run} of ${localTime(entry.started_at)}: ${kindText(entry)} ${entry.job} ${relativePath(entry.file)}\n${next}`,
        );
      }
      const { report_dir: reportDir, reports_of: reportsOf } = entry;
      const reports = summary.reports.filter((name) => name !== 'summary.json');
      const removedText =
        reportsOf !== undefined
          ? `Its reports were in ${relativePath(reportDir)}, where those of the run ${reportsOf} are now.`
          : reports.length > 0 && !reports.some((name) => existsSync(join(reportDir, name)))
            ? 'Its rows and reports were removed; the summary is what is left.'
            : undefined;
      if (removedText !== undefined)
        return print(cli, `${presentSummary({ summary: { ...summary, reports: [] }, reportDir })}\n\n${removedText}`);
      const faults = firstFaults(home, entry.run, FIRST_FAULTS).map((fault) => `  ${faultText(fault)}`);
      const more = faults.length === FIRST_FAULTS ? ['  … all of them are in faults.csv'] : [];
      const faultLines = faults.length > 0 ? ['', 'First faults:', ...faults, ...more] : [];
      print(cli, [presentSummary({ summary, reportDir }), ...faultLines].join('\n'));
    })
    .settings('home');
}

function resumeCommand(cli: Cli): CliCommand {
  const command = new CliCommand('resume').description(
    'go on with a run that was interrupted or killed; no row is written twice',
  );
  return runAction(cli, command, (run, options, context) =>
    followRun(resumeRun({ run, ...callOptions(cli, options, context) }), context),
  );
}

function retryCommand(cli: Cli): CliCommand {
  const command = new CliCommand('retry')
    .description('take up the rows of a run that failed or were left unknown, and no others')
    .option('--force', 'go on although the company is archived')
    .option('--report <dir>', REPORT)
    .helpBelow(`
A new run on the same copy of the file. What became of an unknown row is looked up first, and nothing is sent twice. Rows
that were rejected or invalid are corrected in the rejected file of the run and imported from there.

Examples:
  $ rowferry runs retry last
  $ rowferry runs retry 20261121T08 --json | jq .rows`);
  return runAction(cli, command, async (runRef, options, context) =>
    (await import('../../runs/follow-up.js')).retryRun(
      runRef,
      { force: options.force === true, ...runOptionsOf(cli, options, context) },
      context,
    ),
  );
}

function undoCommand(cli: Cli): CliCommand {
  const command = new CliCommand('undo')
    .description('put records back to what they were before a run, but for what somebody changed since')
    .option('--dry-run', 'say what would be put back; nothing is written to the service')
    .option(
      '--retire <field=value...>',
      'what records that the run created are to be given, in place of `retire` in its job',
    )
    .option('--force', 'go on although the company is archived')
    .option('--report <dir>', REPORT)
    .helpBelow(`
Goes field by field: what still holds the value that the run wrote gets its old value back; what somebody changed since is
left, and named in results.csv. The service has no delete: records that the run created get the values of \`retire\`. The job is
that of the run, as it was when the run began.

Examples:
  $ rowferry runs undo last --dry-run
  $ rowferry runs undo 20261121T08
  $ rowferry runs undo last --retire lifecycle_stage=Retired
  $ rowferry runs undo last             once more: undoes the undo`);
  return runAction(cli, command, async (runRef, options, context) => {
    const request = {
      dryRun: options.dryRun === true,
      force: options.force === true,
      ...pickDefined({ retire: options.retire && retireValues(options.retire) }),
      ...runOptionsOf(cli, options, context),
    };
    return (await import('../../runs/undo.js')).undoRun(runRef, request, context);
  });
}

/** `field=value`, several times or one after the other. */
function retireValues(texts: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const field = text.slice(0, Math.max(at, 0)).trim();
    const value = text.slice(at + 1).trim();
    if (field === '' || value === '') {
      throw usageError(
        `--retire ${text}: write field=value, for example: rowferry runs undo last --retire lifecycle_stage=Retired`,
      );
    }
    values[field] = value;
  }
  return values;
}

function approveCommand(cli: Cli): CliCommand {
  const command = new CliCommand('approve')
    .description('carry out exactly the plan of a run that a brake stopped, or that only reported')
    .option('--by <name>', 'who approves; required, and kept in the reports')
    .option('--report <dir>', REPORT)
    .helpBelow(`
A row that would now be written otherwise than the plan says is a conflict, and nothing is sent for it.

Example:
  $ rowferry runs approve last --by "Ann Lee"`);
  return runAction(cli, command, async (runRef, options, context) => {
    const by = options.by?.trim() ?? '';
    if (by === '') {
      throw usageError('--by is missing: it says who approves. For example: rowferry runs approve last --by "Ann Lee"');
    }
    const { approveRun } = await import('../../runs/follow-up.js');
    return approveRun(runRef, { by, ...runOptionsOf(cli, options, context) }, context);
  });
}

function pruneCommand(cli: Cli): CliCommand {
  return new CliCommand('prune')
    .description('remove what lies of runs that ended long ago; their summaries stay')
    .option('--dry-run', 'say what would be removed; nothing is')
    .option('--json', 'print one JSON object')
    .helpBelow(`
Removes copies of files, rows, plans, before.ndjson and reports from the data folder, and what was put away in done/ and
failed/ of the drop folder. Such a run can no longer be undone, retried or approved. What is not at its end, and the last
night or import of a job that waits for somebody, stays whole.

Examples:
  $ rowferry runs prune --keep-days 90 --dry-run
  $ ROWFERRY_KEEP_DAYS=90 rowferry worker            prunes by itself, once a day`)
    .action(async (options: Options) => {
      const { home, keepDays, inbox } = await readSettings(cli, options);
      if (keepDays === undefined) {
        throw usageError(
          '--keep-days is missing: it says for how many days runs are kept. For example: rowferry runs prune --keep-days 90',
        );
      }
      const dryRun = options.dryRun === true;
      const { prune } = await import('../../worker/inbox/drop-folder.js');
      const pruned = await prune(inbox, { home, keepDays, dryRun });
      const all = [...pruned.removed, ...pruned.folders];
      const bytes = all.reduce((sum, one) => sum + one.bytes, 0);
      if (options.json) return printJson(cli, { keep_days: keepDays, dry_run: dryRun, bytes, ...pruned });
      const countOf = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
      const what = `${countOf(pruned.removed.length, 'run')} and ${countOf(pruned.folders.length, 'folder')} of the drop folder`;
      const lines = all.map((one) => `  ${'run' in one ? one.run : one.path}  ${sizeText(one.bytes)}`);
      const keptLines = pruned.left.map(({ run, why }) => `  ${run} stays: ${why}`);
      const size = all.length > 0 ? ` (${sizeText(bytes)})` : '';
      print(
        cli,
        [`${dryRun ? 'Would remove' : 'Removed'} what lay of ${what}${size}.`, ...lines, ...keptLines].join('\n'),
      );
    })
    .settings('keepDays', 'home', 'inbox');
}

const REPORT = 'folder for the reports; by default the folder of the new run';

/** Where the reports go, and how much is in flight, where that is stated. */
function runOptionsOf(cli: Cli, { report, concurrency }: Options, { settings }: RunContext) {
  return pickDefined({
    reportDir: report === undefined ? undefined : resolve(cli.io.cwd, report),
    concurrency: concurrency === undefined ? undefined : settings.concurrency,
  });
}

/** A command that makes, or goes on with, a run out of another one. */
function runAction(
  cli: Cli,
  command: CliCommand,
  work: (run: string, options: Options, context: RunContext) => Promise<RunResult>,
): CliCommand {
  return command
    .argument('<run>', RUN)
    .option('--json', 'print the summary as one JSON object')
    .action(async (run: string, options: Options) => {
      const settings = await readSettings(cli, options);
      const json = options.json === true;
      cli.code = (await executeRun(cli, settings, { json }, (context) => work(run, options, context))).code;
    })
    .settings('home', 'concurrency', 'apiUrl', 'maxRps', 'logLevel');
}

/** `import`, `import (retry)`, `reconcile (approved)`, `undo`. */
function kindText({ kind, manner }: RunEntry): string {
  return manner === undefined ? kind : `${kind} (${manner})`;
}

function statusText(run: RunEntry): string {
  if (run.status === 'unfinished' && run.aside_reason !== undefined) return 'begun anew elsewhere';
  if (!run.dry_run || run.status === 'running') return run.status;
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
