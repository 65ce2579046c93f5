import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { openMirror } from '../../src/service/lists/mirror.js';
import type { Json, Mirror, Service } from '../../src/service/port.js';
import { FULL } from '../support/full.js';
import { client } from './server.js';

const SIZE = FULL ? 20_000 : 5_000;
const CHANGED = FULL ? 200 : 100;
const HOUR = 3600_000;
const COST = Decimal.parse('99999999999999.99') as Decimal;

let dir: string;
let sandbox: Sandbox;
let clock = Date.UTC(2026, 0, 5, 8);
const modified = new Map<number, number>();
const open: Mirror[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-mirror-'));
  sandbox = await startSandbox({ token: 'test-token', now: () => clock, responses: 'bare' });
  // As an import leaves them: many in each second.
  for (let from = 0; from < SIZE; from += 100) {
    clock += 1_000;
    const bodies = Array.from(
      { length: 100 },
      (_, at) => `{"name":"Asset ${from + at}","serial_number":"SN-${from + at}","original_cost":99999999999999.99}`,
    );
    for (const id of sandbox.insert('asset', bodies)) modified.set(id, clock);
  }
});
afterEach(async () => {
  for (const mirror of open.splice(0)) await mirror.close();
});
afterAll(async () => {
  await sandbox.close();
  await rm(dir, { recursive: true, force: true });
});

const plain = (): Service =>
  client(sandbox.url, { company: 1, token: { kind: 'token', token: 'test-token' }, patienceMs: 60_000 });

/** The sandbox shows of an asset what the interface lists (section 2.5); here, as services may, also when it was modified. */
function dated(service: Service): Service {
  const show = (record: Json): Json => ({
    ...record,
    modified_date: new Date(modified.get(record['id'] as number) as number).toISOString(),
  });
  return {
    ...service,
    get inFlightLimit() {
      return service.inFlightLimit;
    },
    async page(...given) {
      for (const { id, at } of sandbox.commits) modified.set(id, at);
      const page = await service.page(...given);
      return { ...page, results: page.results.map(show) };
    },
    async get(...given) {
      const record = await service.get(...given);
      return record && show(record);
    },
  };
}

async function night(service: Service, name: string) {
  const before = sandbox.requests.total;
  const mirror = await openMirror(service, 'asset', { dir: join(dir, name), fullEvery: 7, now: () => clock });
  open.push(mirror);
  const requests = sandbox.requests.total - before;
  const names: unknown[] = [];
  for await (const batch of mirror.records()) {
    for (const { record } of batch) names.push(record['name']);
    expect(String(batch[0]?.record['original_cost'])).toBe('99999999999999.99');
  }
  expect(names).toEqual(sandbox.records('asset').map(({ name }) => name));
  expect(mirror.certified).toBe(true);
  return { mirror, how: mirror.how, requests };
}

async function change(service: Service, mirror: Mirror, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => 1 + at * Math.floor(SIZE / (CHANGED + 1)));
  mirror.noteWritten(ids);
  for (const id of ids) {
    clock += 50;
    const body = { name: `Changed ${id} ${clock}`, original_cost: COST };
    const answer = await service.write({ op: 'update', method: 'PUT', resource: 'asset', id, body });
    expect(answer.kind).toBe('done');
  }
}

test('assets that show when they were modified: the pages of the list and two requests, then a few, and one for every 25 that changed', async () => {
  const service = dated(plain());
  clock += HOUR;
  const first = await night(service, 'dated');
  expect(first).toMatchObject({ how: 'full', requests: SIZE / 25 + 3 });
  const before = sandbox.requests.total;
  expect(await first.mirror.recheck()).toMatchObject({ records: [], certain: true });
  // The last hundred came in one second, and are read through.
  expect(sandbox.requests.total - before).toBeLessThanOrEqual(10);
  await first.mirror.close();

  clock += 24 * HOUR;
  const second = await night(service, 'dated');
  console.info(`nothing changed: ${second.requests} requests; ${second.mirror.described}`);
  expect(second.how).toBe('delta');
  expect(second.requests).toBeLessThanOrEqual(SIZE / 25 / 12);
  await change(service, second.mirror, CHANGED);
  await second.mirror.close();

  clock += 24 * HOUR;
  const third = await night(service, 'dated');
  console.info(`${CHANGED} changed: ${third.requests} requests; ${third.mirror.described}`);
  expect(third.how).toBe('delta');
  expect(third.requests).toBeLessThanOrEqual(CHANGED / 25 + 10);
  await third.mirror.close();

  clock += 24 * HOUR;
  const fourth = await night(service, 'dated');
  console.info(`nothing changed: ${fourth.requests} requests; ${fourth.mirror.described}`);
  expect(fourth).toMatchObject({ how: 'delta' });
});

test('assets as the interface has them, without a date: read by their order', async () => {
  const service = plain();
  const first = await night(service, 'undated');
  expect(first).toMatchObject({ how: 'full', requests: SIZE / 25 + 3 });
  await first.mirror.close();
  const second = await night(service, 'undated');
  console.info(`nothing changed, no dates: ${second.requests} requests; ${second.mirror.described}`);
  expect(second.how).toBe('delta');
  expect(second.requests).toBeLessThanOrEqual(10);
  await change(service, second.mirror, CHANGED);
  await second.mirror.close();
  const third = await night(service, 'undated');
  console.info(`${CHANGED} changed, no dates: ${third.requests} requests; ${third.mirror.described}`);
  expect(third.how).toBe('delta');
  expect(third.requests).toBeLessThanOrEqual(CHANGED / 25 + 10);
});
