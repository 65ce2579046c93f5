// Long, because all of it runs on every kind of store: the servers start once.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lateness } from '../../../src/worker/jobs/job.js';
import type { ScheduleClock, ScheduledJob } from '../../../src/worker/schedules.js';
import { openStore } from '../../../src/worker/store/open.js';
import type { Store } from '../../../src/worker/store/port.js';
import { availableStores, type StoreServer } from '../../support/servers.js';
import { until } from '../../support/until.js';
import {
  at,
  type Desk,
  desk,
  emptyQueue,
  fastClock,
  handClock,
  nightly,
  slotsOf,
  takeRun,
  waitingCount,
} from './desk.js';
import { dyingStore, type ProcessStore, processStore } from './process-store.js';

describe.each(await availableStores())('schedules on $name', (kind) => {
  let server: StoreServer;
  let store: Store;
  const open: Desk[] = [];

  beforeAll(async () => {
    server = await kind.start();
    store = await storeAt(server);
  });

  beforeEach(async () => {
    await emptyQueue(store.queue('rowferry'));
    await store.update('schedules', () => '');
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });

  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  function worker(jobs: ScheduledJob[], clock?: ScheduleClock, leaseMs?: number, own = processStore(store)): Desk {
    const made = desk(own, jobs, clock, leaseMs);
    open.push(made);
    return made;
  }

  describe('a nightly schedule', () => {
    it('runs slots that come after the job was first seen, each once', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const { schedules, queue } = worker([nightly()], clock);
      await schedules.poll();
      expect(await slotsOf(queue)).toEqual([]);

      clock.time = at('2026-07-02T00:00:00Z');
      await schedules.poll();
      await schedules.poll();
      const [job] = await queue.getJobs();
      expect([job?.id, job?.name, job?.data]).toEqual([
        'night.assets.2026-07-02T0200',
        'import',
        { job: 'assets', file: 'inbox/erp/assets.csv' },
      ]);
      await (await takeRun(store)).end();
      clock.time = at('2026-07-03T00:00:30Z');
      await schedules.poll();
      expect(await slotsOf(queue)).toEqual(['night.assets.2026-07-02T0200', 'night.assets.2026-07-03T0200']);
    });

    it('of an export puts an export on the queue, with the file that the schedule names, if it does', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const { schedule } = nightly();
      const { file: _, ...plain } = schedule;
      const jobs: ScheduledJob[] = [
        { name: 'users', kind: 'export', schedule: plain },
        { name: 'assets', kind: 'export', schedule: { ...schedule, file: 'exports/assets-{date}.csv' } },
      ];
      const { schedules, queue } = worker(jobs, clock);
      await schedules.poll();
      clock.time = at('2026-07-02T00:00:00Z');
      await schedules.poll();
      const added = (await queue.getJobs()).map(({ id, name, data }) => [id, name, data]);
      expect(added.sort()).toEqual([
        ['night.assets.2026-07-02T0200', 'export', { job: 'assets', file: 'exports/assets-{date}.csv' }],
        ['night.users.2026-07-02T0200', 'export', { job: 'users' }],
      ]);
    });

    it('looks every minute by itself', async () => {
      const clock = handClock('2026-07-01T23:58:30Z');
      const { schedules, queue } = worker([nightly()], clock);
      clock.pass(0);
      await until(() => schedules.deciding);
      await schedules.poll();
      for (let minute = 0; minute < 3; minute++) {
        clock.pass(60_000);
        await schedules.poll();
      }
      expect(await slotsOf(queue)).toEqual(['night.assets.2026-07-02T0200']);
    });

    it('runs once after several missed nights: the latest slot, late (44)', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const first = worker([nightly()], clock);
      await first.schedules.poll();
      await first.schedules.close();

      clock.time = at('2026-07-05T06:12:00Z');
      const second = worker([nightly()], clock);
      await second.schedules.poll();
      const ids = await slotsOf(second.queue);
      expect(ids).toEqual(['night.assets.2026-07-05T0200']);
      expect(lateness(ids[0] ?? '', nightly().schedule, clock.time)).toEqual({
        slot: '2026-07-05T0200',
        dueAt: at('2026-07-05T00:00:00Z'),
        late: true,
      });
      expect(second.notices).toEqual([
        'info: The job assets, due at 2026-07-05 02:00 Europe/Berlin, is on the queue, late.',
      ]);
    });

    it.each([
      ['Europe/Berlin', '30 2 * * *', '2026-03-27T12:00:00Z'],
      ['Europe/Berlin', '30 2 * * *', '2026-10-23T12:00:00Z'],
      ['Australia/Lord_Howe', '45 1 * * *', '2026-04-03T00:00:00Z'],
    ])(
      'runs once a date when the clock is changed: %s %s after %s (43)',
      async (zone, cron, start) => {
        const clock = handClock(start);
        const { schedules, queue, notices } = worker([nightly(cron, zone)], clock);
        await schedules.poll();
        const end = clock.time + 4 * 86_400_000;
        while (clock.time < end) {
          // Every quarter of an hour where the night of either zone is, hours elsewhere.
          const hour = new Date(clock.time).getUTCHours();
          clock.time += hour >= 22 || hour < 4 || (hour >= 13 && hour < 17) ? 900_000 : 3_600_000;
          await schedules.poll();
          if ((await waitingCount(queue)) > 0) await (await takeRun(store)).end();
        }
        const dates = (await slotsOf(queue)).map((id) => id.slice('night.assets.'.length, -'T0000'.length));
        expect(dates).toHaveLength(4);
        expect(new Set(dates).size).toBe(4);
        expect(notices.join(' ')).not.toMatch(/late|not run/);
      },
      120_000,
    );
  });

  describe('never two runs at a time', () => {
    it.each(['waiting', 'active'])(
      'a slot that comes due while the run before it is %s is refused (45)',
      async (state) => {
        const clock = handClock('2026-07-01T12:00:00Z');
        const { schedules, queue, notices } = worker([nightly()], clock);
        await schedules.poll();
        clock.time = at('2026-07-02T00:00:00Z');
        await schedules.poll();
        const active = state === 'active' ? await takeRun(store) : undefined;
        clock.time = at('2026-07-03T00:00:00Z');
        await schedules.poll();
        await schedules.poll();
        expect(await slotsOf(queue)).toEqual(['night.assets.2026-07-02T0200']);
        expect(notices.filter((text) => text.includes('is not run'))).toHaveLength(1);
        expect(notices.at(-1)).toContain('due at 2026-07-03 02:00 Europe/Berlin, is not run');

        await (active ?? (await takeRun(store))).end();
        clock.time = at('2026-07-03T09:00:00Z');
        await schedules.poll();
        expect(await slotsOf(queue)).toHaveLength(1);
        clock.time = at('2026-07-04T00:00:00Z');
        await schedules.poll();
        expect(await slotsOf(queue)).toEqual(['night.assets.2026-07-02T0200', 'night.assets.2026-07-04T0200']);
      },
    );
  });

  describe('a process that dies at any step', () => {
    it('neither loses a slot nor runs it twice (44)', async () => {
      for (let step = 0, died = true; died; step++) {
        const clock = handClock('2026-07-01T12:00:00Z');
        const name = `died-${step}`;
        const job = { ...nightly(), name };
        const seen = worker([job], clock);
        await seen.schedules.poll();
        await seen.schedules.close();

        clock.time = at('2026-07-02T00:00:00Z');
        const mortal = dyingStore(processStore(store), step);
        const victim = desk(mortal.store, [job], clock);
        await victim.schedules.poll();
        died = mortal.died();
        await victim.schedules.close();

        const next = worker([job], clock);
        await next.schedules.poll();
        const id = `night.${name}.2026-07-02T0200`;
        expect(await slotsOf(next.queue), `step ${step}`).toEqual([id]);
        expect(await next.queue.getJobState(id)).toBe('waiting');
        await (await takeRun(store)).end();
        clock.time += 120_000;
        await next.schedules.poll();
        expect(await waitingCount(next.queue), `step ${step}`).toBe(0);
        await next.schedules.close();
        await emptyQueue(next.queue);
        expect(step).toBeLessThan(40);
      }
    });

    it('leaves no slot out that was missed meanwhile: it waits for the run that was cut off', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const job = { ...nightly(), name: 'cut-off' };
      const { schedules, queue } = worker([job], clock);
      await schedules.poll();
      clock.time = at('2026-07-02T00:00:00Z');
      await schedules.poll();
      const run = await takeRun(store);
      clock.time = at('2026-07-03T04:00:00Z');
      await schedules.poll();
      expect(await slotsOf(queue)).toEqual(['night.cut-off.2026-07-02T0200']);
      await run.end();
      await schedules.poll();
      expect(await slotsOf(queue)).toEqual(['night.cut-off.2026-07-02T0200', 'night.cut-off.2026-07-03T0200']);
    });

    it('never has a later slot run beside the one it died over', async () => {
      for (let step = 0, died = true; died; step++) {
        const clock = handClock('2026-07-01T12:00:00Z');
        const job = { ...nightly(), name: `later-${step}` };
        const seen = worker([job], clock);
        await seen.schedules.poll();
        await seen.schedules.close();

        clock.time = at('2026-07-02T00:00:00Z');
        const mortal = dyingStore(processStore(store), step);
        const victim = desk(mortal.store, [job], clock);
        await victim.schedules.poll();
        died = mortal.died();
        await victim.schedules.close();

        clock.time = at('2026-07-03T00:00:00Z');
        const next = worker([job], clock);
        await next.schedules.poll();
        expect(await slotsOf(next.queue), `step ${step}`).toHaveLength(1);
        await next.schedules.close();
        await emptyQueue(next.queue);
        expect(step).toBeLessThan(40);
      }
    });
  });

  describe('clocks and job files that change', () => {
    it('a changed pattern runs no slot before the change', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const made = worker([nightly()], clock);
      await made.schedules.poll();
      clock.time = at('2026-07-02T12:00:00Z');
      made.jobs = [nightly('0 3 * * *')];
      await made.schedules.poll();
      expect(await slotsOf(made.queue)).toEqual([]);
      clock.time = at('2026-07-03T01:00:00Z');
      await made.schedules.poll();
      expect(await slotsOf(made.queue)).toEqual(['night.assets.2026-07-03T0300']);
    });

    it('a clock that is put back runs no slot again', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const { schedules, queue } = worker([nightly()], clock);
      await schedules.poll();
      clock.time = at('2026-07-03T00:00:00Z');
      await schedules.poll();
      await (await takeRun(store)).end();
      for (const time of [
        '2026-07-01T23:00:00Z',
        '2026-07-02T00:00:00Z',
        '2026-07-02T23:59:59Z',
        '2026-07-03T00:00:00Z',
      ]) {
        clock.time = at(time);
        await schedules.poll();
      }
      expect(await slotsOf(queue)).toEqual(['night.assets.2026-07-03T0200']);
      clock.time = at('2026-07-04T00:00:00Z');
      await schedules.poll();
      expect(await slotsOf(queue)).toHaveLength(2);
    });

    it('a clock that was years ahead does not stop the schedule for years', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const { schedules, queue, notices } = worker([nightly()], clock);
      await schedules.poll();
      clock.time = at('2036-07-03T00:00:00Z');
      await schedules.poll();
      await (await takeRun(store)).end();
      clock.time = at('2026-07-01T12:01:00Z');
      await schedules.poll();
      expect(notices.at(-1)).toContain("check this machine's clock");
      clock.time = at('2026-07-02T00:00:00Z');
      await schedules.poll();
      expect(await slotsOf(queue)).toContain('night.assets.2026-07-02T0200');
    });

    it('a job that is gone is new when it comes back, also to another process', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const other = { ...nightly(), name: 'other' };
      const made = worker([nightly(), other], clock);
      await made.schedules.poll();
      made.jobs = [nightly()];
      await made.schedules.poll();
      await made.schedules.close();
      const second = worker([nightly()], clock);
      await second.schedules.poll();
      clock.time = at('2026-07-02T12:00:00Z');
      second.jobs = [nightly(), other];
      await second.schedules.poll();
      expect(await slotsOf(second.queue)).toEqual(['night.assets.2026-07-02T0200']);
      clock.time = at('2026-07-03T12:00:00Z');
      await (await takeRun(store)).end();
      await second.schedules.poll();
      expect(await slotsOf(second.queue)).toEqual([
        'night.assets.2026-07-02T0200',
        'night.assets.2026-07-03T0200',
        'night.other.2026-07-03T0200',
      ]);
    });

    it('job files that cannot be read change nothing', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const made = worker([nightly()], clock);
      await made.schedules.poll();
      made.jobs = undefined;
      await made.schedules.poll();
      await made.schedules.poll();
      clock.time = at('2026-07-02T00:00:00Z');
      await made.schedules.poll();
      expect(await slotsOf(made.queue)).toEqual(['night.assets.2026-07-02T0200']);
      expect(made.notices.filter((text) => text.startsWith('warn'))).toEqual([
        'warn: The job files cannot be read now: away. Schedules go on as they were read before.',
      ]);
    });

    it('a schedule that cannot be used is told once and does not stop the others', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const bad = { ...nightly('0 2 30 2 *'), name: 'bad' };
      const made = worker([bad, nightly()], clock);
      await made.schedules.poll();
      clock.time = at('2026-07-02T00:00:00Z');
      await made.schedules.poll();
      expect(await slotsOf(made.queue)).toEqual(['night.assets.2026-07-02T0200']);
      expect(made.notices.filter((text) => text.startsWith('warn'))).toEqual([
        expect.stringContaining(
          'The job bad does not run by its schedule: the cron expression "0 2 30 2 *" cannot be used',
        ),
      ]);
    });

    it('names with colons, dots and percent signs are told apart', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const names = ['a:b', 'a%3Ab', 'a.b', 'a', 'a:b:c:d:e f'];
      const { schedules, queue } = worker(
        names.map((name) => ({ ...nightly(), name })),
        clock,
      );
      await schedules.poll();
      clock.time = at('2026-07-02T00:00:00Z');
      await schedules.poll();
      await schedules.poll();
      const ids = await slotsOf(queue);
      expect(new Set(ids).size).toBe(names.length);
      for (const id of ids) expect(lateness(id, nightly().schedule, clock.time)?.slot).toBe('2026-07-02T0200');
      expect((await queue.getJobs()).map(({ data }) => data.job).sort()).toEqual([...names].sort());
    });
  });

  describe('several workers', () => {
    it('have one that decides; another takes over (44)', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const [first, second] = [worker([nightly()], clock), worker([nightly()], clock)];
      await first.schedules.poll();
      await second.schedules.poll();
      expect([first.schedules.deciding, second.schedules.deciding]).toEqual([true, false]);
      clock.time = at('2026-07-02T00:00:00Z');
      await first.schedules.close();
      await second.schedules.poll();
      expect(second.schedules.deciding).toBe(true);
      expect(await slotsOf(second.queue)).toEqual(['night.assets.2026-07-02T0200']);
    });

    it('lose no slot by a store that is emptied before it, whichever of them decides then', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const [first, second] = [worker([nightly()], clock), worker([nightly()], clock)];
      await first.schedules.poll();
      await second.schedules.poll();
      clock.time = at('2026-07-02T00:00:00Z');
      await store.update('schedules', () => '');
      await first.schedules.poll();
      expect(await slotsOf(first.queue)).toEqual(['night.assets.2026-07-02T0200']);
      await (await takeRun(store)).end();
      await second.schedules.poll();
      clock.time = at('2026-07-03T00:00:00Z');
      await store.update('schedules', () => '');
      await first.schedules.close();
      await second.schedules.poll();
      expect(await slotsOf(first.queue)).toEqual(['night.assets.2026-07-02T0200', 'night.assets.2026-07-03T0200']);
    });

    it('one that has lost the lease puts nothing on the queue', async () => {
      const clock = handClock('2026-07-01T12:00:00Z');
      const own: ProcessStore = processStore(store);
      const { schedules, queue } = worker([nightly()], clock, 15_000, own);
      await schedules.poll();
      await own.leases.at(-1)?.release();
      const thief = await store.lease('schedules', 60_000);
      expect([schedules.deciding, thief?.valid]).toEqual([false, true]);
      clock.time = at('2026-07-02T00:00:00Z');
      await schedules.poll();
      expect(await slotsOf(queue)).toEqual([]);
      await thief?.release();
    });

    it('run every minute of a schedule once, when it comes', async () => {
      const clock = fastClock();
      const job = nightly('* * * * *');
      const ran: string[] = [];
      const executor = store.worker('rowferry', async ({ id }) => ran.push(String(id)), {});
      const workers = [worker([job], clock, 1000), worker([job], clock, 1000)];
      await until(() => ran.length >= 3);
      await Promise.all(
        workers.filter(({ schedules }) => schedules.deciding).map(({ schedules }) => schedules.close()),
      );
      const sofar = ran.length;
      await until(() => ran.length >= sofar + 3);
      await executor.close();
      expect(new Set(ran).size).toBe(ran.length);
      expect([...ran].sort()).toEqual(ran);
    });

    // The embedded store is in this process: it cannot be away.
    if (kind.name === 'embedded') return;

    it('end within 3 s while the store is away', async () => {
      const own = await kind.start();
      const away = await storeAt(own);
      const { schedules } = desk(away, [nightly()], handClock('2026-07-01T12:00:00Z'));
      await schedules.poll();
      await own.server?.kill();
      void schedules.poll();
      const began = performance.now();
      await schedules.close();
      expect(performance.now() - began).toBeLessThan(4000);
      await away.close();
      await own.stop();
    });
  });
});

describe('lateness', () => {
  const schedule = nightly().schedule;

  it('is more than ten minutes between due and put on the queue', () => {
    const due = at('2026-07-02T00:00:00Z');
    expect(lateness('night.assets.2026-07-02T0200', schedule, due + 600_000)?.late).toBe(false);
    expect(lateness('night.assets.2026-07-02T0200', schedule, due + 600_001)?.late).toBe(true);
  });

  it('is unknown of other jobs', () => {
    for (const id of ['drop.assets.20260702', 'night.assets', 'night.assets.x', 'night..2026-07-02T0200', '17']) {
      expect(lateness(id, schedule, 0)).toBeUndefined();
    }
  });
});

function storeAt({ url, home }: StoreServer): Promise<Store> {
  return openStore({
    ...(url !== undefined && { url }),
    home,
    strict: false,
    patienceMs: 30_000,
    notice: () => undefined,
    signal: new AbortController().signal,
  });
}
