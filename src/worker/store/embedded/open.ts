import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RunError } from '../../../model/error.js';
import { isHeld, LockHeld, takeLock } from '../../../runs/run/lock.js';
import { openReports } from '../faults.js';
import type { Store, StoreOptions } from '../port.js';
import { postgresStore } from '../postgres/open.js';
import { cannotOpen, openFolder } from './folder.js';
import { EmbeddedPool } from './pool.js';

const LOOK_AGAIN_MS = 100;
/** A holder that is only putting a job on the queue is not worth a word. */
const TELL_AFTER_MS = 2_000;

/**
 * The queue of a home folder: PostgreSQL inside this process (PGlite), with its data in `<home>/queue/`. One process has it
 * at a time, under the lock `<home>/queue.lock`; whoever finds it held waits for `patienceMs`, and takes over when the
 * holder has closed it or is gone. One machine only. It does not flush to the disk: after a power cut the journals are the
 * truth. Throws `LockHeld` where patience ends.
 */
export async function openEmbedded(options: StoreOptions): Promise<Store> {
  const { home, notice } = options;
  const folder = join(home, 'queue');
  const reports = openReports({ name: 'the disk', address: folder }, notice);
  const release = await whenFree(home, options).catch((error: unknown) => {
    if (error instanceof RunError || options.signal.aborted) throw error;
    throw cannotOpen(folder, error instanceof Error ? error.message : String(error), error);
  });
  const pool = await EmbeddedPool.over(() => openFolder(folder, notice), release);
  try {
    return await postgresStore({ kind: 'embedded', address: `embedded in ${home}`, pool, reports });
  } catch (error) {
    await pool.end();
    throw reports.explain(error);
  }
}

/**
 *   free ──────────────────────────────→ held by this process
 *   held by another one → standby, told once → its holder closed or gone → held by this process
 *                                            → patience ends → `LockHeld`
 */
async function whenFree(home: string, { patienceMs, notice, signal }: StoreOptions): Promise<() => Promise<void>> {
  await mkdir(home, { recursive: true });
  const lock = join(home, 'queue.lock');
  const began = performance.now();
  const waited = () => performance.now() - began;
  for (let tellAfter = TELL_AFTER_MS; ; ) {
    try {
      return await takeLock(lock, `The embedded queue in ${home}`);
    } catch (error) {
      if (!(error instanceof LockHeld) || waited() >= patienceMs) throw error;
      if (waited() >= tellAfter) {
        tellAfter = Number.POSITIVE_INFINITY;
        notice(
          'info',
          `Process ${error.pid} has the embedded queue in ${home} open: this one stands by, and takes over when that one ends.`,
        );
      }
    }
    do await pause(LOOK_AGAIN_MS, undefined, { signal });
    while (waited() < Math.min(patienceMs, tellAfter) && (await isHeld(lock)));
  }
}
