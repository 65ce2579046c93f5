import { createHash } from 'node:crypto';
import type { LiveRuns } from './live.js';
import type { RunDetail, RunProgress } from './schema.js';

/** Who listens: so many of a person, and of all. */
const MOST_OF_ONE = 20;
const MOST = 500;
/** A run of this process is looked at so often, which costs nothing; others are asked of the queue less often. */
const LOOK_MS = 250;
const ASK_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** A connection that takes nothing is told the latest only. */
const MOST_WAITING = 4;

/** How a run stands: how far it is, or with `end` how it ended. */
export interface Standing {
  readonly progress: RunProgress | null;
  readonly end?: RunDetail;
}

interface Listener {
  readonly stream: ReadableStreamDefaultController<Uint8Array>;
  readonly person: string;
  /** The last event that was sent. */
  id: string | undefined;
}

/**
 * Server-sent events of runs: `progress` a few times a second and `end` at the end. All who listen to a run share one look at it.
 * Whoever comes back with the id of the present state (`Last-Event-ID`) is told nothing anew.
 */
export class RunEvents {
  private readonly watched = new Map<string, Watch>();
  private readonly people = new Map<string, number>();

  constructor(
    private readonly live: LiveRuns,
    private readonly lookMs = LOOK_MS,
  ) {}

  get listeners(): number {
    let sum = 0;
    for (const count of this.people.values()) sum += count;
    return sum;
  }

  /** Undefined where too many listen already. */
  listen(
    run: string,
    person: string,
    lastId: string | undefined,
    look: () => Promise<Standing | undefined>,
    gone: AbortSignal,
  ): ReadableStream<Uint8Array> | undefined {
    const own = this.people.get(person) ?? 0;
    if (own >= MOST_OF_ONE || this.listeners >= MOST) return undefined;
    this.people.set(person, own + 1);
    let leave: () => void = () => undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (stream) => {
          const listener: Listener = { stream, person, id: lastId };
          let watch = this.watched.get(run);
          if (!watch) {
            watch = new Watch(look, () => this.live.of(run), this.lookMs);
            this.watched.set(run, watch);
          }
          const joined = watch;
          leave = () => {
            if (!joined.leave(listener)) return;
            const left = (this.people.get(person) ?? 1) - 1;
            if (left > 0) this.people.set(person, left);
            else this.people.delete(person);
            if (joined.empty && this.watched.get(run) === joined) this.watched.delete(run);
          };
          joined.join(listener, leave);
          gone.addEventListener('abort', leave, { once: true });
        },
        cancel: () => leave(),
      },
      { highWaterMark: MOST_WAITING },
    );
  }

  close(): void {
    for (const watch of this.watched.values()) watch.close();
    this.watched.clear();
  }
}

/** The id of a state: the same state has the same, whoever asks whichever worker. */
export function stateId({ progress, end }: Standing): string {
  const text = end ? `${end.status} ${end.id}` : JSON.stringify(progress);
  return `${end ? 'end' : 'at'}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

class Watch {
  private readonly listeners = new Map<Listener, () => void>();
  private readonly timer: NodeJS.Timeout;
  private readonly heartbeat: NodeJS.Timeout;
  private standing: Standing | undefined;
  private askedAt = Number.NEGATIVE_INFINITY;
  private busy = false;

  constructor(
    private readonly look: () => Promise<Standing | undefined>,
    private readonly live: () => RunProgress | undefined,
    lookMs: number,
  ) {
    this.timer = setInterval(() => void this.tick(), lookMs).unref();
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS).unref();
    void this.tick();
  }

  get empty(): boolean {
    return this.listeners.size === 0;
  }

  join(listener: Listener, leave: () => void): void {
    this.listeners.set(listener, leave);
    listener.stream.enqueue(encode(': listening\n\n'));
    if (this.standing) this.tell(listener, this.standing);
  }

  /** False where it had left. */
  leave(listener: Listener): boolean {
    const was = this.listeners.delete(listener);
    if (was) close(listener);
    if (this.empty) this.close();
    return was;
  }

  close(): void {
    clearInterval(this.timer);
    clearInterval(this.heartbeat);
    for (const [listener, leave] of [...this.listeners]) {
      leave();
      close(listener);
    }
  }

  private async tick(): Promise<void> {
    if (this.busy) return;
    const live = this.live();
    if (live) {
      this.standing = { progress: live };
    } else {
      const now = performance.now();
      // Its end is asked for at once.
      if (now - this.askedAt < ASK_MS) return;
      this.askedAt = now;
      this.busy = true;
      const found = await this.look().catch(() => undefined);
      this.busy = false;
      if (!found) return;
      this.standing = found;
    }
    for (const listener of [...this.listeners.keys()]) this.tell(listener, this.standing);
  }

  private tell(listener: Listener, standing: Standing): void {
    const id = stateId(standing);
    const { progress, end } = standing;
    if (listener.id !== id && (end || (listener.stream.desiredSize ?? 0) > 0)) {
      listener.id = id;
      const [event, data] = end ? ['end', end] : ['progress', progress];
      listener.stream.enqueue(encode(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    }
    if (end) this.listeners.get(listener)?.();
  }

  private beat(): void {
    for (const { stream } of this.listeners.keys()) if ((stream.desiredSize ?? 0) > 0) stream.enqueue(encode(':\n\n'));
  }
}

function close({ stream }: Listener): void {
  try {
    stream.close();
  } catch {
    // Whoever listened has gone.
  }
}

const encoder = new TextEncoder();
const encode = (text: string) => encoder.encode(text);
