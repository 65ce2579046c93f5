import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Told } from '../operation.js';
import type { RunDetail, RunProgress } from '../schema.js';

/** Who listens: so many of a person, and of all. */
const MOST_OF_ONE = 20;
const MOST = 500;
/** A run is looked at so often, for all who listen to it. */
const LOOK_MS = 500;
const HEARTBEAT_MS = 15_000;

/** How a run stands: how far it is, or with `end` how it ended. */
export interface Standing {
  readonly progress: RunProgress | null;
  readonly end?: Told<RunDetail>;
}

type Look = () => Promise<Standing | undefined>;

/** The id of a state: the same state has the same, whoever asks whichever worker. */
export function stateId({ progress, end }: Standing): string {
  // One that was taken up again ends once more.
  const text = end ? `${end.status} ${end.id} ${end.summary?.['finished_at']}` : JSON.stringify(progress);
  return `${end ? 'end' : 'at'}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/**
 * Server-sent events of runs: `progress` a few times a second and `end` at the end. All who listen to a run share one look at it.
 * Whoever comes back with the id of the present state (`Last-Event-ID`) is told nothing anew; a connection that takes nothing
 * for a while is told the latest.
 */
export class RunEvents {
  private readonly open = new Map<AbortController, string>();
  private readonly seen = new Map<string, { readonly at: number; readonly found: Promise<Seen> }>();

  constructor(private readonly lookMs = LOOK_MS) {}

  get listeners(): number {
    return this.open.size;
  }

  /** Undefined where too many listen already. */
  listen(
    run: string,
    person: string,
    lastId: string | undefined,
    look: Look,
    gone: AbortSignal,
  ): ReadableStream<Uint8Array> | undefined {
    const own = [...this.open.values()].filter((other) => other === person).length;
    if (own >= MOST_OF_ONE || this.open.size >= MOST) return undefined;
    const left = new AbortController();
    const leave = () => left.abort();
    this.open.set(left, person);
    left.signal.addEventListener('abort', () => {
      this.open.delete(left);
      this.seen.delete(run);
    });
    gone.addEventListener('abort', leave, { signal: left.signal });
    const events = this.events(run, lastId, look, left.signal);
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>(
      {
        async pull(stream) {
          const { done, value } = await events.next();
          if (!done) return stream.enqueue(encoder.encode(value));
          leave();
          stream.close();
        },
        cancel: leave,
      },
      { highWaterMark: 0 },
    );
  }

  close(): void {
    for (const left of this.open.keys()) left.abort();
  }

  private async *events(
    run: string,
    lastId: string | undefined,
    look: Look,
    left: AbortSignal,
  ): AsyncGenerator<string> {
    yield ': listening\n\n';
    let told = lastId;
    let toldAt = performance.now();
    while (!left.aborted) {
      const { id, standing } = (await this.look(run, look)) ?? {};
      if (standing && id !== told) {
        told = id;
        toldAt = performance.now();
        const [event, data] = standing.end ? ['end', standing.end] : ['progress', standing.progress];
        yield `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
      } else if (performance.now() - toldAt > HEARTBEAT_MS) {
        toldAt = performance.now();
        yield ':\n\n';
      }
      if (standing?.end) return;
      await pause(this.lookMs, undefined, { ref: false, signal: left }).catch(() => undefined);
    }
  }

  /** One look for all who ask within its time. */
  private look(run: string, look: Look): Promise<Seen> {
    const before = this.seen.get(run);
    const at = performance.now();
    if (before && at - before.at < this.lookMs) return before.found;
    const found = look().then(
      (standing) => standing && { id: stateId(standing), standing },
      () => undefined,
    );
    this.seen.set(run, { at, found });
    return found;
  }
}

type Seen = { readonly id: string; readonly standing: Standing } | undefined;
