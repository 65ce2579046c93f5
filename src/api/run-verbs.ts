import { approveRun, runToApprove } from '../runs/approve.js';
import { resumeRun } from '../runs/resume.js';
import { retryRun } from '../runs/retry.js';
import type { RunResult } from '../runs/run/conclude.js';
import type { RunContext } from '../runs/run/context.js';
import { readRequest } from '../runs/run/earlier-run.js';
import { runFolder } from '../runs/run/layout.js';
import { freshRunId, isOpen } from '../runs/run/list.js';
import { LockHeld } from '../runs/run/lock.js';
import { type RetireValues, undoRun } from '../runs/undo.js';
import { JOB_KINDS, jobName } from '../worker/jobs/data.js';
import { failureText, withoutCells } from '../worker/jobs/failure.js';
import { beginTicket, endTicket } from '../worker/jobs/home.js';
import { againJobId } from '../worker/jobs/ids.js';
import type { ApiParts } from './app.js';
import { Fault } from './operation.js';
import { type FoundRun, UNBEGUN } from './run-find.js';

export type Asked =
  | { readonly verb: 'resume' }
  | { readonly verb: 'retry'; readonly force: boolean }
  | { readonly verb: 'undo'; readonly dryRun: boolean; readonly force: boolean; readonly retire?: RetireValues }
  | { readonly verb: 'approve'; readonly by: string };

/**
 * Takes up earlier runs in this process, with the rights and the pace that its other runs have. A run that was begun so survives this
 * process: it is noted like a run of the queue, and put on the queue where it has not ended.
 */
export class RunVerbs {
  constructor(private readonly parts: ApiParts) {}

  /** Returns the id of the run once it has begun. Throws a `RunError` `usage` where that cannot be done. */
  async begin(found: FoundRun, asked: Asked): Promise<string> {
    const { settings, store } = this.parts;
    const { id, entry } = found;
    if (!entry) throw new Fault(409, 'Its data lie in the data folder of another worker: do it there.');
    if (asked.verb === 'resume' && !isOpen(entry))
      throw new Fault(409, `The run is ${entry.status}: nothing is left to go on with.`);
    if (!(await readRequest(runFolder(settings.home, id)))) throw new Fault(409, UNBEGUN);
    // Of two who ask at the same time one is told that the other was first.
    const turn = await store.lease(`verb.${id}`, settings.leaseMs);
    if (!turn) throw new Fault(409, 'Somebody else is just taking up this run. Look at it again.');
    try {
      if (asked.verb === 'approve') await runToApprove(id, settings);
      const run = asked.verb === 'resume' ? id : await freshRunId(settings.home);
      await this.carryOut(run, found, (context) => work(id, run, asked, context));
      return run;
    } finally {
      await turn.release().catch(() => undefined);
    }
  }

  /** Until it has begun. */
  private async carryOut(
    run: string,
    { entry }: FoundRun,
    work: (context: RunContext) => Promise<RunResult>,
  ): Promise<void> {
    const { settings, store, stops, stopping, live } = this.parts;
    const { home } = settings;
    const name = entry?.job ?? '';
    const rowsJob = entry && (await readRequest(runFolder(home, entry.run)))?.job?.job;
    const clean = rowsJob && 'match' in rowsJob ? withoutCells(rowsJob) : (text: string) => text;
    const log = this.parts.log.child({ job: name, run });
    const lease = await store.lease(`run.${run}`, settings.leaseMs);
    if (!lease) throw new Fault(409, 'A worker is at work on this run. Wait for its end, or stop it.');
    await stops.withdraw(run).catch(() => undefined);
    const stop = stops.watch(run, [
      [stopping, 'SIGTERM'],
      [lease.lost, 'taken away'],
    ]);
    const kind = JOB_KINDS.find((one) => one === entry?.kind) ?? 'import';
    let begun = false;
    let tellBegun: () => void = () => undefined;
    const begins = new Promise<void>((resolve) => {
      tellBegun = resolve;
    });
    const tell = this.parts.begun({ job: name, run, log, resumed: false });
    const context: RunContext = {
      ...this.parts.context({ job: name, run, log }),
      log,
      signal: stop.signal,
      listener: {
        progress: (progress) => {
          // Of runs inside it the outer one tells.
          if (progress.run !== run) return;
          tell?.(progress);
          if (begun) return;
          begun = true;
          const job = { job: jobName.safeParse(name).success ? name : 'inline', file: 'none' };
          beginTicket(home, { id: againJobId(run), name: kind, data: job, timestamp: Date.now(), opts: {} }, run);
          tellBegun();
        },
        notice: ({ level, text }) => log[level](clean(text)),
      },
    };
    const whole = work(context)
      .then((result) => {
        endTicket(home, run);
        this.tellEnd(result);
        log.info({ status: result.summary.status }, 'run ended');
      })
      .catch((error: unknown) => {
        if (!begun) throw error;
        // It goes on where this process ends, or has lost its right; else a person has to look.
        if (!stop.signal.aborted) {
          endTicket(home, run);
          log.error(failureText(error, settings.secrets));
        }
      })
      .finally(async () => {
        stop.release();
        live.ended(run);
        await lease.release().catch(() => undefined);
      });
    live.carry(whole);
    try {
      await Promise.race([begins, whole]);
    } catch (error) {
      if (error instanceof LockHeld)
        throw new Fault(409, 'A process is at work on this run. Wait for its end, or end it.');
      throw error;
    }
  }

  /** As of a run of the queue; that something is put back is neither a success nor a failure of the job. */
  private tellEnd({ summary, reportDir }: RunResult): void {
    const { kind, job, status, run, company, reason, seconds, dry_run: dryRun } = summary;
    if (kind === 'undo') return;
    const { total: _, ...counts } = summary.rows;
    const about = { kind, job, status, run, company, counts, seconds, reason, reports: reportDir };
    this.parts.ended({ ...about, trigger: 'queue', dryRun: dryRun && kind === 'import', reportOnly: dryRun });
  }
}

function work(of: string, run: string, asked: Asked, context: RunContext): Promise<RunResult> {
  switch (asked.verb) {
    case 'resume':
      return resumeRun(of, context);
    case 'retry':
      return retryRun(of, { run, force: asked.force }, context);
    case 'undo': {
      const { dryRun, force, retire } = asked;
      return undoRun(of, { run, dryRun, force, ...(retire && { retire }) }, context);
    }
    case 'approve':
      return approveRun(of, { run, by: asked.by }, context);
  }
}
