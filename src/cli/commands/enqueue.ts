import { pickDefined } from '../../library/open.js';
import type { EnqueueOptions, QueuedRun } from '../../library/queue.js';
import { enqueue } from '../../library/runs.js';
import { EXIT, RunError, usageError } from '../../model/error.js';
import type { SettingFlags } from '../../runs/settings.js';
import type { JobKind } from '../../worker/jobs/data.js';
import { type Cli, print, printJson, reportInterrupted } from '../io.js';
import { openMessages } from '../messages.js';
import { CliCommand, callOptions, followRun, onInterrupt, printResult, readSettings } from '../run-command.js';

type Options = SettingFlags & {
  job?: string;
  file?: string;
  wait?: true;
  json?: true;
  dryRun?: true;
  apply?: true;
  force?: true;
};

type Put = (options: EnqueueOptions) => Promise<QueuedRun>;

export function enqueueCommand(cli: Cli, put: Put = enqueue): CliCommand {
  return new CliCommand('enqueue')
    .description('put a run on the queue, for a worker to carry out')
    .argument('<kind>', 'import, export or reconcile')
    .option('--job <job>', 'job file, or the name of one in the jobs folder of the worker; required')
    .option(
      '--file <file>',
      'import, reconcile: spreadsheet, required; export: file to write, in place of that of the job',
    )
    .option('--dry-run', 'import, reconcile: say what would happen; nothing is written to the service')
    .option('--apply', 'reconcile: write the differences; without it and --dry-run the job says whether')
    .option('--force', 'import, reconcile: go on although a brake of the job would stop the run')
    .option('--wait', 'wait for the run, show its progress and its summary')
    .option('--json', 'print one JSON object: the summary with --wait, else what was put on the queue')
    .helpBelow(`
Examples:
  $ rowferry enqueue import --job assets --file assets.xlsx
  $ rowferry enqueue import --job jobs/assets.yaml --file assets.xlsx --wait
  $ rowferry enqueue export --job export-assets
  $ rowferry enqueue export --job export-assets --file exports/assets-today.csv.gz --wait
  $ rowferry enqueue reconcile --job erp-assets --file erp.csv --wait
  $ rowferry enqueue reconcile --job erp-assets --file erp.csv --apply

A job is sent by its name, or whole where it is given as a path. Exit codes with --wait are those of \`rowferry import\`,
\`rowferry export\` and \`rowferry reconcile\`; Ctrl-C ends the waiting, and the job stays on the queue.`)
    .action(async (kind: string, options: Options) => {
      cli.code = await enqueueRun(cli, kind, options, put);
    })
    .settings('company', 'jobsDir', 'home', 'logLevel');
}

async function enqueueRun(cli: Cli, what: string, options: Options, put: Put): Promise<number> {
  const kind = parseKind(what);
  const request = enqueueFlagsOf(kind, options);
  const settings = await readSettings(cli, options);
  const messages = await openMessages(cli, settings);
  const interruption = onInterrupt(() => undefined);
  const json = options.json === true;
  let queued: QueuedRun | undefined;
  try {
    const call = callOptions(cli, options, { ...messages, signal: interruption.signal });
    queued = await put({ ...request, ...call, retry: options.wait !== true } as EnqueueOptions);
    const { id, queue: store, workers } = queued;
    if (!options.wait) {
      messages.stop();
      const receipt = { queue: 'rowferry', id, name: kind, store, workers, data: queued.data };
      if (json) printJson(cli, receipt);
      else print(cli, queuedText(id, store));
      return EXIT.ok;
    }
    const result = await followRun(queued.wait(), messages);
    messages.stop();
    await printResult(cli, result, json, messages.seen);
    return result.exitCode;
  } catch (error) {
    messages.stop();
    if (!(error instanceof RunError) || error.code !== 'interrupted') throw error;
    const code = interruption.exitCode() ?? EXIT.sigint;
    return reportInterrupted(cli, error.message, code, json, queued && { queue: 'rowferry', id: queued.id });
  } finally {
    messages.stop();
    interruption.release();
  }
}

const EXAMPLES = {
  import: '--job assets --file assets.xlsx',
  export: '--job export-assets',
  reconcile: '--job erp-assets --file erp.csv --apply',
};

function parseKind(kind: string): JobKind {
  if (kind === 'import' || kind === 'export' || kind === 'reconcile') return kind;
  throw usageError(
    `\`rowferry enqueue ${kind}\` is unknown; it is \`rowferry enqueue import\`, \`export\` or \`reconcile\`.`,
  );
}

/** What the command line asks for; what has no meaning for its kind is refused with the data of the job. */
function enqueueFlagsOf(kind: JobKind, { job, file, dryRun, apply, force }: Options): object {
  const example = `For example: rowferry enqueue ${kind} ${EXAMPLES[kind]}`;
  if (job === undefined) throw usageError(`--job is missing: it names the job. ${example}`);
  if (kind !== 'export' && file === undefined) {
    throw usageError(`--file is missing: it names the file. ${example}`);
  }
  return { kind, job, ...pickDefined({ file, dryRun, apply, force }) };
}

function queuedText(id: string, address: string): string {
  return `Run ${id} is on the queue (${address}); the next free worker takes it.\nIt is shown by \`rowferry runs\` where the worker is, and its end here with --wait.`;
}
