import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useReducer, useState, useSyncExternalStore } from 'react';
import type { Run, RunProgress } from '../../api/schema.js';
import { addressOf } from './client.js';
import { client, runQuery, whilePassing } from './queries.js';

/** What was heard of a run at work. `lost`: nothing since `lastSeen`; the run itself goes on. */
interface Heard {
  readonly id: string;
  readonly progress: RunProgress | null;
  readonly connection: 'connecting' | 'live' | 'lost';
  readonly lastSeen: Date | null;
}

const isSeen = () => document.visibilityState === 'visible';
function onSight(tell: () => void): () => void {
  document.addEventListener('visibilitychange', tell);
  return () => document.removeEventListener('visibilitychange', tell);
}

const AGAIN_MS = 3_000;
const LOOK_AGAIN_MS = 5_000;

/** It ended as it should; others may go on. */
export const isOver = ({ status }: Pick<Run, 'status'>) => status === 'succeeded' || status === 'partial';

export const isLive = ({ status }: Pick<Run, 'status'>) => status === 'running' || status === 'waiting';

/**
 * A run as it is now, at work by what its events tell, else as it ended; at its end it is read anew, with all that hangs on it.
 * Until another one was read, the one before is shown and followed.
 *
 *   connecting → live → (the browser lost it, and tries again by itself) → lost → live → … → the end
 *   (somebody in between refused, and the browser gives up) → lost → asked anew every few seconds
 */
export function useRunNow(asked: string) {
  const { data, error } = useQuery({
    ...runQuery(asked),
    placeholderData: keepPreviousData,
    // Events tell of a run at work; this is for what they may have missed, and for what somebody else takes up again.
    refetchInterval: (query) => (query.state.data && !isOver(query.state.data) ? LOOK_AGAIN_MS : whilePassing(query)),
  });
  const id = data?.id ?? asked;
  const live = data !== undefined && isLive(data);
  // Browsers hold few connections to a place: those of tabs that nobody sees would keep others from their pages.
  const seen = useSyncExternalStore(onSight, isSeen);
  const [last, setLast] = useState<Heard>();
  const [attempt, connectAgain] = useReducer((n: number) => n + 1, 0);
  const nothing: Heard = { id, progress: null, connection: 'connecting', lastSeen: null };
  useEffect(() => {
    if (!live || !seen) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = (change: Partial<Heard>) => setLast((now) => ({ ...(now?.id === id ? now : nothing), ...change }));
    const source = new EventSource(addressOf(`/runs/${encodeURIComponent(id)}/events`));
    source.addEventListener('open', () => tell({ connection: 'live', lastSeen: new Date() }));
    source.addEventListener('progress', ({ data }: MessageEvent<string>) => {
      tell({ progress: JSON.parse(data) as RunProgress, connection: 'live', lastSeen: new Date() });
    });
    source.addEventListener('end', () => {
      source.close();
      void client.invalidateQueries({ queryKey: ['runs'] });
      void client.invalidateQueries({ queryKey: ['overview'] });
    });
    source.addEventListener('error', () => {
      tell({ connection: 'lost' });
      if (source.readyState !== EventSource.CLOSED) return;
      // It may have ended meanwhile, or nobody may be signed in any more: the run itself says so.
      void client.invalidateQueries({ queryKey: runQuery(id).queryKey });
      timer = setTimeout(connectAgain, AGAIN_MS);
    });
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [id, live, seen, attempt]);
  const { progress, connection, lastSeen } = live && last?.id === id ? last : nothing;
  const now = progress ?? data?.progress ?? null;
  const run = data && {
    ...data,
    progress: now,
    outcomes: now?.outcomes ?? data.outcomes,
    rows: now?.total ?? data.rows,
  };
  return { run, error, connection, lastSeen };
}
