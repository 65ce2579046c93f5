/**
 * Not a test: several workers against one, on Redis, at a service that takes its time to answer; interleaved.
 *
 *   node -e "import('vite').then((vite) => vite.runnerImport('./test/worker/e2e/bench.ts'))"
 *
 * BENCH_ROWS, BENCH_ROUNDS, BENCH_WORKERS and BENCH_LATENCY say otherwise than 20,000 rows, 3 rounds, 1,2 workers and 20 ms.
 * The goal for two is 1.9 times one, on a machine that has a core for each of service, queue and two workers. Prints the
 * seconds of each round, by the number of workers.
 */
import { availableParallelism, loadavg } from 'node:os';
import { start } from '../../support/process.js';
import { privateRedis } from '../../support/servers.js';
import { assetSheet, openCrew, TOKEN } from '../../support/worker.js';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 20_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const WORKERS = (process.env['BENCH_WORKERS'] ?? '1,2').split(',').map(Number);
const LATENCY = process.env['BENCH_LATENCY'] ?? '20';

/** Seconds of one run; the service, the queue and every worker are processes of their own, and new. */
async function seconds(workers: number): Promise<number> {
  const argv = ['sandbox', '--latency', LATENCY, '--responses', 'bare', '--seed', 'empty', '--token', TOKEN];
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

const taken = new Map(WORKERS.map((workers) => [workers, [] as number[]]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [workers, times] of taken) times.push(await seconds(workers));
}
console.info(
  JSON.stringify({
    rows: ROWS,
    cores: availableParallelism(),
    load: loadavg().map((value) => Number(value.toFixed(1))),
    seconds: Object.fromEntries(taken),
  }),
);
