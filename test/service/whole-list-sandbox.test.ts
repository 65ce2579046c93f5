import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { readWholeList, type WholeListOptions } from '../../src/service/lists/whole-list.js';
import type { Json } from '../../src/service/port.js';
import { client } from './server.js';

let dir: string;
let files = 0;
const open: (() => Promise<unknown> | unknown)[] = [];
const newFile = (): string => join(dir, `log-${files++}`);
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-whole-list-'));
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const TOKEN = 'test-token';

async function sandboxOf(assets: number, options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ token: TOKEN, ...options });
  open.push(() => sandbox.close());
  sandbox.insert(
    'asset',
    Array.from(
      { length: assets },
      (_, at) =>
        `{"name":"Asset ${at} – Gerät","serial_number":"0${at}","original_cost":99999999999999.99,"asset_notes":"=1+1\\nsecond line"}`,
    ),
  );
  return sandbox;
}

async function read(sandbox: Sandbox, options: Partial<WholeListOptions> = {}) {
  const service = client(sandbox.url, { company: 1, token: { kind: 'token', token: TOKEN }, patienceMs: 60_000 });
  const list = await readWholeList(service, 'asset', { file: newFile(), ...options });
  open.push(() => list.close());
  const records: Json[] = [];
  for await (const batch of list.read()) records.push(...batch);
  return { list, records };
}

/** Dates and money as the service spells them are not the matter here. */
const named = (records: readonly Readonly<Record<string, unknown>>[]) =>
  records.map(({ id, name, serial_number, asset_notes }) => ({ id, name, serial_number, asset_notes }));

test('a quiet list over HTTP: every record, two requests a page', async () => {
  const sandbox = await sandboxOf(1_010);
  const { list, records } = await read(sandbox);
  expect(list).toMatchObject({ consistency: 'verified', passes: 2, records: 1_010, problems: [] });
  expect(named(records)).toEqual(named(sandbox.records('asset')));
  expect(String(records[0]?.['original_cost'])).toBe('99999999999999.99');
  expect(sandbox.requests.total).toBe(2 * 41);
});

test('a last page that is full costs one request more, whatever the service says past its end', async () => {
  for (const pastEnd of ['not_found', 'empty'] as const) {
    const sandbox = await sandboxOf(200, { switches: { pastEnd } });
    const { list } = await read(sandbox);
    expect(list).toMatchObject({ consistency: 'verified', passes: 2, records: 200 });
    expect(sandbox.requests.total).toBe(2 * 8 + 1);
  }
});

test('a list that changes while it is read: nothing that stays is missing, what changed is there as it is now (20, 21)', async () => {
  let asked = 0;
  let returning: Record<string, unknown> | undefined;
  const happenings: Readonly<Record<number, () => void>> = {
    5: () => sandbox.remove('asset', 3),
    9: () => sandbox.edit('asset', 700, { name: 'renamed in pass 1' }),
    12: () => {
      returning = sandbox.raw('asset').find(({ id }) => id === 40);
      sandbox.remove('asset', 40);
    },
    20: () => {
      sandbox.insert('asset', [{ name: 'added at the end' }]);
    },
    60: () => {
      sandbox.insert('asset', [{ id: 40, name: String(returning?.['name']) }]);
    },
    75: () => sandbox.edit('asset', 8, { name: 'renamed in pass 2' }),
  };
  const sandbox = await sandboxOf(1_010, { onRequest: () => happenings[++asked]?.() });
  const { list, records } = await read(sandbox);
  expect(asked).toBeGreaterThan(82);
  expect(list.problems.join('\n')).toMatch(/the service counted 1010 records before and 1009 now/);
  const found = new Map(records.map((record) => [record['id'] as number, record]));
  expect(found.size).toBe(records.length);
  for (const one of sandbox.records('asset')) {
    if (one['id'] !== 40) expect(found.get(one['id'] as number)?.['name']).toBe(one['name']);
  }
  // The changes end in the middle of pass 2: passes 3 and 4 agree.
  expect(list).toMatchObject({ consistency: 'verified', passes: 4, records: 1_010 });
});

test('errors and throttling on the way change nothing', async () => {
  const sandbox = await sandboxOf(300, {
    faults: ['GET /asset nth=4 status=503', 'GET /asset nth=9 close_before', 'GET /asset nth=12 truncated_json'],
  });
  const { list } = await read(sandbox);
  expect(list).toMatchObject({ consistency: 'verified', passes: 2, records: 300 });
});
