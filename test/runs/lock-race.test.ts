import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { takeLock } from '../../src/runs/run/lock.js';

it('of several that wait for an abandoned lock, whoever gets it is told', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'race-'));
  let untold = 0;
  for (let n = 0; n < 100; n++) {
    const path = join(dir, `l${n}`);
    await (await takeLock(path, 'x'))('abandon');
    const tries = Array.from({ length: 3 }, async () => {
      let told = false;
      const release = await takeLock(path, 'x', () => {
        told = true;
      }).catch(() => undefined);
      if (release && !told) untold++;
    });
    await Promise.all(tries);
  }
  expect(untold).toBe(0);
});
