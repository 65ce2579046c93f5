import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isLocked, LockedError, takeLock } from '../../src/runs/run/lock.js';

const RUN = '20261121T081502123Z-3f9a';
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
    expect(isLocked(path)).toBe(true);
    await expect(takeLock(path, 'The run')).rejects.toBeInstanceOf(LockedError);
    await release();
    expect(isLocked(path)).toBe(false);
    await (await takeLock(path, 'The run'))();
  });

  it.each([
    ['a process that is gone', `999999999 ${RUN}`, RUN],
    ['a process that lives and let go of it: its number may be given to another one', `${process.ppid} ${RUN}`, RUN],
    ['nobody that it names', '999999999 ', undefined],
    ['a holder that was killed before it wrote its number', '', undefined],
    ['one that a power failure cut off', '\0\0\0\0', undefined],
  ])('of %s is taken over, and it is told when that one last lived', async (_, content, owner) => {
    await writeFile(path, content);
    const longAgo = new Date(Math.floor(Date.now() / 1000 - 60) * 1000);
    await utimes(path, longAgo, longAgo);
    expect(isLocked(path)).toBe(false);
    const told: unknown[] = [];
    const release = await takeLock(path, 'The run', (...one) => told.push(one));
    expect(told).toEqual([[longAgo.getTime(), owner]]);
    expect(await readFile(path, 'utf8')).toContain(`${process.pid} `);
    await release();
    expect(await readdir(dir)).toEqual([]);
  });

  it("that was released leaves nothing to be told; one that was abandoned is nobody's", async () => {
    const told: unknown[] = [];
    const take = () => takeLock(path, 'The run', (_, owner) => told.push(owner), RUN);
    await (await take())();
    await (await take())('abandon');
    expect(told).toEqual([]);
    await (await take())();
    await (await take())();
    expect(told).toEqual([undefined]);
  });

  it('names its process to those who find it held', async () => {
    const release = await takeLock(path, 'The run');
    await expect(takeLock(path, 'The run')).rejects.toThrow(`is being worked on by process ${process.pid}. Wait`);
    await release();
  });

  it('is held by one at a time, however many of one process take, release and leave it at once', async () => {
    let inside = 0;
    let most = 0;
    let left = 0;
    let taken = 0;
    const taker = async () => {
      for (let took = 0; took < 40; ) {
        const release = await takeLock(path, 'It').catch((error: unknown) => {
          if (!(error instanceof LockedError)) throw error;
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
    expect((await readdir(dir)).filter((name) => name !== 'lock')).toEqual([]);
  });
});
