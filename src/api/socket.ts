import { createHash } from 'node:crypto';
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { runFailure } from '../model/error.js';

/** Systems take 104 to 108 bytes for the path of a socket. */
const MAX_PATH_BYTES = 100;

/** Where the worker that has the embedded queue of a home open listens: `queue.sock` in the home, where its path is short enough. */
export async function socketAddress(home: string): Promise<string> {
  // The same home by whatever path it is named.
  const real = await realpath(home);
  const name = createHash('sha256').update(real).digest('hex').slice(0, 24);
  if (process.platform === 'win32') return String.raw`\\.\pipe\rowferry-${name}`;
  const inHome = join(real, 'queue.sock');
  if (Buffer.byteLength(inHome) <= MAX_PATH_BYTES) return inHome;
  return join(await privateFolder(), `${name}.sock`);
}

/** A folder of this user alone; others may write beside it, so what is found there is not trusted unseen. */
async function privateFolder(): Promise<string> {
  const folder = join(tmpdir(), `rowferry-${userInfo().uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const info = await lstat(folder);
  if (!info.isDirectory() || info.uid !== userInfo().uid || (info.mode & 0o077) !== 0) {
    throw runFailure(
      `${folder} has to be a folder that only this user can enter (mode 0700): sockets of the embedded queue lie in it, ` +
        'as the path of ROWFERRY_HOME is too long for them. Remove it, or use a shorter ROWFERRY_HOME.',
    );
  }
  return folder;
}
