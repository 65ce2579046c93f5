import { rm } from 'node:fs/promises';
import { RunError } from '../../model/error.js';
import { fileName } from '../../report/summary.js';
import { saveUnbegun } from '../../runs/run/conclude.js';
import { runFolder } from '../../runs/run/layout.js';
import { freshRunId } from '../../runs/run/list.js';
import { reached } from '../../trace/milestones.js';
import { JOB_KINDS, jobName } from '../../worker/jobs/data.js';
import {
  beginTicket,
  endTicket,
  enqueueForHome,
  type FollowUp,
  readTicket,
  stopTicket,
  tickets,
} from '../../worker/jobs/home.js';
import { againJobId, runJobId } from '../../worker/jobs/job.js';
import type { ApiParts } from '../app.js';
import { type Caller, Fault, hasRole } from '../operation.js';
import { type FoundRun, isAtWork, type RunFinder } from './find.js';
import { queuedRun } from './queued.js';

/** `FollowUp`, or to go on with the run itself. */
export type RunAction = FollowUp | { readonly verb: 'resume'; readonly of: string };

/**
 * Takes up an earlier run: what is to be done is noted in the data folder, and a job that names the run put on the queue, so that it
 * waits, is stopped and survives as every other. Returns its id. Throws a problem where that cannot be.
 */
export async function startAction(
  { settings, store, queue, stops, audit }: ApiParts,
  finder: RunFinder,
  { id, entry }: FoundRun,
  action: RunAction,
  who: Caller,
): Promise<string> {
  const { home, leaseMs } = settings;
  if ('force' in action && action.force && !hasRole(who, 'approver')) {
    throw new Fault(403, '`force` passes what would stop the run: that needs the role approver.');
  }
  // Of two who ask at the same time one is told that the other was first.
  const lease = await store.lease(`verb.${id}`, leaseMs);
  if (!lease) throw new Fault(409, 'Somebody else is just taking up this run. Look at it again.');
  try {
    await finder.check(action.verb, await finder.mustFind(id)).catch((error: unknown) => {
      // What the run is now does not allow it: another one may, and so may this one later.
      if (error instanceof RunError && error.kind === 'usage') throw new Fault(409, error.message, error.details);
      throw error;
    });
    const run = action.verb === 'resume' ? id : await freshRunId(home);
    const stopped = tickets(home).find((one) => one.run === run && one.stopped);
    // What was stopped before it began may take up an earlier run, as another one may by now.
    for (const of of [id, ...(stopped?.again ? [stopped.again.of] : [])])
      for (const by of tickets(home).filter(({ stopped, again }) => !stopped && again?.of === of)) {
        const found = await finder.find(by.run);
        if (found && isAtWork(found)) {
          const what = of === id ? 'this run' : `the run ${of}`;
          throw new Fault(409, `The run ${by.run} is just taking up ${what}. Wait for its end.`);
        }
      }
    const jobId = againJobId(run);
    const { job = '', file = '', kind } = entry ?? {};
    await audit(who, `${action.verb} begun`, { run, job, of: id, ...(action.verb === 'approve' && { by: action.by }) });
    await stops.withdraw(run).catch(() => undefined);
    await rm(runFolder(home, run).aside, { force: true });
    // One that went on with it before.
    await (await queue.getJob(jobId))?.remove();
    const { name, data, opts } = stopped ?? {
      name: JOB_KINDS.find((one) => one === kind) ?? 'import',
      data: {
        job: jobName.safeParse(job).success ? job : 'inline',
        // Nobody reads it: the run has, or takes, a copy of its own.
        file: `${run}/${fileName(file) || 'none'}`,
      },
      opts: {},
    };
    const ticket = { id: jobId, name, data, timestamp: Date.now(), opts };
    beginTicket(home, ticket, run, action.verb === 'resume' ? undefined : action);
    try {
      await enqueueForHome(home, run, queue, name, data, { ...opts, jobId });
    } catch (error) {
      if (stopped) stopTicket(home, run);
      else endTicket(home, run);
      throw error;
    }
    return run;
  } finally {
    await lease.release().catch(() => undefined);
  }
}

/**
 * Stops a run: one that waits is taken off the queue, one that is at work ends with its reports. Returns its id.
 *
 *   stop asked → job noted here → off the queue → how it ended kept → noted as stopped → stop taken back
 *
 * Where this process dies on the way the job is put back, and the stop still holds.
 */
export async function stopRun({ settings, stops, audit }: ApiParts, found: FoundRun, who: Caller): Promise<string> {
  if (!isAtWork(found)) throw new Fault(409, 'The run is not at work.');
  const { id, status, job, entry } = found;
  const { home } = settings;
  await audit(who, 'stop asked', { run: id, job: entry?.job ?? '' });
  await stops.ask(id);
  // What was dropped, or is due, would come again; one that a worker takes at this moment is at work.
  const isOurs = job?.id === runJobId(id) || job?.id === againJobId(id);
  if (status !== 'waiting' || !isOurs) return id;
  if (readTicket(home, job) === undefined) beginTicket(home, job, id);
  reached('stop-noted');
  const removed = await job.remove().then(
    () => true,
    () => false,
  );
  if (!removed) return id;
  reached('job-removed');
  if (!entry) {
    const { kind, job: name, dry_run, started_at } = queuedRun(job, status);
    const reason = `${who.name} stopped it before it began.`;
    await saveUnbegun(home, { run: id, kind, job: name, dry_run, started_at, reason });
  }
  stopTicket(home, id);
  await stops.withdraw(id).catch(() => undefined);
  return id;
}
