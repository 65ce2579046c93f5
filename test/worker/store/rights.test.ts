import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaceReport } from '../../../src/model/pace.js';
import { cliPath } from '../../support/build.js';
import { availableStores, type StoreServer } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { type Opened, openTwo, otherProcess } from './opened.js';

const quiet: PaceReport = { successes: 0, throttled: 0, overloaded: 0 };

describe.each(await availableStores())('rights and pace on $name', ({ name: kind, start }) => {
  let server: StoreServer;
  let store: Opened;
  let other: Opened;
  let serial = 0;
  const fresh = () => `name ${++serial}`;

  beforeAll(async () => {
    // Other processes run what is compiled here, which takes its time once.
    await cliPath();
    server = await start();
    [store, other] = await openTwo(server);
  });
  afterAll(async () => {
    await Promise.all([store?.close(), other?.close()]);
    await server?.stop();
  });

  describe('a lease', () => {
    it('is held by one at a time, also where many ask at once', async () => {
      const name = fresh();
      const taken = await Promise.all([store, other, store, other].map((one) => one.lease(name, 5_000)));
      const held = taken.filter((lease) => lease !== undefined);
      expect(held).toHaveLength(1);
      expect(held[0]?.valid).toBe(true);
      expect(await other.leased(name)).toBe(true);
      await held[0]?.release();
      expect(held[0]?.valid).toBe(false);
      expect(held[0]?.lost.aborted).toBe(false);
      expect(await other.leased(name)).toBe(false);
    });

    it('grows its epoch with every taking', async () => {
      const name = fresh();
      let last = 0;
      for (const one of [store, other, store]) {
        const lease = await one.lease(name, 5_000);
        expect(lease?.epoch).toBeGreaterThan(last);
        last = lease?.epoch ?? 0;
        await lease?.release();
      }
    });

    it('renews itself for as long as it is held', async () => {
      const name = fresh();
      const lease = await store.lease(name, 600);
      const until2s = performance.now() + 2_000;
      await until(async () => {
        expect(await other.lease(name, 600)).toBeUndefined();
        expect(lease?.valid).toBe(true);
        return performance.now() > until2s;
      });
      await lease?.release();
      await (await other.lease(name, 600))?.release();
    });

    // One process at a time has the embedded queue.
    if (kind !== 'embedded') {
      it('ends when its holder is killed, and goes to the next with a greater epoch', async () => {
        const name = fresh();
        const holder = await otherProcess(server, { lease: name, ttlMs: 2_000, queue: name });
        expect(await store.lease(name, 2_000)).toBeUndefined();
        await holder.kill('SIGKILL');
        let next = await store.lease(name, 2_000);
        const again = async () => {
          next ??= await store.lease(name, 2_000);
          return next !== undefined;
        };
        await until(again);
        expect(next?.epoch).toBeGreaterThan(holder.epoch);
        await next?.release();
      });
    }

    it('is known to be lost by who was stopped meanwhile, where another one could have it (47)', async () => {
      const name = fresh();
      const lease = await store.lease(name, 400);
      // As a paused process: no timer of it runs.
      const end = performance.now() + 600;
      while (performance.now() < end);
      if (kind === 'embedded') {
        expect([lease?.valid, lease?.lost.aborted, await other.lease(name, 400)]).toEqual([true, false, undefined]);
        return lease?.release();
      }
      expect(lease?.valid).toBe(false);
      await until(() => lease?.lost.aborted === true);
      const next = await other.lease(name, 400);
      expect(next?.epoch).toBeGreaterThan(lease?.epoch ?? Number.POSITIVE_INFINITY);
      await next?.release();
    });
  });

  // PostgreSQL does not forget: its leases are on the disk.
  const mayForget = kind === 'redis';
  if (mayForget) {
    it('hands out no lease that it may have forgotten, and the holder keeps its own (49, 50)', async () => {
      const [name, ttlMs] = [fresh(), 1_500];
      const lease = await store.lease(name, ttlMs);
      const redis = new Redis(server.url ?? '');
      await redis.flushall();
      const emptied = performance.now();
      for (let asked = 0; performance.now() - emptied < 2 * ttlMs; asked++) {
        expect(await other.lease(name, ttlMs), `question ${asked}`).toBeUndefined();
        expect(lease?.valid).toBe(true);
      }
      redis.disconnect();
      await lease?.release();
      const next = await other.lease(name, ttlMs);
      expect(next?.epoch).toBeGreaterThan(lease?.epoch ?? Number.POSITIVE_INFINITY);
      await next?.release();
    });
  }

  it('keeps texts, and tells what was there before', async () => {
    const name = fresh();
    expect(await store.read(name)).toBeUndefined();
    expect(await store.update(name, () => '{"späte":"Nacht"}')).toBeUndefined();
    expect(await other.read(name)).toBe('{"späte":"Nacht"}');
    expect(await other.update(name, () => '')).toBe('{"späte":"Nacht"}');
    expect(await store.read(name)).toBe('');
    const before = await Promise.all(
      ['a', 'b', 'c', 'd'].map((text, i) => (i % 2 ? store : other).update(name, () => text)),
    );
    // Each saw what another one put: none twice, and the first what was there.
    expect(new Set([...before, await store.read(name)])).toEqual(new Set(['', 'a', 'b', 'c', 'd']));
  });

  it('makes a text of the one before in one step, or leaves it', async () => {
    const name = fresh();
    const add = (text: string, i: number) => (i % 2 ? store : other).update(name, (was = '') => `${was}${text}`);
    await Promise.all(['a', 'b', 'c', 'd'].map(add));
    const all = await store.read(name);
    expect([...(all ?? '')].sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(await other.update(name, () => undefined)).toBe(all);
    expect(await store.read(name)).toBe(all);
  });

  describe('a pace', () => {
    it('adds up what all report', async () => {
      const service = fresh();
      await store.pace(service).exchange({ successes: 5, throttled: 1, overloaded: 0 });
      const state = await other.pace(service).exchange({ successes: 2, throttled: 0, overloaded: 3 });
      expect(state).toEqual({ successes: 7, throttled: 1, overloaded: 3, heldMs: 0, members: 2 });
      expect((await store.pace(fresh()).exchange(quiet)).successes).toBe(0);
    });

    it('holds everybody for a pause that one was told, and never shortens it', async () => {
      const service = fresh();
      await store.pace(service).exchange({ ...quiet, holdMs: 2_000 });
      const { heldMs } = await other.pace(service).exchange({ ...quiet, holdMs: 10 });
      expect(heldMs).toBeGreaterThan(1_000);
      expect(heldMs).toBeLessThanOrEqual(2_000);
    });

    it('hands out slots at the common rate and no faster', async () => {
      const service = fresh();
      const slots: number[] = [];
      const intervalMs = 2;
      for (let i = 0; slots.length < 1_000; i++) {
        const [asked, count] = [performance.now(), 1 + (i % 10)];
        const state = await (i % 2 ? store : other).pace(service).exchange({ ...quiet, slots: { count, intervalMs } });
        // The server reckoned between these two moments.
        const first = (asked + performance.now()) / 2 + (state.slotInMs ?? Number.NaN);
        for (let slot = 0; slot < count; slot++) slots.push(first + slot * intervalMs);
      }
      const span = Math.max(...slots) - Math.min(...slots);
      expect(span).toBeGreaterThan((slots.length - 1) * intervalMs - 50);
      expect(slots.length).toBeGreaterThanOrEqual(1_000);
    });

    it('never hands out the same slot to two who ask at once', async () => {
      const service = fresh();
      const ask = (one: Opened) => one.pace(service).exchange({ ...quiet, slots: { count: 5, intervalMs: 100 } });
      const began = performance.now();
      const firsts = (await Promise.all([store, other, store, other].map(ask))).map(({ slotInMs }) => slotInMs ?? -1);
      const took = performance.now() - began;
      firsts.sort((a, b) => a - b);
      for (const [i, first] of firsts.entries()) expect(Math.abs(first - i * 500)).toBeLessThan(took + 5);
    });

    it('does not wait for the slots of a slow rate once the rate is fast again', async () => {
      const service = fresh();
      for (let i = 0; i < 10; i++) {
        await store.pace(service).exchange({ ...quiet, slots: { count: 1, intervalMs: 10_000 } });
      }
      const fast = { ...quiet, slots: { count: 10, intervalMs: 10 } };
      const { slotInMs } = await other.pace(service).exchange(fast);
      // Ten slots are granted: at the new rate they take 100 ms.
      expect(slotInMs).toBeGreaterThan(90);
      expect(slotInMs).toBeLessThan(200);
      const asked = performance.now();
      const next = await other.pace(service).exchange(fast);
      // Told from now on: what passed between the two counts.
      expect((next.slotInMs ?? 0) + performance.now() - asked).toBeGreaterThan((slotInMs ?? 0) + 50);
    });
  });

  it('keeps epochs growing over a crash of the server (49)', async () => {
    if (!server.server) return;
    const name = fresh();
    const lease = await store.lease(name, 1_000);
    await server.server.kill();
    await until(() => lease?.lost.aborted === true);
    expect(lease?.valid).toBe(false);
    await server.server.restart();
    let next: Awaited<ReturnType<Opened['lease']>>;
    await until(async () => {
      next = await other.lease(name, 1_000).catch(() => undefined);
      return next !== undefined;
    });
    expect(next?.epoch).toBeGreaterThan(lease?.epoch ?? Number.POSITIVE_INFINITY);
    await next?.release();
  });
});
