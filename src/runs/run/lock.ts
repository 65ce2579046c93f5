import { existsSync } from 'node:fs';
import { open, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isDiskFull, RunError, runFailure, systemCodes } from '../../model/error.js';
import { lockFile } from '../../store/sqlite.js';

/** A holder shows that it lives by touching its lock this often: who comes after one that died learns when that was. */
const TOUCH_EVERY_MS = 5_000;

/** Who looks at a lock (`isLocked`) holds it for an instant, on a busy machine a long one: who wants it tries so often, so long apart. */
const TRIES = 100;
const TRY_AGAIN_MS = 10;

/** A living process holds the lock. */
export class LockedError extends RunError {
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
 * Takes a lock, which two files are: `<path>.db` is empty and held by SQLite, so that the system lets go of it when its process
 * dies; `path` names the process and perhaps an owner, for those who find it held. Both are gone once it was released: where
 * `path` is there and nobody holds the other, its holder died.
 *
 *   free → held → released
 *               → abandoned (killed, or `abandon`: as a killed process does, and nobody's) → held by the next, who is told
 *
 * `abandoned` is told when the one before last showed that it lived, in milliseconds since 1970, and its owner, where that is
 * known. Returns the release. Throws `LockedError` where a living process holds it.
 */
export async function takeLock(
  path: string,
  what: string,
  abandoned: (at: number, owner: string | undefined) => void = () => undefined,
  owner = '',
): Promise<(abandon?: 'abandon') => Promise<void>> {
  const release = await acquire(path);
  if (!release) throw new LockedError(what, await holderPid(path));
  const leftover = await stat(path).catch(() => undefined);
  const [, lastOwner] = (await contentOf(path)).split(' ');
  try {
    await writeFile(path, `${process.pid} ${owner}`, { mode: 0o600 });
  } catch (error) {
    if (!leftover) await rm(path, { force: true });
    release();
    throw diskFault(path, error);
  }
  if (leftover) abandoned(leftover.mtimeMs, lastOwner || undefined);
  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, TOUCH_EVERY_MS).unref();
  return async (abandon) => {
    clearInterval(touch);
    try {
      if (abandon) await truncate(path);
      else await rm(path, { force: true });
    } finally {
      release();
    }
  };
}

/** Whether a living process holds the lock. */
export function isLocked(path: string): boolean {
  if (!existsSync(path) || !existsSync(databasePath(path))) return false;
  const release = lockFile(databasePath(path));
  release?.();
  return release === undefined;
}

async function acquire(path: string): Promise<(() => void) | undefined> {
  for (let tries = 1; ; tries++) {
    const release = lockFile(databasePath(path));
    if (release || tries === TRIES || isAlive(await holderPid(path))) return release;
    await pause(TRY_AGAIN_MS);
  }
}

/** The process that a lock names; 0 where it names none. */
const holderPid = async (path: string): Promise<number> => Number.parseInt(await contentOf(path), 10) || 0;

const databasePath = (path: string): string => `${path}.db`;

const contentOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** Takes no space. */
async function truncate(path: string): Promise<void> {
  const file = await open(path, 'r+').catch(() => undefined);
  await file?.truncate(0).finally(() => file.close());
}

function diskFault(path: string, cause: unknown): unknown {
  if (!isDiskFull(cause)) return cause;
  return runFailure(`${path} cannot be written: the disk is full. Free some space, then run again.`, [], {
    cause,
  });
}

/** Whether a process with this number lives. */
export function isAlive(pid: number): boolean {
  // Of zero, the system would look for the whole group of this process.
  if (pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It lives, and belongs to somebody else.
    return systemCodes(error)[0] === 'EPERM';
  }
}
