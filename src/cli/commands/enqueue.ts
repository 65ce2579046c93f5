import { Command } from 'commander';
import { EXIT, RunError } from '../../model/error.js';
import { HOME, makeFolder } from '../../runs/run/layout.js';
import type { SettingFlags, Settings } from '../../runs/settings.js';
import type { RunsOptions } from '../../worker/api/client.js';
import type { RunsApi } from '../../worker/api/runs.js';
import type { JobKind } from '../../worker/jobs/data.js';
import { interrupted } from '../failure.js';
import { type Cli, print, printJson } from '../io.js';
import type { PreparedJob } from '../queue-job.js';
import { onInterrupt, printResult } from '../run-command.js';
import { readSettings, settingOptions } from '../setup.js';
import { openTelling } from '../telling.js';

type Options = SettingFlags & {
  job?: string;
  file?: string;
  wait?: true;
  json?: true;
  dryRun?: true;
  apply?: true;
  force?: true;
};

/** A queue that is away is waited for so long, in milliseconds. */
const PATIENCE_MS = 10_000;

type Open = (settings: Settings, options: RunsOptions) => Promise<RunsApi>;

export function enqueueCommand(
  cli: Cli,
  open: Open = async (...given) => (await import('../../worker/api/client.js')).openRuns(...given),
): Command {
  const command = new Command('enqueue')
    .description('put a run on the queue, for a worker to carry out')
    .argument('<kind>', 'import, export or reconcile')
    .option('--job <job>', 'job file, or the name of one in the jobs folder of the worker; required')
    .option(
      '--file <file>',
      'import, reconcile: spreadsheet, or - for NDJSON rows on stdin, required; export: file to write, in place of that of the job',
    )
    .option('--dry-run', 'import, reconcile: say what would happen; nothing is written to the service')
    .option('--apply', 'reconcile: write the differences; without it and --dry-run the job says whether')
    .option('--force', 'import, reconcile: go on although a brake of the job would stop the run')
    .option('--wait', 'wait for the run, show its progress and its summary')
    .option('--json', 'print one JSON object: the summary with --wait, else what was put on the queue')
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry enqueue import --job assets --file assets.xlsx
  $ rowferry enqueue import --job jobs/assets.yaml --file assets.xlsx --wait
  $ rowferry enqueue import --job assets --file - < rows.ndjson
  $ rowferry enqueue export --job export-assets
  $ rowferry enqueue export --job export-assets --file exports/assets-today.csv.gz --wait
  $ rowferry enqueue reconcile --job erp-assets --file erp.csv --wait
  $ rowferry enqueue reconcile --job erp-assets --file erp.csv --apply

A job is sent by its name, or whole where it is given as a path. Exit codes with --wait are those of \`rowferry import\`,
\`rowferry export\` and \`rowferry reconcile\`; Ctrl-C ends the waiting, and the job stays on the queue.`,
    )
    .action(async (kind: string, options: Options) => {
      cli.code = await enqueue(cli, kind, options, open);
    });
  return settingOptions(command, 'company', 'jobsDir', 'home', 'logLevel');
}

async function enqueue(cli: Cli, what: string, options: Options, open: Open): Promise<number> {
  const kind = kindOf(what);
  const prepare = preparationOf(kind, options);
  const settings = await readSettings(cli, options);
  const prepared = await prepare(cli, settings);
  const telling = await openTelling(cli, settings);
  const interruption = onInterrupt(() => undefined);
  const notice = (level: 'info' | 'warn', text: string) => telling.listener.notice({ level, text });
  try {
    await makeFolder(settings.home, HOME);
    const runs = await open(settings, { patienceMs: PATIENCE_MS, notice, signal: interruption.signal });
    try {
      const data = await prepared.place(runs);
      const id = await runs.put({ kind, data, once: options.wait === true }).catch(async (error: unknown) => {
        await prepared.takeBack();
        throw error;
      });
      const { address, workers } = await runs.queue();
      if (workers === 0) {
        notice(
          'warn',
          'No worker is connected to the queue: the job waits until one is started with `rowferry worker`.',
        );
      }
      if (!options.wait) {
        telling.stop();
        const placed = { queue: 'rowferry', id, name: kind, store: address, workers, data: shortData(data) };
        if (options.json) printJson(cli, placed);
        else print(cli, placedText(id, address));
        return EXIT.ok;
      }
      const { waitForJob } = await import('../queue-wait.js');
      const result = await waitForJob(runs, id, {
        listener: telling.listener,
        home: settings.home,
        signal: interruption.signal,
      });
      telling.stop();
      const json = options.json === true;
      if (!result) {
        const text = `Stopped waiting. The job ${id} stays on the queue and is run all the same.`;
        return interrupted(cli, text, interruption.exitCode() ?? EXIT.sigint, json, { queue: 'rowferry', id });
      }
      await printResult(cli, result, json);
      return result.exitCode;
    } finally {
      await runs.close();
    }
  } finally {
    telling.stop();
    interruption.release();
  }
}

const EXAMPLES = {
  import: '--job assets --file assets.xlsx',
  export: '--job export-assets',
  reconcile: '--job erp-assets --file erp.csv --apply',
};

function kindOf(kind: string): JobKind {
  if (kind === 'import' || kind === 'export' || kind === 'reconcile') return kind;
  throw new RunError(
    'usage',
    `\`rowferry enqueue ${kind}\` is unknown; it is \`rowferry enqueue import\`, \`export\` or \`reconcile\`.`,
  );
}

type Preparation = (cli: Cli, settings: Settings) => Promise<PreparedJob>;

/** What the command line asks for, checked as far as that goes without the settings. */
function preparationOf(kind: JobKind, options: Options): Preparation {
  const { job, file } = options;
  const example = `For example: rowferry enqueue ${kind} ${EXAMPLES[kind]}`;
  if (job === undefined) throw new RunError('usage', `--job is missing: it names the job. ${example}`);
  const company = (settings: Settings) => ({ ...(options.company !== undefined && { company: settings.company }) });
  if (kind === 'export') {
    const stray = (options.dryRun && '--dry-run') || (options.apply && '--apply') || (options.force && '--force');
    if (stray) throw new RunError('usage', `${stray} has no meaning in an export: it writes nothing to the service.`);
    if (file === '-') throw new RunError('usage', `--file is -, but an export writes a file: name one. ${example}`);
    return async ({ io }, settings) =>
      (await import('../queue-job.js')).prepareExport(job, file, settings, io, company(settings));
  }
  if (kind === 'import' && options.apply) {
    throw new RunError('usage', '--apply belongs to `enqueue reconcile`; an import writes unless --dry-run is given.');
  }
  if (options.apply && options.dryRun) {
    throw new RunError('usage', '--apply and --dry-run contradict each other: write the differences, or report them.');
  }
  if (file === undefined) throw new RunError('usage', `--file is missing: it names the file. ${example}`);
  return async ({ io }, settings) =>
    (await import('../queue-job.js')).prepareRows(kind, job, file, settings, io, {
      ...(options.dryRun && { dry_run: true }),
      ...(options.apply && { apply: true }),
      ...(options.force && { force: true }),
      ...company(settings),
    });
}

function placedText(id: string, address: string): string {
  return `Job ${id} is on the queue (${address}); the next free worker runs it.\nIts run is shown by \`rowferry runs\` where the worker is, and its end here with --wait.`;
}

function shortData(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { rows, ...rest } = data;
  return Array.isArray(rows) ? { ...rest, rows: rows.length } : rest;
}
