import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isHeld, LockHeld, takeLock } from '../../src/runs/run/lock.js';

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-lock-'));
  path = join(dir, 'lock');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('a lock file', () => {
  it('is held until it is released, also against its own process', async () => {
    const release = await takeLock(path, 'The run');
    expect(await isHeld(path)).toBe(true);
    await expect(takeLock(path, 'The run')).rejects.toBeInstanceOf(LockHeld);
    await release();
    expect(await isHeld(path)).toBe(false);
    await (await takeLock(path, 'The run'))();
  });

  it('of a process that is gone is taken over', async () => {
    await writeFile(path, '999999999 1');
    expect(await isHeld(path)).toBe(false);
    await (await takeLock(path, 'The run'))();
  });

  it('of another machine or container is judged by the last sign of life, never by a process number', async () => {
    await writeFile(path, '999999999 1 another-host 0123456789ab');
    expect(await isHeld(path)).toBe(true);
    await expect(takeLock(path, 'The run')).rejects.toThrow('999999999');
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(path, longAgo, longAgo);
    expect(await isHeld(path)).toBe(false);
    const release = await takeLock(path, 'The run');
    expect(await readFile(path, 'utf8')).toContain(`${process.pid} `);
    await release();
  });

  it('of a process that was killed while it removed another one is taken over', async () => {
    await writeFile(path, `999999999 1 ${hostname()} 0123456789ab`);
    await writeFile(`${path}.removing`, `999999998 1 ${hostname()} 0123456789ab`);
    await writeFile(`${path}.removing.removing`, `999999997 1 ${hostname()} 0123456789ab`);
    await (await takeLock(path, 'The run'))();
    expect(await readdir(dir)).toEqual([]);
  });

  it("that a power failure cut off is nobody's, also where what is left of it names a process that lives", async () => {
    const whole = `${process.ppid}  ${hostname()} 0123456789ab`;
    await writeFile(path, whole);
    expect(await isHeld(path)).toBe(true);
    for (const left of [1, 4, whole.length - 1]) {
      await writeFile(path, whole.slice(0, left).padEnd(60, '\0'));
      await writeFile(`${path}.removing`, whole.slice(0, left));
      expect(await isHeld(path), String(left)).toBe(false);
      await (await takeLock(path, 'The run'))();
    }
  });

  it('is held by one at a time, however many of one process take, release and leave it at once', async () => {
    let inside = 0;
    let most = 0;
    let left = 0;
    let taken = 0;
    const taker = async () => {
      for (let took = 0; took < 40; ) {
        const release = await takeLock(path, 'It').catch((error: unknown) => {
          if (!(error instanceof LockHeld)) throw error;
        });
        if (!release) {
          await immediate();
          continue;
        }
        most = Math.max(most, ++inside);
        took++;
        taken++;
        await immediate();
        inside--;
        const abandon = taken % 5 === 0;
        if (abandon) left++;
        await release(abandon ? 'abandon' : undefined);
      }
    };
    await Promise.all(Array.from({ length: 8 }, taker));
    expect({ most, taken }).toEqual({ most: 1, taken: 320 });
    expect(left).toBeGreaterThan(0);
    expect((await readdir(dir)).filter((name) => name !== 'lock' && name !== 'lock.left')).toEqual([]);
  });
});
