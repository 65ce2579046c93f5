import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Claim } from '../../../src/worker/inbox/claim.js';
import { openLedger } from '../../../src/worker/inbox/drop-folder.js';
import { FULL } from '../../support/full.js';

const ROUNDS = FULL ? 500 : 150;

it('of several claims that find the entry of a claim that is gone, one has the content (60)', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-ledger-'));
  const ledger = openLedger(dir);
  const claims: Claim[] = [];
  for (let n = 0; n < 8; n++) {
    const run = `20260101T00000000${n}Z-aaaa`;
    const place = join(dir, 'processing', 'assets', run);
    await mkdir(place, { recursive: true });
    claims.push({ job: 'assets', run, dir: place, file: join(place, 'a.csv'), name: 'a.csv' });
  }
  const gone: Claim = { job: 'assets', run: 'gone', dir: '', file: '', name: 'x.csv' };
  const counts = new Map<number, number>();
  for (let n = 0; n < ROUNDS; n++) {
    const content = String(n);
    await ledger.enter(gone, content);
    const entries = await Promise.all(
      claims.map(async (claim) => {
        await pause(Math.random() * 3);
        return ledger.enter(claim, content);
      }),
    );
    const runs = entries.filter((entry) => entry === undefined).length;
    counts.set(runs, (counts.get(runs) ?? 0) + 1);
  }
  expect([...counts]).toEqual([[1, ROUNDS]]);
  await rm(dir, { recursive: true, force: true });
});
