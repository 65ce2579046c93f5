import { join } from 'node:path';
import { makeFolder } from '../files/make-folder.js';
import { serviceDir } from '../service/address.js';
import type { Connection } from './connect.js';
import { HOME } from './layout.js';
import { LockHeld, takeLock } from './lock.js';
import { pause } from './pause.js';
import type { Run } from './run.js';

/** How often a run looks whether the one before it has ended, in milliseconds. */
const LOOK_EVERY = 200;

/**
 * One run at a time looks up and writes records of a kind for a service and company: two that look up the same key at the
 * same time would both find nothing and both create it. The second waits. Rehearsals write nothing and do not wait.
 */
export async function oneWriter(run: Run, { spec }: Connection): Promise<void> {
  if (run.request.dryRun) return;
  await overAllMachines(run, spec.name);
  const dir = serviceDir(run.settings.home, run.request.service, run.request.company);
  await makeFolder(dir, HOME);
  let told = false;
  while (!run.signal.aborted) {
    try {
      const what = `Writing ${spec.name} records of company ${run.request.company}`;
      run.closers.push(await takeLock(join(dir, `writing-${spec.name}.lock`), what));
      return;
    } catch (error) {
      if (!(error instanceof LockHeld)) throw error;
      if (!told)
        run.info(
          `Another run writes ${spec.name} records of this company (process ${error.pid}). This one goes on when it has ended.`,
        );
      told = true;
      await pause(LOOK_EVERY, run.signal);
    }
  }
}

/** The lock file holds on one machine; workers on several machines agree through their queue. */
async function overAllMachines(run: Run, resource: string): Promise<void> {
  const service = serviceDir('', run.request.service, run.request.company);
  const right = await run.worker?.exclusive(`writing.${service}.${resource}`, run.signal);
  if (!right) return;
  // Where its release cannot be told, it ends by itself.
  run.closers.push(() => right.release().catch((error: unknown) => run.log.warn({ err: error }, 'right.not_released')));
  run.rights.push(right);
  right.lost.addEventListener('abort', () => run.halt('the right to write was lost to another worker'), { once: true });
  if (right.lost.aborted) run.halt('the right to write was lost to another worker');
}
