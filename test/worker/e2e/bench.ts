/**
 * Not a test: two workers against one, on Redis, at a service that answers in 20 ms; interleaved, medians.
 *
 *   node -e "import('vite').then((vite) => vite.runnerImport('./test/worker/e2e/bench.ts'))"
 *
 * BENCH_ROWS and BENCH_ROUNDS say otherwise than 20,000 rows and 3 rounds. The goal is a ratio of 0.55 or less, on a
 * machine that has a core for each of service, queue and two workers.
 */
import { availableParallelism, loadavg } from 'node:os';
import { start } from '../../support/process.js';
import { privateRedis } from '../../support/servers.js';
import { assetSheet, openCrew, TOKEN } from '../../support/worker.js';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 20_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);

/** Seconds of one run; the service, the queue and every worker are processes of their own, and new. */
async function seconds(workers: number): Promise<number> {
  const argv = ['sandbox', '--latency', '20', '--responses', 'bare', '--seed', 'empty', '--token', TOKEN];
  const service = await start(argv, { cwd: '.' });
  await service.until((out) => /http:\/\/[\d.:]+/.test(out));
  const url = /http:\/\/[\d.:]+/.exec(service.out())?.[0] ?? '';
  const redis = await privateRedis({ appendonly: false });
  const crew = await openCrew({
    server: { url: redis.url, home: '', stop: () => redis.stop() },
    env: { ROWFERRY_API_URL: url, ROWFERRY_LEASE: '15', ROWFERRY_SETTLE_WINDOW: '1,5,15,45' },
  });
  try {
    for (let i = 0; i < workers; i++) await crew.worker(`w${i}`);
    await crew.drop('assets.csv', assetSheet(ROWS));
    const { summary } = await crew.only(600_000);
    if (summary.rows['created'] !== ROWS || !('seconds' in summary)) throw new Error(JSON.stringify(summary));
    return Number(summary.seconds);
  } finally {
    await crew.close();
    service.child.kill('SIGTERM');
    await service.ended;
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const taken: Record<'one' | 'two', number[]> = { one: [], two: [] };
for (let round = 0; round < ROUNDS; round++) {
  taken.one.push(await seconds(1));
  taken.two.push(await seconds(2));
}
const [one, two] = [median(taken.one), median(taken.two)];
console.info(
  JSON.stringify({
    rows: ROWS,
    cores: availableParallelism(),
    load: loadavg().map((value) => Number(value.toFixed(1))),
    ...taken,
    median: { one, two },
    ratio: Number((two / one).toFixed(3)),
  }),
);
