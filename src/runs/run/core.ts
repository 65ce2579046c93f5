import { setMaxListeners } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished, writeAtomically } from '../../files/atomic-write.js';
import { makeFolder } from '../../files/make-folder.js';
import { isDiskFull, runFailure, usageError } from '../../model/error.js';
import { NO_REQUESTS, type RequestCounts } from '../../model/progress.js';
import type { RunKind } from '../../report/summary.js';
import { type Clock, systemClock } from '../../service/clock.js';
import type { TokenSource } from '../../service/transport/token.js';
import { reached } from '../../trace/milestones.js';
import { requireService, type Settings } from '../settings.js';
import type { Log, Progress, RunContext, WorkerContext } from './context.js';
import { HOME, type RunFolder, runFolder } from './layout.js';
import { findRun, freshRunId, readStored } from './list.js';
import { LockedError, takeLock } from './lock.js';

/** Settings of a run that talks to the service. */
export type ServiceSettings = Settings & { readonly apiUrl: string; readonly auth: TokenSource };

/** What every run was asked to do, as `run.json` keeps it: `runs resume` needs nothing else. Paths are absolute. */
export interface StoredRun {
  readonly v: 1;
  readonly run: string;
  readonly kind: RunKind;
  readonly reportDir: string;
  readonly company: number;
  readonly concurrency: number;
  readonly service: string;
  readonly startedAt: string;
  readonly notes?: RunOptions['notes'];
}

/** What a run may be told about itself. */
export interface RunOptions {
  /** Its id where it is given from outside; else a new one. */
  readonly run?: string | undefined;
  readonly company?: number | undefined;
  readonly concurrency?: number | undefined;
  /** Sentences for the summary's warnings. */
  readonly notes?: readonly string[] | undefined;
}

/** A run as it lies in its folder. */
export interface SavedRun<R extends StoredRun> {
  readonly folder: RunFolder;
  readonly request: R;
  readonly settings: ServiceSettings;
}

/** A run at work: what all kinds of run have. */
export interface RunCore<R extends StoredRun = StoredRun> extends SavedRun<R> {
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
  readonly warnings: string[];
  /** Says it once. */
  warn(text: string): void;
  info(text: string): void;
  /** Ends what the run holds open, the last first: service, snapshot, lock. */
  readonly closers: (() => Promise<void>)[];
  /** Of the progress; what it is, is asked only where it is told. */
  readonly reportProgress: (isWhole: boolean, progress: () => Omit<Progress, 'run'>) => void;
  /** Set in a worker. */
  readonly worker: WorkerContext | undefined;
  /** When an earlier process of this run, which did not end it in order, last showed that it lived: milliseconds since 1970. */
  readonly abandonedAt: number | undefined;
  /** Stops the run as an interruption does: it may be taken up again. */
  halt(why: string): void;
  /** Requests of this process, of each who sends for it: its service, other workers, runs inside this one. */
  readonly counters: (() => RequestCounts)[];
}

/** `request`: makes what is kept of the request, and whatever else must lie in the folder before. What fails leaves nothing behind. */
export async function beginRun<R extends StoredRun, T>(
  { run, company, concurrency, notes }: RunOptions,
  context: RunContext,
  request: (common: Omit<StoredRun, 'kind' | 'reportDir'>, folder: RunFolder) => Promise<R>,
  begin: (saved: SavedRun<R>) => Promise<T>,
): Promise<T> {
  const settings = serviceSettings(context);
  const now = new Date((context.clock ?? systemClock).wall());
  const folder = runFolder(settings.home, run ?? (await freshRunId(settings.home, now)));
  await makeFolder(settings.home, HOME);
  await makeFolder(join(folder.dir, 'work'), HOME);
  try {
    const common = {
      v: 1 as const,
      run: folder.run,
      company: company ?? settings.company,
      concurrency: concurrency ?? settings.concurrency,
      service: settings.apiUrl,
      startedAt: now.toISOString(),
      // Whoever makes the file may still add to them.
      notes,
    };
    const stored = await request(common, folder);
    await writeAtomically(folder.request, (write) => write(`${JSON.stringify(stored, null, 2)}\n`));
    reached('request-kept');
    return await begin({ folder, request: stored, settings });
  } catch (error) {
    // Where another process has the run, the folder is its.
    if (error instanceof LockedError) throw error;
    await rm(folder.dir, { recursive: true, force: true });
    if (!isDiskFull(error)) throw error;
    throw runFailure(
      `The run was not begun, and nothing was sent: the disk is full, on which ${settings.home} lies. Free some space, then start it again.`,
      [],
      { cause: error },
    );
  }
}

/** A run that ended without finishing. Throws where it cannot be continued with this version, or with these settings. */
export async function loadRun<R extends StoredRun>(runRef: string, context: RunContext): Promise<SavedRun<R>> {
  const settings = serviceSettings(context);
  const folder = runFolder(settings.home, await findRun(settings.home, runRef));
  const request = readStored<R>(folder);
  if (!request) {
    throw runFailure(`The run ${folder.run} ended before its file was taken over: nothing was sent. Start it anew.`);
  }
  const why = resumeRefusal(request, settings.apiUrl);
  if (why !== undefined) throw usageError(`The run ${folder.run} cannot be continued: ${why}`);
  return { folder, request, settings };
}

/** Why a run cannot be taken up with this version, or with these settings; undefined where it can. */
export function resumeRefusal({ v, service }: StoredRun, apiUrl: string): string | undefined {
  if (v !== 1) return 'it was begun by a newer version of rowferry. Use that version.';
  if (service === apiUrl) return undefined;
  return `it was begun for ${service}, and the settings name ${apiUrl}. Set ROWFERRY_API_URL to the first.`;
}

function serviceSettings({ settings }: RunContext): ServiceSettings {
  return { ...settings, ...requireService(settings) };
}

/** Takes the run's lock and begins to work on it. */
export async function openRunCore<R extends StoredRun>(saved: SavedRun<R>, context: RunContext): Promise<RunCore<R>> {
  const { folder, request, settings } = saved;
  const { listener, log, worker, clock = systemClock } = context;
  const haltController = new AbortController();
  const signal = AbortSignal.any([context.signal, haltController.signal]);
  // Every row whose effect is open waits, and listens for the interruption.
  setMaxListeners(0, signal);
  let abandonedAt: number | undefined;
  const unlock = await takeLock(folder.lock, `The run ${folder.run}`, (at) => {
    abandonedAt = at;
  });
  try {
    for (const dir of [folder.dir, join(folder.dir, 'work')]) await removeUnfinished(dir);
  } catch (error) {
    await unlock();
    throw error;
  }
  const warnings = [...(request.notes ?? []), ...settings.warnings];
  const info = (text: string) => listener.notice({ level: 'info', text });
  const closers = [unlock];
  return {
    ...saved,
    signal,
    log,
    clock,
    warnings,
    warn(text) {
      if (warnings.includes(text)) return;
      warnings.push(text);
      listener.notice({ level: 'warn', text });
    },
    info,
    closers,
    reportProgress: progressThrottle(context, folder.run, closers),
    worker,
    abandonedAt,
    halt(why) {
      if (!signal.aborted) info(`The run stops: ${why}.`);
      haltController.abort('halt');
    },
    counters: [],
  };
}

/** Requests of this process, and of others where they are given. */
export function countRequests(
  { counters }: Pick<RunCore, 'counters'>,
  ...more: readonly RequestCounts[]
): RequestCounts {
  const sum = { ...NO_REQUESTS };
  for (const counts of [...more, ...counters.map((count) => count())])
    for (const kind of ['total', 'reads', 'writes', 'retries'] as const) sum[kind] += counts[kind];
  return sum;
}

/** Hands progress on a few times a second, and at once where a phase begins or is whole. What is latest is always told. */
function progressThrottle(
  { listener, clock = systemClock }: RunContext,
  run: string,
  closers: RunCore['closers'],
): RunCore['reportProgress'] {
  let last = Number.NEGATIVE_INFINITY;
  let latest: () => Omit<Progress, 'run'>;
  let cancel: (() => void) | undefined;
  const tell = () => {
    cancel?.();
    cancel = undefined;
    last = clock.now();
    listener.progress({ run, ...latest() });
  };
  closers.push(async () => cancel?.());
  return (isWhole, progress) => {
    latest = progress;
    const waitMs = last + 100 - clock.now();
    if (isWhole || waitMs <= 0) tell();
    else cancel ??= clock.after(waitMs, tell);
  };
}

/** Closes everything, whatever goes wrong on the way: a worker lives on, and what stays open keeps the run from being taken up. */
export async function closeAll(run: Pick<RunCore, 'closers'>): Promise<void> {
  const faults: unknown[] = [];
  for (const close of run.closers.splice(0).reverse()) await close().catch((error: unknown) => faults.push(error));
  if (faults.length > 0) throw faults[0];
}
