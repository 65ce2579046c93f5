import { createServer, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type Http, openHttp } from '../../src/service/transport/http.js';
import { SELF_SIGNED } from './certificates.js';
import { client, json, listen, refusal, serve } from './server.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service whose answers are given by hand; `sockets` counts the connections that were ever made. */
async function service(connections: number, requestMs = 10_000) {
  const held: { path: string; answer: ServerResponse }[] = [];
  const seen = { sockets: 0, held };
  const server = createServer((request, answer) => held.push({ path: request.url ?? '', answer }));
  server.on('connection', () => seen.sockets++);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = openHttp({ origin, connections, connectMs: 5_000, requestMs, maxAnswerBytes: 1 << 20 });
  closing.push(() => http.close(0));
  return { http, seen };
}

const ask = (http: Http, path: string) => http.exchange({ method: 'GET', path, headers: [] });
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((done) => setTimeout(done, 5));
};

test('requests beyond the connections wait, and go out in the order they came', async () => {
  const { http, seen } = await service(2);
  const asked = ['/1', '/2', '/3', '/4', '/5'].map((path) => ask(http, path));
  const order: string[] = [];
  while (order.length < 5) {
    await until(() => seen.held.length > 0);
    await new Promise((done) => setTimeout(done, 20));
    expect(seen.held.length).toBeLessThanOrEqual(2);
    const { path, answer } = seen.held.shift()!;
    order.push(path);
    answer.end('{}');
  }
  for (const answer of await Promise.all(asked))
    expect(answer).toMatchObject({ kind: 'answer', status: 200, text: '{}' });
  expect(order.slice(2)).toEqual(['/3', '/4', '/5']);
  expect(seen.sockets).toBe(2);
});

test('a connection whose request was given up serves the next one', async () => {
  const { http, seen } = await service(1, 1_000);
  expect(await ask(http, '/silent')).toMatchObject({ kind: 'fault', sent: true, cause: 'timeout' });
  const next = ask(http, '/next');
  await until(() => seen.held.some(({ path }) => path === '/next'));
  seen.held.find(({ path }) => path === '/next')?.answer.end('{}');
  expect(await next).toMatchObject({ kind: 'answer', status: 200 });
});

test('a proxy of the environment is gone through, except to this machine and where NO_PROXY says so', async () => {
  const target = createServer((request, answer) => answer.end(`"${request.headers.host} ${request.url}"`));
  await new Promise<void>((done) => target.listen(0, '127.0.0.1', done));
  const { port } = target.address() as AddressInfo;
  const asked: string[] = [];
  const proxy = createServer().on('connect', (request, client) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    const server = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      server.pipe(client).pipe(server);
    });
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  closing.push(
    () => proxy.close(),
    () => target.close(),
  );
  const proxied = (proxy.address() as AddressInfo).port;
  vi.stubEnv('HTTP_PROXY', `http://ann:secret@127.0.0.1:${proxied}`);
  vi.stubEnv('NO_PROXY', 'other.invalid');
  closing.push(() => vi.unstubAllEnvs());
  const get = async (origin: string) => {
    const http = openHttp({ origin, connections: 3, connectMs: 5_000, requestMs: 10_000, maxAnswerBytes: 1 << 20 });
    const answers = await Promise.all(['/1', '/2', '/3', '/4', '/5'].map((path) => ask(http, path)));
    await http.close();
    return answers.map((answer) => (answer.kind === 'answer' ? answer.text : answer.cause));
  };
  const paths = [1, 2, 3, 4, 5];
  expect(await get('http://records.invalid')).toEqual(paths.map((n) => `"records.invalid /${n}"`));
  expect(asked.length).toBeLessThanOrEqual(3);
  expect(new Set(asked)).toEqual(new Set([`records.invalid:80 Basic ${btoa('ann:secret')}`]));
  asked.length = 0;
  expect(await get(`http://127.0.0.1:${port}`)).toEqual(paths.map((n) => `"127.0.0.1:${port} /${n}"`));
  expect(await get('http://other.invalid')).toEqual(paths.map(() => 'connect'));
  expect(asked).toEqual([]);
});

test('a port that speaks no TLS is said in a sentence, at once', async () => {
  const { url, seen } = await serve((response) => json(response, 200, { id: 1 }));
  const service = client(url.replace('http:', 'https:'), { patienceMs: 60_000 });
  expect(await refusal(service.get('asset', 1))).toMatch(
    /^RunError: service unreachable: GET https:\S+ cannot succeed: nothing speaks TLS at this port; is it http:\/\/\? \(ERR_SSL_\w+\)\. Check the address/,
  );
  expect(seen).toEqual([]);
});

test('a certificate that is not trusted ends at once what never had an answer, and is waited for by what had one', async () => {
  const server = createHttpsServer(SELF_SIGNED, (_, response) => {
    response.setHeader('connection', 'close');
    json(response, 200, { id: 1 });
  });
  const url = `https://127.0.0.1:${await listen(server)}`;
  try {
    const said = await refusal(client(url, { patienceMs: 60_000 }).get('asset', 1));
    expect(said).toContain("cannot succeed: the service's TLS certificate is self-signed; NODE_EXTRA_CA_CERTS names");
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const service = client(url, { patienceMs: 1_000 });
    expect(await service.get('asset', 1)).toEqual({ id: 1 });
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', undefined);
    expect(await refusal(service.get('asset', 1))).toMatch(/did not succeed within .* certificate is self-signed/);
    expect(service.counts.retries).toBeGreaterThan(0);
  } finally {
    vi.unstubAllEnvs();
    server.close();
  }
});

test('a service that was never reached is waited for shortly; one that answers, whatever it says, for as long as stated', async () => {
  const { url } = await serve((response, _, asked) => json(response, asked <= 8 ? 503 : 200, { id: 1 }));
  expect(await client(url, { patienceMs: 60_000, firstAnswerMs: 100 }).get('asset', 1)).toEqual({ id: 1 });
  const gone = createServer();
  const port = await listen(gone);
  gone.close();
  const unreached = client(`http://127.0.0.1:${port}`, { patienceMs: 60_000, firstAnswerMs: 300 });
  expect(await refusal(unreached.get('asset', 1))).toMatch(
    /^RunError: service unreachable: .* did not succeed within 1 s/,
  );
});
