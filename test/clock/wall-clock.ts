import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { fakeTime } from '../support/binaries.js';

const found = await fakeTime();

/** `it` for tests that move the clock of processes: skipped where libfaketime is missing, beside a test whose name says why. */
export const itMoves: typeof it = 'missing' in found ? (it.skip as typeof it) : it;
if ('missing' in found) it.skip(found.missing, () => undefined);

/**
 * The time of day as processes see it that are started with `env`. As in life, only the time of day jumps: what measures
 * durations goes on evenly, and so do timers and the times of files.
 */
export interface WallClock {
  readonly env: Readonly<Record<string, string>>;
  /** From now on so many seconds ahead of the real time; negative: behind. */
  jump(seconds: number): void;
  /** From now on as if it were this moment. */
  setTo(moment: Date): void;
  close(): Promise<void>;
}

export async function openWallClock(): Promise<WallClock> {
  if ('missing' in found) throw new Error(found.missing);
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-clock-'));
  const file = join(dir, 'offset');
  await writeFile(`${file}.new`, '+0');
  await rename(`${file}.new`, file);
  const jump = (seconds: number) => {
    // By rename: a process that looks at this moment sees the old text or the new one.
    writeFileSync(`${file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`);
    renameSync(`${file}.new`, file);
  };
  return {
    env: {
      LD_PRELOAD: found.path,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    jump,
    setTo: (moment) => jump((moment.getTime() - Date.now()) / 1000),
    async close() {
      await removeLeft();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Each process shares a page of memory with those that it starts, under its own id, and one that is killed leaves it. */
async function removeLeft(): Promise<void> {
  for (const name of await readdir('/dev/shm').catch(() => [])) {
    const [, pid] = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) await rm(join('/dev/shm', name), { force: true });
  }
}
