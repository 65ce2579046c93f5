import { expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { client, json, refusal, serve } from './server.js';

test('a page is asked for with company, filters and page number, at the path with a slash', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { count: 1, next: null, results: [{ id: 3 }] }));
  const page = await client(`${url}/`).page('asset', 2, { name: 'a&b ü' });
  expect(page).toEqual({ count: 1, results: [{ id: 3 }] });
  expect(seen[0]?.path).toBe('/api/v2/asset/');
  expect(Object.fromEntries(seen[0]?.url.searchParams ?? [])).toEqual({ company: '7', name: 'a&b ü', page: '2' });
  expect(seen[0]?.headers.authorization).toBe('Bearer planted-secret-token');
});

test('a count may come as a text of digits', async () => {
  const counts = ['60', '', '1.5', '-1'];
  const { url } = await serve((response, one) =>
    json(response, 200, { count: counts[Number(one.url.searchParams.get('page')) - 1], results: [{ id: 3 }] }),
  );
  const service = client(url);
  expect(await service.page('asset', 1)).toEqual({ count: 60, results: [{ id: 3 }] });
  for (const page of [2, 3, 4]) expect(await refusal(service.page('asset', page))).toContain('not a number of records');
});

test.each([401, 403, 302, 400, 404])('the fault of a run that rests on status %i carries it', async (status) => {
  const { url } = await serve((response) => json(response, status, {}));
  await expect(client(url).page('asset', 1)).rejects.toMatchObject({ name: 'RunError', status });
});

test('users and companies are read without a slash, companies without a company', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { count: 0, results: [] }));
  const service = client(url);
  await service.page('user', 1);
  await service.page('company', 1);
  expect(seen.map((one) => `${one.path}${one.url.search}`)).toEqual([
    '/api/v2/user?company=7&page=1',
    '/api/v2/company?page=1',
  ]);
});

test('numbers that a double cannot hold arrive digit for digit', async () => {
  const { url } = await serve((response) => {
    response.end('{"id":1,"mrc":99999999999999.99,"nrc":12.50,"big":12345678901234567}');
  });
  const record = await client(url).get('contract', 1);
  expect(record).toEqual({
    id: 1,
    mrc: Decimal.of('99999999999999.99'),
    nrc: 12.5,
    big: Decimal.of('12345678901234567'),
  });
});

test('a record that is not there is undefined; a record in a list is found; another record is not accepted', async () => {
  const { url } = await serve((response, { path }) => {
    if (path.endsWith('/1/')) json(response, 404, { detail: 'Not found.' });
    else if (path.endsWith('/2/')) json(response, 200, { count: 1, results: [{ id: 2, name: 'two' }] });
    else if (path.endsWith('/3/')) json(response, 200, { results: [] });
    else json(response, 200, { id: 9 });
  });
  const service = client(url);
  expect(await service.get('asset', 1)).toBeUndefined();
  expect(await service.get('asset', 2)).toEqual({ id: 2, name: 'two' });
  expect(await service.get('asset', 3)).toBeUndefined();
  expect(await refusal(service.get('asset', 4))).toContain('record with id 9');
});

test('a page past the end is empty, the first page never is', async () => {
  const { url } = await serve((response) => json(response, 404, { detail: 'Invalid page.' }));
  const service = client(url);
  expect(await service.page('supplier', 4)).toEqual({ count: 0, results: [] });
  const text = await refusal(service.page('supplier', 1));
  expect(text).toContain('RunError: There is nothing at GET /api/v2/supplier/');
  expect(text).toContain('company 7');
  expect(text).toContain('Invalid page.');
});

test('a bare list is taken as all there is', async () => {
  const { url } = await serve((response) => json(response, 200, [{ id: 1 }, { id: 2 }]));
  const service = client(url);
  expect(await service.page('category', 1)).toEqual({ count: 2, results: [{ id: 1 }, { id: 2 }], bare: true });
});

test.each([
  [{ count: '12 or so', results: [] }, '"count" is "12 or so"'],
  [{ count: -1, results: [] }, '"count" is -1'],
  [{ results: [] }, '"count" is absent'],
  [{ count: 1, results: 'x' }, '"results" is not a list'],
  [{ count: 1, results: [5] }, 'not a record'],
  ['x', 'not a list'],
])('%j is no page', async (body, words) => {
  const { url, seen } = await serve((response) => json(response, 200, body));
  expect(await refusal(client(url, { patienceMs: 60_000 }).page('asset', 1))).toContain(words);
  expect(seen.length).toBe(6);
});

test('the filter serial_number=list is refused', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { count: 0, results: [] }));
  const service = client(url);
  expect(await refusal(service.page('asset', 1, { serial_number: ' list' }))).toMatch(/^Error: serial_number=list/);
  expect(seen.length).toBe(0);
});

test.each([500, 502, 503, 504, 408, 425])('a read survives a burst of status %i', async (status) => {
  const { url, seen } = await serve((response, _seen, nth) => {
    if (nth <= 3) json(response, status, { detail: 'down' });
    else json(response, 200, { id: 5 });
  });
  const service = client(url, { patienceMs: 10_000 });
  expect(await service.get('asset', 5)).toEqual({ id: 5 });
  expect(seen.length).toBe(4);
  expect(service.counts).toEqual({ total: 4, reads: 4, writes: 0, retries: 3 });
});

test('an HTML login page, truncated JSON and text that is not UTF-8 are never a record', async () => {
  const { url, seen } = await serve((response, _seen, nth) => {
    if (nth === 1) response.writeHead(200, { 'content-type': 'text/html' }).end('<html><title>Log in</title></html>');
    else if (nth === 2) response.end('{"id": 5, "name": "cut o');
    else if (nth === 3) response.end(Buffer.from([0x22, 0xff, 0x22]));
    else json(response, 200, { id: 5 });
  });
  expect(await client(url, { patienceMs: 10_000 }).get('asset', 5)).toEqual({ id: 5 });
  expect(seen.length).toBe(4);
});

test('a login page that stays is named', async () => {
  const { url } = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>');
  });
  const text = await refusal(client(url, { patienceMs: 60_000 }).page('asset', 1));
  expect(text).toContain('web page, not JSON');
  expect(text).toContain('ROWFERRY_API_URL');
});

test('access denied stops the run and names path, company and the words of the service', async () => {
  const { url, seen } = await serve((response) =>
    json(response, 403, { detail: 'No access for planted-secret-token.' }),
  );
  const text = await refusal(client(url).get('asset', 5));
  expect(text).toContain('GET /api/v2/asset/5/');
  expect(text).toContain('company 7');
  expect(text).toContain('No access for ***.');
  expect(seen.length).toBe(1);
});

test('a refused read stops the run with the words of the service', async () => {
  const { url, seen } = await serve((response) => json(response, 400, { ordering: ['Not an ordering.'] }));
  expect(await refusal(client(url).page('asset', 1, { ordering: 'x' }))).toContain('ordering: Not an ordering.');
  expect(seen.length).toBe(1);
});
