import { join } from 'node:path';
import { openEmbedded } from './embedded/open.js';
import type { Store, StoreOptions } from './port.js';
import { postgresStore } from './postgres/store.js';
import { openReports } from './reports.js';

/** The queue of a home folder: PostgreSQL inside this process, or inside another one of this machine. */
export async function openEmbeddedStore(options: StoreOptions): Promise<Store> {
  const reports = openReports({ name: 'the disk', address: join(options.home, 'queue') }, options.notice);
  const pool = await openEmbedded(options.home, options);
  try {
    return await postgresStore({ kind: 'embedded', address: `embedded in ${options.home}`, pool, reports });
  } catch (error) {
    await pool.end().catch(() => undefined);
    throw reports.explain(error);
  }
}
