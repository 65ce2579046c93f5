import type { Logger } from 'pino';
import type { Carrier, CarrierContext, RunContext, WorkerContext } from '../../runs/run/context.js';
import type { Store } from '../store/port.js';
import { openCarrier } from './carrier.js';
import { partExecutor } from './executor.js';
import type { Signer } from './letters.js';
import { type LettersOptions, openLetters } from './letters.js';
import { MOST_STALLS, PARTS_AT_ONCE, partsQueue } from './protocol.js';

interface PartsOptions extends Pick<RunContext, 'settings' | 'signal'>, Pick<WorkerContext, 'channel' | 'observe'> {
  readonly store: Store;
  /** Address of the service. */
  readonly service: string;
  readonly leaseMs: number;
  readonly signer: Signer;
  readonly refused?: LettersOptions['refused'];
  readonly log: Logger;
  readonly done?: (result: 'done' | 'failed' | 'handed_back', seconds: number) => void;
}

/** How often it is looked who is there to share the work, in milliseconds. */
const COUNT_EVERY_MS = 2_000;
/** Reports of answers pass through the events; nobody reads them later. */
const KEPT_EVENTS = 1_000;
const KEEP_ENDED = { age: 600, count: 200 };

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Both ends of the parts in one process: it sends parts of others, and has its own sent. */
export async function openParts(options: PartsOptions) {
  const { store, leaseMs, signal, log } = options;
  const name = partsQueue(options.service);
  const queue = store.queue(name, { streams: { events: { maxLen: KEPT_EVENTS } } });
  const events = store.events(name);
  await events.waitUntilReady();
  const letters = openLetters(events, options);
  const execute = partExecutor({ ...options, letters });
  const worker = store.worker(
    name,
    async (job, token) => {
      const began = performance.now();
      const told = (result: 'done' | 'failed' | 'handed_back') =>
        options.done?.(result, (performance.now() - began) / 1000);
      try {
        const result = await execute(job, token);
        told('refused' in result || signal.aborted ? 'handed_back' : 'done');
        return result;
      } catch (error) {
        told('failed');
        throw error;
      }
    },
    {
      concurrency: PARTS_AT_ONCE,
      lockDuration: leaseMs,
      // Whole milliseconds: every store refuses a fraction.
      stalledInterval: Math.max(500, Math.round(leaseMs / 3)),
      maxStalledCount: MOST_STALLS,
      removeOnComplete: KEEP_ENDED,
      removeOnFail: KEEP_ENDED,
    },
  );
  // What is taken while this process ends would go back at once, to be taken here once more.
  const leave = () => void worker.close();
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  let takers = 1;
  const count = async () => {
    try {
      takers = await store.workers(name);
    } catch (error) {
      log.debug({ err: error }, 'parts.count');
    }
  };
  await count();
  const timer = setInterval(() => void count(), COUNT_EVERY_MS);
  timer.unref();
  return {
    queue,
    async carrier(run: string, context: CarrierContext): Promise<Carrier> {
      // A short run would be over before the next count.
      await count();
      return openCarrier({ ...context, run, queue, letters, leaseMs, takers: () => takers });
    },
    async close() {
      clearInterval(timer);
      signal.removeEventListener('abort', leave);
      await worker.close();
      await events.close();
      await queue.close();
    },
  };
}
