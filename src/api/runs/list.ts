import type { JobType } from 'bullmq';
import { isOpen, isRunId, runIds } from '../../runs/run/list.js';
import type { ApiParts } from '../app.js';
import type { Told } from '../operation.js';
import type { Run, RunState, Runs, RunsQuery } from '../schema.js';
import { runOf } from './entries.js';
import { isAtWork } from './find.js';
import { queuedRun } from './queued.js';

/** Jobs of each state that are looked at. */
const MOST_JOBS = 100;

/** The runs of the data folder and of the queue, newest first. */
export async function runList(parts: ApiParts, { after, limit, ...asked }: RunsQuery): Promise<Told<Runs>> {
  const { cursors, entries, settings } = parts;
  const list = JSON.stringify(['runs', asked.job, asked.kind, asked.status, asked.q]);
  const place = cursors.open(list, after);
  const ids = await runIds(settings.home);
  const isAll = Object.values(asked).every((one) => one === undefined);
  // Where no filter has to look at all of them, those of the page are read alone.
  const older = ids.filter((id) => place === undefined || id < place);
  const found = isAll ? await entries.first(older, limit + 1) : await entries.list();
  const queued = new Map((await runsOnQueue(parts)).map((run) => [run.id, run]));
  const here = found.map((entry): Run => {
    const waits = queued.get(entry.run);
    return { ...runOf(entry), ...(isOpen(entry) && waits && isAtWork(waits) && { status: waits.status }) };
  });
  for (const id of ids) queued.delete(id);
  const wanted = [...here, ...queued.values()].filter((run) => isAsked(run, asked));
  const { page, next } = cursors.newestFirst(list, wanted, placeOf, { after, limit });
  return { runs: page, next };
}

/**
 * Runs that the queue knows: those that wait, those at work, and the latest that failed before there was anything of them, or ended
 * where another worker has them.
 */
async function runsOnQueue({ queue, settings }: ApiParts): Promise<Run[]> {
  const read = async (status: RunState, states: JobType[]) =>
    (await queue.getJobs(states, 0, MOST_JOBS - 1, false)).flatMap((job) => (job ? [queuedRun(job, status)] : []));
  const lists = await Promise.all([
    read('running', ['active']),
    read('waiting', ['waiting', 'delayed', 'prioritized']),
    read('failed', settings.queueUrl === undefined ? ['failed'] : ['failed', 'completed']),
  ]);
  return lists.flat();
}

/** A job without a run stands where a run would that began when it was put on the queue. */
const placeOf = ({ id, started_at: at }: Run): string => (isRunId(id) ? id : `${at.replace(/[-:.]/g, '')}-${id}`);

function isAsked(run: Run, { job, kind, status, q }: Omit<RunsQuery, 'after' | 'limit'>): boolean {
  const words = q?.toLowerCase() ?? '';
  return (
    (job === undefined || run.job === job) &&
    (kind === undefined || run.kind === kind) &&
    (status === undefined || status.split(',').includes(run.status)) &&
    (run.id.startsWith(q ?? '') || `${run.file}\n${run.job}`.toLowerCase().includes(words))
  );
}
