import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { client, json, listen, refusal, serve, serveBytes, until } from './server.js';

const CREATED = 'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"id":12}';

test('a create goes to the path without a slash, with company and exact numbers in the body', async () => {
  const { url, seen } = await serve((response) => json(response, 201, { id: 12, name: 'x' }));
  const service = client(url);
  const body = { name: 'x', original_cost: Decimal.of('99999999999999.99'), skipped: undefined, tags: ['a', null] };
  const answer = await service.create('asset', body, { unique_field: 'serial_number' });
  expect(answer).toEqual({ kind: 'done', id: 12, record: { id: 12, name: 'x' } });
  expect(seen[0]).toMatchObject({
    method: 'POST',
    path: '/api/v2/asset',
    body: '{"company":7,"name":"x","original_cost":99999999999999.99,"tags":["a",null]}',
  });
  expect(seen[0]?.url.search).toBe('?unique_field=serial_number');
  expect(seen[0]?.headers['content-type']).toBe('application/json');
  expect(service.counts).toEqual({ total: 1, reads: 0, writes: 1, retries: 0 });
});

test('updates are PUT, or PATCH where asked for; a company in the body stands', async () => {
  const { url, seen } = await serve((response) => json(response, 200, undefined));
  const service = client(url);
  expect(await service.update('contract', 4, { name: 'x', company: 9 })).toEqual({ kind: 'done' });
  expect(await service.update('contract', 4, {}, 'PATCH')).toEqual({ kind: 'done' });
  expect(seen.map((one) => `${one.method} ${one.path} ${one.body}`)).toEqual([
    'PUT /api/v2/contract/4 {"name":"x","company":9}',
    'PATCH /api/v2/contract/4 {"company":7}',
  ]);
});

test.each([
  [{ asset: { id: 5, name: 'x' } }, { id: 5, record: { id: 5, name: 'x' } }],
  [{ data: { id: 5 } }, { id: 5, record: { id: 5 } }],
  [{ data: 5 }, { id: 5, record: { data: 5 } }],
  [{ id: '5' }, { id: 5, record: { id: '5' } }],
  [[{ id: 5 }], { id: 5, record: { id: 5 } }],
  [5, { id: 5 }],
  [{ success: true }, { record: { success: true } }],
  ['ok', {}],
  [null, {}],
  [{}, {}],
])('the answer %j to a write is done: %j', async (body, found) => {
  const { url } = await serve((response) => json(response, 201, body));
  expect(await client(url).create('asset', { name: 'x' })).toEqual({ kind: 'done', ...found });
});

test.each([400, 404, 405, 409, 410, 413, 415, 422])(
  'status %i refuses the write; it is not repeated',
  async (status) => {
    const { url, seen } = await serve((response) => json(response, status, { serial_number: ['Already exists.'] }));
    expect(await client(url).create('asset', { name: 'x' })).toEqual({
      kind: 'refused',
      status,
      messages: [{ field: 'serial_number', text: 'Already exists.' }],
    });
    expect(seen.length).toBe(1);
  },
);

test.each([500, 502, 503, 504, 408])(
  'status %i leaves the effect of a write open; it is not repeated',
  async (status) => {
    const { url, seen } = await serve((response) => json(response, status, { detail: 'down' }, { 'retry-after': '1' }));
    const answer = await client(url).create('asset', { name: 'x' });
    expect(answer).toMatchObject(
      status === 500 || status === 503 ? { kind: 'open', answered: true } : { kind: 'open', answered: false },
    );
    // Behind a gateway that has given up waiting it may still be under way.
    expect('pending' in answer).toBe(status === 504 || status === 408);
    expect(seen.length).toBe(1);
  },
);

test.each([
  ['an HTML page', 'text/html', '<html><title>Log in</title></html>', false],
  ['cut JSON', 'application/json', '{"id": 1', false],
  ['an error envelope', 'application/json', '{"errors": {"name": ["x"]}}', true],
  ['a refusal in words', 'application/json', '{"success": false}', true],
])('200 with %s leaves the effect open', async (_name, type, body, answered) => {
  const { url, seen } = await serve((response) => {
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  expect(await client(url).update('asset', 1, { name: 'x' })).toMatchObject({ kind: 'open', answered });
  expect(seen.length).toBe(1);
});

test('access denied on a write stops the run', async () => {
  const { url, seen } = await serve((response) => json(response, 403, { detail: 'Read only.' }));
  expect(await refusal(client(url).update('asset', 1, {}))).toMatch(
    /RunError: Access was denied .*PUT.*company 7.*Read only/,
  );
  expect(seen.length).toBe(1);
});

test.each([
  ['reset after the request', (): undefined => undefined],
  ['reset after the status line', () => 'HTTP/1.1 201 Created\r\n'],
  ['a body shorter than announced', () => 'HTTP/1.1 201 Created\r\ncontent-length: 90\r\n\r\n{"id":12}'],
  ['something that is not HTTP', () => 'SSH-2.0-OpenSSH\r\n'],
])('%s leaves the effect open; it is not repeated', async (_name, bytes) => {
  const { url, requests } = await serveBytes((socket) => {
    const answer = bytes();
    if (answer) socket.end(answer);
    else socket.resetAndDestroy();
  });
  expect(await client(url).create('asset', { name: 'x' })).toMatchObject({ kind: 'open', answered: false });
  expect(requests.length).toBe(1);
});

test('a reset of a kept-alive connection before any byte of the answer leaves a write open and repeats a read (6)', async () => {
  const { url, requests } = await serveBytes((socket, nth) => {
    if (nth === 2 || nth === 4) socket.resetAndDestroy();
    else socket.write(CREATED);
  });
  const service = client(url, { maxInFlight: 1, patienceMs: 10_000 });
  expect((await service.create('asset', { name: 'a' })).kind).toBe('done');
  expect(await service.create('asset', { name: 'b' })).toMatchObject({ kind: 'open', answered: false });
  expect(requests.length).toBe(2);
  expect((await service.create('asset', { name: 'c' })).kind).toBe('done');
  expect(await service.get('asset', 12)).toEqual({ id: 12 });
  expect(requests.length).toBe(5);
});

test('a write that gets no answer in time is open and not repeated', async () => {
  const { url, requests } = await serveBytes(() => undefined);
  const answer = await client(url, { timeouts: { requestMs: 80 } }).create('asset', { name: 'x' });
  expect(answer).toEqual({ kind: 'open', answered: false, pending: true, reason: 'no complete answer within 0.08 s' });
  expect(requests.length).toBe(1);
});

test('a refused connection never sent anything: retried, then unsent; a read says the service is unreachable (1)', async () => {
  const closed = createServer();
  const port = await listen(closed);
  await new Promise((resolve) => closed.close(resolve));
  const service = client(`http://127.0.0.1:${port}`, { patienceMs: 60 });
  const answer = await service.create('asset', { name: 'x' });
  expect(answer).toMatchObject({ kind: 'unsent', reason: expect.stringContaining('connection refused') });
  expect(service.counts.writes).toBeGreaterThan(1);
  expect(await refusal(service.get('asset', 1))).toMatch(
    /RunError: service unreachable: GET http:.*connection refused/,
  );
});

test('TLS that fails never sent the request', async () => {
  const { url, requests } = await serveBytes(() => undefined);
  const answer = await client(url.replace('http:', 'https:'), { patienceMs: 30, timeouts: { requestMs: 200 } }).create(
    'asset',
    {
      name: 'x',
    },
  );
  expect(answer.kind).toBe('unsent');
  expect(requests.length).toBe(0);
});

test('a service that comes up within the patience gets the write, once (1)', async () => {
  const placeholder = createServer();
  const port = await listen(placeholder);
  await new Promise((resolve) => placeholder.close(resolve));
  const service = client(`http://127.0.0.1:${port}`, { patienceMs: 20_000 });
  const answer = service.create('asset', { name: 'x' });
  await until(() => service.counts.writes >= 3);
  let requests = 0;
  const late = createServer((socket) => {
    socket.once('data', () => {
      requests++;
      socket.end(CREATED);
    });
  });
  await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve));
  expect(await answer).toMatchObject({ kind: 'done', id: 12 });
  expect(requests).toBe(1);
  await new Promise((resolve) => late.close(resolve));
});

test('a body that holds no JSON value is a fault of the caller, and nothing is sent', async () => {
  const { url, seen } = await serve((response) => json(response, 200, {}));
  expect(await refusal(client(url).create('asset', { name: Number.NaN }))).toContain('NaN');
  expect(seen.length).toBe(0);
});
