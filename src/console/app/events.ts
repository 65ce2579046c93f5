import { useEffect, useState } from 'react';
import type { RunDetail, RunProgress } from '../../api/schema.js';
import type { OutcomeCounts } from '../../model/outcome.js';
import { addressOf } from './client.js';
import { client, runQuery } from './queries.js';

/** What a page knows of a run at work. `lost`: nothing was heard since `lastSeen`; the run itself goes on. */
export interface RunEvents {
  readonly progress: RunProgress | null;
  readonly connection: 'connecting' | 'live' | 'lost';
  readonly lastSeen: Date | null;
}

const AGAIN_MS = 3_000;
const NOTHING: RunEvents = { progress: null, connection: 'connecting', lastSeen: null };

/**
 * Follows a run, as long as `on`: progress as it comes, and the run itself, with all that hangs on it, read anew at its end.
 *
 *   connecting → live → (the browser lost it, and tries again by itself) → lost → live → … → the end
 *   (somebody in between refused, and the browser gives up) → lost → asked anew every few seconds
 */
export function useRunEvents(id: string, on: boolean): RunEvents {
  const [seen, setSeen] = useState<{ readonly id: string; readonly events: RunEvents }>({ id, events: NOTHING });
  useEffect(() => {
    if (!on) return;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let events = NOTHING;
    const tell = (change: Partial<RunEvents>) => {
      events = { ...events, ...change };
      setSeen({ id, events });
    };
    const alive = () => tell({ connection: 'live', lastSeen: new Date() });
    function connect(): void {
      source = new EventSource(addressOf(`/runs/${encodeURIComponent(id)}/events`));
      source.addEventListener('open', alive);
      source.addEventListener('progress', ({ data }: MessageEvent<string>) => {
        tell({ progress: JSON.parse(data) as RunProgress, connection: 'live', lastSeen: new Date() });
      });
      source.addEventListener('end', () => {
        source?.close();
        void client.invalidateQueries({ queryKey: ['runs'] });
        void client.invalidateQueries({ queryKey: ['overview'] });
      });
      source.addEventListener('error', () => {
        tell({ connection: 'lost' });
        if (source?.readyState !== EventSource.CLOSED) return;
        // It may have ended meanwhile, or nobody may be signed in any more: the run itself says so.
        void client.invalidateQueries({ queryKey: runQuery(id).queryKey });
        timer = setTimeout(connect, AGAIN_MS);
      });
    }
    connect();
    return () => {
      source?.close();
      clearTimeout(timer);
    };
  }, [id, on]);
  return seen.id === id ? seen.events : NOTHING;
}

/** A run as it is now: at work by what its events tell, else as it ended. */
export interface RunNow {
  readonly live: boolean;
  /** Null where it is not at work. */
  readonly progress: RunProgress | null;
  readonly counts: OutcomeCounts | null;
  /** Rows, as far as that is known. */
  readonly total: number | null;
  readonly events: RunEvents;
}

export function isLive({ status }: Pick<RunDetail, 'status'>): boolean {
  return status === 'running' || status === 'waiting';
}

/** `run`: undefined until it was read; `id` is its own, or the one that it was asked for by. */
export function useRunNow(id: string, run: RunDetail | undefined): RunNow {
  const live = run !== undefined && isLive(run);
  const events = useRunEvents(run?.id ?? id, live);
  const progress = live ? (events.progress ?? run.progress) : null;
  return {
    live,
    progress,
    counts: progress?.outcomes ?? run?.outcomes ?? null,
    total: progress?.total ?? run?.rows ?? null,
    events,
  };
}
