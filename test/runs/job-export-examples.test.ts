import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportRecords } from '../../src/runs/export.js';
import { exportRequest, loadJob } from '../../src/runs/job-file.js';
import { type Desk, openDesk } from '../support/desk.js';

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk({ seed: 'demo' });
  await mkdir(path.join(desk.dir, 'exports'));
});
afterAll(() => desk.close());

/** The export jobs that come with rowferry, on the practice service. */
const EXAMPLES = (await readdir('jobs')).filter((file) => file.startsWith('export-'));

it.each(EXAMPLES)('%s runs as it stands', async (file) => {
  const job = await loadJob('export', file, { jobsDir: 'jobs' });
  const result = await exportRecords(exportRequest(job, {}, { cwd: desk.dir, now: Date.UTC(2026, 10, 21, 12) }), {
    settings: desk.settings(),
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    listener: { progress: () => undefined, notice: () => undefined },
  });
  expect(result.summary).toMatchObject({ status: 'succeeded', warnings: [], job: file.replace('.yaml', '') });
  expect(result.summary.records).toBeGreaterThan(3);
  expect(await readdir(path.join(desk.dir, 'exports'))).toContain(path.basename(result.summary.target?.path ?? ''));
});
