import { isResumable, isRunId, type RunEntry, runIds } from '../../runs/run/list.js';
import { runJobId } from '../../worker/jobs/job.js';
import type { ApiParts } from '../app.js';
import type { DeepReadonly } from '../operation.js';
import type { Run, Runs, RunsQuery } from '../schema.js';
import { runOf } from './entries.js';
import { isAtWork } from './find.js';
import { runsOnQueue } from './queued.js';

/** The runs of the data folder and of the queue, newest first. */
export async function runList(parts: ApiParts, { after, limit, ...filters }: RunsQuery): Promise<DeepReadonly<Runs>> {
  const { entries, settings, queue } = parts;
  const ids = await runIds(settings.home);
  const isAll = Object.values(filters).every((one) => one === undefined);
  // Where no filter has to look at all of them, those of the page are read alone.
  const older = ids.filter((id) => after === undefined || id < after);
  const found = isAll ? await entries.first(older, limit + 1) : await entries.list();
  const wanted = withQueue(found, ids, await runsOnQueue(queue, settings.queueUrl !== undefined))
    .map(({ run }) => run)
    .filter((run) => matchesFilters(run, filters));
  const { page, next } = newestFirst(wanted, sortKey, { after, limit });
  return { runs: page, next };
}

/** A page of what was begun at some time, the newest first. `idOf`: ids that sort by that time, of which the last is the cursor. */
export function newestFirst<T>(
  all: readonly T[],
  idOf: (one: T) => string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): { readonly page: readonly T[]; readonly next: string | null } {
  const remaining = all
    .filter((one) => after === undefined || idOf(one) < after)
    .sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  const page = remaining.slice(0, limit);
  const last = page.at(-1);
  return { page, next: remaining.length > limit && last !== undefined ? idOf(last) : null };
}

/** A run of the data folder, or one that the queue alone knows: then it has no `entry`. */
export interface ListedRun {
  readonly run: Run;
  readonly entry?: RunEntry;
  /** Why it failed, where nothing else tells. */
  readonly reason?: string;
  /** Somebody ordered it, and was told. */
  readonly isOrdered?: boolean;
}

/** Jobs of each state that are looked at where somebody looks again every few seconds: each holds all that it was ordered with. */
const FEW_JOBS = 20;

/**
 * Newest first: the runs of the data folder, and those that lie in none: at work elsewhere, or of a schedule, the drop folder or
 * another program and failed before they began.
 */
export async function allRuns({ entries, queue, settings: { home } }: ApiParts): Promise<ListedRun[]> {
  return withQueue(await entries.list(), await runIds(home), await runsOnQueue(queue, false, FEW_JOBS))
    .filter(
      ({ run: { status }, entry, isOrdered }) => entry || status === 'running' || (status === 'failed' && !isOrdered),
    )
    .sort((one, other) => (sortKey(one.run) < sortKey(other.run) ? 1 : -1));
}

/** These runs of the data folder as the queue has them, and those of the queue that are not among `ids`, all of the data folder. */
function withQueue(
  entries: readonly RunEntry[],
  ids: readonly string[],
  listed: Awaited<ReturnType<typeof runsOnQueue>>,
): ListedRun[] {
  const queued = new Map(listed.map((one) => [one.run.id, one]));
  const here = entries.map((entry) => {
    const onQueue = queued.get(entry.run)?.run;
    const status = isResumable(entry) && onQueue && isAtWork(onQueue) ? onQueue.status : entry.status;
    return { run: { ...runOf(entry), status }, entry };
  });
  for (const id of ids) queued.delete(id);
  return [
    ...here,
    ...[...queued.values()].map(({ run, job }) => ({
      run,
      reason: job.failedReason,
      isOrdered: job.id === runJobId(run.id),
    })),
  ];
}

/** A job without a run stands where a run would that began when it was put on the queue. */
const sortKey = ({ id, started_at: at }: Run): string => (isRunId(id) ? id : `${at.replace(/[-:.]/g, '')}-${id}`);

function matchesFilters(run: Run, { job, kind, status, q }: Omit<RunsQuery, 'after' | 'limit'>): boolean {
  const words = q?.toLowerCase() ?? '';
  return (
    (job === undefined || run.job === job) &&
    (kind === undefined || run.kind === kind) &&
    (status === undefined || status.split(',').includes(run.status)) &&
    (run.id.startsWith(q ?? '') || `${run.file}\n${run.job}`.toLowerCase().includes(words))
  );
}
