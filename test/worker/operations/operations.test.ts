import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { openPages } from '../../../src/api/access/pages.js';
import { openAccess } from '../../../src/api/access/sign-in.js';
import { type Health, type OperationsOptions, openOperations } from '../../../src/worker/operations/http.js';
import { openMetrics } from '../../../src/worker/operations/metrics.js';
import { freePort } from '../../support/server-process.js';

const FINE: Health = { ok: true, details: { queue: 'ok' } };
const opened: Awaited<ReturnType<typeof openOperations>>[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** Nobody may come in, and there are no pages. */
const door: OperationsOptions['gateway'] = {
  access: openAccess({ home: tmpdir(), usersFile: '/nowhere/users.json', notice: () => undefined }),
  audit: async () => undefined,
  pages: openPages('/nowhere'),
};

async function open(options: Partial<OperationsOptions> = {}) {
  const notices: string[] = [];
  const operations = await openOperations({
    http: { host: '127.0.0.1', port: await freePort(), stated: true },
    ready: async () => FINE,
    live: () => FINE,
    metrics: openMetrics(),
    gateway: door,
    notice: (_, text) => notices.push(text),
    ...options,
  });
  opened.push(operations);
  return { operations, url: operations.url ?? '', notices };
}

/** With a `Host` of one's choice, which `fetch` does not allow. */
async function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = request(url, { headers, method }).end();
  const [answer] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return { status: answer.statusCode, text, headers: answer.headers };
}

describe('health', () => {
  it('is for reading', async () => {
    const { url } = await open();
    const missing = await get(`${url}/elsewhere`);
    expect([missing.status, missing.text]).toEqual([404, expect.stringContaining('not built')]);
    expect((await get(`${url}/metrics`, {}, 'POST')).status).toBe(405);
    expect((await get(`${url}/healthz`, {}, 'HEAD')).status).toBe(200);
  });

  it('says whether the process lives', async () => {
    let live = FINE;
    const { url } = await open({ live: () => live });
    const well = await get(`${url}/healthz`);
    expect(well.status).toBe(200);
    expect(JSON.parse(well.text)).toEqual(FINE);
    live = { ok: false, details: { worker: 'stopped' } };
    const ill = await get(`${url}/healthz`);
    expect(ill.status).toBe(503);
    expect(JSON.parse(ill.text).details.worker).toBe('stopped');
  });

  it('is ready while queue and drop folder can be used', async () => {
    const { url } = await open();
    expect((await get(`${url}/readyz`)).status).toBe(200);
    const away = await open({ ready: async () => ({ ok: false, details: { queue: 'cannot be reached' } }) });
    const answer = await get(`${away.url}/readyz`);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toEqual({ ok: false, details: { queue: 'cannot be reached' } });
    const broken = await open({ ready: () => Promise.reject(new Error('the queue is away')) });
    expect(JSON.parse((await get(`${broken.url}/readyz`)).text).details.check).toBe('the queue is away');
  });

  it('answers in time where readiness cannot be found out', async () => {
    const { url } = await open({ ready: () => new Promise(() => undefined) });
    const begun = performance.now();
    const answers = await Promise.all([get(`${url}/readyz`), get(`${url}/readyz`)]);
    expect(performance.now() - begun).toBeLessThan(6000);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  });
});

describe('the address', () => {
  it('leaves a default port that is taken to its holder, and says so', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = (holder.address() as { port: number }).port;
    const { url, notices } = await open({ http: { host: '127.0.0.1', port, stated: false } });
    expect((await get(`${url}/healthz`)).status).toBe(200);
    expect(notices).toEqual([`Port ${port} is taken; console, health and metrics are at ${url}.`]);
    await expect(open({ http: { host: '127.0.0.1', port, stated: true } })).rejects.toMatchObject({
      kind: 'usage',
      message: `127.0.0.1:${port} is taken by another process. Name another one: with --port of \`rowferry console\`, --http of \`rowferry worker\`, or ROWFERRY_HTTP.`,
    });
    holder.close();
  });

  it('answers to its own names only on loopback', async () => {
    const { url } = await open();
    const { port } = new URL(url);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'localhost:9999']) {
      expect((await get(`${url}/metrics`, { host })).status, host).toBe(200);
    }
    for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, 'localhost.evil.example']) {
      expect((await get(`${url}/metrics`, { host })).status, host).toBe(421);
    }
  });

  it('answers beside connections that never finish their question (110)', async () => {
    const { url } = await open();
    const port = Number(new URL(url).port);
    const { createConnection } = await import('node:net');
    for (let n = 0; n < 110; n++) {
      const socket = createConnection(port, '127.0.0.1').on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      socket.write('GET /healthz HTTP/1.1\r\n');
    }
    expect((await get(`${url}/healthz`)).status).toBe(200);
  });

  it('ends at once, also with somebody connected', async () => {
    const { operations, url } = await open();
    const port = Number(new URL(url).port);
    const { createConnection } = await import('node:net');
    const socket = createConnection(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET /healthz HTTP/1.1\r\n');
    const begun = performance.now();
    await operations.close();
    expect(performance.now() - begun).toBeLessThan(2500);
    socket.destroy();
  });
});
