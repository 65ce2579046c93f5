import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settledAfterMs, waitForRight } from '../../src/worker/rights.js';
import { redisServer } from '../support/binaries.js';
import { type PrivateServer, privateRedis } from '../support/servers.js';
import { until } from '../support/until.js';
import { type Opened, open } from './store/opened.js';

const SETTLE_MS = 400;

describe.skipIf('missing' in (await redisServer()))('the right to write', () => {
  let server: PrivateServer;
  let store: Opened;
  let name = '';
  let said: string[] = [];
  beforeAll(async () => {
    server = await privateRedis();
    store = await open({ url: server.url, home: '/nowhere' });
  });
  beforeEach(() => {
    name = `right-${Math.random()}`;
    said = [];
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  /** The right of a run, and how long it took to get it. */
  async function take(
    run: string,
    { insteadOf, stop = new AbortController() }: { insteadOf?: string; stop?: AbortController } = {},
  ) {
    const began = performance.now();
    const right = await waitForRight({
      store,
      name,
      runs: [run, insteadOf],
      leaseMs: 1_000,
      settleMs: SETTLE_MS,
      signal: stop.signal,
      notify: (text) => said.push(text),
    });
    return { right, ms: performance.now() - began, stop };
  }

  /** A holder that died, or was stopped: its lease ends, its mark stays. */
  async function leftBy(run: string): Promise<void> {
    const { right, stop } = await take(run);
    stop.abort();
    await right?.release();
  }

  it('goes on at once after a holder that released it in order', async () => {
    await (await take('first')).right?.release();
    const { right } = await take('second');
    expect([right?.valid, said]).toEqual([true, []]);
    await right?.release();
  });

  it('goes on at once for the run that was stopped, and for the one that takes its place', async () => {
    await leftBy('first');
    await (await take('first')).right?.release();
    await leftBy('second');
    await (await take('third', { insteadOf: 'second' })).right?.release();
    expect(said).toEqual([]);
  });

  it('waits for what a stopped run may have sent, and so does whoever comes after one that died waiting (53)', async () => {
    await leftBy('first');
    const stop = new AbortController();
    const waiting = take('second', { stop });
    await until(() => said.length === 1);
    stop.abort();
    expect((await waiting).right).toBeUndefined();
    const { right, ms } = await take('second');
    expect(ms).toBeGreaterThan(SETTLE_MS - 20);
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(/^The run first, .* may still take effect/);
    await right?.release();
    expect((await take('third')).ms).toBeLessThan(SETTLE_MS + 1_000);
    expect(said).toHaveLength(2);
  });

  it('is not taken by one who lost the lease while it waited', async () => {
    await leftBy('first');
    const waiting = take('second');
    await until(() => said.length === 1);
    // As a process that was paused past its lease: somebody else has it by the time it looks.
    const end = performance.now() + 1_500;
    while (performance.now() < end);
    const { right } = await waiting;
    expect(right?.valid).toBe(true);
    expect(said.length).toBeGreaterThan(1);
    await right?.release();
  });
});

it('an effect is over once its answer and the last look after it are', () => {
  expect(settledAfterMs({ timeoutMs: 30_000, settleWindowMs: [1_000, 45_000] })).toBe(75_000);
});
