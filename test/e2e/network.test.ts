import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { expectTruth } from '../support/truth.js';

const ASSETS = importOf(
  'asset',
  { key: 'serial_number', unique_field: 'serial_number' },
  { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' },
);
const ROWS = 6;

let desk: Desk;
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const assets = (rows = ROWS) =>
  desk.file('assets.csv', [
    ['Name', 'Serial', 'Cost'],
    ...Array.from({ length: rows }, (_, i) => [`Asset ${i}`, `SN-${i}`, '10.00']),
  ]);
const outcomes = (imported: Imported) => imported.results.map((row) => row['outcome']);
const all = (outcome: string, rows = ROWS) => Array.from({ length: rows }, () => outcome);
const posts = () => desk.sandbox.commits.filter((one) => one.method === 'POST').length;

function allCreated(imported: Imported, rows = ROWS): void {
  expect(outcomes(imported)).toEqual(all('created', rows));
  expectTruth(imported, desk.sandbox, 'asset', 'serial_number', rows);
  expect(posts()).toBe(rows);
  expect(imported.exitCode).toBe(0);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  open.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

it('a host name that does not exist: nothing was sent, every row is not attempted, and resume completes (1)', async () => {
  desk = await openDesk();
  const imported = await desk.import(await assets(), ASSETS, {
    env: { ROWFERRY_API_URL: 'http://no-such-host.invalid', ROWFERRY_PATIENCE: '0.01' },
  });
  expect(imported.exitCode).toBe(1);
  expect(imported.summary.reason).toContain('host name');
  expect(imported.summary.rows).toMatchObject({ not_attempted: ROWS, total: ROWS });
  expect(desk.sandbox.requests.total).toBe(0);
});

it('a stale kept-alive connection, reset when the next create is sent on it, leaves one record (6)', async () => {
  desk = await openDesk();
  // The first two connections serve two requests and are reset at the third, before a byte of it is passed on.
  const target = Number(new URL(desk.sandbox.url).port);
  const sockets = new Set<Socket>();
  let resets = 0;
  let connections = 0;
  const door = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    const stale = ++connections <= 2;
    let requests = 0;
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        socket.destroy();
        onward.destroy();
      });
    }
    socket.on('data', (chunk) => {
      if (++requests <= 2 || !stale) onward.write(chunk);
      else {
        resets++;
        socket.resetAndDestroy();
      }
    });
    onward.pipe(socket);
  });
  const port = await listen(door);
  open.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  const imported = await desk.import(await assets(12), ASSETS, {
    env: { ROWFERRY_API_URL: `http://127.0.0.1:${port}`, ROWFERRY_CONCURRENCY: '2' },
  });
  expect(resets).toBe(2);
  allCreated(imported, 12);
});

describe('429 with a stated pause: nobody sends before it is over', () => {
  it.each([
    ['in seconds', 'retry_after=2', 1_900],
    ['as a date', 'retry_after_date=3', 1_900],
    ['negative: a second', 'retry_after=-5', 900],
    ['in the past: a second', 'retry_after_date=-3600', 900],
  ])('%s (7, 9)', async (_, option, pauseMs) => {
    const requests: number[] = [];
    let refusedAt = 0;
    desk = await openDesk({
      faults: [`POST /asset nth=20 status=429 ${option}`],
      onRequest: () => void requests.push(performance.now()),
      onAnswer: (_request, status) => {
        if (status === 429) refusedAt ||= performance.now();
      },
    });
    const imported = await desk.import(await assets(60), ASSETS, { env: { ROWFERRY_PATIENCE: '1' } });
    allCreated(imported, 60);
    // What was sent before the answer had been read may still arrive: no more than were in flight.
    const after = requests.filter((at) => at > refusedAt);
    const early = after.filter((at) => at < refusedAt + pauseMs);
    expect(early.length).toBeLessThanOrEqual(16);
    for (const at of early) expect(at - refusedAt).toBeLessThan(pauseMs / 2);
    expect(after.length).toBeGreaterThan(20);
  });

  it('absurd: waited for, not failed, and an interrupted run goes on when it is started again (9)', async () => {
    const stop = new AbortController();
    let after = 0;
    desk = await openDesk({
      faults: ['POST /asset nth=3 status=429 retry_after=99999999'],
      onRequest: ({ method }) => {
        if (method === 'POST' && desk.sandbox.requests.statuses['429']) after++;
      },
      onAnswer: (_request, status) => {
        if (status === 429) setTimeout(() => stop.abort(), 500);
      },
    });
    const imported = await desk.import(await assets(), ASSETS, {
      signal: stop.signal,
      env: { ROWFERRY_CONCURRENCY: '1', ROWFERRY_PATIENCE: '1' },
    });
    expect(imported.summary.status).toBe('interrupted');
    expect(after).toBe(0);
    desk.sandbox.setFaults([]);
    allCreated(await desk.resume());
  });
});

it.each(['status=500', 'status=502', 'status=503 retry_after=1', 'status=504', 'timeout_before', 'close_before'])(
  'a burst of failing reads is waited out, and nothing is written meanwhile: %s (10)',
  async (fault) => {
    desk = await openDesk({ faults: [`GET * to=4 ${fault}`] });
    const env = { ROWFERRY_PATIENCE: '1', ROWFERRY_TIMEOUT: '0.3' };
    const imported = await desk.import(await assets(), ASSETS, { env });
    allCreated(imported);
    expect(imported.summary.requests.retries).toBeGreaterThanOrEqual(3);
  },
);

it('an answer to a read that drips in is given up at the total deadline, and read again (14)', async () => {
  desk = await openDesk({ faults: ['GET * to=2 drip=200'] });
  const started = performance.now();
  const imported = await desk.import(await assets(), ASSETS, {
    env: { ROWFERRY_TIMEOUT: '0.4', ROWFERRY_PATIENCE: '1' },
  });
  allCreated(imported);
  expect(performance.now() - started).toBeLessThan(20_000);
});

it('the head of an answer to a create drips in: given up, looked up, one record (14)', async () => {
  desk = await openDesk();
  const target = Number(new URL(desk.sandbox.url).port);
  let creates = 0;
  const door = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    let slow = false;
    for (const one of [socket, onward]) {
      one.on('error', () => undefined);
      one.on('close', () => {
        socket.destroy();
        onward.destroy();
      });
    }
    socket.on('data', (chunk) => {
      if (/^POST /.test(chunk.toString('latin1')) && ++creates === 3) slow = true;
      onward.write(chunk);
    });
    onward.on('data', (chunk: Buffer) => {
      if (!slow) {
        socket.write(chunk);
        return;
      }
      let at = 0;
      const timer = setInterval(() => {
        if (socket.destroyed || at >= chunk.length) clearInterval(timer);
        else socket.write(chunk.subarray(at, ++at));
      }, 60);
      socket.on('close', () => clearInterval(timer));
    });
  });
  const port = await listen(door);
  const imported = await desk.import(await assets(), ASSETS, {
    env: { ROWFERRY_API_URL: `http://127.0.0.1:${port}`, ROWFERRY_TIMEOUT: '0.5' },
  });
  expect(creates).toBe(ROWS);
  allCreated(imported);
});

describe('401 in the middle of a run, sixteen creates in flight', () => {
  /** Lets sixteen creates gather, then refuses the token of all of them at once. */
  const gathering = (renew: () => void | Promise<void>) => {
    let waiting: (() => void)[] = [];
    let done = false;
    return async ({ method }: { method: string }): Promise<void> => {
      if (done || method !== 'POST' || desk.sandbox.commits.length < 60) return;
      await new Promise<void>((go) => {
        waiting.push(go);
        if (waiting.length < 16) return;
        done = true;
        void Promise.resolve(renew()).then(() => {
          for (const one of waiting) one();
          waiting = [];
        });
      });
    };
  };

  it('one new token for all of them from its file; each is sent again, none twice (15)', async () => {
    desk = await openDesk({
      onRequest: gathering(() => {
        desk.sandbox.expireToken('second-token');
        return writeFile(tokenFile, 'second-token\n');
      }),
    });
    const tokenFile = await desk.file('token', 'test-token\n');
    const imported = await desk.import(await assets(200), ASSETS, {
      env: { ROWFERRY_API_TOKEN: '', ROWFERRY_API_TOKEN_FILE: tokenFile, ROWFERRY_TIMEOUT: '20' },
    });
    allCreated(imported, 200);
    expect(desk.sandbox.requests.statuses['401']).toBe(16);
    expect(imported.summary.requests.retries).toBe(16);
  });

  it('one new token for all of them from the token service, asked twice in all (15)', async () => {
    let asked = 0;
    const issuer = createHttpServer((_request, response) => {
      const token = ++asked === 1 ? 'test-token' : 'second-token';
      // Slow, so that everybody who would ask has the time to.
      const answer = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 });
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(answer), 100);
    });
    desk = await openDesk({ onRequest: gathering(() => desk.sandbox.expireToken('second-token')) });
    const imported = await desk.import(await assets(200), ASSETS, {
      env: {
        ROWFERRY_API_TOKEN: '',
        ROWFERRY_OAUTH_TOKEN_URL: `http://127.0.0.1:${await listen(issuer)}/token`,
        ROWFERRY_OAUTH_CLIENT_ID: 'ferry',
        ROWFERRY_OAUTH_CLIENT_SECRET: 'planted-secret',
        ROWFERRY_TIMEOUT: '20',
      },
    });
    allCreated(imported, 200);
    expect(asked).toBe(2);
    expect(desk.sandbox.requests.statuses['401']).toBe(16);
    expect(JSON.stringify(imported)).not.toContain('planted-secret');
  });
});

describe('a redirect is followed by nobody, and the token stays where it belongs', () => {
  it.each(
    [301, 302, 303, 307, 308].flatMap((status) => [
      ['GET', status] as const,
      ['POST', status] as const,
      ['PUT', status] as const,
    ]),
  )('%s answered %i: the run stops, nothing reaches the other host, resume completes (17)', async (method, status) => {
    const heard: (string | undefined)[] = [];
    const other = createHttpServer((request, response) => {
      heard.push(request.headers.authorization);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"count":0,"results":[],"id":1}');
    });
    const location = `http://127.0.0.1:${await listen(other)}/api/v2/asset/`;
    desk = await openDesk({ faults: [`${method} /asset redirect=${status} location=${location}`] });
    if (method === 'PUT') {
      const body = { name: 'Old', category: { id: 1 } };
      desk.sandbox.insert(
        'asset',
        Array.from({ length: ROWS }, (_, i) => ({ ...body, serial_number: `SN-${i}` })),
      );
    }
    const imported = await desk.import(await assets(), ASSETS);
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.reason).toContain(`redirected (${status})`);
    expect(imported.commits).toBe(0);
    expect(heard).toEqual([]);
    desk.sandbox.setFaults([]);
    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all(method === 'PUT' ? 'updated' : 'created'));
  });
});

it.each([403, 400])(
  'an unknown error body with secrets and escape codes in it: kept short, without them, status %i (18)',
  async (status) => {
    const words = `\u001b[31mno\u001b[0m Authorization: Bearer test-token; test-token ${'x'.repeat(50_000)}`;
    const body = JSON.stringify({ weird: { deep: [{ words }] } });
    desk = await openDesk({ faults: [{ match: { method: 'GET' }, action: { kind: 'status', status, body } }] });
    const imported = await desk.import(await assets(), ASSETS);
    expect(imported.exitCode).toBe(1);
    const { reason = '' } = imported.summary;
    expect(reason).toContain(String(status));
    expect(reason).toContain('xxx');
    expect(reason.length).toBeLessThan(4_000);
    expect(JSON.stringify(imported)).not.toContain('test-token');
    expect(reason).not.toMatch(/\p{Cc}/u);
  },
);

it('an answer of 100 MB to a create is cut, its effect looked up, one record (19)', async () => {
  desk = await openDesk({ faults: ['POST /asset nth=2 huge=100'] });
  const imported = await desk.import(await assets(), ASSETS, { env: { ROWFERRY_TIMEOUT: '20' } });
  allCreated(imported);
});

it('an outage of five seconds in the middle: the run waits with single probes and goes on by itself (1, 10, 11)', async () => {
  let until = 0;
  let during = 0;
  desk = await openDesk({
    onRequest() {
      if (performance.now() < until) during++;
      if (until > 0 || desk.sandbox.commits.length < 80) return;
      until = performance.now() + 5_000;
      desk.sandbox.setFaults(['* * status=503']);
      setTimeout(() => desk.sandbox.setFaults([]), 5_000);
    },
  });
  const imported = await desk.import(await assets(300), ASSETS, { env: { ROWFERRY_PATIENCE: '2' } });
  allCreated(imported, 300);
  // Sixteen in flight when it began, and what was under way behind them; then a probe at 0.5 to 1 s, 1 to 2 s, 2 to 4 s.
  expect(during).toBeLessThan(40);
});
