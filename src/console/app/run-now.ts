import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Run } from '../../api/schema.js';
import { runQuery, whilePassing } from './queries.js';

/** How often a run at work is looked at, and one that may be taken up again. */
const AT_WORK_MS = 1_000;
const LOOK_AGAIN_MS = 5_000;

/** It ended as it should; others may go on. */
export const isOver = ({ status }: Pick<Run, 'status'>) => status === 'succeeded' || status === 'partial';

export const isLive = ({ status }: Pick<Run, 'status'>) => status === 'running' || status === 'waiting';

/**
 * A run as it is now. Until another one was read, the one before is shown. `lost`: when it was seen last, where nothing is heard
 * of it any more; the run itself goes on, and is asked for again.
 */
export function useRunNow(asked: string) {
  const { data, error, dataUpdatedAt } = useQuery({
    ...runQuery(asked),
    placeholderData: keepPreviousData,
    // It is asked for again soon: that nobody answers is said at once.
    retry: false,
    refetchInterval(query) {
      const { data: now } = query.state;
      if (!now) return whilePassing(query);
      return isLive(now) ? AT_WORK_MS : !isOver(now) && LOOK_AGAIN_MS;
    },
  });
  const run = data && {
    ...data,
    outcomes: data.progress?.outcomes ?? data.outcomes,
    rows: data.progress?.total ?? data.rows,
  };
  return { run, error, lost: error && run ? new Date(dataUpdatedAt) : undefined };
}
