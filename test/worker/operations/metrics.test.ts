import { readFile } from 'node:fs/promises';
import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { type Metrics, openMetrics, type WatchedQueue } from '../../../src/worker/operations/metrics.js';
import { itWith, privateRedis } from '../../support/servers.js';

const itWithRedis = await itWith('redis');

/** Samples by name and labels as they stand in the text: `rowferry_rows_total{job="assets",outcome="created"}` → 3 */
async function samples(metrics: Metrics): Promise<Map<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name, value] = /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`not a sample: ${line}`);
      return [name, Number(value)];
    }),
  );
}

const queue = (name: string, getJobCounts: WatchedQueue['getJobCounts']): WatchedQueue => ({ name, getJobCounts });

describe('metrics', () => {
  it('counts rows from totals, each once', async () => {
    const metrics = openMetrics();
    metrics.tally('assets')({ created: 2, unchanged: 1 });
    const totals = metrics.tally('assets', { created: 10 });
    totals({ created: 12, rejected: 1 });
    totals({ created: 11, rejected: 1 });
    totals({ created: 13, rejected: 1 });
    const all = await samples(metrics);
    expect(all.get('rowferry_rows_total{job="assets",outcome="created"}')).toBe(5);
    expect(all.get('rowferry_rows_total{job="assets",outcome="unchanged"}')).toBe(1);
    expect(all.get('rowferry_rows_total{job="assets",outcome="rejected"}')).toBe(1);
  });

  it('counts requests by kind, status class and repetition', async () => {
    const metrics = openMetrics();
    for (const [status, repetition] of [
      [200, false],
      [204, false],
      [429, true],
      [404, false],
      [undefined, true],
    ] as const) {
      metrics.requestDone({ kind: 'write', status, ms: 300, repetition });
    }
    const all = await samples(metrics);
    const count = (status: string, repetition: boolean) =>
      all.get(`rowferry_requests_total{kind="write",status="${status}",repetition="${repetition}"}`);
    expect([count('2xx', false), count('429', true), count('4xx', false), count('none', true)]).toEqual([2, 1, 1, 1]);
    expect(all.get('rowferry_request_duration_seconds_bucket{le="0.5",kind="write"}')).toBe(5);
    expect(all.get('rowferry_request_duration_seconds_sum{kind="write"}')).toBeCloseTo(1.5);
  });

  it('knows when a job last did its work, and when its schedule did', async () => {
    const metrics = openMetrics();
    metrics.lastSuccess('old', 1_000_000);
    metrics.runEnded({ job: 'assets', trigger: 'schedule', status: 'succeeded', seconds: 20, endedAt: 5_000 });
    metrics.runEnded({ job: 'assets', trigger: 'drop', status: 'partial', endedAt: 9_000 });
    metrics.runEnded({ job: 'assets', trigger: 'drop', status: 'failed', endedAt: 99_000 });
    metrics.runEnded({ job: 'assets', trigger: 'queue', status: 'succeeded', dryRun: true, endedAt: 99_000 });
    metrics.runEnded({ job: 'assets', trigger: 'queue', status: 'partial', unverified: true, endedAt: 99_000 });
    metrics.runEnded({ job: 'whatever', inline: true, trigger: 'queue', status: 'succeeded', endedAt: 99_000 });
    metrics.notified('webhook', false);
    const all = await samples(metrics);
    expect(all.get('rowferry_last_success_timestamp_seconds{job="assets"}')).toBe(9);
    expect(all.get('rowferry_schedule_last_success_timestamp_seconds{job="assets"}')).toBe(5);
    expect(all.get('rowferry_last_success_timestamp_seconds{job="old"}')).toBe(1000);
    expect(all.get('rowferry_runs_total{job="assets",trigger="drop",status="failed"}')).toBe(1);
    expect(all.get('rowferry_runs_total{job="inline",trigger="queue",status="succeeded"}')).toBe(1);
    expect(all.get('rowferry_notifications_total{channel="webhook",result="failed"}')).toBe(1);
    expect([...all.keys()].join('\n')).not.toContain('whatever');
  });

  it('counts jobs that nobody knows under one label (95)', async () => {
    const metrics = openMetrics((job) => job === 'assets');
    for (let n = 0; n < 300; n++) {
      metrics.runEnded({ job: `forged-${n}`, trigger: 'queue', status: 'refused', seconds: 1 });
      metrics.lastSuccess(`forged-${n}`, n);
    }
    metrics.runEnded({ job: 'assets', trigger: 'queue', status: 'refused' });
    const all = await samples(metrics);
    expect([...all.keys()].join('\n')).not.toContain('forged');
    expect(all.get('rowferry_runs_total{job="unknown",trigger="queue",status="refused"}')).toBe(300);
    expect(all.get('rowferry_runs_total{job="assets",trigger="queue",status="refused"}')).toBe(1);
    expect(all.has('rowferry_last_success_timestamp_seconds{job="unknown"}')).toBe(false);
  });

  it('has those of the process under their usual names, and what runs here', async () => {
    const all = await samples(openMetrics(undefined, '1.2.3'));
    expect(all.get(`rowferry_build_info{version="1.2.3",node="${process.version}"}`)).toBe(1);
    const names = [...all.keys()].map((name) => name.replace(/[{].*/, ''));
    expect(names).toEqual(expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds']));
  });

  it('reads the state of the moment at every scrape', async () => {
    const metrics = openMetrics();
    expect((await samples(metrics)).has('rowferry_requests_in_flight')).toBe(false);
    let rate: number | undefined = 40;
    metrics.setSource(() => ({
      pace: { learnedRate: rate, inFlight: 3, heldMs: 1500 },
      queues: [queue('rowferry', async () => ({ waiting: 4, active: 1 }))],
    }));
    const first = await samples(metrics);
    expect(first.get('rowferry_rate_limit_rps')).toBe(40);
    expect(first.get('rowferry_requests_in_flight')).toBe(3);
    expect(first.get('rowferry_held_seconds')).toBe(1.5);
    expect(first.get('rowferry_queue_jobs{queue="rowferry",state="waiting"}')).toBe(4);
    expect(first.get('rowferry_queue_up{queue="rowferry"}')).toBe(1);
    rate = undefined;
    const second = await samples(metrics);
    expect(second.has('rowferry_rate_limit_rps')).toBe(false);
  });

  it('does without a store that is away, in time', async () => {
    const metrics = openMetrics();
    const watched = [
      queue('rowferry', () => new Promise(() => undefined)),
      queue('rowferry-parts', async () => ({ delayed: 1 })),
    ];
    metrics.setSource(() => ({ queues: watched }));
    const begun = performance.now();
    const all = await samples(metrics);
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(all.get('rowferry_queue_up{queue="rowferry"}')).toBe(0);
    expect(all.get('rowferry_queue_up{queue="rowferry-parts"}')).toBe(1);
  });

  itWithRedis('counts the jobs of a real queue, until its server is killed', async () => {
    const redis = await privateRedis();
    const real = new Queue('rowferry', { connection: { host: '127.0.0.1', port: redis.port } });
    real.on('error', () => undefined);
    try {
      await real.add('import', { job: 'assets', file: 'secret-file-name.csv' });
      const metrics = openMetrics();
      metrics.setSource(() => ({ queues: [real] }));
      expect((await samples(metrics)).get('rowferry_queue_jobs{queue="rowferry",state="waiting"}')).toBe(1);
      expect(await metrics.text()).not.toContain('secret-file-name');
      await redis.kill();
      const begun = performance.now();
      expect((await samples(metrics)).get('rowferry_queue_up{queue="rowferry"}')).toBe(0);
      expect(performance.now() - begun).toBeLessThan(5000);
    } finally {
      // Waits for the server, which is gone.
      real.disconnect().catch(() => undefined);
      await redis.stop();
    }
  });

  it('has every metric in the docs, and the reverse', async () => {
    const text = await openMetrics().text();
    const own = [...text.matchAll(/^# TYPE (rowferry_\S+) (\S+)$/gm)].map(([, name, kind]) => `${name} ${kind}`);
    const docs = await readFile('docs/operate/worker.md', 'utf8');
    const listed = [...docs.matchAll(/^\| `(rowferry_[a-z_]+)` \| (\w+) \|/gm)].map(
      ([, name, kind]) => `${name} ${kind}`,
    );
    expect(listed.sort()).toEqual(own.sort());
  });
});
