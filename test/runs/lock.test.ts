import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isHeld, LockHeld, takeLock } from '../../src/runs/lock.js';

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
    await writeFile(path, '999999999 1 another-host');
    expect(await isHeld(path)).toBe(true);
    await expect(takeLock(path, 'The run')).rejects.toThrow('999999999');
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(path, longAgo, longAgo);
    expect(await isHeld(path)).toBe(false);
    const release = await takeLock(path, 'The run');
    expect(await readFile(path, 'utf8')).toContain(`${process.pid} `);
    await release();
  });
});
