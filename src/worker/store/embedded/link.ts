/** What a query answers: pg's shape, as far as BullMQ and the store read it. */
export interface QueryAnswer {
  readonly rows: Record<string, unknown>[];
  readonly rowCount: number | null;
}

export interface Notification {
  readonly channel: string;
  readonly payload: string;
}

/** What a session tells its client without being asked. */
export interface SessionEvents {
  notification(notification: Notification): void;
  /** This session alone is over, through no doing of its client; where all are, `Link.lost` tells. */
  ended(error: Error): void;
}

/**
 * One client's seat at the shared connection. As with PgBouncer's transaction pooling, a session setting holds for the
 * statement or the transaction it is made in; channels listened to and `application_name` stay with the session.
 */
export interface Session {
  /** Rejects with PostgreSQL's `code`, or with `ConnectionLost` where the outcome is open. */
  query(text: string, params: readonly unknown[]): Promise<QueryAnswer>;
  /** An open transaction is rolled back. */
  close(): void;
}

/** The way to PGlite: in this process, or through the socket of the one that has it. */
export interface Link {
  /** True: PGlite runs in this process. */
  readonly owns: boolean;
  /** `single`: for statements that stand alone; each is a transaction of its own, whatever was sent before. */
  session(events: SessionEvents, single: boolean): Session;
  /** Resolves once this link is of no more use, with why; whoever has sessions tells their clients. */
  readonly lost: Promise<ConnectionLost>;
  /** Waits for what runs. */
  close(): Promise<void>;
}

/**
 * The process that had the queue open is gone, or has closed it. A statement that was under way may have taken effect.
 * BullMQ knows a fault of the connection by this code alone, and then sends its command again instead of failing the job.
 */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code = 'ECONNREFUSED';
}
