import { randomBytes } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { copyFile, link, open, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { codesOf, isDiskFull, RunError } from '../../model/error.js';

/**
 * What stands in the locks that this process takes or holds, from before a lock is there until it is gone. Its number alone
 * proves nothing: after a restart of a container the numbers are the same, and a lock that a run of this process left behind
 * is nobody's.
 */
const held = new Set<string>();

/** A holder shows that it lives by touching its lock this often; on another machine that is the only sign of it. */
const TOUCH_EVERY_MS = 5_000;
const GONE_AFTER_MS = 30_000;

/** Looks at a lock that changes hands at each of them. */
const ATTEMPTS = 20;

/** Fields of /proc/<pid>/stat, counted from the third on. */
const STATE = 0;
const START = 19;

/** What stands in a lock: process, when it started, machine, words of the holder's own, perhaps an owner. */
const WHOLE = /^(\d+) (\S*) (\S+) [0-9a-f]{12}(?: |$)/;

/** This process: its number, when it started, and its machine or container. */
const SELF = `${process.pid} ${startOf(process.pid)} ${hostname()}`;

/** A living process holds the lock. */
export class LockHeld extends RunError {
  constructor(
    what: string,
    readonly pid: number,
  ) {
    super('failed', `${what} is being worked on by process ${pid}. Wait for it to end, or end it first.`, [], {
      code: 'busy',
    });
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
  // Words of its own, so that what was judged abandoned is told from what came in its place.
  const mine = `${SELF} ${randomBytes(6).toString('hex')}${owner === undefined ? '' : ` ${owner}`}`;
  // The lock appears with its content, so that nobody takes an unfinished one for an abandoned one.
  await writeFile(own, mine).catch(async (error: unknown) => {
    await rm(own, { force: true });
    throw diskFault(own, error);
  });
  // Of several that wait only one removes the abandoned lock, and perhaps another gets it: the word is left beside it.
  const word = `${path}.left`;
  let seen: readonly [at: number, owner: string | undefined] | undefined;
  let taken = false;
  held.add(mine);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await linked(own, path)) {
        taken = true;
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
          try {
            if (abandon) await disown(path, mine);
            else if ((await contentOf(path)) === mine) {
              await rm(word, { force: true });
              await rm(path, { force: true });
            }
          } finally {
            held.delete(mine);
          }
        };
      }
      const holder = await contentOf(path);
      if (holder === undefined) continue;
      if (await lives(path, holder)) throw new LockHeld(what, Number.parseInt(holder, 10));
      const remover = await removeAbandoned(own, path, holder, async (at) => {
        const [, , , , lastOwner] = holder.split(' ');
        seen = [at.getTime(), lastOwner];
        await writeFile(word, lastOwner ?? '').catch(() => undefined);
        await utimes(word, at, at).catch(() => undefined);
      });
      if (remover !== undefined) throw new LockHeld(what, remover);
    }
  } finally {
    if (!taken) held.delete(mine);
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

/** Whether a living process holds the lock. */
export async function isHeld(path: string): Promise<boolean> {
  const content = await contentOf(path);
  return content !== undefined && lives(path, content);
}

/** Whether whoever wrote a lock lives. It names a process, when that started, and its machine or container. */
async function lives(path: string, content: string): Promise<boolean> {
  if (content.startsWith(`${SELF} `)) return held.has(content);
  // What a power failure cut off may name another process, which lives for ever.
  const [, number = '', start = '', host = ''] = WHOLE.exec(content) ?? [];
  const pid = Number.parseInt(number, 10);
  if (!(pid > 0)) return false;
  if (host !== '' && host !== hostname()) {
    const touched = await stat(path).catch(() => undefined);
    return touched !== undefined && Date.now() - touched.mtimeMs < GONE_AFTER_MS;
  }
  return isAlive(pid, start);
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
    const [code = ''] = codesOf(error);
    if (code === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP'].includes(code)) throw error;
  }
  // A file system without links: here the lock is empty for an instant.
  return copyFile(own, path, constants.COPYFILE_EXCL).then(
    () => true,
    (error: unknown) => {
      if (codesOf(error)[0] === 'EEXIST') return false;
      throw error;
    },
  );
}

/**
 * Removes a lock that was judged abandoned, if it is still the one that was judged: between the judgement and the removal
 * another process may have removed it and taken the lock. So one process at a time removes; where another does, its number
 * is returned. What a process leaves that is killed while it removes is a lock like any other. `before` is told when the lock
 * was touched last.
 */
async function removeAbandoned(
  own: string,
  path: string,
  content: string,
  before: (touched: Date) => Promise<void> = async () => undefined,
): Promise<number | undefined> {
  const removing = `${path}.removing`;
  if (!(await linked(own, removing))) {
    const remover = await contentOf(removing);
    if (remover === undefined) return;
    if (await lives(removing, remover)) return Number.parseInt(remover, 10);
    return removeAbandoned(own, removing, remover);
  }
  try {
    if ((await contentOf(path)) !== content) return;
    const left = await stat(path).catch(() => undefined);
    if (left) await before(left.mtime);
    await rm(path, { force: true });
  } finally {
    await rm(removing, { force: true });
  }
}

async function contentOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/**
 * Whether a process with this number lives, and is the one that began at `start` (`startOf`), where that is told: the number
 * may have been given to another one since. A killed process that its parent has not asked after yet is still listed, and
 * does nothing more.
 */
export function isAlive(pid: number, start = ''): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It lives, and belongs to somebody else.
    if (codesOf(error)[0] !== 'EPERM') return false;
  }
  const stat = statOf(pid);
  if (stat[STATE] === 'Z') return false;
  const now = stat[START] ?? '';
  return start === '' || now === '' || start === now;
}

/** When a process began, in ticks since the machine did; '' where the system does not tell. */
function startOf(pid: number): string {
  return statOf(pid)[START] ?? '';
}

/** Fields of /proc/<pid>/stat from the third on, the state; empty where the system has no such file. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the name of the program, may hold blanks.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
