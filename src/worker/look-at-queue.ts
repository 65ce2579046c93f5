import type { Settings } from '../runs/settings.js';
import { askOwner } from './api/client.js';
import { RUNS_QUEUE } from './jobs/data.js';
import { openStore } from './store/open.js';

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
  const store = await openStore({
    url: settings.queueUrl,
    home: settings.home,
    strict: settings.strict,
    patienceMs: PATIENCE_MS,
    notice: () => undefined,
    signal: new AbortController().signal,
  });
  try {
    await store.check();
    return { address: store.address, workers: await store.workers(RUNS_QUEUE) };
  } finally {
    await store.close();
  }
}
