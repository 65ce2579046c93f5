import type { Job } from 'bullmq';
import { fileName } from '../report/summary.js';
import { stateOf } from '../worker/jobs/state.js';
import type { ApiParts } from './app.js';
import { type Api, get } from './operation.js';
import { jobProgress } from './runs.js';
import { type Queue, queue as queueShape } from './schema.js';

/** Jobs of each kind that are shown. */
const SHOWN = 50;

export function queueRoutes(app: Api, { runs, queue }: ApiParts): void {
  app.openapi(
    get('/queue', 'The queue of runs: who works on it, and what waits, is at work and failed.', queueShape),
    async (c) => {
      const [{ address, workers, roots }, counts, waiting, active, failed] = await Promise.all([
        runs.queue(),
        queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'),
        queue.getJobs(['waiting', 'prioritized', 'delayed'], 0, SHOWN - 1, true),
        queue.getJobs(['active'], 0, SHOWN - 1, true),
        queue.getJobs(['failed'], 0, SHOWN - 1),
      ]);
      const count = (state: string) => counts[state] ?? 0;
      const answer: Queue = {
        address,
        workers,
        ...(roots && { roots: [...roots] }),
        counts: {
          waiting: count('waiting') + count('prioritized'),
          active: count('active'),
          delayed: count('delayed'),
          failed: count('failed'),
          completed: count('completed'),
        },
        waiting: waiting.map(told),
        active: active.map(told),
        failed: failed.map(told),
      };
      return c.json(answer, 200);
    },
  );
}

/** What came with a job is anybody's to choose: nothing but names of it is shown. */
function told(one: Job): Queue['waiting'][number] {
  const { id = '', name, data, timestamp, failedReason } = one;
  const { job, file } = (data ?? {}) as { readonly job?: unknown; readonly file?: unknown };
  return {
    id,
    run: stateOf(one)?.run ?? null,
    kind: name,
    job: typeof job === 'string' ? job : 'inline',
    file: typeof file === 'string' ? fileName(file) : null,
    at: new Date(timestamp).toISOString(),
    progress: jobProgress(one) ?? null,
    reason: failedReason ?? null,
  };
}
