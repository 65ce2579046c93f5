import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cliPath } from '../support/build.js';
import { FULL } from '../support/full.js';
import { fuzz } from './supervise.js';

const folder = await mkdtemp(join(tmpdir(), 'rowferry-fuzz-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const INPUTS = FULL ? 3_000 : 1_500;

test('mutated files end in rows or a refusal, in bounded time and memory, and call nobody (57, 78, 79, 81)', async () => {
  const openPath = join(dirname(await cliPath()), '..', 'files', 'open.js');
  const report = await fuzz({
    seed: 1,
    from: 0,
    to: INPUTS,
    openPath,
    folder: join(folder, 'input'),
    keep: join(folder, 'failed'),
    hangMs: 10_000,
    peakMb: 500,
    minimise: false,
  });
  expect(report.failures).toEqual([]);
  expect(report.inputs).toBe(INPUTS);
  expect(report.connections).toBe(0);
  // Mutations that are all refused, or all read, would test little.
  expect(report.read).toBeGreaterThan(INPUTS / 6);
  expect(report.refused).toBeGreaterThan(INPUTS / 6);
  expect(Object.keys(report.causes).length).toBeGreaterThan(20);
}, 300_000);
