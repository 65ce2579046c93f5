import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { RequestCounts } from '../../src/model/progress.js';
import { wait } from '../../src/service/clock.js';
import { outageReporter } from '../../src/service/pace/breaker.js';
import { openPacer } from '../../src/service/pace/gate.js';
import type { Exchange, Http, HttpRequest } from '../../src/service/transport/http.js';
import { type Call, openSender, type Settled } from '../../src/service/transport/send.js';
import type { TokenKeeper } from '../../src/service/transport/token.js';
import { seeded } from '../support/seeded.js';
import { simClock } from './sim-clock.js';

const REFUSED: Exchange = { kind: 'fault', sent: false, cause: 'connect', reason: 'connection refused (ECONNREFUSED)' };
const SILENT: Exchange = { kind: 'fault', sent: true, cause: 'timeout', reason: 'no complete answer within 30 s' };
const answer = (status: number, text = '{"id":1}', retryAfter?: string): Exchange => ({
  ...{ kind: 'answer', status, contentType: 'application/json', text },
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

/** A run against a service in virtual time; `respond` says what a request comes to, and after how long. */
function line(
  respond: (request: HttpRequest, now: number, nth: number) => readonly [Exchange, number],
  { patienceMs = 900_000, maxInFlight = 16, seed = 1 } = {},
) {
  const clock = simClock();
  const stop = new AbortController();
  const pacer = openPacer({ maxInFlight, clock, random: seeded(seed), signal: stop.signal });
  const seen: { readonly at: number; readonly method: string; readonly path: string; readonly body?: string }[] = [];
  let inFlight = 0;
  /** Most requests in flight at once, by second. */
  const most = new Map<number, number>();
  const http: Pick<Http, 'exchange'> = {
    async exchange(request) {
      const at = clock.now();
      const { method, path, body } = request;
      seen.push({ at, method, path, ...(body === undefined ? {} : { body }) });
      const second = Math.floor(at / 1000);
      most.set(second, Math.max(most.get(second) ?? 0, ++inFlight));
      const [exchange, ms] = respond(request, at, seen.length);
      await wait(clock, ms);
      inFlight--;
      return exchange;
    },
  };
  const tokens: TokenKeeper = {
    kind: 'token',
    secrets: ['planted-secret'],
    current: () => ({ header: 'Bearer planted-secret' }),
    refused: () => undefined,
  };
  const news: (string | undefined)[] = [];
  const logged: { readonly event: string; readonly ms: unknown }[] = [];
  const run = (signal?: AbortSignal) => {
    const counts: RequestCounts = { total: 0, reads: 0, writes: 0, retries: 0 };
    const told = outageReporter(
      clock,
      (_level, event, fields) => logged.push({ event, ms: fields['next_ms'] }),
      () => tokens.secrets,
      (one) => news.push(one),
    );
    const lane = pacer.lane(signal, { ms: patienceMs, notify: told });
    const send = openSender({
      http,
      tokens,
      pacer,
      lane,
      clock,
      counts,
      patience: { ms: patienceMs },
      address: { origin: 'http://service', root: '/api/v2' },
      log: () => undefined,
      signal: signal ?? new AbortController().signal,
    });
    return { counts, lane, send };
  };
  return { clock, pacer, seen, most, news, logged, run, stop: () => stop.abort() };
}

const create = (n: number): Call => ({ kind: 'write', method: 'POST', path: '/asset', company: 1, body: `{"n":${n}}` });
const read = (n: number): Call => ({ kind: 'read', method: 'GET', path: `/asset/${n}/`, company: 1 });

/** The calls, all at once; what each came to, in their order, and when the last did. */
function all(service: ReturnType<typeof line>, run: { send(call: Call): Promise<Settled> }, calls: readonly Call[]) {
  const ends: { settled?: Settled; error?: Error; at: number }[] = [];
  calls.forEach((call, at) => {
    run.send(call).then(
      (settled) => (ends[at] = { settled, at: service.clock.now() }),
      (error: Error) => (ends[at] = { error, at: service.clock.now() }),
    );
  });
  return ends;
}

const between = (service: ReturnType<typeof line>, from: number, to: number) =>
  service.seen.filter(({ at }) => at >= from && at < to);

describe.each([
  ['the connection is refused', REFUSED, 1],
  ['503', answer(503, ''), 5],
  ['500', answer(500, ''), 5],
  ['nobody answers', SILENT, 30_000],
] as const)('an outage of eight minutes: %s (1, 10)', (_, failure, ms) => {
  const from = 2_000;
  const to = 482_000;
  const respond = (_request: HttpRequest, now: number): readonly [Exchange, number] =>
    now >= from && now < to ? [failure, ms] : [answer(200), 20];

  test('reads wait for it, few requests go out, one at a time, and all of them end well', async () => {
    const service = line(respond);
    const run = service.run();
    const ends = all(
      service,
      run,
      Array.from({ length: 4_000 }, (_, n) => read(n)),
    );
    await service.clock.run(700_000);
    expect(ends.filter(({ settled }) => settled?.kind === 'ok')).toHaveLength(4_000);
    // Sixteen were in flight when it began; then 1, 2, 4, 8, 16 s and every 30 s at most, less the jitter.
    expect(between(service, from, to).length).toBeLessThan(60);
    const settling = from + ms + 2_000;
    for (const [second, count] of service.most) {
      if (second * 1000 > settling && second * 1000 < to - 1_000) expect(`${second}: ${count}`).toBe(`${second}: 1`);
    }
    const gaps = between(service, settling, to).map(({ at }, i, list) => at - (list[i - 1]?.at ?? at));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(30_000 + ms);
    // It is asked at least every 30 s, so the run goes on soon after.
    expect(Math.max(...ends.map(({ at }) => at))).toBeLessThan(to + 30_000 + ms + 15_000);
    expect(run.counts.total).toBe(service.seen.length);
    expect(run.counts.retries).toBe(service.seen.length - 4_000);
    service.stop();
  });

  test('no write goes out as a probe: those that wait are sent once, when it is back', async () => {
    const service = line(respond);
    const run = service.run();
    const ends = all(
      service,
      run,
      Array.from({ length: 4_000 }, (_, n) => create(n)),
    );
    await service.clock.run(700_000);
    const open = ends.filter(({ settled }) => settled?.kind === 'open');
    expect(open.length + ends.filter(({ settled }) => settled?.kind === 'ok').length).toBe(4_000);
    // What was in flight when the outage began, and no more.
    expect(open.length).toBeLessThanOrEqual(failure === REFUSED ? 0 : 24);
    const probes = between(service, from + ms + 2_000, to);
    expect(probes.length).toBeGreaterThan(7);
    expect(new Set(probes.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set(['GET /api/v2/company?page=1']),
    );
    const sent = service.seen.filter(({ method }) => method === 'POST');
    // A refused connection was not sent at all; whatever else left, left once.
    if (failure !== REFUSED) expect(new Set(sent.map(({ body }) => body)).size).toBe(sent.length);
    service.stop();
  });
});

test('nothing fails before the patience is over; then everything that waits does, with the reason', async () => {
  const service = line(() => [REFUSED, 1], { patienceMs: 60_000 });
  const run = service.run();
  const ends = all(service, run, [...Array.from({ length: 40 }, (_, n) => create(n)), read(1)]);
  await service.clock.run(59_900);
  expect(ends).toEqual([]);
  await service.clock.run(61_000);
  for (const { settled } of ends.slice(0, 40)) {
    expect(settled).toMatchObject({ kind: 'unsent', reason: expect.stringContaining('connection refused') });
  }
  expect(ends[40]?.error?.message).toMatch(/service unreachable: .* within 6\d s: connection refused/);
  // And what begins now is told at once.
  const late = all(service, run, [create(99)]);
  await service.clock.run(61_010);
  expect(late[0]?.settled?.kind).toBe('unsent');
  service.stop();
});

test('a run that begins in the middle of an outage has its whole patience, another is not held to it', async () => {
  const service = line((_, now) => (now < 100_000 ? [REFUSED, 1] : [answer(200), 5]), { patienceMs: 60_000 });
  const first = all(service, service.run(), [create(1), create(2), create(3), create(4), create(5), create(6)]);
  await service.clock.run(50_000);
  const second = all(service, service.run(), [create(7), read(8)]);
  await service.clock.run(61_000);
  expect(first.map(({ settled }) => settled?.kind)).toEqual(Array(6).fill('unsent'));
  expect(second).toEqual([]);
  await service.clock.run(135_000);
  expect(second.map(({ settled }) => settled?.kind)).toEqual(['ok', 'ok']);
  service.stop();
});

test('people are told since when it is away, why, and when it is asked next; and that it is back', async () => {
  const failure = { ...REFUSED, reason: 'Bearer planted-secret was there' };
  const service = line((_, now) => (now < 20_000 ? [failure, 1] : [answer(200), 5]));
  all(service, service.run(), [create(1), create(2), create(3), create(4), create(5), create(6)]);
  await service.clock.run(60_000);
  const away = service.news.slice(0, -1);
  expect(service.news.at(-1)).toBeUndefined();
  expect(away.length).toBeGreaterThan(3);
  expect(away.at(-1)).toMatch(
    /^The service does not answer \(.*\*\*\*.*\); waiting since 00:00:00 UTC, next try in \d+ s\.$/,
  );
  expect(JSON.stringify(service.news)).not.toContain('planted');
  expect(service.logged.map(({ event }) => event)).toEqual([...away.map(() => 'service.away'), 'service.back']);
  const waits = service.logged.slice(0, -1).map(({ ms }) => Number(ms));
  for (const [i, ms] of waits.entries()) {
    expect(ms).toBeGreaterThanOrEqual(500 * 2 ** Math.min(i, 5) - 1);
    expect(ms).toBeLessThanOrEqual(Math.min(30_000, 1_000 * 2 ** i));
  }
  service.stop();
});

test('failures between answers are no outage: every third request fails, nobody waits for the others', async () => {
  const service = line((_request, _now, nth) => [nth % 3 === 0 ? answer(500, '') : answer(200), 20]);
  const run = service.run();
  const ends = all(
    service,
    run,
    Array.from({ length: 600 }, (_, n) => create(n)),
  );
  await service.clock.run(60_000);
  expect(ends).toHaveLength(600);
  expect(service.news).toEqual([]);
  expect(service.seen).toHaveLength(600);
});

test('a Retry-After of the outage is kept by the probes, too (7)', async () => {
  const service = line((_, now) => (now < 70_000 ? [answer(503, '', '40'), 5] : [answer(200), 5]));
  const ends = all(
    service,
    service.run(),
    Array.from({ length: 20 }, (_, n) => read(n)),
  );
  await service.clock.run(200_000);
  expect(ends.filter(({ settled }) => settled?.kind === 'ok')).toHaveLength(20);
  expect(between(service, 20, 40_000)).toEqual([]);
  expect(between(service, 40_000, 70_000)).toHaveLength(1);
  service.stop();
});

test('a service of which only a small read works is not flooded: a few writes at growing intervals, and patience ends it', async () => {
  const works = (path: string): boolean => path.includes('/company');
  const service = line((request) => [works(request.path) ? answer(200) : answer(503, ''), 5], { patienceMs: 600_000 });
  const ends = all(
    service,
    service.run(),
    Array.from({ length: 500 }, (_, n) => create(n)),
  );
  await service.clock.run(700_000);
  expect(ends.filter(Boolean)).toHaveLength(500);
  const open = ends.filter(({ settled }) => settled?.kind === 'open');
  expect(open.length).toBeLessThan(160);
  expect(ends.filter(({ settled }) => settled?.kind === 'unsent').length).toBe(500 - open.length);
  service.stop();
});

test('a run that is stopped leaves the wait at once, and no timer is left', async () => {
  const service = line(() => [REFUSED, 1]);
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const run = service.run(stopping.signal);
  const ends = all(
    service,
    run,
    Array.from({ length: 30 }, (_, n) => create(n)),
  );
  await service.clock.run(10_000);
  expect(ends).toEqual([]);
  stopping.abort();
  await service.clock.run(10_001);
  expect(ends.map(({ settled }) => settled?.kind)).toEqual(Array(30).fill('unsent'));
  run.lane.close();
  expect(service.clock.waiting).toBe(0);
});
