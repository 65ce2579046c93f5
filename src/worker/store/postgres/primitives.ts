import type { PgQueryable } from 'bullmq';
import { within } from '../../within.js';
import { Away } from '../faults.js';
import { PACE_AHEAD_MS, PACE_MEMBER_MS, PACE_MEMORY_MS, PRESENT_MS, type Primitives } from '../port.js';

/** A connection that has died silently would keep the question for minutes. */
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
    const answer = await within(ANSWER_MS, database.query<R>(text, values));
    if (!answer) throw new Away('no answer in time');
    return answer.rows[0];
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

/** Longer than any holder lives; epochs go on from the clock after it. */
const EPOCH_MEMORY = '7 days';

/**
 * What the store keeps besides BullMQ's schema, in a schema of its own. What may be forgotten in a crash is unlogged: it
 * spares the disk a write for every report. Safe to run again, and by several at once under the lock.
 */
export const SCHEMA = `
CREATE SCHEMA IF NOT EXISTS rowferry;

CREATE TABLE IF NOT EXISTS rowferry.lease (
  name text PRIMARY KEY, holder text, epoch bigint NOT NULL, until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS rowferry.note (name text PRIMARY KEY, content text NOT NULL);
CREATE UNLOGGED TABLE IF NOT EXISTS rowferry.member (
  place text NOT NULL, id text NOT NULL, seen timestamptz NOT NULL, PRIMARY KEY (place, id)
);
CREATE UNLOGGED TABLE IF NOT EXISTS rowferry.pace (
  service text PRIMARY KEY, successes bigint NOT NULL, throttled bigint NOT NULL, overloaded bigint NOT NULL,
  held double precision NOT NULL, next double precision NOT NULL, spacing double precision NOT NULL,
  forget double precision NOT NULL
);

-- Milliseconds, as doubles hold them to the microsecond.
CREATE OR REPLACE FUNCTION rowferry.now_ms() RETURNS double precision LANGUAGE sql VOLATILE AS
$$ SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 $$;

-- The new epoch, null where another token holds the lease. An epoch is at least the time, so that it grows also where an
-- older copy of the database was put back.
CREATE OR REPLACE FUNCTION rowferry.take_lease(wanted text, token text, ttl_ms double precision) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE taken bigint;
BEGIN
  INSERT INTO rowferry.lease AS l VALUES
    (wanted, token, floor(rowferry.now_ms())::bigint, clock_timestamp() + ttl_ms * interval '1 ms')
  ON CONFLICT (name) DO UPDATE SET
    holder = token,
    epoch = greatest(l.epoch + 1, floor(rowferry.now_ms())::bigint),
    until = clock_timestamp() + ttl_ms * interval '1 ms'
  WHERE l.holder IS NULL OR l.holder = token OR l.until <= clock_timestamp()
  RETURNING epoch INTO taken;
  IF taken IS NOT NULL THEN
    DELETE FROM rowferry.lease WHERE name IN (
      SELECT name FROM rowferry.lease WHERE until < clock_timestamp() - interval '${EPOCH_MEMORY}'
      LIMIT 100 FOR UPDATE SKIP LOCKED
    );
  END IF;
  RETURN taken;
END $$;

-- What was there before, null for nothing.
CREATE OR REPLACE FUNCTION rowferry.swap_note(wanted text, fresh text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE before text;
BEGIN
  -- Two that put the first text at once: a row that is not there cannot be locked.
  PERFORM pg_advisory_xact_lock(hashtext('rowferry.note'), hashtext(wanted));
  SELECT content INTO before FROM rowferry.note WHERE name = wanted;
  INSERT INTO rowferry.note VALUES (wanted, fresh) ON CONFLICT (name) DO UPDATE SET content = fresh;
  RETURN before;
END $$;

CREATE OR REPLACE FUNCTION rowferry.present(wanted text, who text) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO rowferry.member VALUES (wanted, who, clock_timestamp())
  ON CONFLICT (place, id) DO UPDATE SET seen = clock_timestamp();
  DELETE FROM rowferry.member WHERE (place, id) IN (
    SELECT place, id FROM rowferry.member WHERE seen < clock_timestamp() - interval '${2 * PRESENT_MS} ms'
    LIMIT 100 FOR UPDATE SKIP LOCKED
  );
$$;

-- next: the next free slot. spacing: the mean distance of the slots granted up to there, so that (next - now) / spacing of
-- them are still to come.
CREATE OR REPLACE FUNCTION rowferry.exchange(
  wanted text, who text, good bigint, slow bigint, busy bigint, hold_ms double precision,
  slots double precision, step double precision,
  OUT successes bigint, OUT throttled bigint, OUT overloaded bigint, OUT held_ms double precision,
  OUT slot_ms double precision, OUT members bigint
) LANGUAGE plpgsql AS $$
DECLARE
  had rowferry.pace;
  now_ms double precision;
  ahead double precision;
  granted double precision := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('rowferry.pace'), hashtext(wanted));
  now_ms := rowferry.now_ms();
  SELECT * INTO had FROM rowferry.pace p WHERE p.service = wanted AND p.forget > now_ms;
  IF NOT FOUND THEN had := (wanted, 0, 0, 0, 0, 0, 0, 0)::rowferry.pace; END IF;
  had.successes := had.successes + good;
  had.throttled := had.throttled + slow;
  had.overloaded := had.overloaded + busy;
  had.held := greatest(had.held, now_ms + hold_ms);
  IF slots > 0 THEN
    ahead := greatest(had.next - now_ms, 0);
    IF ahead > 0 AND had.spacing > 0 THEN granted := ahead / had.spacing; END IF;
    IF ahead > ${PACE_AHEAD_MS} AND step < had.spacing THEN ahead := granted * step; END IF;
    slot_ms := ahead;
    had.next := now_ms + ahead + slots * step;
    had.spacing := (ahead + slots * step) / (granted + slots);
  END IF;
  had.forget := greatest(now_ms, had.held, had.next) + ${PACE_MEMORY_MS};
  INSERT INTO rowferry.pace VALUES (had.*) ON CONFLICT (service) DO UPDATE SET
    successes = had.successes, throttled = had.throttled, overloaded = had.overloaded,
    held = had.held, next = had.next, spacing = had.spacing, forget = had.forget;
  PERFORM rowferry.present('pace.' || wanted, who);
  successes := had.successes;
  throttled := had.throttled;
  overloaded := had.overloaded;
  held_ms := greatest(0, had.held - now_ms);
  SELECT count(*) INTO members FROM rowferry.member m
    WHERE m.place = 'pace.' || wanted AND m.seen > clock_timestamp() - interval '${PACE_MEMBER_MS} ms';
END $$;
`;

/** Serialises those who make the schema at once; any number will do that nobody else uses. */
export const SCHEMA_LOCK = 0x726f_7766;
