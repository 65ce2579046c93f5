import { randomBytes } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { copyFile, link, open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isDiskFull, RunError } from '../model/error.js';
import { isAlive } from '../service/alive.js';

/**
 * What stands in the locks that this process holds, by path. Its number alone proves nothing: after a restart of a container
 * the numbers are the same, and a lock that a run of this process left behind is nobody's.
 */
const held = new Map<string, string>();

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
 * Returns the release; `abandon` leaves the file behind, as a process that was killed does, and nobody's. `abandoned` is told
 * when an earlier holder last showed that it lived, in milliseconds since 1970, and who that was: its `owner`, where it is
 * known. Throws `LockHeld` where a living process holds it.
 */
export async function takeLock(
  path: string,
  what: string,
  abandoned: (at: number, owner: string | undefined) => void = () => undefined,
  owner?: string,
): Promise<(abandon?: 'abandon') => Promise<void>> {
  const own = `${path}.${randomBytes(6).toString('hex')}`;
  const self = `${process.pid} ${startOf(process.pid)} ${hostname()}`;
  // Words of its own, so that of two that find an abandoned lock neither takes the other's new one for that.
  const mine = `${self} ${randomBytes(6).toString('hex')}${owner === undefined ? '' : ` ${owner}`}`;
  // The lock appears with its content, so that nobody takes an unfinished one for an abandoned one.
  await writeFile(own, mine).catch(async (error: unknown) => {
    await rm(own, { force: true });
    throw diskFault(own, error);
  });
  // Of several that wait only one removes the abandoned lock, and perhaps another gets it: the word is left beside it.
  const word = `${path}.left`;
  let seen: readonly [at: number, owner: string | undefined] | undefined;
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      if (await linked(own, path)) {
        held.set(path, mine);
        const said = await stat(word).catch(() => undefined);
        if (said) abandoned(said.mtimeMs, (await contentOf(word)) || undefined);
        else if (seen) abandoned(...seen);
        const touch = setInterval(() => {
          const now = new Date();
          utimes(path, now, now).catch(() => undefined);
        }, TOUCH_EVERY_MS);
        touch.unref();
        return async (abandon) => {
          clearInterval(touch);
          if (held.get(path) === mine) held.delete(path);
          if (abandon) await disown(path, mine);
          else if ((await contentOf(path)) === mine) {
            await rm(word, { force: true });
            await rm(path, { force: true });
          }
        };
      }
      const holder = await contentOf(path);
      if (holder === undefined) continue;
      const [pid, start, host, , lastOwner] = holder.split(' ');
      const isOurs = `${pid} ${start} ${host}` === self;
      if (isOurs ? held.get(path) === holder : await isHeld(path)) {
        throw new LockHeld(what, Number.parseInt(holder, 10));
      }
      const left = await stat(path).catch(() => undefined);
      if (left) {
        seen = [left.mtimeMs, lastOwner];
        await writeFile(word, lastOwner ?? '').catch(() => undefined);
        await utimes(word, left.mtime, left.mtime).catch(() => undefined);
      }
      await removeAbandoned(path, holder);
    }
  } finally {
    await rm(own, { force: true });
  }
  throw new RunError('failed', `${what}: the lock ${path} cannot be taken; another process takes it at the same time.`);
}

/** Leaves the lock behind, and no longer names this process, which may live on. Of no other's lock, and without any space. */
async function disown(path: string, mine: string): Promise<void> {
  const file = await open(path, 'r+').catch(() => undefined);
  if (!file) return;
  try {
    if ((await file.readFile('utf8')) === mine) await file.truncate(0);
  } finally {
    await file.close();
  }
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

function diskFault(path: string, cause: unknown): unknown {
  if (!isDiskFull(cause)) return cause;
  return new RunError('failed', `${path} cannot be written: the disk is full. Free some space, then run again.`, [], {
    cause,
  });
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
