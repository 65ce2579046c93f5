import { randomBytes } from 'node:crypto';
import { Agent, errors, request } from 'undici';
import { RunError, runFailure } from '../model/error.js';
import type { Settings } from '../runs/settings.js';
import { RUNS_QUEUE } from '../worker/jobs/data.js';
import { openStore } from '../worker/store/open.js';
import type { Store, StoreOptions } from '../worker/store/port.js';
import { leaveOrder, type QueueView, type RunOrder, type RunsApi, runsOnStore } from './runs/orders.js';
import type { RunView } from './runs/queued.js';
import { socketAddress } from './socket.js';

export type RunsOptions = Pick<StoreOptions, 'notice' | 'signal' | 'patienceMs'>;

/** A worker that says nothing for so long hangs. */
const ANSWER_MS = 30_000;

/** Opens the queue of the settings for another process than a worker. The data folder exists. */
export async function openRuns(settings: Settings, options: RunsOptions): Promise<RunsApi> {
  if (settings.queueUrl === undefined) return embeddedRuns(settings.home);
  const store = await openSettingsStore(settings, options);
  return { ...runsOnStore(store, settings.home), close: () => store.close() };
}

/** What the worker that has the embedded queue open says of it; undefined where none has. */
export const askOwner = (home: string) => ask<QueueView | undefined>(home, '/queue', undefined);

/**
 * The embedded queue, which a worker alone has open: it is asked, through its socket. Where none is there, an order is left in the
 * data folder, for the one that comes; it may have come meanwhile, and is told then. The key of an order makes it one run.
 */
function embeddedRuns(home: string): RunsApi {
  return {
    queue: () => ask<QueueView>(home, '/queue', { address: `embedded in ${home}`, workers: 0 }),
    async put(requested) {
      const order = { key: randomBytes(6).toString('hex'), ...requested };
      const tell = () => ask<{ readonly id: string } | undefined>(home, '/runs', undefined, order);
      const accepted = await tell();
      if (accepted) return accepted.id;
      const leftRun = await leaveOrder(home, order);
      await tell();
      return leftRun;
    },
    look: (id) =>
      ask<RunView | undefined>(home, `/runs/${encodeURIComponent(id)}`, {
        id,
        progress: null,
        summary: null,
        reason: null,
      }),
    close: async () => undefined,
  };
}

const openSettingsStore = ({ queueUrl, home, strict, leaseMs }: Settings, options: RunsOptions): Promise<Store> =>
  openStore({ url: queueUrl, home, strict, leaseMs, ...options });

/**
 * Asks the worker that listens at the socket of a data folder, or gives it an order. `nobody`: what is answered where none does, or it
 * was gone before its answer; then it is open whether an order had an effect. Undefined where there is no such thing.
 */
async function ask<T>(home: string, path: string, nobody: T, order?: RunOrder): Promise<T> {
  const socketPath = await socketAddress(home).catch((error: unknown) => {
    if (error instanceof RunError) throw error;
    // There is no such home.
    return undefined;
  });
  if (socketPath === undefined) return nobody;
  const { key, kind, once, data } = order ?? {};
  const dispatcher = new Agent({ connect: { socketPath }, headersTimeout: ANSWER_MS });
  try {
    const { statusCode, body } = await request(`http://worker/api/v1${path}`, {
      dispatcher,
      method: order ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      body: order ? JSON.stringify({ ...data, kind, once }) : null,
    });
    const answer = JSON.parse(await body.text()) as { detail?: string; errors?: string[]; code?: string };
    if (statusCode < 400) return answer as T;
    if (statusCode === 404 && !order) return undefined as T;
    throw new RunError(
      answer.code === 'usage' ? 'usage' : 'failed',
      answer.detail ?? `HTTP ${statusCode}`,
      answer.errors,
    );
  } catch (error) {
    if (error instanceof RunError) throw error;
    if (!(error instanceof errors.HeadersTimeoutError)) return nobody;
    const seconds = ANSWER_MS / 1000;
    throw runFailure(`The worker that has the embedded queue open did not answer within ${seconds} s.`);
  } finally {
    await dispatcher.destroy();
  }
}

/** A queue that does not answer in this time is reported, in milliseconds. */
const PATIENCE_MS = 3_000;

/**
 * Reaches the queue, as a worker would, and counts who works on it. Throws a `RunError` that says what is wrong. Undefined
 * for an embedded queue that no worker has open: it is not opened for a look.
 */
export async function inspectQueue(
  settings: Settings,
): Promise<{ readonly address: string; readonly workers: number } | undefined> {
  if (settings.queueUrl === undefined) return askOwner(settings.home);
  const { signal } = new AbortController();
  const store = await openSettingsStore(settings, { notice: () => undefined, signal, patienceMs: PATIENCE_MS });
  try {
    await store.check();
    return { address: store.address, workers: await store.workers(RUNS_QUEUE) };
  } finally {
    await store.close();
  }
}
