import { UnsupportedPostgresVersionError } from 'bullmq';
import { RunError } from '../../../model/error.js';
import type { PostgresAddress } from '../address.js';
import type { Store, StoreOptions } from '../port.js';
import { openReports } from '../reports.js';
import { whenThere } from '../waiting.js';
import { openPool } from './pool.js';
import { postgresStore, QUEUE_SCHEMA } from './store.js';

/**
 * A queue on PostgreSQL 13 or newer. BullMQ's tables lie in its usual schema `bullmq`, so that programs with a plain BullMQ
 * can put jobs on it; ours lie in schema `rowferry`. Both are made at the first opening.
 */
export async function openPostgres(address: PostgresAddress, options: StoreOptions): Promise<Store> {
  const reports = openReports({ name: 'PostgreSQL', address: address.shown }, options.notice);
  const attempt = async (): Promise<Store> => {
    const pool = openPool(address, QUEUE_SCHEMA);
    try {
      return await postgresStore({ kind: 'postgres', address: address.shown, pool, reports });
    } catch (error) {
      await pool.end().catch(() => undefined);
      throw error;
    }
  };
  return whenThere(address.shown, attempt, options, (error) => {
    if (!(error instanceof UnsupportedPostgresVersionError)) return reports.explain(error);
    return new RunError(
      'failed',
      `The queue at ${address.shown} is PostgreSQL ${error.serverVersion}: the queue needs ${error.minimumVersion} or newer.`,
    );
  });
}
