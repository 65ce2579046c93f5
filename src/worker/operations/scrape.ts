import type { Instruments } from './instruments.js';
import type { Holdings, PaceGauges, WatchedQueue } from './metrics-port.js';

/** What is asked at every scrape. */
export interface Sources {
  pace?: (() => PaceGauges) | undefined;
  holdings?: (() => Holdings | Promise<Holdings>) | undefined;
  queues: () => readonly WatchedQueue[];
}

/** A store that is away keeps its questions waiting: the scrape does without. */
const PATIENCE_MS = 2000;

/**
 * Brings the gauges of the moment up to date. What cannot be had in time is left out, not shown as of old. While a
 * question is still unanswered it is not put again, so that scrapes of a store that is away do not pile up.
 */
export function scraper(to: Instruments, from: Sources): () => Promise<void> {
  const pending = new Map<object, Promise<unknown>>();

  async function ask<T>(of: object, question: () => T | Promise<T>): Promise<T | undefined> {
    if (pending.has(of)) return undefined;
    const answer = (async () => question())().finally(() => pending.delete(of));
    pending.set(of, answer);
    return inTime(
      answer.catch(() => undefined),
      PATIENCE_MS,
    );
  }

  function pace(): void {
    for (const gauge of [to.rate, to.inFlight, to.inFlightLimit, to.held]) gauge.remove();
    const now = guarded(from.pace);
    if (!now) return;
    if (now.rate !== undefined) to.rate.set(now.rate);
    to.inFlight.set(now.inFlight);
    to.inFlightLimit.set(now.inFlightLimit);
    to.held.set(now.heldMs / 1000);
  }

  async function holdings(): Promise<void> {
    const now = from.holdings && (await ask(from.holdings, from.holdings));
    for (const [gauge, value] of [
      [to.leases, now?.leases],
      [to.claims, now?.claims],
      [to.active, now?.runs],
    ] as const) {
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    }
  }

  async function queues(): Promise<void> {
    const counts = await Promise.all(
      (guarded(from.queues) ?? []).map(async (queue) => ({
        name: queue.name,
        counts: await ask(queue, () => queue.getJobCounts()),
      })),
    );
    to.queueJobs.reset();
    to.queueUp.reset();
    for (const { name, counts: states } of counts) {
      to.queueUp.set({ queue: name }, states ? 1 : 0);
      for (const [state, jobs] of Object.entries(states ?? {})) to.queueJobs.set({ queue: name, state }, jobs);
    }
  }

  return async () => {
    pace();
    await Promise.all([holdings(), queues()]);
  };
}

/** The answer, or undefined after so long. */
async function inTime<T>(answer: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function guarded<T>(read: (() => T) | undefined): T | undefined {
  try {
    return read?.();
  } catch {
    return undefined;
  }
}
