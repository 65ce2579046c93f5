import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import { openAudit } from '../api/access/audit.js';
import { registerConsole } from '../api/access/links.js';
import { openPages } from '../api/access/pages.js';
import { openAccess } from '../api/access/sign-in.js';
import { openApi } from '../api/open.js';
import { runsOnStore } from '../api/runs/orders.js';
import { serveHome } from '../api/server.js';
import { errorText } from '../model/error.js';
import { HOME, makeFolder } from '../runs/run/layout.js';
import { lastFinished } from '../runs/run/list.js';
import { runChannel } from '../runs/run/open-service.js';
import { requireService, type Settings } from '../runs/settings.js';
import { reached } from '../trace/milestones.js';
import { DropFolder, prune } from './inbox/drop-folder.js';
import { assertInbox } from './inbox/folders.js';
import { type Inbox, openInbox } from './inbox/inbox.js';
import { type JobFiles, openJobFiles, scheduledJobs } from './job-files.js';
import { RUNS_QUEUE } from './jobs/data.js';
import type { RunDeps } from './jobs/delivery.js';
import { runProcessor } from './jobs/delivery.js';
import { homeId, isBegunHere, registerHome, restoreJobs } from './jobs/home.js';
import { candidatePaths } from './jobs/roots.js';
import { openStops } from './jobs/stops.js';
import { type Health, openOperations } from './operations/http.js';
import { openMetrics } from './operations/metrics.js';
import { openNotifier } from './operations/notifier.js';
import { openParts } from './parts/parts.js';
import { openSigner } from './parts/protocol.js';
import { keepLease, repeatEvery, settledAfterMs, waitForRight, whenAborted, withTimeout } from './rights.js';
import { openSchedules } from './schedules.js';
import { openStore } from './store/open.js';
import type { Store, Worker } from './store/port.js';

export interface WorkerOptions {
  readonly settings: Settings;
  /** The queue alone: no drop folder, no schedules. */
  readonly queueOnly: boolean;
  /** Folder of the pages of the console, as they were built. */
  readonly pages: string;
  /** Told when the console can be used, and where; default: a notice. */
  readonly onConsole?: (url: string) => Promise<void>;
  /** Of rowferry, for its metrics. */
  readonly version?: string;
  readonly log: Logger;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** Takes secrets out of a text that leaves this process. */
  readonly clean: (text: string) => string;
  /** SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
}

/** Runs that one process coordinates at the same time. */
const RUNS_AT_ONCE = 4;
/** Jobs that ended are kept for people to look at, and so that an id is not taken twice. */
const KEEP_DONE = { age: 14 * 86_400, count: 5_000 };
const KEEP_FAILED = { age: 60 * 86_400, count: 5_000 };
/** How soon a changed job file is noticed. */
const JOBS_EVERY_MS = 1_000;
/** Runs that were begun here and that the queue has forgotten are put on it again. */
const RESTORE_EVERY_MS = 60_000;
const PRUNE_EVERY_MS = 86_400_000;
/** Together with what runs need to end, well within the 30 s of contract, section 10. */
const CLOSE_EACH_MS = 18_000;

/**
 * Works until the signal is given; contract, sections 9 and 10. Throws a `RunError` `usage` for a drop folder that cannot be. Then requests in flight finish and runs are handed back to
 * the queue. What does not end in time is as after a kill: it is resumed.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { settings, log, notice, signal } = options;
  // Every run at work listens to it.
  setMaxListeners(0, signal);
  const { home, inbox: dropDir, leaseMs } = settings;
  const { apiUrl } = requireService(settings);
  const signer = await openSigner(settings);
  await makeFolder(home, HOME);
  if (!options.queueOnly) await assertInbox(dropDir);
  const closing = openClosing(log);
  try {
    const isKnownJob = (job: string) =>
      ['yaml', 'yml'].some((end) => existsSync(path.join(settings.jobsDir, `${job}.${end}`)));
    const readJobs = openJobFiles(settings.jobsDir);
    const metrics = openMetrics(isKnownJob, options.version);
    for (const { job, at } of lastFinished(home)) metrics.lastSuccess(job, at);
    let store: Store | undefined;
    let inbox: Inbox | undefined;
    let runs: Worker | undefined;
    const audit = openAudit(home);
    const operations =
      settings.http &&
      (await openOperations({
        http: settings.http,
        ready: () => readiness(store, inbox),
        live: () => ({ ok: runs?.isRunning() !== false, details: { runs: runsText(runs) } }),
        metrics,
        gateway: {
          access: openAccess({ home, usersFile: settings.usersFile, notice }),
          audit,
          pages: openPages(options.pages),
          publicUrl: settings.publicUrl,
          proxyHeader: settings.trustedProxy,
        },
        notice,
      }));
    if (operations) {
      closing.add('http', operations.close);
      notice('info', `Health and metrics: ${operations.url}`);
    }

    const opened = await openStore({
      url: settings.queueUrl,
      home,
      strict: settings.strict,
      patienceMs: Number.POSITIVE_INFINITY,
      notice,
      signal,
      leaseMs,
    });
    closing.add('store', opened.close);
    if (signal.aborted) return;
    notice('info', `Queue: ${opened.address}`);

    const id = homeId(home);
    await registerHome(opened, { id, roots: [...settings.roots], service: apiUrl });
    closing.add('presence', keepLease(opened, `home.${id}`, leaseMs));
    const channel = runChannel(settings, opened.pace(apiUrl), signal);
    closing.add('channel', () => channel.close(2_000));
    const notifier = openNotifier({
      url: settings.notifyUrl,
      publicUrl: settings.publicUrl,
      people: async (job) => (await readJobs()).get(job)?.notify,
      ...(settings.smtpUrl !== undefined && { mail: { url: settings.smtpUrl, from: settings.mailFrom } }),
      state: opened,
      log,
      isKnownJob,
      clean: options.clean,
      onNotified: metrics.notified,
    });
    closing.add('notifier', () => notifier.close(3_000));

    // An embedded queue has this worker alone: there is nobody to send its requests for it.
    const parts =
      opened.kind === 'embedded'
        ? undefined
        : await openParts({
            store: opened,
            service: apiUrl,
            settings,
            leaseMs,
            signer,
            refused: metrics.refused,
            log,
            signal,
            channel,
            observe: metrics.requestDone,
          });
    if (parts) closing.add('parts', parts.close);

    const queue = opened.queue(RUNS_QUEUE, {
      defaultJobOptions: { removeOnComplete: KEEP_DONE, removeOnFail: KEEP_FAILED },
    });
    // Before anybody can ask for a run: of one that the queue has lost nothing would be known.
    const restore = () =>
      restoreJobs(home, queue, opened).catch((error: unknown) => log.warn({ err: error }, 'worker.restore_jobs'));
    await restore();
    const queues = [queue, ...(parts ? [parts.queue] : [])];
    metrics.setSource(() => ({ pace: channel.gauges, queues }));
    const context: RunDeps['context'] = ({ run, insteadOf, log: runLog }) => ({
      settings,
      worker: {
        channel,
        observe: metrics.requestDone,
        carrier: parts?.carrier,
        shared: opened,
        exclusive: (name, stop) =>
          waitForRight({
            store: opened,
            name,
            runs: [run, insteadOf],
            leaseMs,
            settleMs: settledAfterMs(settings),
            signal: stop,
            notify: (text) => runLog.warn(text),
          }),
      },
    });
    const stops = openStops(opened);
    closing.add('stops', stops.close);
    const api = openApi({
      settings,
      version: options.version,
      log,
      stopping: signal,
      store: opened,
      queue,
      runs: runsOnStore(opened, home, queue),
      channel,
      readJobs,
      stops,
      ready: () => readiness(opened, inbox),
      audit,
    });
    if (opened.kind === 'embedded') closing.add('api', await serveHome(home, api));
    store = opened;
    if (operations) {
      operations.serve(api);
      closing.add('console', registerConsole(home, operations.url));
      if (options.onConsole) await options.onConsole(operations.url);
      else notice('info', consoleText(operations.url, await operations.arePagesOpen()));
    }
    const dropFolder = new DropFolder(dropDir, [settings.jobsDir, settings.home]);
    const processor = runProcessor({
      settings,
      store: opened,
      queue,
      log,
      stopping: signal,
      homeId: id,
      dropFolder,
      stops,
      context,
      onBegun(about) {
        let tally: ReturnType<typeof metrics.tally> | undefined;
        return (progress) => {
          // What a run that is taken up again has behind it was counted then.
          tally ??= metrics.tally(about.job, about.resumed ? progress.outcomes : undefined);
          tally(progress.outcomes);
        };
      },
      onEnded(run) {
        metrics.runEnded(run);
        notifier.ended(run);
      },
    });
    const runsWorker = opened.worker(RUNS_QUEUE, processor, {
      concurrency: RUNS_AT_ONCE,
      lockDuration: leaseMs,
      // Jobs over which worker after worker dies are found out by the processor.
      maxStalledCount: 1_000,
      removeOnComplete: KEEP_DONE,
      removeOnFail: KEEP_FAILED,
    });
    runs = runsWorker;
    runsWorker.on('completed', () => reached('acknowledged'));
    closing.add('runs', () => runsWorker.close());
    // Nothing is taken any more, least of all what is just handed back.
    signal.addEventListener('abort', () => void runsWorker.pause(true).catch(() => undefined), { once: true });
    closing.add('restoring', repeatEvery(RESTORE_EVERY_MS, restore));
    const { keepDays } = settings;
    if (keepDays !== undefined) {
      const pruneHome = () =>
        prune(dropDir, { home, keepDays, dryRun: false }).then(
          ({ removed, folders }) => {
            if (removed.length + folders.length > 0) log.info({ runs: removed, folders }, 'worker.pruned');
          },
          (error: unknown) => log.warn({ err: error }, 'worker.prune'),
        );
      void pruneHome();
      closing.add('pruning', repeatEvery(PRUNE_EVERY_MS, pruneHome));
    }

    if (!options.queueOnly) {
      const readScheduled = async () => scheduledJobs(await readJobs());
      let before = JSON.stringify(await readScheduled().catch(() => undefined));
      const schedules = openSchedules({
        store: opened,
        queue,
        leaseMs,
        notice,
        jobs: readScheduled,
      });
      closing.add('schedules', schedules.close);
      const noticeChange = async () => {
        const now = JSON.stringify(await readScheduled().catch(() => undefined));
        if (now === undefined || now === before) return;
        before = now;
        await schedules.poll();
      };
      closing.add('job files', repeatEvery(JOBS_EVERY_MS, noticeChange));
      const openedInbox = await openInbox({
        folder: dropFolder,
        jobsDir: settings.jobsDir,
        jobs: readJobs,
        scheduled: (jobs) => scheduledFiles(jobs).flatMap((file) => candidatePaths(file, settings)),
        isBegun: (run) => isBegunHere(home, run),
        home: { id, shared: opened.kind !== 'embedded' },
        queue,
        log,
        notice,
      });
      inbox = openedInbox;
      closing.add('drop folder', openedInbox.close);
      notice('info', `Drop folder: ${dropDir}`);
    }
    await whenAborted(signal);
    notice('info', 'Ending: requests in flight finish, the rest goes back to the queue.');
  } catch (error) {
    // Told to end while it waited for the queue, or before all was open.
    if (!signal.aborted) throw error;
    log.debug({ err: error }, 'worker.ended_early');
  } finally {
    await closing.all(CLOSE_EACH_MS);
  }
}

/** What schedules read, which is not to be taken for dropped. An export writes its file, and never into the drop folder. */
function scheduledFiles(jobs: JobFiles): string[] {
  return scheduledJobs(jobs).flatMap(({ kind, schedule }) => (kind === 'export' ? [] : (schedule.file ?? [])));
}

function consoleText(url: string, open: boolean): string {
  if (open) return `Console: ${url} (\`rowferry console\` prints a link to it)`;
  return `The API is at ${url}, for keys. The pages of the console are off: other machines reach this address, and nobody may sign in yet (\`rowferry console user add\`).`;
}

function runsText(runs: Worker | undefined): string {
  return !runs ? 'not begun yet' : runs.isRunning() ? 'ok' : 'no jobs are taken';
}

async function readiness(store: Store | undefined, inbox: Inbox | undefined): Promise<Health> {
  if (!store) return { ok: false, details: { queue: 'not open yet' } };
  const queue = await store.check().then(() => undefined, errorText);
  const folder = inbox?.health();
  return {
    ok: queue === undefined && folder?.ok !== false,
    details: {
      queue: queue ?? 'ok',
      ...(folder && { drop_folder: folder.problem ?? 'ok' }),
    },
  };
}

/** What was opened, to be closed in the opposite order, whatever goes wrong on the way. */
function openClosing(log: Logger) {
  const steps: { name: string; close: () => unknown }[] = [];
  return {
    add: (name: string, close: () => unknown) => steps.push({ name, close }),
    /** No step may take longer than `eachMs`; a step that does is left behind. */
    async all(eachMs: number): Promise<void> {
      for (const { name, close } of steps.splice(0).reverse()) {
        const ended = (async () => close())()
          .catch((error: unknown) => log.warn({ part: name, err: error }, 'worker.close'))
          .then(() => true);
        if (!(await withTimeout(eachMs, ended))) log.warn({ part: name }, 'worker.close_late');
      }
    },
  };
}
