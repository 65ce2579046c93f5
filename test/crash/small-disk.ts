import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of 8 MB in memory. */
export interface SmallDisk {
  readonly path: string;
  /** To the last byte. */
  fill(): void;
  /** Gives the space back. */
  free(): void;
  remove(): Promise<void>;
}

/** Undefined where this user may not mount one. */
export async function openSmallDisk(): Promise<SmallDisk | undefined> {
  const path = await mkdtemp(join(tmpdir(), 'rowferry-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    await rm(path, { recursive: true, force: true });
    return undefined;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill: () => fillUp(filler),
    free: () => rmSync(filler),
    async remove() {
      // A process may hold a file of it a moment longer.
      execFileSync('umount', ['-l', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

function fillUp(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = 65_536; size > 0; size >>= 1) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // Full for pieces of this size.
      }
    }
  } finally {
    closeSync(file);
  }
}
