import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { type StoreServer, sharedStores } from '../support/servers.js';
import { type Member, openMember } from '../support/team.js';
import { expectTruth } from '../support/truth.js';
import { until } from '../support/until.js';

/** How much older, in milliseconds, what a run has read looks to its writer. */
const late = vi.hoisted(() => ({ ms: 0 }));
vi.mock('../../src/pipeline/apply/apply.js', async (original) => {
  const real = await original<typeof import('../../src/pipeline/apply/apply.js')>();
  class Writer extends real.Writer {
    constructor(options: ConstructorParameters<typeof real.Writer>[0]) {
      super({ ...options, now: () => options.now() + late.ms });
    }
  }
  return { ...real, Writer };
});

const SUPPLIERS = {
  kind: 'import',
  resource: 'supplier',
  match: { key: 'name' },
  columns: { Name: 'name', City: 'city' },
  brakes: { max_rejected: 5 },
};
/** More than one part, so that a carrier is used where there is one. */
const ROWS = 600;

const rowsOf = (from: number, to: number, city: string) =>
  Array.from({ length: to - from }, (_, i) => [`Supplier ${from + i}`, city]);

/**
 * What every part runner promises, whoever sends the requests. In-process is what the command line uses; on a queue the
 * requests go to the workers that are there.
 */
const runners: { name: string; members: number; start?: () => Promise<StoreServer> }[] = [
  { name: 'in this process', members: 0 },
  ...(await sharedStores()).map(({ name, start }) => ({ name: `on a queue (${name})`, members: 2, start })),
];

describe.each(runners)('parts $name', ({ members: count, start }) => {
  let desk: Desk;
  let server: StoreServer | undefined;
  let members: Member[] = [];
  beforeAll(async () => {
    server = await start?.();
  });
  afterAll(() => server?.stop());

  async function open(options: Parameters<typeof openDesk>[0] = {}): Promise<void> {
    desk = await openDesk(options);
    for (let i = 0; i < count; i++) {
      const settings = { ...desk.settings(), home: server?.home ?? desk.home };
      // All of them share this process: on a busy machine it may stand still for seconds, and nothing here waits for a lease to end.
      members.push(await openMember({ settings, url: server?.url ?? '', leaseMs: 15_000 }));
    }
    const [first] = members;
    if (first) await until(async () => (await first.store.workers(first.parts.queue.name)) === count);
  }
  /** The coordinator is the first member. */
  const asWorker = () => (members[0] ? { worker: members[0].worker } : {});
  const sheet = (rows: readonly (readonly (string | number)[])[]) =>
    desk.file('suppliers.csv', csv([['Name', 'City'], ...rows]));
  afterEach(async () => {
    late.ms = 0;
    await Promise.all(members.map((member) => member.close()));
    members = [];
    await desk.close();
  });

  it('every row ends once: created, updated, unchanged; and the same file again sends nothing', async () => {
    await open();
    const half = await desk.import(await sheet(rowsOf(0, 550, 'Bern')), SUPPLIERS, asWorker());
    expect(half.summary.rows).toMatchObject({ created: 550, total: 550 });
    const rows = [...rowsOf(0, 200, 'Bern'), ...rowsOf(200, 550, 'Basel'), ...rowsOf(550, ROWS, 'Chur')];
    const imported = await desk.import(await sheet(rows), SUPPLIERS, asWorker());
    expect(imported.summary.rows).toMatchObject({ created: 50, updated: 350, unchanged: 200, total: ROWS });
    expectTruth(imported, desk.sandbox, 'supplier', 'name', ROWS);
    expect(imported.summary.requests.writes).toBe(400);
    const again = await desk.import(await sheet(rows), SUPPLIERS, asWorker());
    expect(again.summary.rows).toMatchObject({ unchanged: ROWS });
    expect(again.commits).toBe(0);
    expect(desk.sandbox.records('supplier').filter((one) => one['city'] === 'Basel')).toHaveLength(350);
  });

  it('records that are read again before their updates are read by who sends them', async () => {
    const meanwhile = new Set(['/supplier/7/', '/supplier/407/']);
    let reads = 0;
    await open({
      onRequest({ method, path }) {
        if (method !== 'GET' || !/^\/supplier\/\d+\/$/.test(path)) return;
        reads++;
        if (meanwhile.delete(path)) desk.sandbox.edit('supplier', Number(path.split('/')[2]), { city: 'Genf' });
      },
    });
    await desk.import(await sheet(rowsOf(0, ROWS, 'Bern')), SUPPLIERS, asWorker());
    const before = members.map((member) => member.read());
    reads = 0;
    // Beyond three quarters of a minute where others send, beyond a whole one where nobody does.
    late.ms = count > 0 ? 46_000 : 70_000;
    const imported = await desk.import(await sheet(rowsOf(0, ROWS, 'Basel')), SUPPLIERS, asWorker());
    expect(imported.summary.rows).toMatchObject({ updated: ROWS - 2, conflict: 2 });
    expect(desk.sandbox.records('supplier').filter((one) => one['city'] === 'Basel')).toHaveLength(ROWS - 2);
    // The first updates are read back, too.
    expect(reads).toBeGreaterThanOrEqual(ROWS);
    expect(reads).toBeLessThan(ROWS + 20);
    const byOthers = members.slice(1).map((member, at) => member.read() - (before[at + 1] ?? 0));
    for (const one of byOthers) expect(one).toBeGreaterThan(50);
    expect(imported.summary.requests.reads).toBeGreaterThanOrEqual(ROWS);
  });

  it('open effects are looked up, refusals keep the words of the service', async () => {
    await open({
      faults: [
        'POST /supplier every=40 close_after',
        'POST /supplier every=55 status=500 execute',
        'POST /supplier nth=77 status=400',
        'POST /supplier every=111 close_before',
      ],
    });
    const imported = await desk.import(await sheet(rowsOf(0, ROWS, 'Bern')), SUPPLIERS, asWorker());
    expect(imported.summary.rows).toMatchObject({ created: ROWS - 1, rejected: 1 });
    expectTruth(imported, desk.sandbox, 'supplier', 'name', ROWS);
  });

  it('amounts and text arrive digit for digit', async () => {
    await open();
    const odd = ['=1+1', 'naïve 日本 🚢', 'O\'Hara, "quoted"', '$decimal', '007'];
    const rows = Array.from({ length: ROWS }, (_, i) => [
      odd[i % odd.length] ?? '',
      `SN-${i}`,
      `99999999999${100 + i}.10`,
    ]);
    const file = await desk.file('assets.csv', csv([['Name', 'Serial', 'Cost'], ...rows]));
    const job = {
      kind: 'import',
      resource: 'asset',
      match: { key: 'serial_number' },
      columns: { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' },
    };
    const imported = await desk.import(file, job, asWorker());
    expect(imported.summary.rows).toMatchObject({ created: ROWS });
    const stored = new Map(desk.sandbox.raw('asset').map((one) => [one['serial_number'], one]));
    for (const [name, serial, cost] of rows) {
      expect(stored.get(serial)).toMatchObject({ name, original_cost: cost });
    }
    expect((await desk.import(file, job, asWorker())).summary.rows).toMatchObject({ unchanged: ROWS });
  });

  it('a brake while writing stops them all; the rest is not attempted', async () => {
    await open({ faults: ['POST /supplier status=400'] });
    const imported = await desk.import(await sheet(rowsOf(0, 4_000, 'Bern')), SUPPLIERS, asWorker());
    expect(imported.summary.status).toBe('braked');
    const { rejected } = imported.summary.rows;
    expect(rejected).toBeGreaterThan(5);
    // Five parts may be under way on a queue before the first refusals are told: each stops by itself.
    expect(rejected).toBeLessThan(100);
    expect(imported.summary.reason).toContain(`the service refused ${rejected} of 4000 rows`);
    expectTruth(imported, desk.sandbox, 'supplier', 'name', 4_000);
  });

  it('an interrupted run goes on where it ended', async () => {
    const stop = new AbortController();
    let writes = 0;
    await open({
      latencyMs: 5,
      onRequest: ({ method }) => {
        if (method === 'POST' && ++writes === 200) stop.abort('SIGTERM');
      },
    });
    const file = await sheet(rowsOf(0, ROWS, 'Bern'));
    await desk.import(file, SUPPLIERS, { ...asWorker(), signal: stop.signal }).catch((error: Error) => error);
    expect(stop.signal.aborted).toBe(true);
    const before = desk.sandbox.commits.length;
    expect(before).toBeLessThan(ROWS);
    const resumed = await desk.resume(asWorker());
    expect(resumed.summary.rows).toMatchObject({ created: ROWS, total: ROWS });
    expectTruth(resumed, desk.sandbox, 'supplier', 'name', ROWS);
  });

  if (count === 0) return;

  it('were carried: both members sent some', async () => {
    const rows = 2_000;
    await open({ latencyMs: 20 });
    const imported = await desk.import(await sheet(rowsOf(0, rows, 'Bern')), SUPPLIERS, asWorker());
    expect(imported.summary.rows).toMatchObject({ created: rows });
    // A part that ended is taken off the queue, so the commits tell: the service answered two workers at once.
    for (const member of members) expect(member.sent()).toBeGreaterThan(0);
    expectTruth(imported, desk.sandbox, 'supplier', 'name', rows);
  });
});
