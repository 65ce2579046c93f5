import { open, readFile, rm } from 'node:fs/promises';
import { RunError } from '../model/error.js';

/**
 * Takes a lock file that holds this process's id; one left by a process that is gone is taken over.
 * Returns the release. Throws a `RunError` where a living process holds it.
 */
export async function takeLock(path: string, what: string): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      const handle = await open(path, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const holder = Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10);
    if (holder > 0 && isAlive(holder)) {
      throw new RunError(
        'failed',
        `${what} is being worked on by process ${holder}. Wait for it to end, or end it first.`,
      );
    }
    await rm(path, { force: true });
  }
  throw new RunError('failed', `${what}: the lock ${path} cannot be taken; another process takes it at the same time.`);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives, and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
