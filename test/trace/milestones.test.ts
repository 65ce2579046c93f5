import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MILESTONES, reached, reachedSoon } from '../../src/trace/milestones.js';

it('a milestone is told at once to whoever listens, and one that is sent soon after this turn', async () => {
  const told: unknown[] = [];
  const listen = (message: unknown) => told.push(message);
  reached('claimed');
  subscribe('rowferry:milestone', listen);
  try {
    reached('hashed');
    expect(told).toEqual([{ name: 'hashed' }]);
    reachedSoon('sent');
    expect(told).toHaveLength(1);
    await new Promise(setImmediate);
    expect(told).toEqual([{ name: 'hashed' }, { name: 'sent' }]);
  } finally {
    unsubscribe('rowferry:milestone', listen);
  }
  reached('staged');
  expect(told).toHaveLength(2);
});

it('every milestone is reached somewhere in the sources', async () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const files = (await readdir(src, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(files.map((name) => readFile(join(src, name), 'utf8')));
  const calls = texts.flatMap((text) =>
    [...text.matchAll(/\breached(?:Soon)?\('([a-z-]+)'\)/g)].map(([, name]) => name),
  );
  expect([...new Set(calls)].sort()).toEqual([...MILESTONES].sort());
});
