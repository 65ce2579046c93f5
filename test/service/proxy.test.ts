import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { resolveSettings } from '../../src/runs/settings.js';
import { openNotifier } from '../../src/worker/operations/notifier.js';
import { client, json, listen, refusal, serve } from './server.js';

/** Names nobody resolves: whoever is asked for them was asked as a proxy. */
const SERVICE = 'http://service.invalid';
const PASSWORD = 'pl%40nted';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) await close();
});

/** A proxy that leads every tunnel to one server, or refuses it; told by `HTTP_PROXY`. */
async function proxy(to: string, status = 200) {
  const asked: { readonly target: string; readonly user: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    const [, pair = ''] = (request.headers['proxy-authorization'] ?? '').split(' ');
    asked.push({ target: request.url ?? '', user: Buffer.from(pair, 'base64').toString() });
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const way = connect(Number(new URL(to).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      way.pipe(socket).pipe(way);
    });
    sockets.add(way);
    way.on('error', () => socket.destroy());
  });
  const port = await listen(server);
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  vi.stubEnv('HTTP_PROXY', `http://ann:${PASSWORD}@127.0.0.1:${port}`);
  for (const name of ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) vi.stubEnv(name, undefined);
  return { asked, port };
}

const page = (response: Parameters<typeof json>[0]) => json(response, 200, { count: 0, next: null, results: [] });

test('reads and writes go through the proxy that the environment names, hosts of NO_PROXY do not', async () => {
  const service = await serve(page);
  const { asked, port } = await proxy(service.url);
  expect((await client(SERVICE).page('asset', 1)).count).toBe(0);
  expect(asked).toEqual([{ target: 'service.invalid:80', user: 'ann:pl@nted' }]);
  // Without a scheme, as other programs take it.
  vi.stubEnv('HTTP_PROXY', `127.0.0.1:${port}`);
  expect((await client(SERVICE).page('asset', 1)).count).toBe(0);
  vi.stubEnv('NO_PROXY', 'other.example, .invalid');
  expect(await refusal(client(SERVICE).page('asset', 1))).toContain('the host name');
  expect(asked).toHaveLength(2);
});

test.each([
  [407, 'it wants a user name and password', 1],
  [403, 'it does not allow this address', 1],
  [502, 'it cannot reach the host', 2],
] as const)('a proxy that refuses with %i: said in a sentence, without its password', async (status, words, least) => {
  const { asked } = await proxy('http://127.0.0.1:9', status);
  const said = await refusal(client(SERVICE).page('asset', 1));
  expect(said).toContain(`the proxy of HTTPS_PROXY or HTTP_PROXY refused with status ${status}: ${words}`);
  expect(said).not.toMatch(/pl@nted|pl%40nted|tunnel/i);
  // What would be refused again is not asked for again.
  expect(asked.length >= least && (least > 1 || asked.length === 1)).toBe(true);
});

test('where the proxy itself is not there, that is said', async () => {
  await proxy('http://127.0.0.1:9');
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1');
  expect(await refusal(client(SERVICE).page('asset', 1))).toContain(
    'connection refused (ECONNREFUSED), by way of the proxy of the environment',
  );
});

test('webhooks go through the proxy, and what it refuses is said without its password', async () => {
  const hook = await serve((response) => json(response, 200, {}));
  const logged: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const tell = async () => {
    const cells = new Map<string, string>();
    const notifier = openNotifier({
      url: 'http://hook.invalid/T0/B0',
      state: {
        update: async (name, edit) => {
          const was = cells.get(name);
          cells.set(name, edit(was) ?? '');
          return was;
        },
      },
      log,
      timing: { timeoutMs: 5_000, waitsMs: [] },
    });
    notifier.ended({ job: 'assets', status: 'failed', trigger: 'schedule' });
    await notifier.close();
  };
  const { asked } = await proxy(hook.url);
  await tell();
  expect([asked.map(({ target }) => target), hook.seen.map(({ path }) => path)]).toEqual([
    ['hook.invalid:80'],
    ['/T0/B0'],
  ]);
  await proxy(hook.url, 407);
  await tell();
  expect(logged.join()).toContain('refused with status 407: it wants a user name and password');
  expect(logged.join()).not.toMatch(/pl@nted|pl%40nted|T0/);
});

test('an address that is no proxy is a fault of the settings that names the variable, and not the password', () => {
  const env = { ROWFERRY_API_URL: SERVICE, ROWFERRY_API_TOKEN: 'token' };
  for (const wrong of [
    'http://ann:pl%nted@proxy.example',
    'ftp://ann:planted@proxy.example',
    'http://',
    'http://ann:planted@x/@127.0.0.1:1',
    'http://127.0.0.1:1/path',
    '127.0.0.1:1?planted',
    'http://127.0.0.1:1/#planted',
  ]) {
    let said = '';
    try {
      resolveSettings({ ...env, HTTPS_PROXY: wrong }, {}, '/nowhere');
    } catch (error) {
      said = JSON.stringify(error, Object.getOwnPropertyNames(error));
    }
    expect(said).toContain('HTTPS_PROXY is no address of a proxy');
    expect(said).not.toMatch(/planted|pl%nted/);
  }
  const { secrets } = resolveSettings({ ...env, https_proxy: `ann:${PASSWORD}@proxy.example:3128` }, {}, '/nowhere');
  expect(secrets).toEqual(expect.arrayContaining([PASSWORD, 'pl@nted']));
});
