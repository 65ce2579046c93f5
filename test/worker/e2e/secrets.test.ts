import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { redisServer } from '../../support/binaries.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, openCrew } from '../../support/worker.js';

let crew: Crew;
let hook: Server | undefined;
afterEach(async () => {
  await crew?.close();
  hook?.closeAllConnections();
  hook?.close();
});

const TOKEN = 'planted-token-5b1f3c';
/** With signs that an address writes in another way. */
const PASSWORD = 'planted/pass word+9e';
/** Services that take notifications have a secret in the address. */
const HOOK_SECRET = 'planted-hook-77aa01';
const SECRETS = [
  TOKEN,
  HOOK_SECRET,
  PASSWORD,
  encodeURIComponent(PASSWORD),
  Buffer.from(`:${PASSWORD}`).toString('base64'),
];

/** Texts by where they were found. */
type Found = Map<string, string>;

async function filesBelow(dir: string, found: Found): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) found.set(path, await readFile(path, 'latin1'));
  }
}

/** Every key of the queue, as the server itself writes it to disk, and its readable content. */
async function keysOf(url: string, found: Found): Promise<void> {
  const redis = new Redis(url);
  try {
    for (const key of await redis.keys('*')) {
      found.set(`key ${key}`, key);
      found.set(`dump of ${key}`, ((await redis.dumpBuffer(key)) ?? Buffer.alloc(0)).toString('latin1'));
      const kind = await redis.type(key);
      if (kind === 'hash') found.set(`hash ${key}`, JSON.stringify(await redis.hgetall(key)));
      if (kind === 'string') found.set(`text ${key}`, (await redis.get(key)) ?? '');
      if (kind === 'stream') found.set(`stream ${key}`, JSON.stringify(await redis.xrange(key, '-', '+')));
    }
    found.set('clients', String(await redis.client('LIST')));
  } finally {
    redis.disconnect();
  }
}

it.runIf(!('missing' in (await redisServer())))(
  'planted secrets are found nowhere (86)',
  async () => {
    const redis = await privateRedis({ password: PASSWORD });
    const bodies: string[] = [];
    hook = createServer(async (request, response) => {
      bodies.push(`${request.url} ${JSON.stringify(request.headers)} ${await text(request)}`);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(hook, 'listening');
    const port = (hook.address() as AddressInfo).port;
    crew = await openCrew({
      server: { url: redis.url, home: '', stop: () => redis.stop() },
      sandbox: {
        token: TOKEN,
        latencyMs: 5,
        // The service repeats the token in its own words, as careless ones do.
        faults: [
          {
            match: { method: 'POST', every: 40 },
            action: { kind: 'status', status: 400, body: `bad header Bearer ${TOKEN}` },
          },
        ],
      },
      env: {
        ROWFERRY_API_TOKEN: TOKEN,
        ROWFERRY_LOG_LEVEL: 'trace',
        ROWFERRY_CONCURRENCY: '4',
        ROWFERRY_NOTIFY_URL: `http://127.0.0.1:${port}/${HOOK_SECRET}`,
      },
    });
    const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
    await writeFile(join(crew.dir, 'queued.csv'), assetSheet(300, 5_000));
    const enqueued = await crew.command('three', 'enqueue', 'import', '--job', 'assets', '--file', 'queued.csv');
    await writeFile(join(crew.dir, 'broken.xlsx'), 'no workbook');
    const broken = await crew.command('three', 'enqueue', 'import', '--job', 'assets', '--file', 'broken.xlsx');
    await crew.drop('assets.csv', assetSheet(1_500));
    await until(() => crew.sandbox.commits.length > 400, { what: 'the load' });

    const found: Found = new Map();
    const { stdout } = await promisify(execFile)('ps', ['-eww', '-o', 'args']);
    found.set('process list', stdout);
    await keysOf(redis.url, found);
    await crew.only(60_000);
    await until(() => crew.sandbox.records('asset').length >= 1_500, { what: 'both runs' });
    // The queue goes away and comes back, so that errors are told too.
    await redis.kill();
    await until(async () => (await fetch(`${workers[0].http}/readyz`)).status === 503);
    for (const page of ['readyz', 'healthz', 'metrics']) {
      // Bounded, also while the queue is away.
      const answer = await fetch(`${workers[0].http}/${page}`, { signal: AbortSignal.timeout(10_000) });
      found.set(page, await answer.text());
    }
    await redis.restart();
    await until(async () => (await fetch(`${workers[0].http}/readyz`)).status === 200);
    await keysOf(redis.url, found);
    await filesBelow(crew.dir, found);
    for (const worker of workers) await worker.terminate();
    for (const one of [...workers, enqueued, broken]) {
      await one.ended;
      found.set(`out and err of ${one.child.spawnargs.slice(2).join(' ')} ${one.child.pid}`, one.out() + one.err());
    }
    // The address of the webhook is itself a secret, and known to it alone.
    expect(bodies.length).toBeGreaterThan(0);
    found.set('notifications', bodies.join('\n').replaceAll(`/${HOOK_SECRET} `, ''));
    expect(found.size).toBeGreaterThan(30);
    // The search itself works: what is no secret is found.
    expect([...found.values()].some((one) => one.includes('[secret]') || one.includes('bad header'))).toBe(true);
    const places = [...found].filter(([, one]) => SECRETS.some((secret) => one.includes(secret)));
    expect(places.map(([where]) => where)).toEqual([]);
  },
  100_000,
);
