import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import { EmbeddedClient } from './client.js';
import { ConnectionLost, type Link, type Session } from './link.js';

/** A pool's way to the queue for now, with the seat of its single statements. */
interface Attached {
  readonly link: Link;
  readonly single: Session;
}

/**
 * What BullMQ takes for a pool of PostgreSQL connections, and the store for its own statements. All clients share one
 * connection, in this process or in another one's. When the process that has the queue open ends, what is under way
 * rejects with `ConnectionLost`, clients get 'error', and the next statement finds the new owner, or makes this process
 * the owner.
 */
export class EmbeddedPool extends EventEmitter implements PgPool {
  /** BullMQ: a lost connection shows at once, so that a worker may wait for long. */
  readonly options = { keepAlive: true } as const;
  readonly #attach: () => Promise<Link>;
  readonly #clients = new Set<EmbeddedClient>();
  readonly #running = new Set<Promise<unknown>>();
  #attached: Promise<Attached> | undefined;
  #ended: Promise<void> | undefined;
  #wasReady = false;

  /** `attach` finds or becomes the owner; it is called again after every loss. */
  constructor(attach: () => Promise<Link>) {
    super();
    // Every queue, worker and listener of BullMQ listens to the pool's errors.
    this.setMaxListeners(0);
    this.#attach = attach;
  }

  /** Resolves once the queue answers. */
  async ready(): Promise<void> {
    await this.#current();
  }

  /** Whether this process has the queue open now; the others use its socket. */
  async owns(): Promise<boolean> {
    return (await this.#current()).link.owns;
  }

  async query<R = unknown>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    const { link, single } = await this.#current();
    const answer = single.query(text, params);
    this.#running.add(answer);
    try {
      return (await answer) as PgQueryResult<R>;
    } catch (error) {
      // Whoever tries again at once shall find the next owner, not this link.
      if (error instanceof ConnectionLost) await link.lost;
      throw error;
    } finally {
      this.#running.delete(answer);
    }
  }

  async connect(): Promise<PgPoolClient> {
    const { link } = await this.#current();
    const client = new EmbeddedClient((gone) => this.#clients.delete(gone));
    client.open(link);
    this.#clients.add(client);
    return client;
  }

  /** Waits for statements under way, then leaves; where this process is the owner, another one takes over. */
  end(): Promise<void> {
    this.#ended ??= (async () => {
      const attached = await this.#attached?.catch(() => undefined);
      await Promise.allSettled([...this.#running]);
      for (const client of [...this.#clients]) client.release();
      await attached?.link.close();
      this.removeAllListeners();
    })();
    return this.#ended;
  }

  #current(): Promise<Attached> {
    // BullMQ knows an ended pool by these words, which are pg's.
    if (this.#ended) return Promise.reject(new Error('Cannot use a pool after calling end on the pool'));
    this.#attached ??= this.#find();
    return this.#attached;
  }

  async #find(): Promise<Attached> {
    try {
      const link = await this.#attach();
      const single = link.session({ notification: () => undefined, ended: () => undefined }, true);
      void link.lost.then((error) => {
        this.#attached = undefined;
        if (this.#ended) return;
        const clients = [...this.#clients];
        for (const client of clients) client.fail(error);
        if (clients.length === 0 && this.listenerCount('error') > 0) this.emit('error', error);
      });
      this.#wasReady = true;
      return { link, single };
    } catch (error) {
      this.#attached = undefined;
      if (!this.#wasReady) throw error;
      // BullMQ pauses before it tries again after a fault of the connection alone, and would ask without end after others.
      throw new ConnectionLost(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
}
