import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/worker/store/port.js';
import { redisServer } from '../../support/binaries.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew } from '../../support/worker.js';
import { open } from '../store/opened.js';

let crew: Crew;
let store: Store | undefined;
afterEach(async () => {
  await store?.close();
  await crew?.close();
});

async function openNights(cron: string, latencyMs: number): Promise<Store> {
  const redis = await privateRedis();
  const schedule = { cron, timezone: 'UTC', file: 'nightly.csv' };
  crew = await openCrew({
    server: { url: redis.url, home: '', stop: () => redis.stop() },
    sandbox: { latencyMs },
    env: { ROWFERRY_CONCURRENCY: '1' },
    jobs: { nightly: JSON.stringify({ ...JSON.parse(ASSETS), schedule }) },
  });
  await writeFile(join(crew.dir, 'nightly.csv'), assetSheet(20));
  store = await open(crew.server);
  return store;
}

const night = ({ id }: { id?: string | undefined }): boolean => /^night\.nightly\./.test(id ?? '');

describe.skipIf('missing' in (await redisServer()))('nights of real workers', () => {
  it('that were missed: one run when a worker is there again, marked late (44)', async () => {
    // Half an hour ago; before that, no worker ran for three days.
    const due = new Date(Date.now() - 1_800_000);
    const cron = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
    const queue = (await openNights(cron, 0)).queue('rowferry');
    const slot = (at: number) =>
      new Date(at)
        .toISOString()
        .slice(0, 16)
        .replace(/(\d\d):(\d\d)$/, '$1$2');
    const done = slot(due.getTime() - 3 * 86_400_000);
    await store?.swap('schedule.nightly', JSON.stringify({ cron, timezone: 'UTC', key: done, queued: done }));
    const events = join(crew.dir, 'events.ndjson');
    await Promise.all(
      ['one', 'two'].map((name) => crew.worker(name, { env: { ROWFERRY_NOTIFY_FILE: `${events}.${name}` } })),
    );
    await until(async () => (await queue.getCompletedCount()) > 0, { withinMs: 60_000, what: 'the late run' });
    const runs = (await queue.getJobs()).filter(night);
    expect(runs.map(({ id }) => id)).toEqual([`night.nightly.${slot(due.getTime())}`]);
    const { warnings, rows } = runs[0]?.returnvalue ?? {};
    expect(warnings.join()).toMatch(/Late: due .* UTC, begun /);
    expect(rows).toMatchObject({ created: 20, total: 20 });
    expect(crew.sandbox.commits).toHaveLength(20);
  }, 90_000);

  it('that overlap: the later one is refused and told, two never write at a time (45)', async () => {
    // Every second a slot; a run takes longer.
    const queue = (await openNights('* * * * * *', 100)).queue('rowferry');
    const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
    await until(async () => (await queue.getCompletedCount()) >= 3, { withinMs: 60_000, what: 'three runs' });
    const said = workers.map((worker) => worker.err()).join('\n');
    expect(said).toMatch(/The job nightly, due at .* UTC, is not run: its run of .* has not ended/);
    const runs = (await queue.getJobs(['completed', 'failed'])).filter(night);
    const times = runs.map(({ id, processedOn = 0, finishedOn = 0 }) => ({ id, from: processedOn, to: finishedOn }));
    times.sort((a, b) => a.from - b.from);
    for (const [i, one] of times.entries()) {
      const next = times[i + 1];
      if (next) expect(one.to, `${one.id} and ${next.id}`).toBeLessThanOrEqual(next.from);
    }
    expect(new Set(runs.map(({ id }) => id)).size).toBe(runs.length);
    expect(crew.sandbox.commits).toHaveLength(20);
  }, 120_000);
});
