import type { PgQueryable } from 'bullmq';
import { Away } from '../faults.js';
import { PRESENT_MS, type Primitives } from '../primitives.js';

const ANSWER_MS = 5_000;

interface Exchanged {
  readonly successes: string;
  readonly throttled: string;
  readonly overloaded: string;
  readonly held_ms: number;
  readonly slot_ms: number | null;
  readonly members: string;
}

/** Over the tables and functions of `SCHEMA`, one statement each. */
export function postgresPrimitives(database: PgQueryable): Primitives {
  /** The first row. */
  async function ask<R>(text: string, values: readonly unknown[] = []): Promise<R | undefined> {
    const { rows } = await inTime(database.query<R>(text, values));
    return rows[0];
  }

  return {
    async ping() {
      await ask('SELECT 1');
    },
    async take(name, token, ttlMs) {
      const row = await ask<{ epoch: string | null }>('SELECT rowferry.take_lease($1, $2, $3) AS epoch', [
        name,
        token,
        ttlMs,
      ]);
      return row?.epoch === null || row === undefined ? undefined : Number(row.epoch);
    },
    async renew(name, token, epoch, ttlMs) {
      const row = await ask(
        `INSERT INTO rowferry.lease AS l VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 ms')
         ON CONFLICT (name) DO UPDATE SET holder = $2, until = clock_timestamp() + $4 * interval '1 ms'
         WHERE l.holder = $2 AND l.epoch = $3
         RETURNING epoch`,
        [name, token, epoch, ttlMs],
      );
      return row !== undefined;
    },
    async release(name, token) {
      await ask('UPDATE rowferry.lease SET holder = NULL, until = clock_timestamp() WHERE name = $1 AND holder = $2', [
        name,
        token,
      ]);
    },
    async held(name) {
      const row = await ask(
        'SELECT 1 FROM rowferry.lease WHERE name = $1 AND holder IS NOT NULL AND until > clock_timestamp()',
        [name],
      );
      return row !== undefined;
    },
    async read(name) {
      const row = await ask<{ content: string }>('SELECT content FROM rowferry.note WHERE name = $1', [name]);
      return row?.content;
    },
    async swap(name, text) {
      const row = await ask<{ before: string | null }>('SELECT rowferry.swap_note($1, $2) AS before', [name, text]);
      return row?.before ?? undefined;
    },
    async exchange(service, member, report) {
      const row = await ask<Exchanged>('SELECT * FROM rowferry.exchange($1, $2, $3, $4, $5, $6, $7, $8)', [
        service,
        member,
        report.successes,
        report.throttled,
        report.overloaded,
        report.holdMs ?? 0,
        report.slots?.count ?? 0,
        report.slots?.intervalMs ?? 0,
      ]);
      if (!row) throw new Error('no answer to a report of the pace');
      return {
        successes: Number(row.successes),
        throttled: Number(row.throttled),
        overloaded: Number(row.overloaded),
        heldMs: row.held_ms,
        members: Number(row.members),
        ...(row.slot_ms !== null && { slotInMs: row.slot_ms }),
      };
    },
    async present(queue, member) {
      await ask('SELECT rowferry.present($1, $2)', [`workers.${queue}`, member]);
    },
    async absent(queue, member) {
      await ask('DELETE FROM rowferry.member WHERE place = $1 AND id = $2', [`workers.${queue}`, member]);
    },
    async count(queue) {
      const row = await ask<{ count: string }>(
        `SELECT count(*) FROM rowferry.member WHERE place = $1 AND seen > clock_timestamp() - interval '${PRESENT_MS} ms'`,
        [`workers.${queue}`],
      );
      return Number(row?.count ?? 0);
    },
  };
}

/** A connection that has died silently would keep the question for minutes. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Away('no answer in time')), ANSWER_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
