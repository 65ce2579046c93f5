import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, lstat, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { placeSafely } from './safe-write.js';
import { type ByteSink, fillFile } from './table-sink.js';

const DAY = 24 * 3_600 * 1_000;

/** Temporary files that this process is writing. */
const own = new Set<string>();

/** Tells machines apart that share a folder: a process number means something only on its own. */
const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

/**
 * Makes a file of what `produce` writes, complete or not at all: `placeSafely`. What a killed process left behind of the
 * same file is removed first. A file that was there keeps who may read and write it; a link is replaced, never followed.
 * Throws `RunError('failed')` where the folder is missing or the disk is full.
 */
export async function placeTable(
  path: string,
  produce: (sink: ByteSink) => Promise<void>,
): Promise<{ bytes: number; sha256: string }> {
  await removeStale(path);
  const name = `.${basename(path)}.${MACHINE}-${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  let result = { bytes: 0, sha256: '' };
  const before = await lstat(path).catch(() => undefined);
  const old = before?.isFile() ? before : undefined;
  own.add(name);
  try {
    await placeSafely(
      path,
      async (temporary) => {
        result = await fillFile(temporary, produce, old ? 0o600 : 0o666);
        if (old) await takeOver(temporary, old);
      },
      { name, ownRights: old !== undefined },
    );
  } finally {
    own.delete(name);
  }
  return result;
}

/** Owner first: changing it may take rights away. Only the administrator can, and nobody else needs to. */
async function takeOver(path: string, { uid, gid, mode }: { uid: number; gid: number; mode: number }): Promise<void> {
  await chown(path, uid, gid).catch(() => undefined);
  await chmod(path, mode & 0o777);
}

/** Bytes that the name of an unfinished file has more than the name of its target; numbers of processes have up to 10 digits. */
export const LONGER_NAME = '.'.length + '.01234567-0123456789-0123456789ab.tmp'.length;

/**
 * Removes unfinished files of this target whose process on this machine is gone, or that nobody has written to for a
 * day. What cannot be looked at or removed stays: it is in nobody's way.
 */
async function removeStale(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `.${basename(path)}.`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(start)) continue;
    const match = /^(?:([0-9a-f]{8})-(\d+)-)?[0-9a-f]{12}\.tmp$/.exec(name.slice(start.length));
    if (!match) continue;
    const at = join(folder, name);
    const gone = match[1] === MACHINE && !own.has(name) && !isAlive(Number(match[2]));
    if (gone || (await isOld(at))) await rm(at, { force: true }).catch(() => undefined);
  }
}

async function isOld(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info !== undefined && Date.now() - info.mtimeMs > DAY;
}

/** A process of the number of this one is this one, and knows its own files. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
