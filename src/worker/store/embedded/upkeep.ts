/** Statements after which the tables are tidied, and how much data between two checkpoints. */
const STATEMENTS = 5_000;
const BYTES = 64 * 1024 * 1024;
const LOOK_MS = 10_000;

/**
 * What a PostgreSQL server does by processes of its own, which PGlite does not have: it vacuums tables, else every
 * update of a job makes them longer and slower, and it makes checkpoints, else the write-ahead log grows without end
 * and is replayed whole after a kill. Each step takes its turn like any statement.
 */
export class Upkeep {
  readonly #alone: (text: string) => Promise<Record<string, unknown>[]>;
  readonly #timer: NodeJS.Timeout;
  #statements = 0;
  #bytes = 0;
  #running = false;

  /** `alone` runs a statement outside of any transaction, and rejects once the connection is gone. */
  constructor(alone: (text: string) => Promise<Record<string, unknown>[]>) {
    this.#alone = alone;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  count(params: readonly unknown[]): void {
    this.#statements++;
    for (const param of params) if (typeof param === 'string') this.#bytes += param.length;
    if (this.#bytes > BYTES) void this.#look();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#running || (this.#statements < STATEMENTS && this.#bytes < BYTES)) return;
    this.#running = true;
    this.#statements = 0;
    this.#bytes = 0;
    try {
      const tables = await this.#alone(
        `SELECT format('%I.%I', schemaname, relname) AS name FROM pg_stat_user_tables
         WHERE schemaname NOT LIKE 'pg_%' AND relname <> 'migration'`,
      );
      for (const { name } of tables) await this.#alone(`VACUUM (ANALYZE, TRUNCATE FALSE) ${String(name)}`);
      await this.#alone('CHECKPOINT');
    } catch {
      // The connection is closing, or broken: whoever opens it next counts anew.
    } finally {
      this.#running = false;
    }
  }
}
