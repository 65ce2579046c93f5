/** A Redis of its own and one worker on it. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { DIST } from './lab.mjs';

function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer().on('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

function begin(command, argv, options) {
  const child = spawn(command, argv, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
  let said = '';
  child.stderr.on('data', (chunk) => (said = (said + chunk).slice(-2_000)));
  const ended = new Promise((done) => child.on('close', done).on('error', done));
  return {
    ended,
    said: () => said,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function openQueue(cwd, env) {
  const [port, health] = [await freePort(), await freePort()];
  const url = `redis://127.0.0.1:${port}`;
  const argv = ['--port', String(port), '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
  const redis = begin('redis-server', argv, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  const client = new Redis(url, { maxRetriesPerRequest: 100, retryStrategy: () => 50 });
  client.on('error', () => undefined);
  await Promise.race([
    client.ping(),
    redis.ended.then(() => Promise.reject(new Error('this case needs redis-server, which did not start'))),
  ]).finally(() => client.disconnect());
  const worker = begin(process.execPath, [join(DIST, 'bin/rowferry.js'), 'worker', '--queue-only'], {
    cwd,
    env: { PATH: process.env['PATH'], ...env, ROWFERRY_QUEUE_URL: url, ROWFERRY_HTTP: `127.0.0.1:${health}` },
  });
  let over = false;
  worker.ended.then(() => (over = true));
  for (let tries = 0; !(await ready(health)); tries++) {
    if (over || tries > 600) throw new Error(`the worker did not become ready: ${worker.said()}`);
    await pause(100);
  }
  return {
    url,
    async close() {
      await worker.stop();
      await redis.stop();
    },
  };
}

async function ready(port) {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
}
