import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename } from 'node:path';

export interface OpenCandidate {
  readonly info: { readonly ino: bigint };
  /** Last part of the path, as the system reports it: in UTF-8. */
  readonly name: string;
}

/**
 * Which of these files a process has open for writing now, and its number. Best effort: Linux only, and only processes
 * that this user may look into.
 */
export async function openForWriting(files: readonly OpenCandidate[]): Promise<Map<bigint, number>> {
  const writers = new Map<bigint, number>();
  if (process.platform !== 'linux' || files.length === 0) return writers;
  const wanted = new Set(files.map(({ info }) => info.ino));
  const names = new Set(files.map(({ name }) => name));
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of processes) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    await Promise.all(
      descriptors.map(async (fd) => {
        const path = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
        if (!path.startsWith('/') || !names.has(basename(path))) return;
        const info = await stat(`/proc/${pid}/fd/${fd}`, { bigint: true }).catch(() => undefined);
        if (info === undefined || !wanted.has(info.ino) || writers.has(info.ino)) return;
        if (await isForWriting(pid, fd)) writers.set(info.ino, Number(pid));
      }),
    );
  }
  return writers;
}

/** The lowest two bits of the flags: 0 reads, 1 writes, 2 does both. */
async function isForWriting(pid: string, fd: string): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '');
  const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0;
}
