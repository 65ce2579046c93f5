import { setMaxListeners } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { makeFolder, tryFolder } from '../files/make-folder.js';
import { openSource } from '../files/open.js';
import { copyPrivately, removeUnfinished, writeSafely } from '../files/safe-write.js';
import { RunError } from '../model/error.js';
import type { RowsJob } from '../model/job.js';
import { noOutcomes, type OutcomeCounts } from '../model/outcome.js';
import type { OpenSource, SourceOptions } from '../model/source.js';
import { holdsCorrections } from '../pipeline/map/headings.js';
import { REPORTS } from '../report/finish.js';
import { type Clock, readingClock, systemClock } from '../service/clock.js';
import { parseJson, stringifyBody } from '../service/json.js';
import type { RequestCounts } from '../service/port.js';
import type { TokenSource } from '../service/transport/token.js';
import { type RowStore, RunStore } from '../store/run-store.js';
import { reached } from '../trace/milestones.js';
import type { Carrier, Progress, Right, RunContext, RunListener, WorkerContext } from './context.js';
import type { LoadedJob } from './job-file.js';
import { HOME, jobKey, type RunFolder, runFolder } from './layout.js';
import { findRun, freshRunId, lastRows } from './list.js';
import { LockHeld, takeLock } from './lock.js';
import { type Outlook, openOutlook } from './outlook.js';
import { type OpenIntent, type Past, readPast } from './past.js';
import type { Planned } from './planned.js';
import { assertResumable } from './resumable.js';
import { requireService, type Settings } from './settings.js';

/** What a run of rows is: an import, a reconciliation, or the undoing of another run. */
export type RowsKind = 'import' | 'reconcile' | 'undo';

/** What a run has to do with an earlier one; ids of runs of the same data folder. */
export interface Lineage {
  /** Only the rows of that run's file which failed or were left unknown. Their numbers lie in the run's folder. */
  readonly retries?: string;
  /** Puts back what that run wrote. */
  readonly undoes?: string;
  /** Carries out exactly the plan of that run. */
  readonly approves?: { readonly run: string; readonly by: string; readonly at: string };
}

export interface ImportRequest {
  readonly file: string;
  readonly job: LoadedJob;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly reportDir?: string;
  readonly company?: number;
  readonly concurrency?: number;
  /** Default: `import`. */
  readonly kind?: RowsKind;
  readonly lineage?: Lineage;
  /** The file holds rows that were handed over as JSON: a key that a row, or each of them, lacks was not given. */
  readonly jsonRows?: boolean;
  /** Makes the private copy of the file at a path, where there is no file to take it from. Returns its SHA-256 in hex. */
  readonly makeSource?: (path: string, folder: RunFolder) => Promise<{ readonly sha256: string }>;
  /** The run's id where it is given from outside; else a new one. */
  readonly run?: string;
  /** Sentences for the summary's warnings. */
  readonly notes?: readonly string[];
}

/** What a run was asked to do, as `run.json` keeps it: `runs resume` needs nothing else. Paths are absolute. */
export interface StoredRequest {
  readonly v: 1;
  readonly run: string;
  readonly kind: RowsKind;
  readonly lineage?: Lineage;
  readonly file: string;
  readonly source: string;
  readonly sha256: string;
  readonly job: LoadedJob;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly reportDir: string;
  readonly company: number;
  readonly concurrency: number;
  readonly service: string;
  readonly startedAt: string;
  readonly notes?: readonly string[];
  readonly jsonRows?: boolean;
}

/** Settings of a run that talks to the service. */
export type ServiceSettings = Settings & { readonly apiUrl: string; readonly auth: TokenSource };

/** A run at work. */
export interface Run {
  readonly folder: RunFolder;
  readonly request: StoredRequest;
  readonly job: RowsJob;
  readonly settings: ServiceSettings;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly listener: RunListener;
  readonly source: OpenSource;
  readonly store: RunStore;
  /** Where it is noted what becomes of the rows at work: those of the file, or orphans. */
  readonly rowStore: RowStore;
  readonly clock: Clock;
  /** When something was read, and how old it is: milliseconds since 1970 that never go back (`readingClock`). */
  readonly now: () => number;
  /** What an earlier process of this run has done. */
  readonly past: Past;
  /** Outcomes so far, those of earlier processes among them. */
  readonly tally: OutcomeCounts;
  readonly warnings: string[];
  /** Data rows; known after staging. */
  rows: number;
  warn(text: string): void;
  info(text: string): void;
  progress(phase: Progress['phase'], done: number): void;
  /** An import of rows that an earlier run handed back: neither braked as a whole file is, nor a measure for the next one. */
  readonly corrected: boolean;
  /** Rows of the last run of this job that finished, for `max_change`. */
  previousRows(): Promise<number | undefined>;
  /** Ends what the run holds open: service, snapshot, lock. */
  readonly closers: (() => Promise<void>)[];
  /** Set in a worker. */
  readonly worker: WorkerContext | undefined;
  /** Set in a worker when the service is opened. */
  carrier: Carrier | undefined;
  /** Rights over all machines that this run must hold while it sends. */
  readonly rights: Right[];
  /** When an earlier process of this run, which did not end it in order, last showed that it lived: milliseconds since 1970. */
  readonly leftAt: number | undefined;
  /** `left`: requests were sent of which nobody knows what became of them, and they are not waited for any more. */
  readonly open: { left: boolean };
  /** Stops the run as an interruption does: it may be taken up again. */
  halt(why: string): void;
  /** Requests of this process; set when the service is opened. */
  counts: Readonly<RequestCounts> | undefined;
  /** Set once the rows are planned, where they may be written only as planned. */
  planned: Planned | undefined;
  /** What is still ahead of it in requests. */
  readonly outlook: Outlook;
  /** What was found out on the way, for the summary. */
  readonly evidence: string[];
}

/** Takes a private copy of the file, so that nothing that happens to the original matters, and begins the run. */
export async function openRun(request: ImportRequest, context: RunContext): Promise<Run> {
  const settings = { ...context.settings, ...requireService(context.settings) };
  const { clock = systemClock } = context;
  const folder = runFolder(settings.home, request.run ?? (await freshRunId(settings.home, new Date(clock.wall()))));
  const file = resolve(request.file);
  // Reports are written when the rows are in the service already: too late to learn that they have no place.
  if (request.reportDir !== undefined) await tryFolder(request.reportDir, REPORTS);
  await makeFolder(settings.home, HOME);
  await makeFolder(join(folder.dir, 'work'), HOME);
  try {
    const source = folder.source(endingOf(file));
    const { sha256 } = await (request.makeSource?.(source, folder) ?? copyPrivately(file, source));
    reached('hashed');
    const stored: StoredRequest = {
      v: 1,
      run: folder.run,
      kind: request.kind ?? 'import',
      ...(request.lineage && { lineage: request.lineage }),
      file: request.file,
      source: basename(source),
      sha256,
      job: request.job,
      dryRun: request.dryRun,
      force: request.force,
      reportDir: request.reportDir ? resolve(request.reportDir) : folder.dir,
      company: request.company ?? request.job.job.company ?? settings.company,
      concurrency: request.concurrency ?? settings.concurrency,
      service: settings.apiUrl,
      startedAt: new Date(clock.wall()).toISOString(),
      ...(request.notes?.length ? { notes: request.notes } : {}),
      ...(request.jsonRows ? { jsonRows: true } : {}),
    };
    await writeSafely(folder.request, (write) => write(`${JSON.stringify(stored, null, 2)}\n`));
    reached('request-kept');
    return await begin(stored, folder, settings, context);
  } catch (error) {
    // Nothing was begun: a file that cannot be read leaves no run behind. Where another process has the run, the folder is its.
    if (!(error instanceof LockHeld)) await rm(folder.dir, { recursive: true, force: true });
    throw error;
  }
}

/** Takes up a run that ended without finishing. */
export async function reopenRun(wanted: string, context: RunContext): Promise<Run> {
  const settings = { ...context.settings, ...requireService(context.settings) };
  const folder = runFolder(settings.home, await findRun(settings.home, wanted));
  const stored = JSON.parse(
    await readFile(folder.request, 'utf8').catch((error: unknown) => {
      throw new RunError(
        'failed',
        `The run ${folder.run} ended before its file was taken over: nothing was sent. Import the file again.`,
        [],
        { cause: error },
      );
    }),
  ) as StoredRequest;
  assertResumable(stored, folder.run, settings.apiUrl);
  return begin(stored, folder, settings, context);
}

async function begin(
  request: StoredRequest,
  folder: RunFolder,
  settings: ServiceSettings,
  context: RunContext,
): Promise<Run> {
  // Every row whose effect is open waits, and listens for the interruption.
  const halting = new AbortController();
  const signal = AbortSignal.any([context.signal, halting.signal]);
  const { clock = systemClock } = context;
  setMaxListeners(0, signal);
  let leftAt: number | undefined;
  const unlock = await takeLock(folder.lock, `The run ${folder.run}`, (at) => {
    leftAt = at;
  });
  let store: RunStore | undefined;
  try {
    for (const dir of [folder.dir, join(folder.dir, 'work')]) await removeUnfinished(dir);
    const { job } = request.job;
    const whole = await openSource(join(folder.dir, 'work', request.source), sourceOptions(job)).catch(
      (error: unknown) => {
        throw namedFile(error, join(folder.dir, 'work', request.source), request.file);
      },
    );
    const chosen = request.lineage?.retries === undefined ? undefined : await readChosen(folder);
    const source = chosen ? onlyRows(whole, chosen.rows) : whole;
    const opened = new RunStore(folder.store, { durable: !request.dryRun });
    store = opened;
    const past = pastOf(opened, chosen);
    reached('past-read');
    const warnings = [
      ...(past.finished?.warnings ?? [
        ...(request.notes ?? []),
        ...settings.warnings,
        ...source.meta.warnings,
        ...request.job.warnings,
      ]),
    ];
    for (const text of past.finished ? [] : past.warned) if (!warnings.includes(text)) warnings.push(text);
    const tally = noOutcomes();
    for (const kind of past.outcomes.values()) tally[kind]++;
    let last = Number.NEGATIVE_INFINITY;
    const { maxRps } = settings;
    const outlook = openOutlook({
      clock,
      concurrency: request.concurrency,
      ...(maxRps === undefined ? {} : { maxRps }),
    });
    const run: Run = {
      folder,
      request,
      job,
      settings,
      signal,
      log: context.log,
      listener: context.listener,
      source,
      store: opened,
      rowStore: opened.rows,
      clock,
      now: readingClock(clock),
      past,
      tally,
      warnings,
      rows: 0,
      outlook,
      evidence: [...(past.finished?.detected ?? source.meta.evidence)],
      warn(text) {
        if (warnings.includes(text)) return;
        warnings.push(text);
        // A killed process must not take its warnings along. The reports tell of a store that fails.
        if (!request.dryRun) noteWarning(opened, text);
        context.listener.notice({ level: 'warn', text });
      },
      info: (text) => context.listener.notice({ level: 'info', text }),
      progress(phase, done) {
        const now = clock.now();
        // While rows are read, those so far are not all.
        const counted = phase !== 'reading' && phase !== 'waiting for its turn' && run.rows > 0;
        if (now - last < 100 && !(counted && done === run.rows)) return;
        last = now;
        const requests = phase === 'writing' ? outlook.ahead(run.counts) : undefined;
        context.listener.progress({
          run: folder.run,
          phase,
          done,
          outcomes: { ...tally },
          ...(counted ? { total: run.rows } : {}),
          ...(requests ? { requests } : {}),
        });
      },
      corrected: request.kind === 'import' && holdsCorrections(source.meta.headings),
      previousRows: () => lastRows(settings.home, jobKey(request.job, settings.home), request.company),
      closers: [unlock],
      worker: context.worker,
      carrier: undefined,
      rights: [],
      leftAt,
      open: { left: false },
      halt(why) {
        if (!signal.aborted) run.info(`The run stops: ${why}.`);
        halting.abort('halt');
      },
      counts: undefined,
      planned: undefined,
    };
    opened.begin(() => run.counts);
    return run;
  } catch (error) {
    store?.close();
    await unlock();
    throw error;
  }
}

/**
 * What was done so far. Of a run that sent nothing and did not finish, nothing is kept: it is planned anew from its first row,
 * so that its brakes look at all of them.
 */
function pastOf(store: RunStore, chosen: ChosenRows | undefined): Past {
  const past = readPast(store, store.rows, chosen?.open);
  if (!past.begun || past.sent || past.finished) return past;
  store.forget();
  return { ...readPast(store, store.rows, chosen?.open), requests: past.requests };
}

function noteWarning(store: RunStore, text: string): void {
  try {
    store.warn(text);
  } catch {
    // Whoever sends next meets the same failure.
  }
}

/** How the file of a job is opened. */
export function sourceOptions({ source, columns }: RowsJob): SourceOptions {
  const { format, header_row, encoding, delimiter, sheet, footer } = source;
  return {
    format,
    header_row,
    expect: Object.entries(columns).flatMap(([heading, target]) => (target === null ? [] : [heading])),
    encoding,
    delimiter,
    ...(footer === undefined ? {} : { footer }),
    ...(sheet === undefined ? {} : { sheet }),
  };
}

/** A private copy has a name of its own; people know the file by theirs. */
function namedFile(error: unknown, copy: string, file: string): unknown {
  if (!(error instanceof RunError)) return error;
  return new RunError(
    error.kind,
    error.message.replaceAll(copy, file),
    error.details.map((line) => line.replaceAll(copy, file)),
    { cause: error },
  );
}

function endingOf(file: string): string {
  const ending = /\.[a-z0-9]{1,8}(\.gz)?$/i.exec(basename(file))?.[0] ?? '';
  return ending.toLowerCase();
}

/** The rows of an earlier run's file that a run takes up again, and what of them may have taken effect then. */
export interface ChosenRows {
  readonly rows: ReadonlySet<number>;
  readonly open: ReadonlyMap<number, OpenIntent>;
}

const pathIn = (folder: RunFolder) => join(folder.dir, 'work', 'rows.json');

export async function writeChosen(folder: RunFolder, { rows, open }: ChosenRows): Promise<void> {
  // Records among them: no digit of theirs is lost.
  const text = stringifyBody({ rows: [...rows], open: [...open] });
  await writeSafely(pathIn(folder), (write) => write(`${text}\n`));
}

async function readChosen(folder: RunFolder): Promise<ChosenRows> {
  const { rows, open } = parseJson(await readFile(pathIn(folder), 'utf8')) as {
    rows: number[];
    open: [number, OpenIntent][];
  };
  return { rows: new Set(rows), open: new Map(open) };
}

/** The source with these rows alone; they keep their numbers. */
function onlyRows(source: OpenSource, rows: ReadonlySet<number>): OpenSource {
  async function* chosen() {
    let left = rows.size;
    for await (const batch of source.rows()) {
      const kept = batch.filter(({ row }) => rows.has(row));
      if (kept.length > 0) yield kept;
      left -= kept.length;
      if (left === 0) return;
    }
  }
  return { meta: source.meta, rows: chosen };
}
