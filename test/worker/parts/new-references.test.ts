import { afterEach, expect, it } from 'vitest';
import { type Desk, openDesk } from '../../support/desk.js';
import { importOf } from '../../support/jobs.js';
import { privateRedis } from '../../support/servers.js';
import { type Member, openMember } from '../../support/team.js';
import { until } from '../../support/until.js';

const ROWS = 1_200;
/** Names that are not there: as many as two parts have. */
const NAMES = 900;

let desk: Desk;
let server: Awaited<ReturnType<typeof privateRedis>>;
let members: Member[] = [];
afterEach(async () => {
  await Promise.all(members.map((member) => member.close()));
  members = [];
  await server?.stop();
  await desk?.close();
});

it('two workers carry parts of the names that rows refer to, and of the rows; each is created once', async () => {
  desk = await openDesk({ latencyMs: 5 });
  server = await privateRedis();
  const settings = desk.settings();
  for (let i = 0; i < 2; i++) members.push(await openMember({ settings, url: server.url }));
  const [first, second] = members as [Member, Member];
  await until(async () => (await first.store.workers(first.parts.queue.name)) === 2);

  const rows = Array.from({ length: ROWS }, (_, i) => [`S-${i}`, `Asset ${i}`, `Vendor ${i % NAMES}`]);
  const file = await desk.file('assets.csv', [['Serial', 'Name', 'Vendor'], ...rows]);
  const job = importOf(
    'asset',
    { key: 'serial_number', unique_field: 'serial_number' },
    { Serial: 'serial_number', Name: 'name', Vendor: 'attached_supplier' },
    { references: { missing: 'create' } },
  );
  const { summary } = await desk.import(file, job, { worker: first.worker });
  expect(summary.rows).toMatchObject({ created: ROWS, total: ROWS });
  expect(summary.references?.[0]).toMatchObject({ created: NAMES, total: NAMES });
  expect(new Set(desk.sandbox.records('supplier').map(({ name }) => name)).size).toBe(NAMES);
  expect(desk.sandbox.commits).toHaveLength(ROWS + NAMES);
  expect(summary.requests.writes).toBe(ROWS + NAMES);
  expect(second.sent()).toBeGreaterThan(0);
});
