import { useEffect, useState } from 'react';
import type { RunDetail, RunProgress } from '../../api/schema.js';
import type { OutcomeCounts } from '../../model/outcome.js';
import { addressOf } from './client.js';
import { client, runQuery } from './queries.js';

/** What was heard of a run at work. `lost`: nothing since `lastSeen`; the run itself goes on. */
interface Heard {
  /** Null where it is not at work. */
  readonly progress: RunProgress | null;
  readonly connection: 'connecting' | 'live' | 'lost';
  readonly lastSeen: Date | null;
}

/** A run as it is now: at work by what its events tell, else as it ended. */
export interface RunNow extends Heard {
  readonly live: boolean;
  readonly counts: OutcomeCounts | null;
  /** Rows, as far as that is known. */
  readonly total: number | null;
}

const AGAIN_MS = 3_000;
const NOTHING: Heard = { progress: null, connection: 'connecting', lastSeen: null };

/**
 * Follows a run as long as it is at work: progress as it comes, and the run itself, with all that hangs on it, read anew at its
 * end. `run`: undefined until it was read; `asked`: its id, or what it was asked for by.
 *
 *   connecting → live → (the browser lost it, and tries again by itself) → lost → live → … → the end
 *   (somebody in between refused, and the browser gives up) → lost → asked anew every few seconds
 */
export function useRunNow(asked: string, run: RunDetail | undefined): RunNow {
  const id = run?.id ?? asked;
  const live = run?.status === 'running' || run?.status === 'waiting';
  const [last, setLast] = useState<{ readonly id: string; readonly heard: Heard }>({ id, heard: NOTHING });
  useEffect(() => {
    if (!live) return;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let heard = NOTHING;
    const tell = (change: Partial<Heard>) => {
      heard = { ...heard, ...change };
      setLast({ id, heard });
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
  }, [id, live]);
  const heard = live && last.id === id ? last.heard : NOTHING;
  const progress = heard.progress ?? (live ? run.progress : null);
  return {
    ...heard,
    live,
    progress,
    counts: progress?.outcomes ?? run?.outcomes ?? null,
    total: progress?.total ?? run?.rows ?? null,
  };
}
