import type { PgQueryable } from 'bullmq';
import { within } from '../../within.js';
import { Away } from '../faults.js';
import type { Primitives } from '../port.js';

/** A connection that has died silently would keep the question for minutes. */
const ANSWER_MS = 5_000;

/** Over the tables of `SCHEMA`, one statement each. */
export function postgresPrimitives(database: PgQueryable): Primitives {
  /** The first row. */
  async function ask<R>(text: string, values: readonly unknown[] = []): Promise<R | undefined> {
    const answer = await within(ANSWER_MS, database.query<R>(text, values));
    if (!answer) throw new Away('no answer in time');
    return answer.rows[0];
  }

  return {
    async ping() {
      await ask('SELECT 1');
    },
    async look(name) {
      const row = await ask<{ content: string | null; now: number }>(
        `SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS now,
           (SELECT content FROM ${tableOf(name)} WHERE name = $1 AND ${KEPT}) AS content`,
        [name],
      );
      if (!row) throw new Error('no answer to a look');
      return { text: row.content ?? undefined, now: row.now, ageMs: Number.POSITIVE_INFINITY };
    },
    async replace(name, { text: before }, text, keepMs) {
      const table = tableOf(name);
      const row = await ask(
        `INSERT INTO ${table} AS cell VALUES ($1, $3, clock_timestamp() + $4 * interval '1 ms')
         ON CONFLICT (name) DO UPDATE SET content = excluded.content, forget = excluded.forget
         WHERE cell.content = $2 OR ($2 IS NULL AND NOT (${KEPT.replace('forget', 'cell.forget')}))
         RETURNING name`,
        [name, before ?? null, text, keepMs ?? null],
      );
      if (row && before === undefined) {
        await ask(
          `DELETE FROM ${table} WHERE name IN
             (SELECT name FROM ${table} WHERE forget < clock_timestamp() LIMIT 100 FOR UPDATE SKIP LOCKED)`,
        );
      }
      return row !== undefined;
    },
  };
}

const KEPT = 'coalesce(forget > clock_timestamp(), true)';

/** What may be forgotten in a crash is unlogged: it spares the disk a write for every report. */
function tableOf(name: string): string {
  return /^(workers|pace):/.test(name) ? 'rowferry.passing' : 'rowferry.kept';
}

/** What the store keeps besides BullMQ's schema, in a schema of its own. Safe to run again, and by several at once under the lock. */
export const SCHEMA = `
CREATE SCHEMA IF NOT EXISTS rowferry;
CREATE TABLE IF NOT EXISTS rowferry.kept (name text PRIMARY KEY, content text NOT NULL, forget timestamptz);
CREATE UNLOGGED TABLE IF NOT EXISTS rowferry.passing (name text PRIMARY KEY, content text NOT NULL, forget timestamptz);
`;

/** Serialises those who make the schema at once; any number will do that nobody else uses. */
export const SCHEMA_LOCK = 0x726f_7766;
