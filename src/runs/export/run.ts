import { setMaxListeners } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { makeFolder } from '../../files/make-folder.js';
import { removeUnfinished, writeSafely } from '../../files/safe-write.js';
import { EXIT } from '../../model/error.js';
import { noOutcomes } from '../../model/outcome.js';
import type { RequestCounts } from '../../service/port.js';
import { reached } from '../../trace/milestones.js';
import type { RunResult } from '../conclude.js';
import type { Progress, RunContext, WorkerContext } from '../context.js';
import { HOME, type RunFolder, runFolder } from '../layout.js';
import { findRun, freshRunId, readRunSummary } from '../list.js';
import { LockHeld, takeLock } from '../lock.js';
import { assertResumable } from '../resumable.js';
import type { ServiceSettings } from '../run.js';
import { requireService } from '../settings.js';
import type { ExportRequest, StoredExport } from './request.js';
import { checkTarget } from './target.js';

/** An export at work. */
export interface ExportRun {
  readonly folder: RunFolder;
  readonly request: StoredExport;
  readonly settings: ServiceSettings;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly warnings: string[];
  warn(text: string): void;
  info(text: string): void;
  progress(phase: Progress['phase'], done: number, total: number): void;
  /** Ends what the run holds open, the last first. */
  readonly closers: (() => Promise<void>)[];
  /** Set in a worker. */
  readonly worker: WorkerContext | undefined;
  /** Requests of this process; set when the service is opened. */
  counts: Readonly<RequestCounts> | undefined;
  /** Requests of earlier processes of this run, as far as they are on record. */
  readonly earlier: Readonly<RequestCounts>;
  /**
   * Whether nothing of it could be used by a later one: no record was read. A worker's run is never in vain, it may be
   * delivered again.
   */
  isVain(): boolean;
}

const NO_REQUESTS: RequestCounts = { total: 0, reads: 0, writes: 0, retries: 0 };

/** Begins an export; what cannot be written to is refused before anything is read. */
export async function openExport(request: ExportRequest, context: RunContext): Promise<ExportRun> {
  const settings = { ...context.settings, ...requireService(context.settings) };
  // A worker gives a run its id. It was told where it may write; what a link there leads to, it was not.
  const byHand = request.run === undefined && context.worker === undefined;
  const target = await checkTarget(request, { follow: byHand });
  const folder = runFolder(settings.home, request.run ?? (await freshRunId(settings.home)));
  const { columns, order, notes } = request;
  const stored: StoredExport = {
    v: 1,
    run: folder.run,
    kind: 'export',
    resource: request.resource,
    file: target,
    ...(columns === undefined ? {} : { columns }),
    filter: request.filter,
    ...(order === undefined ? {} : { order }),
    editable: request.editable,
    job: request.job,
    reportDir: folder.dir,
    company: request.company ?? settings.company,
    concurrency: request.concurrency ?? settings.concurrency,
    service: settings.apiUrl,
    startedAt: new Date().toISOString(),
    ...(notes?.length ? { notes } : {}),
  };
  await makeFolder(settings.home, HOME);
  await makeFolder(join(folder.dir, 'work'), HOME);
  try {
    await writeSafely(folder.request, (write) => write(`${JSON.stringify(stored, null, 2)}\n`));
    reached('request-kept');
    return await begin(stored, folder, settings, context, { requests: NO_REQUESTS, vain: byHand });
  } catch (error) {
    if (!(error instanceof LockHeld)) await rm(folder.dir, { recursive: true, force: true });
    throw error;
  }
}

/** Takes up an export that ended without finishing; of one that finished, how it ended. */
export async function reopenExport(
  wanted: string,
  context: RunContext,
): Promise<ExportRun | { readonly finished: RunResult }> {
  const settings = { ...context.settings, ...requireService(context.settings) };
  const folder = runFolder(settings.home, await findRun(settings.home, wanted));
  const stored = JSON.parse(await readFile(folder.request, 'utf8')) as StoredExport;
  assertResumable(stored, folder.run, settings.apiUrl);
  const summary = await readRunSummary(settings.home, folder.run);
  if (summary && (summary.status === 'succeeded' || summary.status === 'partial')) {
    const exitCode = summary.status === 'succeeded' ? EXIT.ok : EXIT.needsPerson;
    await clearAway(folder);
    return { finished: { summary, exitCode, reportDir: stored.reportDir } };
  }
  await forgetOld(folder);
  return begin(stored, folder, settings, context, { requests: summary?.requests ?? NO_REQUESTS, vain: false });
}

/** What a process could not remove any more that was killed right after its summary: what was read, and its lock. */
async function clearAway(folder: RunFolder): Promise<void> {
  try {
    const unlock = await takeLock(folder.lock, `The run ${folder.run}`);
    await removeUnfinished(folder.dir);
    await rm(join(folder.dir, 'work'), { recursive: true, force: true }).finally(unlock);
  } catch (error) {
    // That process lives, and clears away itself.
    if (!(error instanceof LockHeld)) throw error;
  }
}

/** What was read longer ago is read anew: people take a file for what the service holds now. */
const READING_HOLDS_MS = 3_600_000;

async function forgetOld({ records }: RunFolder): Promise<void> {
  const log = await stat(records).catch(() => undefined);
  if (log && Date.now() - log.mtimeMs > READING_HOLDS_MS) await rm(records, { force: true });
}

async function begin(
  request: StoredExport,
  folder: RunFolder,
  settings: ServiceSettings,
  context: RunContext,
  earlier: { readonly requests: Readonly<RequestCounts>; readonly vain: boolean },
): Promise<ExportRun> {
  const { signal, listener, log } = context;
  setMaxListeners(0, signal);
  const unlock = await takeLock(folder.lock, `The run ${folder.run}`);
  await removeUnfinished(folder.dir);
  const warnings = [...(request.notes ?? []), ...settings.warnings];
  let last = 0;
  let { vain } = earlier;
  return {
    folder,
    request,
    settings,
    signal,
    log,
    warnings,
    warn(text) {
      if (warnings.includes(text)) return;
      warnings.push(text);
      listener.notice({ level: 'warn', text });
    },
    info: (text) => listener.notice({ level: 'info', text }),
    progress(phase, done, total) {
      vain = false;
      const now = Date.now();
      if (now - last < 100 && done !== total) return;
      last = now;
      listener.progress({ run: folder.run, phase, done, total, outcomes: noOutcomes() });
    },
    closers: [unlock],
    worker: context.worker,
    counts: undefined,
    earlier: earlier.requests,
    isVain: () => vain,
  };
}
