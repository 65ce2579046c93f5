import { afterEach, describe, expect, it, vi } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { type StoreServer, sharedStores } from '../support/servers.js';
import { type Member, openMember } from '../support/team.js';
import { until } from '../support/until.js';

/** Milliseconds for which the service asks for a pause: what was read before it is older than this. */
const PAUSE_MS = 5_000;
/** A read is good enough for less. */
vi.mock('../../src/pipeline/apply/apply.js', async (original) => {
  const real = await original<typeof import('../../src/pipeline/apply/apply.js')>();
  class Writer extends real.Writer {
    constructor(options: ConstructorParameters<typeof real.Writer>[0]) {
      super({ ...options, freshMs: 3_000 });
    }
  }
  return { ...real, Writer };
});

const JOB = {
  kind: 'import',
  resource: 'supplier',
  match: { key: 'name' },
  columns: { Name: 'name', City: 'city' },
};
/** More than one part, so that a carrier is used where there is one. */
const ROWS = 1_000;

const runners: { name: string; members: number; start?: () => Promise<StoreServer> }[] = [
  { name: 'in this process', members: 0 },
  ...(await sharedStores()).map(({ name, start }) => ({ name: `on a queue (${name})`, members: 2, start })),
];

describe.each(runners)('updates that wait, sent $name', ({ members: count, start }) => {
  let desk: Desk;
  let server: StoreServer | undefined;
  let members: Member[] = [];
  afterEach(async () => {
    await Promise.all(members.map((member) => member.close()));
    members = [];
    await server?.stop();
    await desk.close();
  });

  it('never go out on a read that is too old: what others changed in a pause of the service survives', async () => {
    const readAt = new Map<number, number>();
    const put = new Set<number>();
    let listedAt = 0;
    let lastPut = 0;
    let oldest = 0;
    desk = await openDesk({
      onRequest({ method, path }) {
        const now = performance.now();
        const id = Number(/^\/supplier\/(\d+)/.exec(path)?.[1]);
        if (method === 'GET' && path === '/supplier/') listedAt = now;
        else if (method === 'GET') readAt.set(id, now);
        if (method !== 'PUT') return;
        put.add(id);
        lastPut = now;
        oldest = Math.max(oldest, now - Math.max(listedAt, readAt.get(id) ?? 0));
      },
    });
    const names = Array.from({ length: ROWS }, (_, i) => `Supplier ${i}`);
    const ids = desk.sandbox.insert(
      'supplier',
      names.map((name) => ({ name, city: 'Bern', business_name: 'before' })),
    );
    desk.sandbox.setFaults(['PUT /supplier nth=200 status=429 retry_after=5']);
    server = await start?.();
    for (let i = 0; i < count; i++) {
      const home = server?.home ?? desk.home;
      members.push(await openMember({ settings: { ...desk.settings(), home }, url: server?.url ?? '' }));
    }
    const [first] = members;
    if (first) await until(async () => (await first.store.workers(first.parts.queue.name)) === count);
    let carried = 0;
    const events = first?.store.events(first.parts.queue.name);
    await events?.waitUntilReady();
    events?.on('completed', () => carried++);

    const file = await desk.file('suppliers.csv', csv([['Name', 'City'], ...names.map((name) => [name, 'Chur'])]));
    const running = desk.import(file, JOB, first ? { worker: first.worker } : {});
    // The service has asked for a pause, and everybody keeps it.
    await until(() => put.size >= 100 && performance.now() - lastPut > 700);
    const [other = 0, same = 0] = ids.filter((id) => !put.has(id)).slice(-2);
    desk.sandbox.edit('supplier', other, { business_name: 'after' });
    desk.sandbox.edit('supplier', same, { city: 'Trier' });

    const { summary } = await running;
    expect(summary.rows).toMatchObject({ updated: ROWS - 1, conflict: 1, total: ROWS });
    expect(desk.sandbox.record('supplier', other)).toMatchObject({ city: 'Chur', business_name: 'after' });
    expect(desk.sandbox.record('supplier', same)).toMatchObject({ city: 'Trier' });
    // A request is on its way for a moment after it was found fresh, for longer on a busy machine.
    expect(oldest).toBeLessThan(PAUSE_MS);
    if (events) await until(() => carried > 0, { what: 'word of a part that was carried' });
    await events?.close();
  });
});
