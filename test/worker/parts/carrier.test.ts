import type { Job, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Message, PartData } from '../../../src/worker/parts/protocol.js';
import { unpack } from '../../../src/worker/parts/protocol.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import {
  answers,
  ask,
  creates,
  done,
  heard,
  kinds,
  LEASE_MS,
  lettersWith,
  openPartsTeam,
  type PartsTeam,
} from './team.js';

let server: Awaited<ReturnType<typeof privateRedis>>;
let team: PartsTeam;
beforeAll(async () => {
  server = await privateRedis();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  team = await openPartsTeam(server.url);
});
afterEach(() => team.close());

/** A promise, and how to resolve it. */
function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
}

/** A message as it is on the queue, signed for a part with the secret of the team or another one. */
async function signed(message: Message, id: string, queueSecret?: string): Promise<object> {
  const letters = await lettersWith(team, queueSecret);
  return new Promise((resolve) => {
    const job = { id, updateProgress: async (one: object) => resolve(one) };
    void letters.send(job as unknown as Job, message);
  });
}

/** The queue, some of it done otherwise. */
function changed(queue: Queue, otherwise: Partial<Pick<Queue, 'add' | 'getJob'>>): Queue {
  return Object.assign(Object.create(queue) as Queue, otherwise);
}

describe('a part', () => {
  it('carries its requests in order, and its answers back: as they come, and the rest at its end', async () => {
    const carrier = team.coordinator();
    const requests = creates(4);
    const end = gate();
    await team.executor(async (job) => {
      const data = job.data as PartData;
      expect([data.run, data.company, data.count, unpack(data.packed)]).toEqual(['run', 1, 4, requests]);
      expect(await ask(team, job, 'a')).toBe('granted');
      await team.letters.send(job, { from: 'a', answers: answers([0, done(7)]) });
      await end.opened;
      const all = answers([0, done(7)], [1, { kind: 'refused', status: 400, messages: [] }], [2, null], [3, done(9)]);
      return { from: 'a', answers: all, reads: 2, writes: 3, retries: 1 };
    });
    const carried = carrier.carry(requests);
    expect(await carried[0]).toEqual(done(7));
    end.open();
    expect(await kinds(carried)).toEqual(['done', 'refused', 'none', 'done']);
    expect(carrier.sent).toEqual({ reads: 2, writes: 3, retries: 1 });
    await until(async () => (await team.queue.getJobCounts())['completed'] === 0, { what: 'the part taken off' });
  });

  it('tells the clock of the coordinator with the grant', async () => {
    const carrier = team.coordinator();
    const now = gate<number>();
    await team.executor(async (job) => {
      const meant = (message: object) => ('now' in message ? (message.now as number) : undefined);
      now.open(await heard(team, job, () => team.letters.send(job, { ask: 'a', at: performance.now() }), meant));
      return { from: 'a', answers: answers([0, done(1)]) };
    });
    expect(await kinds(carrier.carry(creates(1)))).toEqual(['done']);
    expect(Math.abs((await now.opened) - Date.now())).toBeLessThan(5_000);
  });

  it('that is delivered twice is granted once: who asks later is denied, what has no answer by then is open (54)', async () => {
    const carrier = team.coordinator();
    const told: string[] = [];
    const granted = gate();
    const handed: Job[] = [];
    await team.executor(async (job) => {
      handed.push(job);
      told.push(await ask(team, job, 'a'));
      await team.letters.send(job, { from: 'a', answers: answers([0, done(1)]) });
      granted.open();
      return new Promise(() => undefined);
    });
    const carried = carrier.carry(creates(3));
    await granted.opened;
    await carried[0];
    told.push(await ask(team, handed[0] as Job, 'b'));
    expect(told).toEqual(['granted', 'denied']);
    expect(await kinds(carried)).toEqual(['done', 'open', 'open']);
  });

  it('that its first executor asks for again is granted to it again', async () => {
    const carrier = team.coordinator();
    await team.executor(async (job) => {
      expect([await ask(team, job, 'a'), await ask(team, job, 'a')]).toEqual(['granted', 'granted']);
      return { from: 'a', answers: answers([0, done(1)]) };
    });
    expect(await kinds(carrier.carry(creates(1)))).toEqual(['done']);
  });

  it('that the queue loses before the grant is added again (49)', async () => {
    const carrier = team.coordinator();
    const carried = carrier.carry(creates(2));
    let first: Job | undefined;
    await until(async () => {
      [first] = await team.queue.getJobs(['waiting']);
      return first !== undefined;
    });
    await first?.remove();
    await until(async () => {
      const [again] = await team.queue.getJobs(['waiting']);
      return again !== undefined && again.id !== first?.id;
    });
    await team.executor(async (job) => {
      expect(await ask(team, job, 'a')).toBe('granted');
      return { from: 'a', answers: answers([0, done(1)], [1, done(2)]) };
    });
    expect(await Promise.all(carried)).toEqual([done(1), done(2)]);
  });

  it('that the queue loses after the grant is open once its executor must have noticed (49)', async () => {
    const carrier = team.coordinator();
    const granted = gate<number>();
    await team.executor(async (job) => {
      const at = performance.now();
      await ask(team, job, 'a');
      await team.letters.send(job, { from: 'a', answers: answers([1, done(1)]) });
      granted.open(at);
      return new Promise(() => undefined);
    });
    const carried = carrier.carry(creates(2));
    const at = await granted.opened;
    expect(await carried[1]).toEqual(done(1));
    await team.queue.obliterate({ force: true });
    expect(carrier.lost).toBe(false);
    expect(await kinds(carried)).toEqual(['open', 'done']);
    expect(carrier.lost).toBe(true);
    expect(performance.now() - at).toBeGreaterThanOrEqual(LEASE_MS);
  });

  it('whose executor fails after the grant: its answers count, the rest is open', async () => {
    const carrier = team.coordinator();
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      await team.letters.send(job, { from: 'a', answers: answers([0, done(1)], [1, null]) });
      throw new Error('out of memory');
    });
    expect(await kinds(carrier.carry(creates(3)))).toEqual(['done', 'none', 'open']);
  });

  it('whose executor dies after the grant: the next one is denied, the rest is open', async () => {
    const carrier = team.coordinator();
    const granted = gate<Job>();
    const dying = await team.executor(async (job) => {
      await ask(team, job, 'a');
      await team.letters.send(job, { from: 'a', answers: answers([0, done(1)]) });
      granted.open(job);
      return new Promise(() => undefined);
    });
    const carried = carrier.carry(creates(2));
    const job = await granted.opened;
    await carried[0];
    await dying.close(true);
    // As whoever it is handed to next.
    expect(await ask(team, job, 'b')).toBe('denied');
    expect(await kinds(carried)).toEqual(['done', 'open']);
  });

  it('whose executor ends without a grant, or fails before it, was never sent: it is added again', async () => {
    const carrier = team.coordinator();
    let deliveries = 0;
    await team.executor(async (job) => {
      deliveries++;
      if (deliveries === 1) return { refused: 'a' };
      if (deliveries === 2) throw new Error('before it asked');
      await ask(team, job, 'c');
      return { from: 'c', answers: answers([0, done(1)]) };
    });
    expect(await kinds(carrier.carry(creates(1)))).toEqual(['done']);
    expect(deliveries).toBe(3);
  });

  it('whose grant got lost on its way is added again', async () => {
    const carrier = team.coordinator();
    let deliveries = 0;
    await team.executor(async (job) => {
      deliveries++;
      await ask(team, job, `executor ${deliveries}`);
      // The first one never heard of it.
      if (deliveries === 1) return { refused: 'executor 1' };
      return { from: `executor ${deliveries}`, answers: answers([0, done(1)]) };
    });
    expect(await kinds(carrier.carry(creates(1)))).toEqual(['done']);
    expect(deliveries).toBe(2);
  });

  it('that the queue took, and was granted, without saying so: it goes on, and is sent by nobody else', async () => {
    const [granted, told] = [gate(), gate()];
    const queue = changed(team.queue, {
      async add(...values) {
        await team.queue.add(...values);
        await granted.opened;
        told.open();
        throw new Error('the connection was cut');
      },
    });
    await team.executor(async (job) => {
      expect(await ask(team, job, 'a')).toBe('granted');
      granted.open();
      await told.opened;
      return { from: 'a', answers: answers([0, done(1)]) };
    });
    expect(await kinds(team.coordinator({ queue }).carry(creates(1)))).toEqual(['done']);
  });

  it('of which the queue does not tell at first is granted when its executor asks again', async () => {
    let asked = 0;
    const queue = changed(team.queue, {
      async add(...values) {
        await team.queue.add(...values);
        return new Promise<never>(() => undefined);
      },
      getJob: (id) => (++asked === 1 ? Promise.reject(new Error('the store is away')) : team.queue.getJob(id)),
    });
    await team.executor(async (job) => {
      await team.letters.send(job, { ask: 'a', at: performance.now() });
      await until(() => asked === 1);
      expect(await ask(team, job, 'a')).toBe('granted');
      return { from: 'a', answers: answers([0, done(1)]) };
    });
    expect(await kinds(team.coordinator({ queue }).carry(creates(1)))).toEqual(['done']);
  });

  it('whose answers cannot be read is open, and the parts after it are carried', async () => {
    const carrier = team.coordinator();
    let deliveries = 0;
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      if (++deliveries > 1) return { from: 'a', answers: answers([0, done(1)]) };
      await team.letters.send(job, { from: 'a', answers: 'no answers' });
      return { from: 'a', answers: 'no answers', writes: 1 };
    });
    expect(await kinds(carrier.carry(creates(1)))).toEqual(['open']);
    expect(await kinds(carrier.carry(creates(1)))).toEqual(['done']);
  });

  it('of readings comes back unread where its executor was lost, or answers what was not asked', async () => {
    const reads = [1, 2].map((id) => ({ op: 'read' as const, resource: 'supplier' as const, id }));
    const carrier = team.coordinator();
    let deliveries = 0;
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      if (++deliveries > 1) return { from: 'a', answers: answers([0, done(1)], [1, null]) };
      await team.letters.send(job, { from: 'a', answers: answers([0, { kind: 'read', record: { id: 1 } }]) });
      throw new Error('lost');
    });
    expect(await Promise.all(carrier.carry(reads))).toEqual([{ kind: 'read', record: { id: 1 } }, undefined]);
    expect(await kinds(carrier.carry(reads))).toEqual(['none', 'none']);
  });

  it('that is cancelled before the queue has said that it took it is taken off', async () => {
    const [added, cancelled] = [gate(), gate()];
    const queue = changed(team.queue, {
      async add(...values) {
        added.open();
        await cancelled.opened;
        return team.queue.add(...values);
      },
    });
    const carrier = team.coordinator({ queue });
    const carried = carrier.carry(creates(1));
    await added.opened;
    carrier.cancel();
    cancelled.open();
    expect(await kinds(carried)).toEqual(['none']);
    await until(async () => (await team.queue.getJobs()).length === 0, { what: 'the part taken off' });
  });

  it('takes no answers but those of the one it was granted to', async () => {
    const carrier = team.coordinator();
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      await team.letters.send(job, { from: 'stale', answers: answers([0, done(666)]) });
      await team.letters.send(job, { from: 'a', answers: answers([0, done(1)]) });
      return { from: 'stale', answers: answers([1, done(667)]), writes: 5 };
    });
    const carried = carrier.carry(creates(2));
    expect(await Promise.all(carried)).toMatchObject([done(1), { kind: 'open' }]);
    expect(carrier.sent.writes).toBe(0);
  });
});

/** Puts an event of the queue where all listen, as any tenant of the same Redis can. */
async function tellAll(job: Job, event: string, more: Record<string, string>): Promise<void> {
  const redis = new Redis(server.url);
  const fields = Object.entries({ event, jobId: job.id ?? '', ...more }).flat();
  await redis.xadd(`bull:${team.queue.name}:events`, '*', ...fields);
  redis.disconnect();
}

describe('forged: what is not signed for this part by a worker', () => {
  const sig = 'x'.repeat(43);
  const forged = { from: 'a', answers: answers([0, done(424_242)], [1, done(424_242)]) };
  it.each<[what: string, message: (id: string) => object | Promise<object>]>([
    ['answers without a signature', () => forged],
    ['answers with a wrong one', () => ({ ...forged, sig })],
    ['answers signed with another secret', (id) => signed(forged, id, 'the secret of others')],
    ['answers to another part', () => signed(forged, 'run.another.0')],
    [
      'answers signed as a result',
      (id) => team.letters.signedResult(id, { ...forged, reads: 0, writes: 0, retries: 0 }),
    ],
    ['answers of another executor', (id) => signed({ ...forged, from: 'b' }, id)],
    ['signed answers with something more', async (id) => ({ ...(await signed(forged, id)), more: 1 })],
    ['a signed answer changed', async (id) => ({ ...(await signed({ ...forged, from: 'b' }, id)), from: 'a' })],
    ['a question of another executor', () => ({ ask: 'b', at: 1e9, sig })],
  ])('%s changes nothing (93)', async (_, message) => {
    const carrier = team.coordinator();
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      await job.updateProgress(await message(job.id ?? ''));
      return { from: 'a', answers: answers([0, done(1)], [1, done(2)]) };
    });
    expect(await Promise.all(carrier.carry(creates(2)))).toEqual([done(1), done(2)]);
  });

  it('that it failed, ended, or ended otherwise: its executor goes on, and nobody else is given it (93)', async () => {
    const carrier = team.coordinator();
    let deliveries = 0;
    await team.executor(async (job) => {
      deliveries++;
      await ask(team, job, 'a');
      await tellAll(job, 'failed', { failedReason: 'job stalled more than allowable limit' });
      await tellAll(job, 'completed', { returnvalue: JSON.stringify({ ...forged, reads: 0, writes: 2, retries: 0 }) });
      await tellAll(job, 'completed', { returnvalue: JSON.stringify({ refused: 'a', sig }) });
      const end = performance.now() + 2.5 * LEASE_MS;
      await until(async () => {
        expect(await ask(team, job, 'a')).toBe('granted');
        return performance.now() > end;
      });
      return { from: 'a', answers: answers([0, done(1)], [1, done(2)]) };
    });
    expect(await Promise.all(carrier.carry(creates(2)))).toEqual([done(1), done(2)]);
    expect(deliveries).toBe(1);
  });

  it('that was signed and is said once more: nobody lives longer by it (93)', async () => {
    const carrier = team.coordinator();
    const asked = gate<Job>();
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      asked.open(job);
      return new Promise(() => undefined);
    });
    const ended = kinds(carrier.carry(creates(1)));
    const job = await asked.opened;
    const before = await signed({ ask: 'a', at: performance.now() - 1 }, job.id ?? '');
    let over = false;
    void ended.then(() => {
      over = true;
    });
    await until(async () => {
      await job.updateProgress(before).catch(() => undefined);
      return over;
    });
    expect(await ended).toEqual(['open']);
  });

  it('a part before which two executors failed is given to no third, and was not sent (94)', async () => {
    const carrier = team.coordinator();
    let deliveries = 0;
    await team.executor(async () => {
      deliveries++;
      throw new Error('out of memory');
    });
    expect(await kinds(carrier.carry(creates(2)))).toEqual(['none', 'none']);
    expect(deliveries).toBe(2);
  });

  it('a part over which two executors died is given to no third, and was not sent (94)', async () => {
    const carrier = team.coordinator();
    let taken = 0;
    const carried = carrier.carry(creates(2));
    for (const deaths of [1, 2]) {
      const dying = await team.executor(async () => {
        taken++;
        return new Promise(() => undefined);
      });
      await until(() => taken === deaths);
      await dying.close(true);
    }
    await team.executor(async () => {
      taken++;
      return undefined;
    });
    expect(await kinds(carried)).toEqual(['none', 'none']);
    expect(taken).toBe(2);
  });

  it('parts that seem active hold up no run that has its right (92)', async () => {
    await team.executor(async (job) => (job.id === 'forged' ? new Promise(() => undefined) : undefined));
    await team.queue.add('part', { v: 4, run: 'run', company: 1, resource: 'supplier' }, { jobId: 'forged' });
    await until(async () => (await team.queue.getJobCounts())['active'] === 1);
    await team.coordinator().quiesce();
  });
});

describe('a run that stops', () => {
  it('takes back what was not granted, and has what was granted cancelled', async () => {
    const carrier = team.coordinator();
    const granted = gate();
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      const meant = (message: object) => ('cancel' in message && message.cancel === 'a' ? true : undefined);
      await heard(team, job, async () => granted.open(), meant);
      return { from: 'a', answers: answers([0, done(1)], [1, null]) };
    });
    const first = carrier.carry(creates(2));
    await granted.opened;
    // Nobody hears the second one ask.
    await team.queue.pause();
    const second = carrier.carry(creates(2));
    await until(async () => (await team.queue.getJobs(['waiting'])).length > 0);
    carrier.cancel();
    expect(await kinds(second)).toEqual(['none', 'none']);
    expect(await kinds(first)).toEqual(['done', 'none']);
  });

  it('by a signal: nothing more is carried', async () => {
    const stop = new AbortController();
    const carrier = team.coordinator({ signal: stop.signal });
    const before = carrier.carry(creates(1));
    expect(carrier.parts).toBeGreaterThan(0);
    stop.abort();
    expect(carrier.parts).toBe(0);
    expect(await kinds([...before, ...carrier.carry(creates(1))])).toEqual(['none', 'none']);
  });

  it('because it lost its right grants nothing any more (53)', async () => {
    const carrier = team.coordinator({ mayWrite: () => false });
    const told = gate<string>();
    await team.executor(async (job) => {
      told.open(await ask(team, job, 'a'));
      return new Promise(() => undefined);
    });
    const carried = carrier.carry(creates(1));
    expect(await told.opened).toBe('denied');
    carrier.cancel();
    expect(await kinds(carried)).toEqual(['none']);
  });
});

describe('a run that is taken up again', () => {
  it('waits until nobody sends for the earlier process any more, and takes back what was not begun', async () => {
    const earlier = team.coordinator();
    const [end, sending] = [gate(), gate()];
    await team.executor(async (job) => {
      if (!job.id?.startsWith('run.')) return undefined;
      await ask(team, job, 'a');
      sending.open();
      await end.opened;
      return { from: 'a', answers: answers([0, done(1)]) };
    });
    earlier.carry(creates(1));
    await sending.opened;
    await team.queue.pause();
    earlier.carry(creates(1));
    // Two runs may write for one company at the same time, but not records of one kind.
    team.coordinator({ run: 'another', resource: 'asset' }).carry(creates(1));
    await until(async () => (await team.queue.getJobs(['waiting'])).length === 2);
    await team.queue.resume();

    const later = team.coordinator();
    let quiet = false;
    const quiesced = later.quiesce().then(() => {
      quiet = true;
    });
    await until(async () => (await team.queue.getJobs(['waiting'])).length === 0);
    expect(quiet).toBe(false);
    end.open();
    await quiesced;
    await later.quiesce();
  });

  it('has had its right after another run: that one has nobody left who sends for it', async () => {
    const [end, sending] = [gate(), gate()];
    await team.executor(async (job) => {
      await ask(team, job, 'a');
      sending.open();
      await end.opened;
      return { from: 'a', answers: answers([0, done(1)]) };
    });
    team.coordinator({ run: 'gone' }).carry(creates(1));
    await sending.opened;
    let quiet = false;
    const quiesced = team
      .coordinator()
      .quiesce()
      .then(() => {
        quiet = true;
      });
    await team.coordinator({ run: 'of another company', company: 2 }).quiesce();
    expect(quiet).toBe(false);
    end.open();
    await quiesced;
  });
});
