import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { redisServer } from '../../support/binaries.js';
import { until } from '../../support/until.js';
import { type Bench, openBench, runsOf, sheet } from '../jobs/bench.js';

let bench: Bench;
afterEach(() => bench.close());

it.runIf(!('missing' in (await redisServer())))(
  'a run ends well although the queue has lost its job (49)',
  async () => {
    bench = await openBench({ latencyMs: 20 });
    const worker = await bench.worker({ env: { ROWFERRY_CONCURRENCY: '2' } });
    await bench.file('a.csv', sheet(100));
    const job = await bench.add({ job: 'assets', file: 'a.csv' });
    await until(() => bench.sandbox.commits.length > 20);
    expect(await bench.redis.del(`bull:rowferry:${job.id}`)).toBe(1);
    await until(() => worker.ended.length > 0);
    expect(worker.ended).toMatchObject([{ job: 'assets', status: 'succeeded', counts: { created: 100 } }]);
    expect(bench.sandbox.commits).toHaveLength(100);
    const [run = ''] = await runsOf(worker.settings.home);
    expect(await readdir(path.join(worker.settings.home, 'runs', run))).toContain('summary.json');
  },
  60_000,
);
