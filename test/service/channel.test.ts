import { getEventListeners } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/service/clock.js';
import { type Channel, type ChannelOptions, openChannel } from '../../src/service/transport/channel.js';
import { plainPace } from '../support/pace.js';
import { client, json, refusal, serve, until } from './server.js';
import { most } from './traffic.js';

const opened: Channel[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close(0);
});

function channel(url: string, more: Partial<ChannelOptions> = {}): Channel {
  const one = openChannel({
    baseUrl: url,
    token: { kind: 'token', token: 'planted-secret-token' },
    maxInFlight: 16,
    timeouts: { connectMs: 2_000, requestMs: 5_000 },
    random: () => 0.01,
    ...more,
  });
  opened.push(one);
  return one;
}

test('the most requests in flight is that of the channel; counts and companies are those of each service', async () => {
  let inFlight = 0;
  let highest = 0;
  const { url, seen } = await serve((response) => {
    highest = Math.max(highest, ++inFlight);
    setTimeout(() => {
      inFlight--;
      json(response, 200, { id: 1 });
    }, 3);
  });
  const shared = channel(url, { maxInFlight: 3 });
  const one = client(url, { channel: shared, company: 1 });
  const two = client(url, { channel: shared, company: 2, maxInFlight: 50 });
  const reads = [one, two].flatMap((service) => Array.from({ length: 40 }, () => service.get('asset', 1)));
  await until(() => shared.gauges.inFlight === 3);
  expect(shared.gauges).toMatchObject({ inFlightLimit: 3, heldMs: 0, learnedRate: undefined });
  await Promise.all(reads);
  expect(highest).toBe(3);
  expect([one.counts.total, two.counts.total]).toEqual([40, 40]);
  expect(seen.filter(({ url: { searchParams } }) => searchParams.get('company') === '2').length).toBe(40);
  // Both take turns from the first moment on.
  expect(new Set(seen.slice(20, 40).map(({ url: { searchParams } }) => searchParams.get('company'))).size).toBe(2);
});

test('a service that is closed leaves the channel to the others; a closed channel sends nothing', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { id: 1 }));
  const shared = channel(url);
  const one = client(url, { channel: shared });
  const two = client(url, { channel: shared });
  await one.get('asset', 1);
  await one.close();
  expect(await refusal(one.get('asset', 1))).toContain('closed');
  expect(await two.get('asset', 1)).toEqual({ id: 1 });
  await shared.close();
  expect(await refusal(two.get('asset', 1))).toContain('Stopped');
  expect(await two.create('asset', {})).toMatchObject({ kind: 'unsent' });
  expect(seen.length).toBe(2);
  expect(shared.gauges.inFlight).toBe(0);
});

test('a channel for another address is a fault of the caller: its token must not go there', async () => {
  const shared = channel('http://127.0.0.1:9');
  expect(() => client('http://127.0.0.1:10', { channel: shared })).toThrow('not to http://127.0.0.1:10');
});

test('a stopped run leaves the gate at once while others go on', async () => {
  const { url, seen } = await serve((response, _seen, nth) => {
    if (nth === 1) json(response, 429, {}, { 'retry-after': '1' });
    else json(response, 201, { id: nth });
  });
  const shared = channel(url);
  const stop = new AbortController();
  const stopped = client(url, { channel: shared, signal: stop.signal, patienceMs: 20_000 });
  const other = client(url, { channel: shared, patienceMs: 20_000 });
  const first = other.create('asset', {});
  await until(() => shared.gauges.heldMs > 0);
  const waiting = Array.from({ length: 2_000 }, () => stopped.create('asset', {}));
  const rest = other.create('asset', {});
  const before = performance.now();
  stop.abort();
  expect(new Set((await Promise.all(waiting)).map(({ kind }) => kind))).toEqual(new Set(['unsent']));
  expect(performance.now() - before).toBeLessThan(500);
  expect(seen.length).toBe(1);
  expect((await Promise.all([first, rest])).map(({ kind }) => kind)).toEqual(['done', 'done']);
  await stopped.close();
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});

test('a token is fetched once for two services, at first and after 401; a stopped run does not wait for it', async () => {
  let given = 0;
  const held: (() => void)[] = [];
  const oauth = await serve((response) => {
    const token = `access-${++given}`;
    if (given < 3) json(response, 200, { access_token: token });
    else held.push(() => json(response, 200, { access_token: token }));
  });
  let good = 'access-1';
  const api = await serve((response, { headers }) =>
    headers.authorization === `Bearer ${good}` ? json(response, 200, { id: 1 }) : json(response, 401, {}),
  );
  const shared = channel(api.url, {
    token: { kind: 'oauth', tokenUrl: oauth.url, clientId: 'ferry', clientSecret: 'very-secret' },
  });
  const stop = new AbortController();
  const one = client(api.url, { channel: shared });
  const two = client(api.url, { channel: shared, signal: stop.signal });
  const both = () => [one, two].flatMap((service) => Array.from({ length: 5 }, () => service.get('asset', 1)));
  await Promise.all(both());
  expect(given).toBe(1);
  good = 'access-2';
  await Promise.all(both());
  expect(given).toBe(2);
  good = 'access-3';
  const reads = one.get('asset', 1);
  const left = refusal(two.get('asset', 1));
  await until(() => held.length === 1);
  stop.abort();
  expect(await left).toContain('Stopped');
  held[0]?.();
  expect(await reads).toEqual({ id: 1 });
  expect(given).toBe(3);
  expect(shared.gauges.inFlight).toBe(0);
});

test('closing waits for what is in flight, yet not for ever: what is cut off is open', async () => {
  const { url, seen } = await serve((response, _seen, nth) => {
    if (nth === 1) setTimeout(() => json(response, 201, { id: 1 }), 50);
  });
  const shared = channel(url, { timeouts: { connectMs: 2_000, requestMs: 60_000 } });
  const service = client(url, { channel: shared });
  const answers = [service.create('asset', {}), service.create('asset', {})];
  await until(() => seen.length === 2);
  const before = performance.now();
  await shared.close(300);
  expect(performance.now() - before).toBeLessThan(2_000);
  expect((await Promise.all(answers)).map(({ kind }) => kind).sort()).toEqual(['done', 'open']);
});

test('the signal of the channel stops every service on it, and leaves no listener behind', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { id: 1 }));
  const stop = new AbortController();
  const shared = channel(url, { signal: stop.signal, maxRps: 1 });
  const services = [1, 2, 3].map((company) => client(url, { channel: shared, company }));
  const reads = services.map((service) => refusal(service.get('asset', 1)));
  await until(() => seen.length === 1);
  stop.abort();
  expect((await Promise.all(reads)).filter((text) => text.includes('Stopped')).length).toBe(2);
  for (const service of services) await service.close();
  await shared.close();
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  expect(getEventListeners(shared.parts.signal, 'abort').length).toBeLessThanOrEqual(1);
});

test('every exchange is told: what it was, how it was answered, how long it took', async () => {
  const { url } = await serve((response, _seen, nth) => json(response, nth === 1 ? 500 : 200, { id: 1 }));
  const told: unknown[] = [];
  const service = client(url, { patienceMs: 5_000, observe: (event) => told.push(event) });
  await service.get('asset', 1);
  await service.update('asset', 1, {});
  const ms = expect.any(Number);
  expect(told).toEqual([
    { kind: 'read', status: 500, ms, repetition: false },
    { kind: 'read', status: 200, ms, repetition: true },
    { kind: 'write', status: 200, ms, repetition: false },
  ]);
});

test('two channels keep one ceiling of 50 a second together', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { id: 1 }));
  const pace = plainPace(systemClock);
  const stop = new AbortController();
  const reads = [1, 2].flatMap((company) => {
    const shared = channel(url, { maxRps: 50, shared: pace.member(), signal: stop.signal });
    const service = client(url, { channel: shared, company });
    return Array.from({ length: 120 }, () => service.get('asset', 1));
  });
  await Promise.all(reads);
  const start = seen[0]?.at ?? 0;
  const arrivals = seen.map(({ at }) => ({ at: at - start }));
  const end = arrivals.at(-1)?.at ?? 0;
  // On a busy machine slots lapse: the ceiling is what is promised.
  expect(most(arrivals, 0, end, 1_000)).toBeLessThanOrEqual(55);
  expect(((arrivals.length - 1) * 1000) / end).toBeLessThan(52.5);
  // Both have their share to the end.
  const late = seen.slice(120).filter(({ url: { searchParams } }) => searchParams.get('company') === '1').length;
  expect(late).toBeGreaterThan(15);
  expect(late).toBeLessThan(105);
});

test('Retry-After seen by one channel soon stops the other', async () => {
  let toldAt = 0;
  const { url, seen } = await serve((response, { url: { searchParams }, at }) => {
    if (searchParams.get('company') === '1' && toldAt === 0) {
      toldAt = at;
      json(response, 429, {}, { 'retry-after': '2' });
    } else setTimeout(() => json(response, 200, { id: 1 }), 2);
  });
  const pace = plainPace(systemClock);
  const [one, two] = [1, 2].map((company) => {
    const shared = channel(url, { shared: pace.member() });
    return client(url, { channel: shared, company, patienceMs: 20_000 });
  });
  let go = true;
  const busy = Array.from({ length: 4 }, async () => {
    while (go) await two?.get('asset', 1);
  });
  await until(() => seen.length > 50);
  await one?.get('asset', 1);
  go = false;
  await Promise.all(busy);
  const early = seen.filter(({ at }) => at > toldAt + 800 && at < toldAt + 1_990);
  expect(early.length).toBe(0);
  expect(seen.some(({ at }) => at >= toldAt + 1_990)).toBe(true);
});
