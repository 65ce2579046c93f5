import { randomBytes } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { copyFile, link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { RunError } from '../model/error.js';
import { isAlive } from '../service/alive.js';

/** Locks that this process holds. Its number alone proves nothing: after a restart of a container the numbers are the same. */
const held = new Set<string>();

/** A holder shows that it lives by touching its lock this often; on another machine that is the only sign of it. */
const TOUCH_EVERY_MS = 5_000;
const GONE_AFTER_MS = 30_000;

/** A living process holds the lock. */
export class LockHeld extends RunError {
  constructor(
    what: string,
    readonly pid: number,
  ) {
    super('failed', `${what} is being worked on by process ${pid}. Wait for it to end, or end it first.`);
  }
}

/**
 * Takes a lock file that names this process; one left by a process that is gone is taken over.
 * Returns the release. Throws `LockHeld` where a living process holds it.
 */
export async function takeLock(path: string, what: string): Promise<() => Promise<void>> {
  const own = `${path}.${randomBytes(6).toString('hex')}`;
  const mine = `${process.pid} ${startOf(process.pid)} ${hostname()}`;
  // The lock appears with its content, so that nobody takes an unfinished one for an abandoned one.
  await writeFile(own, mine);
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      if (await linked(own, path)) {
        held.add(path);
        const touch = setInterval(() => {
          const now = new Date();
          utimes(path, now, now).catch(() => undefined);
        }, TOUCH_EVERY_MS);
        touch.unref();
        return async () => {
          clearInterval(touch);
          held.delete(path);
          if ((await contentOf(path)) === mine) await rm(path, { force: true });
        };
      }
      const holder = await contentOf(path);
      if (holder === undefined) continue;
      if (holder === mine ? held.has(path) : await isHeld(path)) {
        throw new LockHeld(what, Number.parseInt(holder, 10));
      }
      await removeAbandoned(path, holder);
    }
  } finally {
    await rm(own, { force: true });
  }
  throw new RunError('failed', `${what}: the lock ${path} cannot be taken; another process takes it at the same time.`);
}

/** Whether a living process holds the lock. It names a process, when that started, and its machine or container. */
export async function isHeld(path: string): Promise<boolean> {
  const content = await contentOf(path);
  if (content === undefined) return false;
  const [number = '', start = '', host = ''] = content.trim().split(' ');
  const pid = Number.parseInt(number, 10);
  if (!(pid > 0)) return false;
  if (host !== '' && host !== hostname()) {
    const touched = await stat(path).catch(() => undefined);
    return touched !== undefined && Date.now() - touched.mtimeMs < GONE_AFTER_MS;
  }
  if (!isAlive(pid)) return false;
  const now = startOf(pid);
  // The number may have been given to another process since.
  return start === '' || now === '' || start === now;
}

/** When a process started, in ticks since the machine did; '' where the system does not tell. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the name of the program, may hold blanks.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

async function linked(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP') throw error;
  }
  // A file system without links: here the lock is empty for an instant.
  return copyFile(own, path, constants.COPYFILE_EXCL).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

/** Of two that find the same abandoned lock, one moves it away; whoever moved a fresh one by mistake puts it back. */
async function removeAbandoned(path: string, content: string): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  await rename(path, aside).catch(() => undefined);
  if ((await contentOf(aside)) !== content) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function contentOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
