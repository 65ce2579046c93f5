import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, errors, request } from 'undici';
import { RunError } from '../model/error.js';
import { LockHeld } from '../runs/run/lock.js';
import type { Settings } from '../runs/settings.js';
import { RUNS_QUEUE } from '../worker/jobs/data.js';
import { openStore } from '../worker/store/open.js';
import type { Store, StoreOptions } from '../worker/store/port.js';
import type { RunView } from './queued-run.js';
import { type QueueView, type RunOrder, type RunsApi, runsOnStore } from './runs.js';
import { socketAddress } from './socket.js';

export type RunsOptions = Pick<StoreOptions, 'notice' | 'signal' | 'patienceMs'>;

/** A worker that opens the embedded queue, or closes it, answers nobody for so long. */
const HELD_MS = 60_000;
const LOOK_AGAIN_MS = 100;
/** A worker that says nothing for so long hangs. */
const ANSWER_MS = 30_000;

/** Opens the queue of the settings for another process than a worker. The data folder exists. */
export async function openRuns(settings: Settings, options: RunsOptions): Promise<RunsApi> {
  if (settings.queueUrl === undefined) return embeddedRuns(settings, options);
  const store = await storeOf(settings, options);
  return { ...runsOnStore(store, settings.home), close: () => store.close() };
}

/** What the worker that has the embedded queue open says of it; undefined where none has. */
export async function askOwner(home: string): Promise<QueueView | undefined> {
  return overSocket(home)
    .queue()
    .catch((error: unknown) => {
      if (error instanceof NoOwner) return undefined;
      throw error;
    });
}

/**
 * The embedded queue, which one process has open at a time:
 *
 *   a worker has it → it is asked, through its socket → it ends before it has answered → looked again
 *   nobody has it → opened here, for the moment, and closed at the end: a worker that starts later finds what was put
 *   somebody has it, and does not answer yet → looked again
 *
 * An order that was put may be said again to whoever has the queue next: its key makes it one run.
 */
function embeddedRuns(settings: Settings, options: RunsOptions): RunsApi {
  const { home } = settings;
  let own: { readonly store: Store; readonly runs: RunsApi } | undefined;

  async function ask<T>(question: (runs: Pick<RunsApi, 'queue' | 'put'>) => Promise<T>): Promise<T> {
    const began = performance.now();
    for (;;) {
      options.signal.throwIfAborted();
      if (own) return question(own.runs);
      try {
        return await question(overSocket(home));
      } catch (error) {
        if (!(error instanceof NoOwner)) throw error;
      }
      try {
        const store = await storeOf(settings, { ...options, patienceMs: 0 });
        own = { store, runs: runsOnStore(store, home) };
      } catch (error) {
        if (!(error instanceof LockHeld) || performance.now() - began > HELD_MS) throw error;
        await pause(LOOK_AGAIN_MS, undefined, { signal: options.signal });
      }
    }
  }
  async function close(): Promise<void> {
    const open = own;
    own = undefined;
    await open?.store.close();
  }

  return {
    queue: () => ask((runs) => runs.queue()),
    put(order) {
      const key = randomBytes(6).toString('hex');
      return ask((runs) => runs.put({ key, ...order }));
    },
    async look(id) {
      // A worker that starts must not find it held by somebody who waits for that very worker.
      await close();
      return overSocket(home)
        .look(id)
        .catch((error: unknown) => {
          if (error instanceof NoOwner) return { id, progress: null, summary: null, reason: null };
          throw error;
        });
    },
    close,
  };
}

async function storeOf({ queueUrl, home, strict, leaseMs }: Settings, options: RunsOptions): Promise<Store> {
  return openStore({
    ...{ url: queueUrl, home, strict, leaseMs },
    ...options,
  });
}

/** Nobody listens at the socket, or whoever did was gone before the answer: whether the question had an effect is open. */
class NoOwner extends Error {
  override readonly name = 'NoOwner';
}

function overSocket(home: string) {
  /** Undefined where there is no such thing. */
  async function ask(path: string, order?: object, key?: string): Promise<unknown> {
    const socketPath = await socketAddress(home).catch((error: Error) => {
      throw error instanceof RunError ? error : new NoOwner('there is no such home', { cause: error });
    });
    const dispatcher = new Agent({ connect: { socketPath }, headersTimeout: ANSWER_MS });
    try {
      const { statusCode, body } = await request(`http://worker/api/v1${path}`, {
        dispatcher,
        method: order ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
        body: order ? JSON.stringify(order) : null,
      });
      const answer = JSON.parse(await body.text()) as { detail?: string; errors?: string[]; code?: string };
      if (statusCode < 400) return answer;
      if (statusCode === 404) return undefined;
      const kind = answer.code === 'usage' ? 'usage' : 'failed';
      throw new RunError(kind, answer.detail ?? `HTTP ${statusCode}`, answer.errors);
    } catch (error) {
      if (error instanceof RunError) throw error;
      if (!(error instanceof errors.HeadersTimeoutError)) throw new NoOwner((error as Error).message, { cause: error });
      const seconds = ANSWER_MS / 1000;
      throw new RunError('failed', `The worker that has the embedded queue open did not answer within ${seconds} s.`);
    } finally {
      await dispatcher.destroy();
    }
  }
  return {
    queue: () => ask('/queue') as Promise<QueueView>,
    async put({ kind, data, once, key }: RunOrder): Promise<string> {
      return ((await ask('/runs', { ...data, kind, once }, key)) as { id: string }).id;
    },
    look: (id: string) => ask(`/runs/${encodeURIComponent(id)}`) as Promise<RunView | undefined>,
  };
}

/** A queue that does not answer in this time is reported, in milliseconds. */
const PATIENCE_MS = 3_000;

/**
 * Reaches the queue, as a worker would, and counts who works on it. Throws a `RunError` that says what is wrong. Undefined
 * for an embedded queue that no worker has open: it is not opened for a look.
 */
export async function lookAtQueue(
  settings: Settings,
): Promise<{ readonly address: string; readonly workers: number } | undefined> {
  if (settings.queueUrl === undefined) return askOwner(settings.home);
  const { signal } = new AbortController();
  const store = await storeOf(settings, { notice: () => undefined, signal, patienceMs: PATIENCE_MS });
  try {
    await store.check();
    return { address: store.address, workers: await store.workers(RUNS_QUEUE) };
  } finally {
    await store.close();
  }
}
