import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { withTimeout } from '../rights.js';
import { classifyError, type Reports } from './faults.js';
import type { Queue, Store, TextStore } from './port.js';
import { exchangePace, isLeased, openPresence, readText, takeLease, updateText } from './shared.js';

/** What one kind of store brings along; the rest is the same for all. */
export interface StoreParts<Kind extends Store['kind'] = Store['kind']> {
  readonly kind: Kind;
  readonly address: string;
  readonly texts: TextStore;
  readonly reports: Reports;
  readonly queues: Queues;
  /** Where they are not kept among the texts. */
  readonly leases?: Pick<Store, 'lease' | 'leased'>;
  /** Ends the connections: orderly, or at once where an orderly end takes too long. */
  end(): Promise<void>;
  abandon(): void;
}

/** What carries the jobs. */
export interface Queues extends Pick<Store, 'queue' | 'worker'> {
  /** Closes all queues and workers. */
  close(): Promise<unknown>;
}

/** Closing must not take longer, also where the store is away. */
const CLOSE_MS = 4_000;
const PATIENCE_MS = 5_000;
const RETRY_AFTER_MS = 200;

export function assemble<Kind extends Store['kind']>(parts: StoreParts<Kind>): Store & { readonly kind: Kind } {
  const { texts, reports, queues } = parts;
  const leases: Pick<Store, 'lease' | 'leased'> = parts.leases ?? {
    lease: (name, ttlMs) => takeLease(texts, name, ttlMs, reports.reportError),
    leased: (name) => isLeased(texts, name),
  };
  const member = randomUUID();
  const presence = openPresence(texts, member, reports.reportError);
  let closed: Promise<void> | undefined;

  /** Errors of the store as a `RunError`. */
  async function explained<T>(operation: () => Promise<T>): Promise<T> {
    try {
      const answer = await operation();
      reports.noteAnswer();
      return answer;
    } catch (error) {
      throw reports.explain(error);
    }
  }

  /** For questions that may be asked twice: a server that restarts is waited for a little. */
  async function retried<T>(operation: () => Promise<T>): Promise<T> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await explained(operation);
      } catch (error) {
        const canRetry = classifyError((error as Error).cause).kind === 'away' && performance.now() < until && !closed;
        if (!canRetry) throw error;
        await pause(RETRY_AFTER_MS);
      }
    }
  }

  return {
    kind: parts.kind,
    address: parts.address,

    queue(name, options) {
      const queue = queues.queue(name, options);
      const add = queue.add.bind(queue);
      return Object.assign(queue, { add: (...job: Parameters<Queue['add']>) => explained(() => add(...job)) });
    },

    worker(name, processor, options) {
      const worker = queues.worker(name, processor, options);
      worker.on('error', (error) => {
        if (!closed) reports.reportError(error);
      });
      return worker.on('closing', presence.enter(name));
    },

    lease: (name, ttlMs) => retried(() => leases.lease(name, ttlMs)),
    leased: (name) => retried(() => leases.leased(name)),
    read: (name) => retried(() => readText(texts, name)),
    update: (name, edit) => explained(() => updateText(texts, name, edit)),
    pace: (service) => ({ exchange: (report) => explained(() => exchangePace(texts, service, member, report)) }),
    workers: (queue) => retried(() => presence.count(queue)),
    check: () => explained(() => texts.ping()),

    close() {
      closed ??= (async () => {
        const orderly = async () => {
          await Promise.allSettled([queues.close(), presence.close()]);
          await parts.end();
        };
        await withTimeout(CLOSE_MS, orderly()).catch(() => undefined);
        parts.abandon();
      })();
      return closed;
    },
  };
}
