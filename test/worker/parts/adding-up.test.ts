import { afterEach, expect, it } from 'vitest';
import { type Desk, openDesk } from '../../support/desk.js';
import { privateRedis } from '../../support/servers.js';
import { type Member, openMember } from '../../support/team.js';
import { until } from '../../support/until.js';

const JOB = { kind: 'import', resource: 'supplier', match: { key: 'name' }, columns: { Name: 'name' } };
const ROWS = 1_600;
/** Requests that each worker may have in flight. */
const IN_FLIGHT = '4';
/** Towards the end one worker may be alone with the last rows. */
const TOGETHER = 1_200;

let desk: Desk;
let server: Awaited<ReturnType<typeof privateRedis>>;
let members: Member[] = [];
afterEach(async () => {
  await Promise.all(members.map((member) => member.close()));
  members = [];
  await server?.stop();
  await desk?.close();
});

/** A service that answers creates only in lots of so many: who sends fewer at a time waits for others to send as well. */
function answersInLots(lot: number, lots: number) {
  let waiting: (() => void)[] = [];
  let answered = 0;
  return ({ method }: { readonly method: string }) => {
    if (method !== 'POST' || answered >= lots) return;
    return new Promise<void>((answer) => {
      waiting.push(answer);
      if (waiting.length < lot) return;
      answered++;
      for (const one of waiting) one();
      waiting = [];
    });
  };
}

it('two workers send as much as each of them may, from the first part of a run nearly to its end', async () => {
  const lot = 2 * Number(IN_FLIGHT);
  desk = await openDesk({ onRequest: answersInLots(lot, TOGETHER / lot) });
  server = await privateRedis();
  const env = { ROWFERRY_CONCURRENCY: IN_FLIGHT, ROWFERRY_TIMEOUT: '60' };
  const settings = desk.settings(env);
  for (let i = 0; i < 2; i++) members.push(await openMember({ settings, url: server.url }));
  const [first, second] = members as [Member, Member];
  await until(async () => (await first.store.workers(first.parts.queue.name)) === 2);

  const rows = Array.from({ length: ROWS }, (_, i) => [`Supplier ${i}`]);
  const file = await desk.file('suppliers.csv', [['Name'], ...rows]);
  const { summary } = await desk.import(file, JOB, { env, worker: first.worker });
  expect(summary.rows).toMatchObject({ created: ROWS, total: ROWS });
  for (const member of [first, second]) expect(member.sent()).toBeGreaterThanOrEqual(TOGETHER / 2);
});
