import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/index.js';
import { redisServer } from '../../support/binaries.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew } from '../../support/worker.js';
import { type Opened, open } from '../store/opened.js';
import { fallDue } from './due.js';

let crew: Crew;
let store: Opened | undefined;
afterEach(async () => {
  await store?.close();
  await crew?.close();
});

async function openNights(onRequest?: SandboxOptions['onRequest']): Promise<Opened> {
  const redis = await privateRedis();
  crew = await openCrew({
    server: { url: redis.url, home: '', stop: () => redis.stop() },
    ...(onRequest && { sandbox: { onRequest } }),
    env: { ROWFERRY_CONCURRENCY: '1', ROWFERRY_TIMEOUT: '120' },
    jobs: {},
  });
  await writeFile(join(crew.dir, 'nightly.csv'), assetSheet(20));
  store = await open(crew.server);
  return store;
}

const NIGHTLY = { name: 'nightly', timezone: 'UTC', content: JSON.parse(ASSETS), file: 'nightly.csv' };

const night = ({ id }: { id?: string | undefined }): boolean => /^night\.nightly\./.test(id ?? '');

describe.skipIf('missing' in (await redisServer()))('nights of real workers', () => {
  it('that were missed: one run when a worker is there again, marked late (44)', async () => {
    const opened = await openNights();
    const queue = opened.queue('rowferry');
    // Half an hour ago; before that, no worker ran for a day.
    const slot = await fallDue(crew, opened, { ...NIGHTLY, minutesAgo: 30, unattended: true });
    await Promise.all(['one', 'two'].map((name) => crew.worker(name)));
    await until(async () => (await queue.getCompletedCount()) > 0, { what: 'the late run' });
    const runs = (await queue.getJobs()).filter(night);
    expect(runs.map(({ id }) => id)).toEqual([`night.nightly.${slot}`]);
    const { warnings, rows } = runs[0]?.returnvalue ?? {};
    expect(warnings.join()).toMatch(/Late: due .* UTC, begun /);
    expect(rows).toMatchObject({ created: 20, total: 20 });
    expect(crew.sandbox.commits).toHaveLength(20);
  });

  it('that overlap: the later one is refused and told, two never write at a time (45)', async () => {
    // The first run cannot end before it is let go.
    let letGo = (): void => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let writes = false;
    const opened = await openNights(({ method }) => {
      if (method !== 'POST') return undefined;
      writes = true;
      return gate;
    });
    const queue = opened.queue('rowferry');
    const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
    // While it is under way, the next slot falls due.
    const first = await fallDue(crew, opened, { ...NIGHTLY, minutesAgo: 3 });
    const isActive = (slot: string) => async () => (await queue.getJobState(`night.nightly.${slot}`)) === 'active';
    await until(() => writes, { what: 'the first run' });
    const second = await fallDue(crew, opened, { ...NIGHTLY, minutesAgo: 2, queued: first });
    await until(() => workers.some((worker) => worker.err().includes('is not run')));
    // Whoever decided wrongly, and put a second one on the queue: it waits for the first.
    await queue.add('import', { job: 'nightly', file: 'nightly.csv' }, { jobId: `night.nightly.${second}` });
    expect(await isActive(first)()).toBe(true);
    letGo();
    await until(async () => (await queue.getCompletedCount()) >= 2, { what: 'two runs' });
    const third = await fallDue(crew, opened, { ...NIGHTLY, minutesAgo: 1, queued: second });
    await until(async () => (await queue.getCompletedCount()) >= 3, { what: 'three runs' });
    const said = workers.map((worker) => worker.err()).join('\n');
    expect(said).toMatch(/The job nightly, due at .* UTC, is not run: its run of .* has not ended/);
    const runs = (await queue.getJobs(['completed', 'failed'])).filter(night);
    expect(runs.map(({ id }) => id).sort()).toEqual([first, second, third].map((slot) => `night.nightly.${slot}`));
    const times = runs.map(({ id, returnvalue }) => ({
      id,
      from: returnvalue.started_at,
      to: returnvalue.finished_at,
    }));
    times.sort((a, b) => (a.from < b.from ? -1 : 1));
    for (const [i, one] of times.entries()) {
      const next = times[i + 1];
      if (next) expect(one.to <= next.from, `${one.id} and ${next.id}`).toBe(true);
    }
    expect(new Set(runs.map(({ id }) => id)).size).toBe(runs.length);
    expect(crew.sandbox.commits).toHaveLength(20);
  });
});
