import { hostname } from 'node:os';
import { RunError } from '../../model/error.js';
import { type ImportRequest, importFile, type RunResult, resumeRun } from '../../runs/import.js';
import type { LoadedJob } from '../../runs/job-file.js';
import type { Summary } from '../../runs/present.js';
import type { Progress } from '../../runs/progress.js';
import { lateness } from '../schedule/job-id.js';
import { endAfterRun, endRepeated, isHere, type RepeatedSummary } from './claims.js';
import { RUNS_QUEUE } from './data.js';
import { type Delivery, postpone, tellEnd } from './delivery.js';
import { failureText, RunFailed, withoutSecrets } from './failure.js';
import { lateNote } from './late-note.js';
import { allowedPlaces, FileAway, fileBelowRoots, OutsideRoots } from './roots.js';
import { removeUpload, uploadOf, writeRows } from './rows-file.js';
import { type JobState, stateWriter } from './state.js';
import { endTicket } from './tickets.js';
import { readElsewhere } from './told-roots.js';

/** What a delivery is to do, once it is clear that it is to be done here and now. */
export interface Plan {
  readonly state: JobState;
  /** The run is in this data folder: it is continued, and neither job file nor file are looked at. */
  readonly resumed: boolean;
  /** @throws RunError `usage` */
  loadJob(): Promise<LoadedJob>;
  /** Aborted when the run must stop here: `SIGTERM`, or another reason. */
  readonly signal: AbortSignal;
}

/** A file that is on another machine is looked for by others, so often and so long apart. */
const AWAY = { times: 30, everyMs: 2_000 };

/** The first of two files with the same content is waited for. */
const SAME_CONTENT_MS = 2_000;

/** A folder that cannot be moved is tried again. */
const MOVE_AGAIN_MS = 10_000;

/** Begins or continues the run and brings it to its end. Returns what the queue keeps as the result of the job. */
export async function runOnce(delivery: Delivery, plan: Plan): Promise<Summary | RepeatedSummary> {
  const { job, deps, origin, name } = delivery;
  const right =
    origin.trigger === 'schedule'
      ? await deps.store.lease(`schedule.${name}`, deps.settings.worker.leaseMs)
      : undefined;
  if (origin.trigger === 'schedule' && !right) throw await postpone(delivery, 1_000);
  try {
    const request = plan.resumed ? undefined : await requestOf(delivery, plan);
    if (request && 'repeated' in request) return request.repeated;
    const state = { ...plan.state, home: deps.homeId, host: hostname() };
    await job.updateProgress(state);
    const signal = right ? AbortSignal.any([plan.signal, right.lost]) : plan.signal;
    const result = await carryOut(delivery, { ...plan, state, signal }, request);
    return await conclude(delivery, state, result);
  } finally {
    await right?.release().catch(() => undefined);
  }
}

/** What is to be run; a claim whose content was run before is put away instead. */
async function requestOf(
  delivery: Delivery,
  plan: Plan,
): Promise<ImportRequest | { readonly repeated: RepeatedSummary }> {
  const { job, data, deps, origin, name } = delivery;
  const { settings, claims } = deps;
  const { run } = plan.state;
  const loaded = await plan.loadJob();
  const options = data.options ?? {};
  const file = data.rows ? await writeRows(settings.home, run, data.rows) : await fileHere(delivery, plan.state);
  if (origin.claim) {
    const company = options.company ?? loaded.job.company ?? settings.company;
    const seen = await claims.check(origin.claim, loaded, company);
    if (seen.verdict === 'wait') throw await postpone(delivery, SAME_CONTENT_MS);
    if (seen.verdict === 'repeated') {
      const { dir, summary } = await endRepeated(claims, origin.claim, settings.home, seen.first);
      await endTicket(settings.home, job, run);
      delivery.log.info(`the same content was run before as ${seen.first.run}; put away in ${dir}`);
      return { repeated: summary };
    }
  }
  const late = lateNote(job, loaded.job.schedule, Date.now());
  const slot =
    loaded.job.schedule && job.id !== undefined ? lateness(job.id, loaded.job.schedule, job.timestamp) : undefined;
  if (slot) deps.onSlot?.({ job: name, run, ...slot });
  return {
    run,
    file,
    job: loaded,
    dryRun: options.dry_run === true,
    force: options.force === true,
    notes: [late, insteadNote(plan.state)].filter((note) => note !== undefined),
    ...(options.company !== undefined && { company: options.company }),
    ...(origin.claim && { reportDir: origin.claim.dir }),
  };
}

function insteadNote({ insteadOf }: JobState): string | undefined {
  return (
    insteadOf &&
    `Begun anew: run ${insteadOf.run} of the same job was begun on ${insteadOf.host}, whose worker is gone. ` +
      'Rows that it wrote are unchanged here; its own reports lie there, if anywhere.'
  );
}

/** The file that the job names; handed on to other machines where it is not on this one. */
async function fileHere(delivery: Delivery, state: JobState): Promise<string> {
  const { data, deps } = delivery;
  const { roots, inbox } = deps.settings.worker;
  try {
    return await fileBelowRoots(data.file ?? '', { roots, inbox });
  } catch (error) {
    const away =
      error instanceof FileAway ||
      (error instanceof OutsideRoots && (await readElsewhere(deps.store, deps.homeId, data.file ?? '')));
    if (!away) throw error;
    const times = (state.away ?? 0) + 1;
    // Where no other worker is there, nobody else can have it.
    const alone = (await deps.store.workers(RUNS_QUEUE)) === 1;
    if (!alone && times <= AWAY.times) throw await postpone(delivery, AWAY.everyMs, { ...state, away: times });
    const [place = ''] = allowedPlaces(data.file ?? '', { roots, inbox });
    const advice =
      delivery.origin.trigger === 'schedule'
        ? `The schedule reads ${place}: put the file there before the next time.`
        : 'Put it there and send the job again.';
    throw new RunError(
      'failed',
      `${(error as Error).message}${alone ? '' : ` No worker that took the job within ${(AWAY.times * AWAY.everyMs) / 1000} s has it.`} ${advice}`,
      [],
      { cause: error },
    );
  }
}

async function carryOut(delivery: Delivery, plan: Plan, request: ImportRequest | undefined): Promise<RunResult> {
  const { job, data, deps, log, name } = delivery;
  const { run } = plan.state;
  const { home } = deps.settings;
  const about = { job: name, run, log };
  const writer = stateWriter(job, plan.state, (error) => log.warn({ err: error }, 'the progress could not be told'));
  const told = deps.onBegun?.({ ...about, resumed: plan.resumed });
  const context = {
    ...deps.context(about),
    log,
    signal: plan.signal,
    listener: {
      progress(progress: Progress) {
        writer.note(progress);
        told?.(progress);
      },
      notice: ({ level, text }: { readonly level: 'info' | 'warn'; readonly text: string }) => log[level](text),
    },
  };
  log.info({ file: request?.file }, request ? 'run begun' : 'run taken up again');
  try {
    return request ? await importFile(request, context) : await resumeRun(run, context);
  } finally {
    await writer.close();
    // The run has its own copy by now.
    if (await isHere(home, run)) await removeUpload(home, uploadOf(home, data, run));
  }
}

async function conclude(delivery: Delivery, state: JobState, result: RunResult): Promise<Summary> {
  const { job, deps, origin, name, data, log, lastAttempt } = delivery;
  const { home, secrets } = { home: deps.settings.home, secrets: deps.settings.secrets };
  const { status, reason } = result.summary;
  if (status === 'interrupted') throw new RunError('failed', 'The run was interrupted.');
  if (status === 'failed' && !lastAttempt) throw new RunFailed(withoutSecrets(reason ?? 'The run failed.', secrets));
  let ended = { dir: result.reportDir, summary: result.summary };
  if (origin.claim) {
    ended = await endAfterRun(deps.claims, origin.claim, home, result.summary).catch(async (error: unknown) => {
      log.warn(failureText(error, secrets));
      throw await postpone(delivery, MOVE_AGAIN_MS);
    });
  }
  await endTicket(home, job, state.run);
  const { rows, seconds, company, dry_run: dryRun } = ended.summary;
  const { total, ...outcomes } = rows;
  await tellEnd(delivery, { ...state, phase: 'done', total, done: total, outcomes });
  log.info({ status, rows, seconds, reports: ended.dir }, 'run ended');
  deps.onEnded({
    job: name,
    ...(typeof data.job === 'string' ? {} : { inline: true }),
    trigger: origin.trigger,
    status,
    run: state.run,
    company,
    counts: outcomes,
    seconds,
    reports: ended.dir,
    ...(dryRun && { dryRun }),
    ...(reason !== undefined && { reason }),
  });
  return ended.summary;
}
