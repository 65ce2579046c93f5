import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeepReadonly } from '../operation.js';
import type { RunDetail, RunProgress } from '../schema.js';

/** A run is looked at so often. */
const POLL_MS = 500;
const HEARTBEAT_MS = 15_000;

/** How a run stands: how far it is, or with `end` how it ended. */
export interface RunSnapshot {
  readonly progress: RunProgress | null;
  readonly end?: DeepReadonly<RunDetail>;
}

/** The id of a state: the same state has the same, whoever asks whichever worker. */
export function stateId({ progress, end }: RunSnapshot): string {
  // One that was taken up again ends once more.
  const text = end ? `${end.status} ${end.id} ${end.summary?.['finished_at']}` : JSON.stringify(progress);
  return `${end ? 'end' : 'at'}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/**
 * Server-sent events of a run: `progress` a few times a second and `end` at the end. Whoever comes back with the id of the
 * present state (`Last-Event-ID`) is told nothing anew; a connection that takes nothing for a while is told the latest.
 */
export async function* runEvents(
  readSnapshot: () => Promise<RunSnapshot | undefined>,
  lastId: string | undefined,
  disconnected: AbortSignal,
  pollMs = POLL_MS,
): AsyncGenerator<string> {
  yield ': listening\n\n';
  let sentId = lastId;
  let sentAt = performance.now();
  while (!disconnected.aborted) {
    const snapshot = await readSnapshot().catch(() => undefined);
    const id = snapshot && stateId(snapshot);
    if (snapshot && id !== sentId) {
      sentId = id;
      sentAt = performance.now();
      const [event, data] = snapshot.end ? ['end', snapshot.end] : ['progress', snapshot.progress];
      yield `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    } else if (performance.now() - sentAt > HEARTBEAT_MS) {
      sentAt = performance.now();
      yield ':\n\n';
    }
    if (snapshot?.end) return;
    await pause(pollMs, undefined, { ref: false, signal: disconnected }).catch(() => undefined);
  }
}

/** The generator as the body of an answer; `ended` once nobody reads it any more. */
export function streamOf(texts: AsyncGenerator<string>, ended: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const { done, value } = await texts.next();
        if (!done) return stream.enqueue(encoder.encode(value));
        ended();
        stream.close();
      },
      cancel: ended,
    },
    { highWaterMark: 0 },
  );
}
