import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Run } from '../../api/schema.js';
import { retryWhileTransient, runQuery } from './queries.js';

/** How often a run at work is looked at, and one that may be taken up again. */
const LIVE_POLL_MS = 1_000;
const IDLE_POLL_MS = 5_000;

/** It ended as it should; others may go on. */
export const isComplete = ({ status }: Pick<Run, 'status'>) => status === 'succeeded' || status === 'partial';

export const isLive = ({ status }: Pick<Run, 'status'>) => status === 'running' || status === 'waiting';

/**
 * A run as it is now. Until another one was read, the one before is shown. `lost`: when it was seen last, where nothing is heard
 * of it any more; the run itself goes on, and is asked for again.
 */
export function useLiveRun(id: string) {
  const { data, error, dataUpdatedAt } = useQuery({
    ...runQuery(id),
    placeholderData: keepPreviousData,
    // It is asked for again soon: that nobody answers is said at once.
    retry: false,
    refetchInterval(query) {
      const { data: now } = query.state;
      if (!now) return retryWhileTransient(query);
      return isLive(now) ? LIVE_POLL_MS : !isComplete(now) && IDLE_POLL_MS;
    },
  });
  const run = data && {
    ...data,
    outcomes: data.progress?.outcomes ?? data.outcomes,
    rows: data.progress?.total ?? data.rows,
  };
  return { run, error, lost: error && run ? new Date(dataUpdatedAt) : undefined };
}
