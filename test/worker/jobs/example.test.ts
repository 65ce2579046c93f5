import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect } from 'vitest';
import { itWith, privateRedis } from '../../support/servers.js';
import { type Bench, openBench } from './bench.js';

const it = await itWith('redis');

let bench: Bench;
afterEach(() => bench.close());

it('examples/enqueue-from-bullmq.mjs puts a run on the queue from another program and gets its summary', async () => {
  let url = '';
  bench = await openBench({}, async () => {
    const server = await privateRedis();
    url = server.url;
    return server;
  });
  await bench.worker();
  const child = spawn(process.execPath, ['examples/enqueue-from-bullmq.mjs'], {
    env: { PATH: process.env['PATH'], QUEUE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8');
  });
  const [code] = await once(child, 'close');
  expect([code, err]).toEqual([0, expect.stringContaining('done 2/2')]);
  expect(JSON.parse(out)).toMatchObject({ status: 'succeeded', rows: { created: 2 } });
});
