import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { client, json, refusal, serve, until } from './server.js';

test.each(['seconds', 'date'])(
  '429 with Retry-After in %s: nobody sends before, then every write goes out once more (7)',
  async (form) => {
    let openAt = 0;
    let refused = 0;
    const { url, seen } = await serve((response, { at }) => {
      if (openAt === 0) openAt = at + 1_000;
      if (at < openAt - 5) {
        refused++;
        const date = new Date(Date.now());
        const then = new Date(date.getTime() + 1_000).toUTCString();
        json(response, 429, {}, { date: date.toUTCString(), 'retry-after': form === 'seconds' ? '1' : then });
      } else json(response, 201, { id: seen.length });
    });
    const service = client(url, { patienceMs: 20_000 });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => service.create('asset', { name: `n${i}` })));
    expect(answers.every((answer) => answer.kind === 'done')).toBe(true);
    // The eight that were in flight before the first answer came; whoever sent before the time would be refused, too.
    expect(refused).toBeLessThanOrEqual(8);
    expect(service.counts.writes).toBe(20 + service.counts.retries);
    expect(service.counts.retries).toBeLessThanOrEqual(8);
    expect(service.counts.retries).toBeGreaterThan(0);
  },
);

test('429 without Retry-After: backs off, lowers the requests in flight, ends well (8)', async () => {
  const { url, seen } = await serve((response, _seen, nth) => {
    if (nth <= 8) json(response, 429, { detail: 'slow down' });
    else json(response, 201, { id: nth });
  });
  const service = client(url, { patienceMs: 20_000 });
  const before = service.inFlightLimit;
  const first = await Promise.all(Array.from({ length: 8 }, (_, i) => service.create('asset', { name: `n${i}` })));
  expect(first.every((answer) => answer.kind === 'done')).toBe(true);
  expect(seen.length).toBe(16);
  expect(service.counts.retries).toBe(8);
  expect(before).toBe(8);
  expect(service.inFlightLimit).toBeLessThan(8);
});

test('a write that is throttled for longer than the patience was never executed', async () => {
  const { url } = await serve((response) => json(response, 429, {}));
  const answer = await client(url, { patienceMs: 60 }).update('asset', 1, {});
  expect(answer).toMatchObject({ kind: 'unsent', reason: expect.stringContaining('429') });
});

test('no more requests are in flight than allowed', async () => {
  let inFlight = 0;
  let most = 0;
  const { url } = await serve((response) => {
    most = Math.max(most, ++inFlight);
    setTimeout(() => {
      inFlight--;
      json(response, 200, { id: 1 });
    }, 2);
  });
  const service = client(url, { maxInFlight: 3 });
  await Promise.all(Array.from({ length: 100 }, () => service.get('asset', 1)));
  expect(most).toBe(3);
});

test('the fixed ceiling of requests per second holds against a real service', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { id: 1 }));
  const service = client(url, { maxRps: 100 });
  await Promise.all(Array.from({ length: 50 }, () => service.get('asset', 1)));
  const span = (seen.at(-1)?.at ?? 0) - (seen[0]?.at ?? 0);
  expect(span).toBeGreaterThan(440);
});

test('the stop signal lets what is in flight finish, and refuses the rest', async () => {
  const held: (() => void)[] = [];
  const { url, seen } = await serve((response) => {
    held.push(() => json(response, 201, { id: 3 }));
  });
  const stop = new AbortController();
  const service = client(url, { maxInFlight: 2, signal: stop.signal });
  const answers = [1, 2, 3, 4].map((n) => service.create('asset', { name: `n${n}` }));
  await until(() => held.length === 2);
  stop.abort();
  for (const answer of held) answer();
  expect((await Promise.all(answers)).map((answer) => answer.kind)).toEqual(['done', 'done', 'unsent', 'unsent']);
  expect(seen.length).toBe(2);
  expect(await refusal(service.get('asset', 1))).toContain('Stopped: the run was stopped before');
});

test('the stop signal ends every wait for a service that is down, and leaves no listener behind', async () => {
  const stop = new AbortController();
  const warnings: Error[] = [];
  const onWarning = (warning: Error): number => warnings.push(warning);
  process.on('warning', onWarning);
  const service = client('http://127.0.0.1:9', { patienceMs: 600_000, random: () => 0.999, signal: stop.signal });
  const answers = Array.from({ length: 40 }, () => service.create('asset', {}));
  await until(() => service.counts.writes >= 8);
  stop.abort();
  expect(new Set((await Promise.all(answers)).map((answer) => answer.kind))).toEqual(new Set(['unsent']));
  await service.close();
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('a client that was closed sends nothing more', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { id: 1 }));
  const service = client(url);
  await service.get('asset', 1);
  await service.close();
  expect(await refusal(service.get('asset', 1))).toContain('closed');
  expect(seen.length).toBe(1);
});

test('the token is nowhere: not in errors, not in reasons, not in logs (18)', async () => {
  const { url } = await serve((response, { method }, nth) => {
    const words = { detail: 'Authorization: Bearer planted-secret-token is bad', other: 'planted-secret-token' };
    if (method === 'POST') json(response, 422, words);
    else if (nth === 2) json(response, 503, words);
    else json(response, 400, words);
  });
  const lines: string[] = [];
  const service = client(url, {
    patienceMs: 5_000,
    log: (level, event, fields) => lines.push(JSON.stringify([level, event, fields])),
  });
  const told = [JSON.stringify(await service.create('asset', {})), await refusal(service.get('asset', 1)), ...lines];
  expect(lines.length).toBeGreaterThan(0);
  expect(told.join('\n')).not.toContain('planted');
});
