import { join } from 'node:path';
import { EXIT, usageError } from '../../model/error.js';
import { redactor } from '../../model/secret-forms.js';
import type { SettingFlags, Settings } from '../../runs/settings.js';
import type { WorkerOptions } from '../../worker/worker.js';
import type { Cli } from '../io.js';
import { openMessages } from '../messages.js';
import { CliCommand, onInterrupt, packageRoot, packageVersion, readSettings } from '../run-command.js';

type Options = SettingFlags & { queueOnly?: true };

/** A worker that has not ended by itself so long after it was told to is ended: its work is resumed as after a kill. */
const SHUTDOWN_MS = 27_000;

export function workerCommand(cli: Cli): CliCommand {
  return new CliCommand('worker')
    .description('work on the queue, the drop folder and the schedules, until SIGTERM')
    .option('--queue-only', 'the queue alone: no drop folder, no schedules')
    .helpBelow(`
Examples:
  $ rowferry worker                                       with a queue in the data folder: nothing to install
  $ ROWFERRY_QUEUE_URL=redis://127.0.0.1:6379 rowferry worker --inbox /srv/share/inbox
  $ rowferry worker --queue-only --http 0.0.0.0:8720

SIGTERM or Ctrl-C ends it: requests in flight finish, the rest goes back to the queue.`)
    .action(async (options: Options) => {
      cli.code = await work(cli, options);
    })
    .settings('inbox', 'http', 'concurrency', 'jobsDir', 'home', 'apiUrl', 'maxRps', 'logLevel');
}

async function work(cli: Cli, options: Options): Promise<number> {
  if (options.queueOnly && options.inbox !== undefined) {
    throw usageError('--queue-only and --inbox cannot go together: a worker for the queue alone has no drop folder.');
  }
  return runWorkerToEnd(cli, await readSettings(cli, options), { queueOnly: options.queueOnly === true });
}

/** Runs a worker in this process until it is told to end; its exit code. */
export async function runWorkerToEnd(
  cli: Cli,
  settings: Settings,
  options: Pick<WorkerOptions, 'queueOnly' | 'onConsole'>,
): Promise<number> {
  const { requireService } = await import('../../runs/settings.js');
  requireService(settings);
  const { log, listener, stop } = await openMessages(cli, settings);
  const interruption = onInterrupt(() => {
    setTimeout(() => process.exit(EXIT.ok), SHUTDOWN_MS).unref();
  });
  const queue = settings.queueUrl === undefined ? `the embedded queue in ${settings.home}` : 'its queue';
  listener.notice({ level: 'info', text: `The worker starts and opens ${queue}.` });
  try {
    const { runWorker } = await import('../../worker/worker.js');
    await runWorker({
      settings,
      ...options,
      pages: join(packageRoot, 'dist', 'console'),
      version: packageVersion(),
      log,
      notice: (level, text) => listener.notice({ level, text }),
      clean: redactor(cli.secrets),
      signal: interruption.signal,
    });
    listener.notice({ level: 'info', text: 'The worker has ended.' });
    // Being told to end is how a worker ends.
    return EXIT.ok;
  } finally {
    interruption.release();
    stop();
  }
}
