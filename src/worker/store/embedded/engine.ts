import type { PGlite } from '@electric-sql/pglite';
import { DatabaseFault, faultText, isBeyondRepair } from './fault.js';
import { Gate } from './gate.js';
import { ConnectionLost, type QueryAnswer, type Session, type SessionEvents } from './link.js';
import { readStatement } from './statement.js';
import { Upkeep } from './upkeep.js';
import { parameter } from './value.js';

/** A transaction in which nothing happens for this long is rolled back: everybody else waits for it. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** A session, as the engine knows it. */
interface Seat {
  readonly id: number;
  readonly events: SessionEvents;
  readonly single: boolean;
  readonly channels: Set<string>;
  name: string;
  /** May have made a setting that the next session must not find. */
  leaks: boolean;
  closed: Error | undefined;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Many sessions on PGlite's one connection: statements take turns (`Gate`), a transaction keeps the connection to its
 * end, notifications go to the sessions that listen, settings do not pass from one session to another.
 */
export class Engine {
  /** Resolves once nothing more can be asked of it: closed, or broken. */
  readonly lost: Promise<ConnectionLost>;
  readonly #pg: PGlite;
  readonly #gate = new Gate();
  readonly #upkeep: Upkeep;
  readonly #seats = new Set<Seat>();
  /** Channels that the one connection listens to; it never stops, the seats decide who is told. */
  readonly #heard = new Set<string>();
  #lose: (error: ConnectionLost) => void = () => undefined;
  #closing: Promise<void> | undefined;
  #lastId = 0;

  /** PGlite is ready, with the schema and `SESSIONS_TABLE` in place and the search path set. */
  constructor(pg: PGlite) {
    this.#pg = pg;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    pg.onNotification((channel, payload) => {
      for (const seat of [...this.#seats]) {
        if (seat.channels.has(channel)) seat.events.notification({ channel, payload });
      }
    });
    const nobody = {};
    this.#upkeep = new Upkeep((text) =>
      this.#gate.run(
        nobody,
        async () => (await this.#send(text, [])).rows,
        () => false,
      ),
    );
  }

  session(events: SessionEvents, single: boolean): Session {
    const seat: Seat = {
      id: ++this.#lastId,
      events,
      single,
      channels: new Set(),
      name: '',
      leaks: false,
      closed: undefined,
      idle: undefined,
    };
    this.#seats.add(seat);
    return {
      query: (text, params) => this.#query(seat, text, params),
      close: () => this.#leave(seat, new Error('This client has been released.')),
    };
  }

  /** Ends what runs, rolls back what is open, and closes PGlite: its folder is consistent then. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      const over = new ConnectionLost('The process that had the embedded queue open has closed it.');
      this.#upkeep.stop();
      for (const seat of [...this.#seats]) this.#leave(seat, over);
      await this.#gate.drain(over);
      await this.#pg.close().catch(() => undefined);
      this.#lose(over);
    })();
    return this.#closing;
  }

  async #query(seat: Seat, text: string, params: readonly unknown[]): Promise<QueryAnswer> {
    if (seat.closed) throw seat.closed;
    const statement = readStatement(text);
    switch (statement.kind) {
      case 'refused':
        throw new DatabaseFault({ message: statement.reason, fields: { code: '0A000' } });
      case 'listen':
        await this.#hear(seat, statement.channel);
        seat.channels.add(statement.channel);
        return { rows: [], rowCount: null };
      case 'unlisten':
        seat.channels.delete(statement.channel);
        return { rows: [], rowCount: null };
      case 'unlisten-all':
        seat.channels.clear();
        return { rows: [], rowCount: null };
      case 'name':
        return this.#name(seat, statement.name ?? String(params[0] ?? ''));
      case 'plain':
        this.#upkeep.count(params);
        return this.#turn(seat, async () => {
          if (statement.leaks) seat.leaks = true;
          return this.#send(text, params);
        });
    }
  }

  /** One piece of work at this seat's turn. */
  #turn<T>(seat: Seat, work: () => Promise<T>): Promise<T> {
    const kept = () => this.#pg.isInTransaction();
    return this.#gate.run(
      seat,
      async () => {
        clearTimeout(seat.idle);
        try {
          const result = await work();
          if (seat.single && kept()) {
            await this.#send('ROLLBACK', []);
            const message = 'A transaction needs a client of its own: take one with connect().';
            throw new DatabaseFault({ message, fields: { code: '25001' } });
          }
          return result;
        } finally {
          if (seat.leaks && !kept()) {
            seat.leaks = false;
            await this.#send('RESET ALL', []);
          }
          if (kept()) this.#watch(seat);
        }
      },
      kept,
    );
  }

  async #send(text: string, params: readonly unknown[]): Promise<QueryAnswer> {
    try {
      // Only the simple protocol takes several statements in one text: migrations are such.
      const result =
        params.length === 0
          ? (await this.#pg.exec(text)).at(-1)
          : await this.#pg.query<Record<string, unknown>>(text, params.map(parameter));
      if (!result) return { rows: [], rowCount: null };
      return { rows: result.rows, rowCount: result.rowCount ?? result.affectedRows ?? null };
    } catch (error) {
      if (isBeyondRepair(error)) throw this.#break(error);
      throw new DatabaseFault(faultText(error));
    }
  }

  async #hear(seat: Seat, channel: string): Promise<void> {
    if (this.#heard.has(channel)) return;
    await this.#turn(seat, async () => {
      await this.#send(`LISTEN "${channel.replaceAll('"', '""')}"`, []);
      // Within a transaction it holds only if that is committed: ask again next time.
      if (!this.#pg.isInTransaction()) this.#heard.add(channel);
    });
  }

  async #name(seat: Seat, name: string): Promise<QueryAnswer> {
    seat.name = name;
    await this.#turn(seat, () => this.#send(NAME_SESSION, [seat.id, name]));
    return { rows: [{ set_config: name }], rowCount: 1 };
  }

  /** A client that has gone, with whatever it left open. */
  #leave(seat: Seat, reason: Error): void {
    if (seat.closed) return;
    seat.closed = reason;
    clearTimeout(seat.idle);
    this.#seats.delete(seat);
    this.#gate.drop(seat, reason);
    // At its turn it is known whether a transaction is open: a BEGIN may be running now.
    const last = async () => {
      if (this.#gate.keeper === seat) await this.#send('ROLLBACK', []);
      if (seat.leaks) await this.#send('RESET ALL', []);
      if (seat.name !== '') await this.#send('DELETE FROM pg_temp.pg_stat_activity WHERE pid = $1', [seat.id]);
    };
    this.#gate.run(seat, last, () => this.#pg.isInTransaction()).catch(() => undefined);
  }

  #watch(seat: Seat): void {
    if (seat.closed) return;
    seat.idle = setTimeout(() => {
      const seconds = IDLE_IN_TRANSACTION_MS / 1000;
      const message = `The transaction has been rolled back: nothing happened in it for ${seconds} s, and everybody else waited.`;
      const reason = new DatabaseFault({ message, fields: { code: '25P03' } });
      this.#leave(seat, reason);
      seat.events.ended(reason);
    }, IDLE_IN_TRANSACTION_MS);
    seat.idle.unref();
  }

  /** PGlite has failed; nothing more can be asked of it. */
  #break(error: unknown): ConnectionLost {
    const lost = new ConnectionLost(`The embedded queue has failed and is opened anew: ${faultText(error).message}`);
    this.#closing ??= Promise.resolve();
    this.#upkeep.stop();
    this.#gate.break(lost);
    for (const seat of this.#seats) {
      seat.closed = lost;
      clearTimeout(seat.idle);
    }
    this.#seats.clear();
    this.#lose(lost);
    return lost;
  }
}

/**
 * Stands before the system's own view of that name, which shows one connection however many clients share it: BullMQ
 * finds the workers of a queue by the names of connections.
 */
export const SESSIONS_TABLE = `CREATE TEMP TABLE pg_stat_activity (
  pid integer PRIMARY KEY,
  datname name NOT NULL DEFAULT current_database(),
  application_name text NOT NULL
)`;

const NAME_SESSION = `INSERT INTO pg_temp.pg_stat_activity (pid, application_name) VALUES ($1, $2)
  ON CONFLICT (pid) DO UPDATE SET application_name = excluded.application_name`;
