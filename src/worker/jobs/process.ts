import { setTimeout as pause } from 'node:timers/promises';
import { DelayedError, type Job } from 'bullmq';
import { isAway } from '../store/faults.js';
import type { Processor } from '../store/port.js';
import { checkJobData } from './data.js';
import { Delivery, type RunDeps, refusal, SOON_MS } from './delivery.js';
import { freshState } from './job.js';

/**
 * The processor of queue `rowferry`: contract, section 10. Wrong data fail at once, with every fault; else the delivery
 * decides what becomes of the job. The worker that runs it sets `maxStalledCount` high: jobs that kill their workers are
 * found out here.
 */
export function runProcessor(deps: RunDeps): Processor {
  return async (job, token, signal) => {
    try {
      const checked = checkJobData(job.name, job.data);
      if ('faults' in checked) throw await refusedData(deps, job, checked.faults);
      return await new Delivery(deps, job, token, checked).deliver(signal);
    } catch (error) {
      if (!isAway(error)) throw error;
      deps.log.warn({ queueJob: job.id, err: error }, 'the queue was away; the job is taken up again when it is back');
      await storeIsBack(deps);
      await job.moveToDelayed(Date.now() + SOON_MS, token);
      throw new DelayedError();
    }
  };
}

/** A store that stays away takes the job's lock with it: then the job is found by whoever looks for jobs without one. */
async function storeIsBack({ store, stopping }: RunDeps): Promise<void> {
  while (!stopping.aborted) {
    const back = await store.check().then(
      () => true,
      () => false,
    );
    if (back) return;
    await pause(SOON_MS);
  }
}

/** No run, no claim, no name: what forged data say of themselves is not repeated anywhere. */
async function refusedData(deps: RunDeps, job: Job, faults: readonly string[]): Promise<Error> {
  const count = faults.length === 1 ? 'a fault' : 'faults';
  const reason = `The data of this job has ${count}; nothing was sent, and it is not tried again.\n${faults.join('\n')}`;
  deps.log.error({ queueJob: job.id }, reason);
  const { run: _, ...blank } = freshState('');
  await job.updateProgress({ ...blank, phase: 'done', failure: 'usage' });
  deps.onEnded({ job: 'inline', inline: true, trigger: 'queue', status: 'refused', reason });
  return refusal(reason);
}
