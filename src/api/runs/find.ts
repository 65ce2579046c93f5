import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { RunError, usageError } from '../../model/error.js';
import { isUnverifiable, noOutcomes } from '../../model/outcome.js';
import { failedToBegin, type Summary } from '../../report/summary.js';
import { runToApprove, undoneError } from '../../runs/follow-up.js';
import { findWrittenRun, readRequest } from '../../runs/run/earlier-run.js';
import { runFolder } from '../../runs/run/layout.js';
import { isResumable, isRunId, type RunEntry, readRun, readRunSummary, runIds } from '../../runs/run/list.js';
import type { StoredRequest } from '../../runs/run/run.js';
import { ticketOf } from '../../worker/jobs/home.js';
import type { Job } from '../../worker/store/port.js';
import type { ApiParts } from '../app.js';
import { type Caller, type DeepReadonly, etagOf, Fault, hasRole } from '../operation.js';
import { type Role, type RunDetail, type RunProgress, type RunState, VERBS, type Verb } from '../schema.js';
import { runOf } from './entries.js';
import { isUndoOf } from './list.js';
import { isKnownHere } from './orders.js';
import {
  type FoundRun,
  isAtWork,
  jobOfRun,
  jobProgress,
  type OrderedData,
  queuedRun,
  queueView,
  runOfJob,
  runsOnQueue,
  whyNotStopped,
} from './queued.js';

/** Who may take a run up. */
export const roleFor = (verb: Verb): Role => (verb === 'approve' ? 'approver' : 'operator');

const NOT_HERE =
  'Nothing of it lies here: it ended before it began, its folder is gone, or it lies in the data folder of another worker, where this can be done.';

/** States of a job that nobody is given any more. */
const END_STATES: ReadonlySet<string> = new Set(['completed', 'failed']);

export class RunFinder {
  constructor(private readonly parts: ApiParts) {}

  /** `find` of one that has to be there. */
  async mustFind(wanted: string): Promise<FoundRun> {
    const found = await this.find(wanted);
    if (found) return found;
    throw new Fault(404, 'There is no such run.');
  }

  /** By the id of the run, or of its job. */
  async find(wanted: string): Promise<FoundRun | undefined> {
    const { settings, queue } = this.parts;
    const { home } = settings;
    // No database takes a NUL.
    if (wanted.length > 300 || wanted.includes('\0')) return undefined;
    const namedJob = isRunId(wanted) ? undefined : await queue.getJob(wanted);
    const run = namedJob ? runOfJob(namedJob) : wanted;
    const isHere = isRunId(run) && (await isKnownHere(home, run));
    const job = namedJob ?? (isRunId(run) ? await this.jobOf(run, isHere) : undefined);
    const state = job?.id === undefined ? undefined : await queue.getJobState(job.id);
    const entry = isHere
      ? await readRun(home, run).catch((error: unknown) => {
          // What the queue tells of it is told.
          if (job) return undefined;
          throw error;
        })
      : undefined;
    const status = statusOf(entry, job, state);
    const known = entry ? runOf(entry) : job && queuedRun(home, job, status);
    return known && { run: { ...known, id: run ?? wanted, status }, entry, job, state };
  }

  private async jobOf(run: string, isHere: boolean): Promise<Job | undefined> {
    const { queue, settings } = this.parts;
    // Those of schedules and of the drop folder have ids of their own, which are known here until the run has ended.
    const ticketId = isHere ? ticketOf(settings.home, run)?.id : undefined;
    const job = (await jobOfRun(queue, run)) ?? (ticketId === undefined ? undefined : await queue.getJob(ticketId));
    if (job || isHere) return job;
    const listed = await runsOnQueue(settings.home, queue, settings.queueUrl !== undefined);
    return listed.find((one) => one.run.id === run)?.job;
  }

  progressOf({ run, job }: FoundRun): RunProgress | null {
    if (!isAtWork(run)) return null;
    const { heldMs, awayMs } = this.parts.channel.gauges;
    // In whole seconds: the same pause is the same state.
    const until = new Date(Math.ceil((Date.now() + heldMs) / 1_000) * 1_000).toISOString();
    return {
      ...(jobProgress(job) ?? { done: 0, total: null, outcomes: noOutcomes(), phase: 'waiting' }),
      ...(run.status === 'waiting' && { phase: 'waiting' }),
      ...(run.status === 'running' && heldMs > 0 && { paused_until: until }),
      ...(run.status === 'running' && awayMs !== undefined && { service_away: true }),
    };
  }

  async detail(found: FoundRun, who: Pick<Caller, 'role'>): Promise<DeepReadonly<RunDetail>> {
    const { run, entry, job, state } = found;
    const { id } = run;
    const { home } = this.parts.settings;
    const request = entry && readRequest(runFolder(home, id));
    const own = entry && (await readRunSummary(home, id));
    // It has left nothing but its reason.
    const isUnbegun = own !== undefined && failedToBegin(own);
    const queueInfo = job ? queueView(job, state) : { summary: null, reason: null };
    const ended = isAtWork(run) ? null : ((own as unknown as Record<string, unknown>) ?? queueInfo.summary);
    const fromData = (job?.data ?? {}) as Partial<OrderedData>;
    const undo = entry && ended && !run.dry_run ? await this.undoOf(id) : undefined;
    const corrections = request?.corrections ?? fromData.corrections;
    const reports = own && !isUnbegun && entry?.reports_of === undefined ? own.reports : [];
    return {
      ...run,
      here: entry !== undefined && !isUnbegun,
      ...(request && { resource: resourceOf(request), company: request.company }),
      ...(undo && { undone_by: undo.run }),
      ...(corrections && { corrections: corrections.length }),
      ...orderedOf(request, fromData),
      progress: this.progressOf(found),
      ...queueInfo,
      summary: isUnbegun ? null : ended,
      reason: ended ? ((ended as Partial<Summary>).reason ?? null) : (queueInfo.reason ?? run.aside_reason ?? null),
      reports: [...reports, ...exportedFiles(own).map((file) => path.basename(file))],
      actions: await this.actions(found, who),
    };
  }

  /** The latest run that puts back what a run wrote, or has; read as lists read them, since many may have come after it. */
  private async undoOf(id: string): Promise<RunEntry | undefined> {
    const { entries, settings } = this.parts;
    const later = (await runIds(settings.home)).filter((one) => one > id);
    const found = await entries.first(later, Number.POSITIVE_INFINITY);
    return found.find((entry) => isUndoOf(entry, id));
  }

  /** What may be done with it, and why not. */
  private async actions(found: FoundRun, who: Pick<Caller, 'role'>): Promise<RunDetail['actions']> {
    const verbs = VERBS.map(async (verb) => {
      const role = roleFor(verb);
      if (!hasRole(who, role)) return [verb, { allowed: false, why: `This needs the role ${role}.` }] as const;
      try {
        await this.check(verb, found);
        return [verb, { allowed: true }] as const;
      } catch (error) {
        if (error instanceof RunError) return [verb, { allowed: false, why: error.message }] as const;
        throw error;
      }
    });
    return Object.fromEntries(await Promise.all(verbs)) as RunDetail['actions'];
  }

  /** @throws RunError `usage` where that cannot be done with the run as it stands. */
  async check(verb: Verb, found: FoundRun): Promise<void> {
    const { settings } = this.parts;
    const { entry } = found;
    const { id, status } = found.run;
    const refuse = (why: string) => {
      throw usageError(why);
    };
    if (verb === 'stop') {
      const why = whyNotStopped(found);
      return why === undefined ? undefined : refuse(why);
    }
    if (status === 'waiting') refuse('It waits on the queue.');
    if (status === 'running') {
      refuse('It is at work. Wait for its end, or stop it; should its worker be gone, it goes on by itself.');
    }
    const wasBegun = readRequest(runFolder(settings.home, id)) !== undefined;
    if (!entry || (!wasBegun && !(verb === 'resume' && ticketOf(settings.home, id)?.stopped))) return refuse(NOT_HERE);
    if (verb === 'resume') {
      if (!isResumable(entry)) refuse('It came to its end.');
      const undo = await this.undoOf(id);
      if (undo) throw undoneError(id, undo.run);
      return;
    }
    if (verb === 'approve') return void (await runToApprove(id, settings));
    const { request, summary } = await findWrittenRun(id, verb, settings);
    const { created = 0, updated = 0, unknown = 0, failed = 0 } = summary?.rows ?? {};
    if (verb === 'undo') {
      const orphans = summary?.reconcile?.compared?.orphans_acted ?? 0;
      return created + updated + unknown + orphans > 0 ? undefined : refuse('It wrote nothing.');
    }
    if (request.kind === 'undo') refuse('It is an undo: undo the run once more that it undid.');
    if (failed + unknown === 0) refuse('No row failed or was left unknown: there is nothing to retry.');
    if (failed > 0 && summary?.append) refuse('Its rows have no key: resume the run itself.');
    if (failed === 0 && summary && isUnverifiable(summary))
      refuse('Its unknown rows cannot be looked up, and are not sent again: somebody has to look in the service.');
  }

  /** The reports of a run that can be fetched, and where they lie. */
  async reports({ run: { id }, entry }: FoundRun): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    if (!entry || entry.reports_of !== undefined) return found;
    const summary = await readRunSummary(this.parts.settings.home, id);
    for (const name of summary?.reports ?? []) {
      // A summary is a file like others: what it names lies beside it, or is none of its reports.
      if (path.basename(name) === name && !name.startsWith('.')) found.set(name, path.join(entry.report_dir, name));
    }
    // Where others may have written it, a summary names no file elsewhere.
    const own = entry.report_dir === runFolder(this.parts.settings.home, id).dir;
    if (own && (await isAsWritten(summary)))
      for (const file of exportedFiles(summary)) found.set(path.basename(file), file);
    return found;
  }
}

function statusOf(entry: RunEntry | undefined, job: Job | undefined, state: string | undefined): RunState {
  if (entry?.status === 'running') return 'running';
  const open = entry === undefined || isResumable(entry);
  if (open && state === 'active') return 'running';
  // Between two states, too, it is given to a worker sooner or later.
  if (open && state !== undefined && !END_STATES.has(state)) return 'waiting';
  if (entry) return entry.status;
  return (job?.returnvalue as Partial<Summary> | undefined)?.status ?? 'failed';
}

/** The file of an export, and the job file that imports it again. */
function exportedFiles(summary: Summary | undefined): string[] {
  const { path: file, bytes, job } = summary?.target ?? {};
  return file === undefined || bytes === undefined || summary?.kind !== 'export' ? [] : [file, ...(job ? [job] : [])];
}

/** Whether the file of an export is the one that it wrote: a later one may have taken its place. */
async function isAsWritten(summary: Summary | undefined): Promise<boolean> {
  const { path: file = '', bytes, sha256 } = summary?.target ?? {};
  const info = await stat(file).catch(() => undefined);
  if (!summary || !info || info.size !== bytes) return false;
  // What was there before its end was not written later; else its content tells.
  if (info.mtimeMs <= Date.parse(summary.finished_at)) return true;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex') === sha256;
}

function resourceOf(request: StoredRequest): string {
  return (request as { readonly resource?: string }).resource ?? request.job?.job?.resource ?? '';
}

function orderedOf(
  request: StoredRequest | undefined,
  data: Partial<OrderedData>,
): DeepReadonly<Pick<RunDetail, 'ordered'>> {
  const { name, path: file = '', text } = (request?.job ?? {}) as { name?: string; path?: string; text?: string };
  const inline = file === '' && text !== undefined ? (JSON.parse(text) as Record<string, unknown>) : undefined;
  // What the run keeps first: the same for everybody, for as long as it is there.
  const job = inline ?? name ?? data.job;
  if (job === undefined) return {};
  const corrections = request?.corrections ?? data.corrections;
  return {
    ordered: {
      job,
      ...(file !== '' && text !== undefined && { job_etag: etagOf(text) }),
      ...(data.file !== undefined && { file: data.file }),
      ...(corrections && { corrections }),
    },
  };
}
