import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { probeValues, probeWhileCheap } from '../../src/pipeline/match/filter.js';
import { type Clock, systemClock } from '../../src/service/clock.js';
import type { Service } from '../../src/service/port.js';
import { client, json, refusal, type Seen, serve } from './server.js';

const SERIALS = Array.from({ length: 60 }, (_, i) => `SN-${i}`);

/** Assets in pages of 25; `probe` answers `serial_number=list`. */
function assets(serials: readonly (string | null)[], probe: (asked: string[], seen: Seen) => unknown) {
  return serve((response, seen) => {
    const page = Number(seen.url.searchParams.get('page') ?? 1);
    let answer: unknown;
    if (seen.url.searchParams.get('serial_number') === 'list') {
      answer = probe((JSON.parse(seen.body || '{"list":[]}') as { list: string[] }).list, seen);
      if (typeof answer === 'number') {
        json(response, answer, {});
        return;
      }
    } else
      answer = paged(
        serials.map((serial_number, i) => ({ id: i + 1, serial_number })),
        page,
      );
    json(response, 200, answer);
  });
}

function paged(all: readonly unknown[], page: number): unknown {
  return { count: all.length, next: null, previous: null, results: all.slice((page - 1) * 25, page * 25) };
}

const keys = (serials: readonly string[]) => new Map(serials.map((serial) => [serial, []]));

/** Which of the keys exist, by a caller that has read page 1. */
async function existing(service: Service, serials: readonly string[]): Promise<ReadonlySet<string> | 'ignored'> {
  const found = await probeValues(keys(serials), await service.page('asset', 1), service);
  return found ? new Set(found.keys()) : 'ignored';
}

const pageOf = (seen: Seen): number => Number(seen.url.searchParams.get('page'));

test('serial numbers that exist come back, over several pages, asked by GET with a body', async () => {
  const { url, seen } = await assets(SERIALS, (asked, one) =>
    paged(
      SERIALS.filter((serial) => asked.includes(serial)).map((serial_number) => ({ serial_number })),
      pageOf(one),
    ),
  );
  const found = await existing(client(url), [...SERIALS.slice(3, 50), 'new', 'list', 'SN-55 B']);
  expect(found).toEqual(new Set(SERIALS.slice(3, 50)));
  const probes = seen.filter((one) => one.body !== '');
  expect(probes.map((one) => `${one.method} ${one.path}?${one.url.searchParams}`)).toEqual([
    'GET /api/v2/asset/?company=7&serial_number=list&page=1',
    'GET /api/v2/asset/?company=7&serial_number=list&page=2',
  ]);
});

test('of several pages the first tells how many there are: where that is enough, no other is read', async () => {
  const { url, seen } = await assets(SERIALS, (asked, one) =>
    paged(
      SERIALS.filter((serial) => asked.includes(serial)).map((serial_number) => ({ serial_number })),
      pageOf(one),
    ),
  );
  const service = client(url);
  expect(await existing(service, SERIALS.slice(3, 50))).toEqual(new Set(SERIALS.slice(3, 50)));
  const first = await service.page('asset', 1);
  const most = await probeWhileCheap(keys(SERIALS.slice(3, 50)), first, service);
  // Without the serial number that is known to exist.
  expect(most).toMatchObject({ expensive: true, asked: 47, hits: 47, existing: new Map() });
  expect(seen.filter((one) => one.body !== '').map(pageOf)).toEqual([1, 2, 1]);
  const few = await probeWhileCheap(keys(SERIALS.slice(0, 5)), first, service);
  expect(few).toMatchObject({ expensive: false, existing: keys(SERIALS.slice(0, 5)) });
  expect(seen.filter((one) => one.body !== '').map(pageOf)).toEqual([1, 2, 1, 1]);
});

test.each([
  ['a bare list of texts', (all: string[]) => all],
  ['a page of texts', (all: string[]) => paged(all, 1)],
  ['a list in the form of the question', (all: string[]) => ({ list: all })],
])('%s is understood', async (_name, form) => {
  const { url } = await assets(SERIALS, (asked) => form(SERIALS.filter((serial) => asked.includes(serial))));
  expect(await existing(client(url), ['SN-7', 'nothing'])).toEqual(new Set(['SN-7']));
});

test.each([
  [
    'the whole list',
    (_asked: string[], one: Seen) =>
      paged(
        SERIALS.map((serial_number) => ({ serial_number })),
        pageOf(one),
      ),
  ],
  [
    'whole records',
    (_asked: string[], one: Seen) =>
      paged(
        SERIALS.map((serial_number, id) => ({ id, serial_number })),
        pageOf(one),
      ),
  ],
  ['nothing, as for a serial number called list', () => paged([], 1)],
  ['a refusal', () => 400],
  ['not found', () => 404],
  ['not implemented', () => 501],
  ['the same page for every page', () => ({ count: 99, results: ['SN-0', 'SN-1'] })],
])('%s means that the body was ignored', async (_name, probe) => {
  const { url } = await assets(SERIALS, probe);
  expect(await existing(client(url), ['SN-0', 'SN-1', 'x'])).toBe('ignored');
});

test('a list that is refused for its length is asked for in smaller ones from then on', async () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `SN-${i + 10}`);
  const lengths: number[] = [];
  const { url } = await assets(SERIALS, (asked) => {
    lengths.push(asked.length);
    return asked.length > 300 ? 413 : SERIALS.filter((serial) => asked.includes(serial));
  });
  const service = client(url);
  expect(await existing(service, many)).toEqual(new Set(SERIALS.slice(10)));
  // Of 500 each in six forms, with the one that is known to exist.
  expect(lengths.slice(0, 5)).toEqual([3_001, 1_501, 751, 379, 193]);
  expect(Math.max(...lengths.slice(4))).toBe(193);
  const taken = lengths.length;
  expect(await existing(service, many.slice(0, 60))).toEqual(new Set(SERIALS.slice(10)));
  expect(lengths.slice(taken)).toEqual([193, 169]);
});

test('a service that ignores case is not taken for one that ignores the body; only exact serial numbers count', async () => {
  const { url } = await assets(SERIALS, (asked) =>
    SERIALS.filter((serial) => asked.some((one) => one.toLowerCase() === serial.toLowerCase())),
  );
  expect(await existing(client(url), ['sn-3', 'SN-4'])).toEqual(new Set(['SN-4']));
});

test('no assets: nothing exists, and nothing is asked; no asset with a serial number: no control, no answer', async () => {
  const empty = await assets([], () => 500);
  expect(await existing(client(empty.url), ['SN-1'])).toEqual(new Set());
  const none = await assets([null, null], () => 500);
  expect(await existing(client(none.url), ['SN-1'])).toBe('ignored');
});

test('the control that was removed meanwhile is replaced by another one, once', async () => {
  const present = ['GONE', 'SN-1'];
  const { url, seen } = await assets(present, (asked) => {
    if (present[0] === 'GONE') present.shift();
    return present.filter((serial) => asked.includes(serial));
  });
  expect(await existing(client(url), ['SN-2'])).toEqual(new Set());
  expect(seen.length).toBe(4);
});

test('a probe of nothing asks nothing but page 1, which the caller has', async () => {
  const { url, seen } = await assets(SERIALS, () => 503);
  expect(await existing(client(url), [])).toEqual(new Set());
  expect(seen.length).toBe(1);
});

const FAILURES: readonly [string, (response: ServerResponse) => void, tries: number][] = [
  ['403 with a web page', (response) => page(response, 403), 1],
  ['407', (response) => json(response, 407, {}), 1],
  ['409', (response) => json(response, 409, {}), 1],
  ['a redirect', (response) => json(response, 302, {}, { location: 'https://login.example/' }), 1],
  ['500', (response) => json(response, 500, {}), 2],
  ['502 with a web page', (response) => page(response, 502), 2],
  ['503', (response) => json(response, 503, {}), 2],
  ['408', (response) => json(response, 408, {}), 2],
  ['a login page', (response) => page(response, 200), 2],
  ['half of an answer', (response) => response.writeHead(200).end('{"count": 1, "res'), 2],
  ['another JSON', (response) => json(response, 200, { ok: true }), 2],
  ['bytes that are no text', (response) => response.writeHead(200).end(Buffer.from([0xff, 0xfe, 0x80])), 2],
  ['a reset', (response) => response.destroy(), 2],
  ['too much', (response) => response.writeHead(200, { 'content-length': 99_000_000 }).write('['), 1],
];

function page(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html>no</html>');
}

test.each(FAILURES)('a probe that comes to %s is given up soon and not made again', async (_name, fail, tries) => {
  let probes = 0;
  const { url } = await serve((response, seen) => {
    if (seen.url.searchParams.get('serial_number') !== 'list') {
      json(response, 200, paged([{ id: 1, serial_number: 'SN-1' }], 1));
      return;
    }
    probes++;
    fail(response);
  });
  const service = client(url, { patienceMs: 600_000 });
  expect(await existing(service, ['SN-1'])).toBe('ignored');
  expect(probes).toBe(tries);
  expect(await existing(service, ['SN-2'])).toBe('ignored');
  expect(probes).toBe(tries);
  expect(await service.page('asset', 1)).toMatchObject({ count: 1 });
});

test('a probe without an answer is waited for twice 5 s, however patient the client is otherwise', async () => {
  let probes = 0;
  const { url } = await serve((response, seen) => {
    if (seen.url.searchParams.get('serial_number') === 'list') probes++;
    else json(response, 200, paged([{ id: 1, serial_number: 'SN-1' }], 1));
  });
  const fast = 50;
  const clock: Clock = {
    ...systemClock,
    now: () => performance.now() * fast,
    after: (ms, run) => systemClock.after(ms / fast, run),
  };
  const service = client(url, { clock, patienceMs: 900_000, timeouts: { connectMs: 60_000, requestMs: 60_000 } });
  const from = clock.now();
  expect(await existing(service, ['SN-1'])).toBe('ignored');
  expect(probes).toBe(2);
  expect(clock.now() - from).toBeGreaterThan(9_900);
  expect(clock.now() - from).toBeLessThan(30_000);
});

test('a probe is throttled and refreshes its token like every read', async () => {
  const answers = [429, 401];
  const { url, seen } = await assets(SERIALS, (asked) => {
    const status = answers.shift();
    return status ?? SERIALS.filter((serial) => asked.includes(serial));
  });
  expect(await existing(client(url, { patienceMs: 5_000 }), ['SN-7'])).toEqual(new Set(['SN-7']));
  expect(seen.filter((one) => one.body !== '').length).toBe(3);
  const refused = await assets(SERIALS, () => 401);
  expect(await refusal(existing(client(refused.url), ['SN-7']))).toContain('The token was refused (401)');
});

test('a count given as text is read as a number', async () => {
  const { url } = await assets(SERIALS, (asked, one) => ({
    ...(paged(
      SERIALS.filter((serial) => asked.includes(serial)),
      pageOf(one),
    ) as object),
    count: '31',
  }));
  expect(await existing(client(url), SERIALS.slice(0, 31))).toEqual(new Set(SERIALS.slice(0, 31)));
});
