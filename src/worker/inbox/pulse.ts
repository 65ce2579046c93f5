/** Work that is done again and again, one at a time, on time or when something has happened. */
export interface Pulse {
  /** Does it, after what is being done now; resolves when it is done. Nothing once closed. */
  now(): Promise<void>;
  /** Something may have happened: does it before long. */
  soon(): void;
  /** Resolves when what is being done has ended; nothing is begun any more. */
  close(): Promise<void>;
  readonly closed: boolean;
}

/** Work takes a third of the time at most, however much happens: the next beginning is that far away. */
const REST = 2;
const SHORTEST_MS = 20;

/** `next`: milliseconds until it is to be done without any reason. */
export function openPulse(work: () => Promise<void>, next: () => number, failed: (error: unknown) => void): Pulse {
  let closed = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let notBefore = 0;
  let wanted = false;

  function plan(ms: number): void {
    const now = performance.now();
    const at = Math.max(now + ms, notBefore);
    if (closed || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => void begin(), at - now);
  }

  function begin(): Promise<void> {
    running ??= carryOut().finally(() => {
      running = undefined;
      plan(wanted ? 0 : next());
    });
    return running;
  }

  async function carryOut(): Promise<void> {
    clearTimeout(timer);
    timerAt = Number.POSITIVE_INFINITY;
    wanted = false;
    const begun = performance.now();
    await work().catch(failed);
    const ended = performance.now();
    notBefore = ended + Math.max(SHORTEST_MS, REST * (ended - begun));
  }

  return {
    async now() {
      await running;
      if (!closed) await begin();
    },
    soon() {
      if (running) wanted = true;
      else plan(0);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
    get closed() {
      return closed;
    },
  };
}
