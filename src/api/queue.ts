import { followUpOf } from '../worker/jobs/home.js';
import { againJobId } from '../worker/jobs/job.js';
import type { Job } from '../worker/store/port.js';
import type { ApiParts } from './app.js';
import { type Operation, operation } from './operation.js';
import { jobProgress, queuedRun, whyFailed } from './runs/queued.js';
import { type Queue, queue as shape } from './schema.js';

/** Jobs of each kind that are shown. */
const MOST_LISTED = 50;

export function queueOperations({ runs, queue, settings }: ApiParts): Operation[] {
  const queueEntry = (one: Job): Queue['waiting'][number] => {
    const { id, job, file, started_at: at } = queuedRun(settings.home, one, 'waiting');
    return {
      id: one.id ?? '',
      run: id === one.id ? null : id,
      kind: (one.id === againJobId(id) && followUpOf(settings.home, id)?.verb) || one.name,
      ...{ job, file: file === '' ? null : file, at },
      progress: jobProgress(one) ?? null,
      reason: one.failedReason ? whyFailed(one) : null,
    };
  };
  const summary = 'The queue of runs: who works on it, and what waits, is at work and failed.';
  return [
    operation('GET /queue', { summary, answer: shape }, async () => {
      const [about, counts, waiting, active, failed] = await Promise.all([
        runs.queue(),
        queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'),
        queue.getJobs(['waiting', 'prioritized', 'delayed'], 0, MOST_LISTED - 1, true),
        queue.getJobs(['active'], 0, MOST_LISTED - 1, true),
        queue.getJobs(['failed'], 0, MOST_LISTED - 1),
      ]);
      const count = (state: string) => counts[state] ?? 0;
      return {
        ...about,
        counts: {
          waiting: count('waiting') + count('prioritized'),
          active: count('active'),
          delayed: count('delayed'),
          failed: count('failed'),
          completed: count('completed'),
        },
        waiting: waiting.map(queueEntry),
        active: active.map(queueEntry),
        failed: failed.map(queueEntry),
      };
    }),
  ];
}
