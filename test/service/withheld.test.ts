import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { client, json, listen, serve, until } from './server.js';

const STALE = { kind: 'unsent', withheld: 'stale', reason: expect.stringContaining('reading the record') };
const NO_RIGHT = { kind: 'unsent', withheld: 'no_right', reason: expect.stringContaining('right to write') };

/** Answers the first requests with 429 and a pause of one second, all others well. */
const throttled = (pauses: number) =>
  serve((response, _, nth) => {
    if (nth <= pauses) json(response, 429, { detail: 'slow down' }, { 'retry-after': '1' });
    else json(response, 200, undefined);
  });

test('an update that is stale before it waits is not sent', async () => {
  const { url, seen } = await throttled(0);
  const service = client(url);
  expect(await service.update('asset', 1, {}, 'PUT', { isFresh: () => false })).toMatchObject(STALE);
  expect([seen.length, service.counts.total]).toEqual([0, 0]);
});

test('an update that became stale while it waited in the gate is not sent', async () => {
  const { url, seen } = await throttled(1);
  const service = client(url, { maxInFlight: 1 });
  let fresh = true;
  const first = service.update('asset', 1, {}, 'PUT');
  const second = service.update('asset', 2, {}, 'PUT', { isFresh: () => fresh });
  await until(() => seen.length === 1);
  fresh = false;
  expect(await second).toMatchObject(STALE);
  expect(await first).toEqual({ kind: 'done' });
  expect(seen.map(({ path }) => path)).toEqual(['/api/v2/asset/1', '/api/v2/asset/1']);
});

test('it is asked before every try: the repetition after a pause is not sent, and the gate is free for others', async () => {
  const { url, seen } = await throttled(1);
  const service = client(url, { maxInFlight: 1 });
  let fresh = true;
  const answer = service.update('asset', 1, {}, 'PUT', { isFresh: () => fresh });
  await until(() => seen.length === 1);
  fresh = false;
  expect(await answer).toMatchObject(STALE);
  expect(await service.update('asset', 2, {})).toEqual({ kind: 'done' });
  expect(seen.map(({ path }) => path)).toEqual(['/api/v2/asset/1', '/api/v2/asset/2']);
});

test('also the repetition after a refused connection', async () => {
  const port = await freePort();
  const service = client(`http://127.0.0.1:${port}`, { patienceMs: 10_000 });
  let asked = 0;
  expect(await service.update('asset', 1, {}, 'PUT', { isFresh: () => ++asked < 4 })).toMatchObject(STALE);
  // Before and after the gate, each time.
  expect(asked).toBe(4);
});

test('a process that may not write sends no write that waited, neither create nor update; it reads on', async () => {
  const { url, seen } = await serve((response, { method }, nth) => {
    if (nth === 1) json(response, 429, {}, { 'retry-after': '1' });
    else json(response, 200, method === 'GET' ? { id: 1 } : undefined);
  });
  let may = true;
  const service = client(url, { maxInFlight: 1, mayWrite: () => may });
  const answers = [service.create('asset', {}), service.update('asset', 1, {}), service.create('supplier', {})];
  await until(() => seen.length === 1);
  may = false;
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject(NO_RIGHT);
  expect(await service.create('asset', {})).toMatchObject(NO_RIGHT);
  expect(await service.get('asset', 1)).toEqual({ id: 1 });
  expect(seen.map(({ method }) => method)).toEqual(['POST', 'GET']);
  expect(service.counts).toEqual({ total: 2, reads: 1, writes: 1, retries: 0 });
});

test('what was read again goes before what waits already', async () => {
  const { url, seen } = await throttled(1);
  const service = client(url, { maxInFlight: 1 });
  const answers = [1, 2, 3].map((id) => service.update('asset', id, {}));
  answers.push(service.update('asset', 4, {}, 'PUT', { ahead: true }));
  await Promise.all(answers);
  const order = seen.map(({ path }) => Number(path.split('/').at(-1)));
  expect(order.indexOf(4)).toBeLessThan(order.indexOf(2));
});

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
