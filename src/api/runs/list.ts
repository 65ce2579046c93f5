import { isResumable, isRunId, type RunEntry, runIds } from '../../runs/run/list.js';
import { againJobId, runJobId } from '../../worker/jobs/job.js';
import type { ApiParts } from '../app.js';
import type { DeepReadonly } from '../operation.js';
import type { Run, Runs, RunsQuery } from '../schema.js';
import { runOf } from './entries.js';
import { type FoundRun, isAtWork, runsOnQueue } from './queued.js';

/** The runs of the data folder and of the queue, newest first. */
export async function runList(parts: ApiParts, { after, limit, ...filters }: RunsQuery): Promise<DeepReadonly<Runs>> {
  const { entries, settings, queue } = parts;
  const ids = await runIds(settings.home);
  const isAll = Object.values(filters).every((one) => one === undefined);
  // Where no filter has to look at all of them, those of the page are read alone.
  const older = ids.filter((id) => after === undefined || id < after);
  const found = isAll ? await entries.first(older, limit + 1) : await entries.list();
  const wanted = withQueue(found, ids, await runsOnQueue(settings.home, queue, settings.queueUrl !== undefined));
  const { page, next } = pageOf(
    wanted.filter(({ run }) => matchesFilters(run, filters)),
    { after, limit },
  );
  return { runs: page.map(({ run }) => run), next };
}

/** Whether a run puts back what another one wrote, or has. */
export const isUndoOf = (run: Pick<Run, 'kind' | 'dry_run' | 'of_run'>, id: string): boolean =>
  run.kind === 'undo' && !run.dry_run && run.of_run === id;

/** A page of runs that stand newest first. */
export function pageOf(
  runs: readonly FoundRun[],
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): { readonly page: readonly FoundRun[]; readonly next: string | null } {
  const remaining = runs.filter(({ run }) => after === undefined || sortKey(run) < after);
  const page = remaining.slice(0, limit);
  const last = page.at(-1);
  return { page, next: last && remaining.length > limit ? sortKey(last.run) : null };
}

/** Jobs of each state that are looked at where somebody looks again every few seconds: each holds all that it was ordered with. */
const FEW_JOBS = 20;

/**
 * Newest first: the runs of the data folder, and those that lie in none: at work elsewhere, or of a schedule, the drop folder or
 * another program and failed before they began.
 */
export async function allRuns({ entries, queue, settings: { home } }: ApiParts): Promise<FoundRun[]> {
  const ids = await runIds(home);
  // Somebody ordered it, and was told.
  const isOrdered = ({ run: { id }, job }: FoundRun) => [runJobId(id), againJobId(id)].includes(job?.id ?? '');
  return withQueue(await entries.list(), ids, await runsOnQueue(home, queue, false, FEW_JOBS)).filter(
    (one) => one.entry || one.run.status === 'running' || (one.run.status === 'failed' && !isOrdered(one)),
  );
}

/** These runs of the data folder as the queue has them, and those of the queue that are not among `ids`, all of the data folder. */
function withQueue(entries: readonly RunEntry[], ids: readonly string[], listed: readonly FoundRun[]): FoundRun[] {
  const queued = new Map(listed.map((one) => [one.run.id, one]));
  const here = entries.map((entry): FoundRun => {
    const onQueue = queued.get(entry.run)?.run;
    const status = isResumable(entry) && onQueue && isAtWork(onQueue) ? onQueue.status : entry.status;
    return { run: { ...runOf(entry), status }, entry };
  });
  for (const id of ids) queued.delete(id);
  return [...here, ...queued.values()].sort((one, other) => (sortKey(one.run) < sortKey(other.run) ? 1 : -1));
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
