import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { RunError } from '../../../src/model/error.js';
import { SELF_SIGNED } from '../../service/certificates.js';
import { postgresServer, redisServer } from '../../support/binaries.js';
import { freePort } from '../../support/server-process.js';
import { type PrivateServer, privatePostgres, privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { type Opened, open } from './opened.js';

const HOME = '/nonexistent';
let servers: PrivateServer[] = [];
let stores: Opened[] = [];

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await Promise.all(servers.map((server) => server.stop()));
  [servers, stores] = [[], []];
});

const kept = async (server: Promise<PrivateServer>): Promise<PrivateServer> => {
  servers.push(await server);
  return server;
};
const opened = async (...args: Parameters<typeof open>): Promise<Opened> => {
  const store = await open(...args);
  stores.push(store);
  return store;
};
/** How an opening fails. */
const failure = async (url: string, patienceMs = 60_000): Promise<RunError> => {
  const error = await opened({ url, home: HOME }, { patienceMs }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RunError)) throw new Error(`no RunError: ${String(error)}`);
  return error;
};

describe.skipIf('missing' in (await redisServer()))('Redis', () => {
  it('is waited for at the start, which is told, and told when it is there (55)', async () => {
    const port = await freePort();
    const notices: string[] = [];
    const opening = opened({ url: `redis://127.0.0.1:${port}`, home: HOME }, { patienceMs: 60_000, notices });
    await until(() => notices.length > 0);
    expect(notices).toEqual([
      `warn: The queue at redis://127.0.0.1:${port} cannot be reached (ECONNREFUSED): waiting until it is there.`,
    ]);
    await kept(privateRedis({ port }));
    const store = await opening;
    await store.check();
    expect(notices).toHaveLength(2);
    expect(notices[1]).toMatch(/^info: .* is there again\.$/);
  });

  it('that is new, or restarted, is told of: no job begins while leases may be held that it does not know', async () => {
    const server = await kept(privateRedis({ fresh: true }));
    const store = await opened({ url: server.url, home: HOME }, { leaseMs: 60_000 });
    const young = /^info: The queue at .* is new, or was just restarted or emptied: jobs begin in (?:60|59) s/;
    expect(store.notices).toEqual([expect.stringMatching(young)]);
    await server.restart();
    await until(() => store.notices.filter((text) => young.test(text)).length === 2);
    expect((await opened({ url: server.url, home: HOME }, { leaseMs: 0 })).notices).toEqual([]);
  });

  it('is given up when patience ends, or when the program is to end', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    expect((await failure(url, 300)).message).toMatch(/cannot be reached \(ECONNREFUSED\)/);
    const stop = new AbortController();
    const opening = open({ url, home: HOME }, { patienceMs: Number.POSITIVE_INFINITY, signal: stop.signal });
    setTimeout(() => stop.abort(new Error('SIGTERM')), 50);
    await expect(opening).rejects.toThrow();
    const nowhere = await failure('redis://no-such-host.invalid', 100);
    expect(nowhere.message).toMatch(/cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/);
  });

  it('refuses a wrong password at once', async () => {
    const { port } = await kept(privateRedis({ password: 'right-one' }));
    for (const user of [':wrong-one@', 'ann:wrong-one@', '']) {
      const error = await failure(`redis://${user}127.0.0.1:${port}`);
      expect(error.message).toMatch(/answered with an error \(.*(?:password|NOAUTH|WRONGPASS)/i);
      expect(error.message).not.toMatch(/wrong-one|right-one/);
    }
    const store = await opened({ url: `redis://:right-one@127.0.0.1:${port}`, home: HOME });
    expect(store.address).toBe(`redis://127.0.0.1:${port}`);
  });

  it('names a right that is missing', async () => {
    const { url, port } = await kept(privateRedis());
    const admin = new Redis(url);
    await admin.acl('SETUSER', 'ann', 'on', '>some-password', '~*', '+@connection');
    const ann = `redis://ann:some-password@127.0.0.1:${port}`;
    expect((await failure(ann)).message).toMatch(/answered with an error.*info/i);
    const page = await readFile('docs/operate/queue.md', 'utf8');
    const rights = /^ACL SETUSER rowferry on >password (.*)$/m.exec(page)?.[1]?.split(' ') ?? [];
    await admin.acl('SETUSER', 'ann', 'reset', 'on', '>some-password', ...rights);
    const store = await opened({ url: ann, home: HOME });
    await store.check();
    const ran: unknown[] = [];
    store.worker('rowferry', async (job) => void ran.push(job.id), {});
    await store.queue('rowferry').add('import', {});
    await until(() => ran.length === 1);
    expect(await store.workers('rowferry')).not.toEqual([]);
    admin.disconnect();
  });

  it('says of a certificate that nobody known has issued where to name the authority', async () => {
    const far = createTlsServer(SELF_SIGNED);
    await once(far.listen(0, '127.0.0.1'), 'listening');
    const { port } = far.address() as AddressInfo;
    expect((await failure(`rediss://:right-one@127.0.0.1:${port}`)).message).toMatch(
      /certificate.*NODE_EXTRA_CA_CERTS/,
    );
    far.close();
  });

  it('refuses to start where jobs could be evicted (51)', async () => {
    const { url } = await kept(privateRedis({ policy: 'allkeys-lru' }));
    const { message } = await failure(url);
    expect(message).toMatch(/maxmemory-policy allkeys-lru/);
    expect(message).toContain('CONFIG SET maxmemory-policy noeviction');
  });

  it('says so when it is full, and goes on when there is room (52)', async () => {
    const { url } = await kept(privateRedis({ maxmemory: '4mb' }));
    const store = await opened({ url, home: HOME });
    const queue = store.queue('rowferry');
    await queue.add('import', {});
    const admin = new Redis(url);
    await admin.config('SET', 'maxmemory', '1mb');
    await expect(queue.add('import', { rows: ['x'.repeat(10_000)] })).rejects.toThrow(
      /is full \(OOM [^.]*'maxmemory'\)/,
    );
    await expect(store.check()).rejects.toThrow(/is full/);
    await expect(store.update('text', () => 'x')).rejects.toThrow(/is full/);
    const ran: unknown[] = [];
    store.worker('rowferry', async (job) => void ran.push(job.id), {});
    await until(() => store.notices.some((text) => /is full/.test(text)));
    const asked = async () => Number(/total_commands_processed:(\d+)/.exec(await admin.info('stats'))?.[1]);
    const before = await asked();
    await pause(1_000);
    // It does not ask without a pause.
    expect((await asked()) - before).toBeLessThan(100);
    await admin.config('SET', 'maxmemory', '100mb');
    admin.disconnect();
    await until(() => ran.length === 1);
  });

  it('is given a rest where it answers with nothing but errors, and goes on when it is well', async () => {
    const { url } = await kept(privateRedis());
    const store = await opened({ url, home: HOME });
    const admin = new Redis(url);
    // Somebody else's key in the place of the list of jobs.
    await admin.set('bull:rowferry:wait', 'not a list');
    const ran: unknown[] = [];
    let errors = 0;
    const worker = store.worker('rowferry', async (job) => void ran.push(job.id), {});
    worker.on('error', () => errors++);
    await until(() => worker.isPaused(), { what: 'its rest' });
    const before = errors;
    await pause(1_000);
    expect(errors - before).toBeLessThan(5);
    await admin.del('bull:rowferry:wait');
    await store.queue('rowferry').add('import', {});
    await until(() => ran.length === 1);
    admin.disconnect();
  });

  it('may be a cluster', async () => {
    const server = await kept(privateRedis({ cluster: true, password: 'right-one' }));
    const url = `redis+cluster://:right-one@127.0.0.1:${server.port}`;
    expect((await failure(url.replace('right', 'wrong'))).message).toMatch(
      /answered with an error \(.*(?:password|NOAUTH|WRONGPASS)/i,
    );
    const store = await opened({ url, home: HOME });
    const queue = store.queue('rowferry');
    const events = store.events('rowferry');
    await events.waitUntilReady();
    store.worker('rowferry', async () => 'done', {});
    expect(await (await queue.add('import', {})).waitUntilFinished(events, 60_000)).toBe('done');
    const lease = await store.lease('one', 2_000);
    expect(await store.lease('one', 2_000)).toBeUndefined();
    await lease?.release();
    expect(await store.update('text', () => 'x')).toBeUndefined();
    const state = await store.pace('service').exchange({ successes: 1, throttled: 0, overloaded: 0 });
    expect(state.successes).toBe(1);
    expect(await store.workers('rowferry')).toBe(1);
    await server.kill();
    const at = performance.now();
    await store.close();
    expect(performance.now() - at).toBeLessThan(5_000);
    expect((await failure(url, 300)).message).toMatch(/cannot be reached/);
  });

  it('may be found through sentinels', async () => {
    const master = await kept(privateRedis({ password: 'right-one' }));
    const sentinel = await kept(privateRedis({ sentinelOf: { port: master.port, password: 'right-one' } }));
    const url = `redis+sentinel://:right-one@127.0.0.1:${sentinel.port}/mymaster`;
    const store = await opened({ url, home: HOME });
    const queue = store.queue('rowferry');
    const events = store.events('rowferry');
    await events.waitUntilReady();
    store.worker('rowferry', async () => 'done', {});
    expect(await (await queue.add('import', {})).waitUntilFinished(events, 60_000)).toBe('done');
    await store.check();
    await store.close();
    await sentinel.kill();
    expect((await failure(url, 300)).message).toMatch(/cannot be reached/);
  });
});

describe.skipIf('missing' in (await postgresServer()))('PostgreSQL', () => {
  it('that answers no more is left while it is being asked', async () => {
    const { url, port } = await kept(privatePostgres());
    const sockets: Socket[] = [];
    let hangs = false;
    const between = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      sockets.push(near, far);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('data', (bytes) => hangs || other.write(bytes)).on('error', () => other.destroy());
      }
    });
    await once(between.listen(0, '127.0.0.1'), 'listening');
    const { port: own } = between.address() as AddressInfo;
    const store = await open({ url: url.replace(`:${port}/`, `:${own}/`), home: HOME });
    hangs = true;
    const asked = [store.queue('rowferry').add('import', {}), store.update('text', () => 'x')];
    const refused = asked.map((one) => expect(one).rejects.toThrow(/cannot be reached/));
    await pause(100);
    await store.close();
    await Promise.all(refused);
    for (const socket of sockets) socket.destroy();
    between.close();
  }, 30_000);

  it('is waited for, refuses wrong passwords and databases, and names a right that is missing', async () => {
    const server = await kept(privatePostgres());
    const { url, port } = server;
    expect((await failure(url.replace(/:[^:@]+@/, ':wrong-one@'))).message).toMatch(
      /answered with an error \(.*(?:password|NOAUTH|WRONGPASS)/i,
    );
    const missing = await failure(url.replace(/postgres$/, 'nowhere'));
    expect(missing.message).toMatch(/database "nowhere" does not exist/);
    expect(missing.message).not.toContain('let-me-in');
    expect((await failure(`${url}?sslrootcert=/nowhere.pem`)).message).toMatch(
      /\(ENOENT.*nowhere\.pem.*ROWFERRY_QUEUE_URL/,
    );

    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query("CREATE ROLE ann LOGIN PASSWORD 'some-password'");
    expect((await failure(`postgres://ann:some-password@127.0.0.1:${port}/postgres`)).message).toMatch(
      /answered with an error \(permission denied/,
    );
    // Schemas that somebody made for it do, and so does the right to make them once: no start makes any that are there.
    await admin.query('CREATE SCHEMA bullmq AUTHORIZATION ann; CREATE SCHEMA rowferry AUTHORIZATION ann');
    for (let start = 1; start <= 2; start += 1) {
      const owner = await opened({ url: `postgres://ann:some-password@127.0.0.1:${port}/postgres`, home: HOME });
      await owner.check();
      if (start === 2) await admin.query('DROP SCHEMA bullmq, rowferry CASCADE');
      if (start === 2) await expect(owner.check()).rejects.toThrow(/rowferry\.passing.* does not exist/);
      await owner.close();
    }
    await admin.end();

    await server.kill();
    expect((await failure(url, 300)).message).toMatch(/cannot be reached/);
    const notices: string[] = [];
    const opening = opened({ url, home: HOME }, { patienceMs: 60_000, notices });
    await until(() => notices.length > 0);
    await server.restart();
    const store = await opening;
    await store.check();
    expect(notices.at(0)).toMatch(/cannot be reached \(.*\): waiting/);
    expect(notices.at(-1)).toMatch(/is there again\.$/);
    expect(store.address).toBe(`postgres://127.0.0.1:${port}/postgres`);
  });
});
