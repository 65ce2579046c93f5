import { rm } from 'node:fs/promises';
import { z } from '@hono/zod-openapi';
import { RunError } from '../../model/error.js';
import { fileName } from '../../report/summary.js';
import { saveUnbegun } from '../../runs/run/conclude.js';
import { runFolder } from '../../runs/run/layout.js';
import { freshRunId, isRunId } from '../../runs/run/list.js';
import { reached } from '../../trace/milestones.js';
import { JOB_KINDS, jobName } from '../../worker/jobs/data.js';
import {
  beginTicket,
  endTicket,
  enqueueForHome,
  type FollowUp,
  readTicket,
  stopTicket,
  ticketOf,
  tickets,
} from '../../worker/jobs/home.js';
import { againJobId, runJobId } from '../../worker/jobs/job.js';
import type { ApiParts } from '../app.js';
import { API_PATH, type Caller, Fault, hasRole, type Operation, operation } from '../operation.js';
import { accepted, runParams, type Verb } from '../schema.js';
import { type RunFinder, roleFor } from './find.js';
import { type FoundRun, isAtWork, whyNotStopped } from './queued.js';

const nothing = z.strictObject({});
const retryBody = z.strictObject({ force: z.boolean().optional() });
const undoBody = z.strictObject({
  dry_run: z.boolean().optional(),
  retire: z.record(z.string(), z.string()).optional().describe('Values for the records that the run created.'),
  force: z.boolean().optional(),
});
const approveBody = z.strictObject({
  by: z.string().min(1).max(200).optional().describe('Who approves, where that is not whoever is signed in.'),
});

/** What is done with a run that is there. */
export function verbOperations(parts: ApiParts, finder: RunFinder): Operation[] {
  const verb = <B extends z.ZodType>(
    name: Verb,
    summary: string,
    body: B,
    carryOut: (found: FoundRun, body: z.output<B>, who: Caller) => Promise<string>,
  ) =>
    operation(
      `POST /runs/{id}/${name}`,
      {
        ...{ summary, role: roleFor(name), params: runParams, optionalBody: body, answer: accepted, status: 202 },
        atMost: [100_000, 'This says more than 100 KB.'],
      },
      async ({ params: { id: wanted }, body: input, who }, c) => {
        const id = await carryOut(await finder.mustFind(wanted), input, who);
        return c.json({ id }, 202, { location: `${API_PATH}/runs/${id}` });
      },
    );
  const start = (found: FoundRun, action: RunAction, who: Caller) => startAction(parts, finder, found, action, who);
  return [
    verb('resume', 'Goes on with a run that was stopped or cut off.', nothing, (found, _, who) =>
      start(found, { verb: 'resume', of: found.run.id }, who),
    ),
    verb(
      'retry',
      'Takes up the rows that failed or were left unknown: a new run.',
      retryBody,
      (found, { force = false }, who) => start(found, { verb: 'retry', of: found.run.id, force }, who),
    ),
    verb(
      'undo',
      'Puts back what it wrote: a new run. First try it with `dry_run`.',
      undoBody,
      (found, { dry_run: dryRun = false, force = false, retire }, who) =>
        start(found, { verb: 'undo', of: found.run.id, dryRun, force, ...(retire && { retire }) }, who),
    ),
    verb(
      'approve',
      'Carries out exactly its plan: a new run.',
      approveBody,
      // Whoever has a name of their own signs with it.
      (found, { by }, who) => {
        const signed = who.via === 'user' ? who.name : (by ?? who.name);
        return start(found, { verb: 'approve', of: found.run.id, by: signed }, who);
      },
    ),
    verb('stop', 'Ends it in order; `resume` goes on with it.', nothing, (found, _, who) => stopRun(parts, found, who)),
  ];
}

/** `FollowUp`, or to go on with the run itself. */
type RunAction = FollowUp | { readonly verb: 'resume'; readonly of: string };

/**
 * Takes up an earlier run: what is to be done is noted in the data folder, and a job that names the run put on the queue, so that it
 * waits, is stopped and survives as every other. Returns its id. Throws a problem where that cannot be.
 */
async function startAction(
  { settings, store, queue, stops, audit }: ApiParts,
  finder: RunFinder,
  { run: { id }, entry }: FoundRun,
  action: RunAction,
  who: Caller,
): Promise<string> {
  const { home, leaseMs } = settings;
  if ('force' in action && action.force && !hasRole(who, 'approver')) {
    throw new Fault(403, '`force` passes what would stop the run: that needs the role approver.');
  }
  // Of two who ask at the same time one is told that the other was first; what was stopped before it began takes up another run.
  const lease = await store.lease(`verb.${ticketOf(home, id)?.again?.of ?? id}`, leaseMs);
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
        if (found && isAtWork(found.run)) {
          const what = of === id ? 'this run' : `the run ${of}`;
          throw new Fault(409, `The run ${by.run} is just taking up ${what}. Wait for its end.`);
        }
      }
    const jobId = againJobId(run);
    const { job = '', file = '', kind } = entry ?? {};
    const { by, dryRun, force }: { of: string; by?: string; dryRun?: boolean; force?: boolean } = action;
    await audit(who, `${action.verb} begun`, { run, job, of: id, by, dry_run: dryRun, force });
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
async function stopRun({ settings, stops, audit }: ApiParts, found: FoundRun, who: Caller): Promise<string> {
  const why = whyNotStopped(found);
  if (why !== undefined) throw new Fault(409, why);
  const { job, entry } = found;
  const { status, ...about } = found.run;
  const { home } = settings;
  // A job of another program stands for no run before it begins: it gets one, by which it can be taken up again.
  const isUnbegun = !isRunId(found.run.id);
  const id = isUnbegun ? await freshRunId(home) : found.run.id;
  await audit(who, 'stop asked', { run: id, job: entry?.job ?? '' });
  await stops.ask(id);
  // What was dropped, or is due, would come again; one that a worker takes at this moment is at work.
  const isOurs = isUnbegun || job?.id === runJobId(id) || job?.id === againJobId(id);
  if (!job || status !== 'waiting' || !isOurs) return id;
  if (readTicket(home, job) === undefined) beginTicket(home, job, id);
  reached('stop-noted');
  const removed = await job.remove().then(
    () => true,
    () => false,
  );
  if (!removed && isUnbegun) throw new Fault(409, 'A worker is just taking it up: stop it in a moment.');
  if (!removed) return id;
  reached('job-removed');
  if (!entry) {
    const reason = `${who.name} stopped it before it began.`;
    await saveUnbegun(home, { ...about, run: id, status: 'interrupted', reason });
  }
  stopTicket(home, id);
  await stops.withdraw(id).catch(() => undefined);
  return id;
}
