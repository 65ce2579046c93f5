import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RULES } from '../../src/service/mirror/delta.js';
import { openMirror } from '../../src/service/mirror.js';
import { assetList } from './mirror-fake.js';
import { random } from './whole-list-fake.js';
test('dodge', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'zz-'));
  let on = false;
  let times = 0;
  const list = assetList({ size: 500, random: random(1), beforeAnswer(l, n, unread) {
    if (on && unread) { times++; l.update(l.standing(unread + 3) ?? 1); }
  } });
  const o = { dir, fullEvery: 7, now: () => list.time };
  await (await openMirror(list.service, 'asset', o)).close();
  list.time += 86400000;
  for (let i = 1; i <= 60; i++) list.update(i * 3);
  const before = list.event;
  on = true;
  const m = await openMirror(list.service, 'asset', o, { ...RULES, secondLook: false });
  console.log(m.how, m.described, times);
  const old: unknown[] = [];
  for await (const b of m.records()) for (const { record } of b) if (!list.wasSo(record, before)) old.push(record.id);
  console.log(old);
  expect(1).toBe(1);
});
