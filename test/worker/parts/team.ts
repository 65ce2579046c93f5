import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Job, Queue, QueueEvents, Worker } from 'bullmq';
import pino from 'pino';
import type { CarriedAnswer, Carrier, WriteAnswer, WriteRequest } from '../../../src/runs/run/context.js';
import { openCarrier } from '../../../src/worker/parts/carrier.js';
import {
  type Message,
  type Messenger,
  MOST_STALLS,
  openMessenger,
  openSigner,
  type PartListener,
  type PartResult,
  pack,
  type Signer,
} from '../../../src/worker/parts/protocol.js';
import { openStore } from '../../../src/worker/store/open.js';
import { asBull, type BullStore } from '../../support/bull.js';

/** A queue of parts on a real store, and both its ends to be played by hand. */
export interface PartsTeam {
  readonly store: BullStore;
  readonly queue: Queue;
  readonly letters: Messenger;
  /** The coordinator's end of a run. */
  coordinator(options?: CoordinatorOptions): Carrier;
  /** A worker that does with each part what the test says, and signs what comes of it; nothing is no result. */
  executor(work: (job: Job, token: string | undefined) => Promise<Said | undefined>): Promise<Worker>;
  close(): Promise<void>;
}

export type Said = PartResult | { readonly from: string; readonly answers: string };

export interface CoordinatorOptions {
  readonly run?: string;
  readonly signal?: AbortSignal;
  readonly mayWrite?: () => boolean;
  readonly company?: number;
  readonly resource?: string;
  /** The queue as the coordinator finds it; the real one where it is not given. */
  readonly queue?: Queue;
}

export const LEASE_MS = 1_000;

/** The secret of everybody's signatures, unless a test says otherwise. */
export const SIGNER: Promise<Signer> = openSigner({ queueSecret: 'the secret of the team' });

export async function openPartsTeam(url: string): Promise<PartsTeam> {
  const opened = await openStore({
    url,
    home: '/nowhere',
    strict: false,
    patienceMs: 10_000,
    notice: () => undefined,
    signal: new AbortController().signal,
  });
  const store = asBull(opened);
  const name = `parts-${randomBytes(4).toString('hex')}`;
  const queue = store.queue(name);
  const events = store.events(name);
  await events.waitUntilReady();
  const messenger = openMessenger(events, { signer: await SIGNER, log: pino({ level: 'silent' }) });
  const closers: (() => Promise<unknown>)[] = [() => events.close(), () => queue.close(), () => store.close()];
  return {
    store,
    queue,
    letters: messenger,
    coordinator(given = {}) {
      const log = pino({ level: 'silent' });
      const signal = new AbortController().signal;
      const usual = {
        run: 'run',
        company: 1,
        resource: 'supplier',
        queue,
        signal,
        mayWrite: () => true,
        now: Date.now,
      };
      const fixed = { log, messenger, leaseMs: LEASE_MS, workerCount: () => 2, pollEveryMs: 100 };
      const carrier = openCarrier({ ...usual, ...fixed, ...given });
      closers.unshift(() => carrier.close());
      return carrier;
    },
    async executor(work) {
      const options = { concurrency: 4, lockDuration: LEASE_MS, stalledInterval: 300, maxStalledCount: MOST_STALLS };
      const worker = store.worker(
        name,
        async (job, token) => {
          const said = await work(job, token);
          return (
            said &&
            messenger.signedResult(job.id ?? '', 'from' in said ? { reads: 0, writes: 0, retries: 0, ...said } : said)
          );
        },
        options,
      );
      closers.unshift(() => worker.close(true));
      await worker.waitUntilReady();
      return worker;
    },
    async close() {
      for (const close of closers.splice(0)) await close();
    },
  };
}

/** What another worker would sign with, that has another secret; it hears nothing. */
export async function lettersWith({ queue }: PartsTeam, queueSecret?: string): Promise<Messenger> {
  const events = Object.assign(new EventEmitter(), { name: queue.name }) as unknown as QueueEvents;
  const signer = await (queueSecret === undefined ? SIGNER : openSigner({ queueSecret }));
  return openMessenger(events, { signer, log: pino({ level: 'silent' }) });
}

export const creates = (count: number): WriteRequest[] =>
  Array.from({ length: count }, (_, i) => ({ op: 'create', resource: 'supplier', body: { name: `Supplier ${i}` } }));

export const done = (id: number): WriteAnswer => ({ kind: 'done', id });

/** Answers of an executor, as it packs them. */
export const answers = (...pairs: [number, CarriedAnswer | null][]): string => pack(pairs);

/** What the coordinator says to an executor that asks for a part. */
export function ask({ letters }: PartsTeam, job: Job, name: string): Promise<'granted' | 'denied'> {
  return heard(
    { letters },
    job,
    () => letters.send(job, { ask: name, at: performance.now() }),
    (message) => {
      if ('grant' in message && message.grant === name) return 'granted';
      return 'deny' in message && message.deny === name ? 'denied' : undefined;
    },
  );
}

/** Resolves with what the first message that is meant comes to. */
export async function heard<T>(
  { letters }: Pick<PartsTeam, 'letters'>,
  job: Job,
  first: () => Promise<void>,
  meant: (message: Message) => T | undefined,
): Promise<T> {
  const id = job.id ?? '';
  return new Promise((resolve, reject) => {
    const listener: PartListener = {
      message(message) {
        const found = meant(message);
        if (found === undefined) return;
        letters.forget(id, listener);
        resolve(found);
      },
    };
    letters.listen(id, listener);
    first().catch(reject);
  });
}

/** Kinds of answers in order; `none` for a request that was not sent. */
export async function kinds(carried: readonly Promise<CarriedAnswer | undefined>[]): Promise<string[]> {
  return (await Promise.all(carried)).map((answer) => answer?.kind ?? 'none');
}
