import { EventEmitter } from 'node:events';
import type { PgPoolClient, PgQueryResult } from 'bullmq';
import type { Link, Session } from './link.js';

/**
 * A session checked out of the pool: for transactions and for LISTEN. Emits 'notification' as pg's client does, and
 * 'error' once when its session ends by itself; it is of no use then.
 */
export class EmbeddedClient extends EventEmitter implements PgPoolClient {
  readonly #released: (client: EmbeddedClient) => void;
  #session: Session | undefined;
  #failure: Error | undefined;

  constructor(released: (client: EmbeddedClient) => void) {
    super();
    this.setMaxListeners(0);
    this.#released = released;
  }

  open(link: Link): void {
    this.#session = link.session(
      { notification: (notification) => this.emit('notification', notification), ended: (error) => this.fail(error) },
      false,
    );
  }

  async query<R = unknown>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    if (!this.#session) throw this.#failure ?? new Error('This client has been released.');
    return (await this.#session.query(text, params)) as PgQueryResult<R>;
  }

  /** An open transaction is rolled back: nobody who gives a client back means to leave one open. */
  release(_destroy?: boolean): void {
    this.#session?.close();
    this.#session = undefined;
    this.#released(this);
  }

  /** The session is over. */
  fail(error: Error): void {
    if (!this.#session) return;
    this.#session = undefined;
    this.#failure = error;
    this.#released(this);
    // pg throws where nobody listens; a queue that is opened anew is no reason to end the process.
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }
}
