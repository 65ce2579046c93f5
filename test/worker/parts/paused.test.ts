import { afterEach, expect, it } from 'vitest';
import { serviceDir } from '../../../src/service/address.js';
import { type Started, start } from '../../support/process.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { type Bench, openBench, sheet } from '../jobs/bench.js';

/** Longer than the pause of the service, so that the gate opens before anything else tells that the right is over. */
const LEASE_MS = 4_000;
const ROWS = 30;

let bench: Bench;
let worker: Started | undefined;
afterEach(async () => {
  worker?.child.kill('SIGKILL');
  await worker?.ended;
  await bench.close();
});

const waits = [
  {
    waiting: 'for a pause of the service to end',
    faults: ['POST /asset nth=10 status=429 retry_after=2'],
    held: false,
  },
  // They arrive while the process is paused: they are what it sees first when it goes on.
  { waiting: 'for answers to the requests before them', faults: [], held: true },
];

it.each(waits)(
  'a process paused for longer than its lease sends nothing that waited $waiting (47, 53)',
  async (wait) => {
    const seen: { readonly method: string; readonly at: number }[] = [];
    const writes = () => seen.filter(({ method }) => method === 'POST').length;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let url = '';
    bench = await openBench(
      {
        faults: wait.faults,
        onRequest({ method }) {
          seen.push({ method, at: performance.now() });
          return wait.held && writes() >= 10 ? held : undefined;
        },
      },
      async () => {
        const server = await privateRedis();
        url = server.url;
        return server;
      },
    );
    await bench.file('a.csv', sheet(ROWS));
    const job = await bench.add({ job: 'assets', file: 'a.csv' });
    worker = await start(['worker', '--queue-only'], {
      cwd: bench.dir,
      env: {
        ROWFERRY_API_URL: bench.sandbox.url,
        ROWFERRY_API_TOKEN: 'test-token',
        ROWFERRY_HOME: `${bench.dir}/home`,
        ROWFERRY_QUEUE_URL: url,
        ROWFERRY_SETTLE_WINDOW: '0.05,0.1,0.2',
        ROWFERRY_CONCURRENCY: '4',
        ROWFERRY_LEASE: String(LEASE_MS / 1_000),
        ROWFERRY_HTTP: 'off',
      },
    });
    await until(() => writes() >= 10 && performance.now() - (seen.at(-1)?.at ?? 0) > 300);
    worker.child.kill('SIGSTOP');
    release();
    const before = writes();
    expect(before).toBeLessThan(ROWS);

    // Somebody else takes its right; the pause of the service is over as well before the process goes on.
    const name = `writing.${serviceDir('', bench.sandbox.url, 1)}.asset`;
    let right: Awaited<ReturnType<Bench['store']['lease']>>;
    await until(async () => {
      right ??= await bench.store.lease(name, 20_000);
      return right !== undefined && performance.now() - (seen.at(-1)?.at ?? 0) > 2_500;
    });
    const asked = seen.length;
    worker.child.kill('SIGCONT');
    // It has noticed and begins anew, which is as far as it comes while the right is another's.
    await until(() => seen.length > asked, { what: 'a read of the run that begins anew' });
    expect(seen.slice(asked).map(({ method }) => method)).not.toContain('POST');
    expect(writes()).toBe(before);

    await right?.release();
    const { returnvalue } = await bench.settled(job);
    expect(returnvalue).toMatchObject({ status: 'succeeded', rows: { created: ROWS, total: ROWS } });
    expect(bench.sandbox.commits).toHaveLength(ROWS);
  },
  90_000,
);
