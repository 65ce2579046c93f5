import { expect, test } from 'vitest';
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

const pageOf = (seen: Seen): number => Number(seen.url.searchParams.get('page'));

test('serial numbers that exist come back, over several pages, asked by GET with a body', async () => {
  const { url, seen } = await assets(SERIALS, (asked, one) =>
    paged(
      SERIALS.filter((serial) => asked.includes(serial)).map((serial_number) => ({ serial_number })),
      pageOf(one),
    ),
  );
  const found = await client(url).probeSerials([...SERIALS.slice(3, 50), 'new', 'list', ' SN-55 ']);
  expect(found).toEqual(new Set(SERIALS.slice(3, 50)));
  const probes = seen.filter((one) => one.body !== '');
  expect(probes.map((one) => `${one.method} ${one.path}?${one.url.searchParams}`)).toEqual([
    'GET /api/v2/asset/?company=7&serial_number=list&page=1',
    'GET /api/v2/asset/?company=7&serial_number=list&page=2',
  ]);
});

test.each([
  ['a bare list of texts', (all: string[]) => all],
  ['a page of texts', (all: string[]) => paged(all, 1)],
  ['a list in the form of the question', (all: string[]) => ({ list: all })],
])('%s is understood', async (_name, form) => {
  const { url } = await assets(SERIALS, (asked) => form(SERIALS.filter((serial) => asked.includes(serial))));
  expect(await client(url).probeSerials(['SN-7', 'nothing'])).toEqual(new Set(['SN-7']));
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
  expect(await client(url).probeSerials(['SN-0', 'SN-1', 'x'])).toBe('ignored');
});

test('a service that ignores case is not taken for one that ignores the body; only exact serial numbers count', async () => {
  const { url } = await assets(SERIALS, (asked) =>
    SERIALS.filter((serial) => asked.some((one) => one.toLowerCase() === serial.toLowerCase())),
  );
  expect(await client(url).probeSerials(['sn-3', 'SN-4'])).toEqual(new Set(['SN-4']));
});

test('no assets: nothing exists, and nothing is asked; no asset with a serial number: no control, no answer', async () => {
  const empty = await assets([], () => 500);
  expect(await client(empty.url).probeSerials(['SN-1'])).toEqual(new Set());
  const none = await assets([null, null], () => 500);
  expect(await client(none.url).probeSerials(['SN-1'])).toBe('ignored');
});

test('the control that was removed meanwhile is replaced by another one, once', async () => {
  const present = ['GONE', 'SN-1'];
  const { url, seen } = await assets(present, (asked) => {
    if (present[0] === 'GONE') present.shift();
    return present.filter((serial) => asked.includes(serial));
  });
  expect(await client(url).probeSerials(['SN-2'])).toEqual(new Set());
  expect(seen.length).toBe(4);
});

test('a probe of nothing asks nothing; a service that is down is said to be', async () => {
  const { url, seen } = await assets(SERIALS, () => 503);
  const service = client(url, { patienceMs: 60 });
  expect(await service.probeSerials([])).toEqual(new Set());
  expect(seen.length).toBe(0);
  expect(await refusal(service.probeSerials(['x']))).toContain('service unreachable');
});
