import { hostname } from 'node:os';
import { fileName } from '../report/summary.js';
import { freshRunId } from '../runs/run/list.js';
import { JOB_KINDS, jobName } from '../worker/jobs/data.js';
import { type Again, beginTicket, endTicket, homeId, takenUpBy } from '../worker/jobs/home.js';
import { againJobId } from '../worker/jobs/ids.js';
import { freshState } from '../worker/jobs/state.js';
import type { ApiParts } from './app.js';
import { Fault } from './operation.js';
import { type FoundRun, isAtWork, type RunFinder } from './run-find.js';

/** `Again`, or to go on with the run itself. */
export type Asked = Again | { readonly verb: 'resume'; readonly of: string };

/**
 * Takes up an earlier run: what is to be done is noted in the data folder, and a job that names the run put on the queue, so that it
 * waits, is stopped and survives as every other. Returns its id. Throws a problem, or a `RunError` of kind `usage`, where that cannot be.
 */
export async function takeUp(
  { settings, store, queue, stops }: Pick<ApiParts, 'settings' | 'store' | 'queue' | 'stops'>,
  finder: RunFinder,
  { id, entry }: FoundRun,
  asked: Asked,
  noted: (run: string) => Promise<void>,
): Promise<string> {
  const { home, leaseMs } = settings;
  // Of two who ask at the same time one is told that the other was first.
  const turn = await store.lease(`verb.${id}`, leaseMs);
  if (!turn) throw new Fault(409, 'Somebody else is just taking up this run. Look at it again.');
  try {
    await finder.check(asked.verb, await finder.given(id));
    for (const by of takenUpBy(home, id)) {
      const found = await finder.find(by);
      if (found && isAtWork(found)) throw new Fault(409, `The run ${by} is just taking up this run. Wait for its end.`);
    }
    const run = asked.verb === 'resume' ? id : await freshRunId(home);
    const jobId = againJobId(run);
    await noted(run);
    await stops.withdraw(run).catch(() => undefined);
    // One that went on with it before.
    await (await queue.getJob(jobId))?.remove();
    const { job = '', file = '', kind } = entry ?? {};
    const data = {
      job: jobName.safeParse(job).success ? job : 'inline',
      // Nobody reads it: the run has, or takes, a copy of its own.
      file: `${run}/${fileName(file) || 'none'}`,
    };
    const name = JOB_KINDS.find((one) => one === kind) ?? 'import';
    const ticket = { id: jobId, name, data, timestamp: Date.now(), opts: {} };
    beginTicket(home, ticket, run, asked.verb === 'resume' ? undefined : asked);
    try {
      const put = await queue.add(name, data, { jobId });
      // Workers with another data folder leave it to those of this one.
      await put.updateProgress({ ...freshState(run), home: homeId(home), host: hostname() });
    } catch (error) {
      endTicket(home, run);
      throw error;
    }
    return run;
  } finally {
    await turn.release().catch(() => undefined);
  }
}
