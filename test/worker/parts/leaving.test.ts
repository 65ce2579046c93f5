import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { runChannel } from '../../../src/runs/run/open-service.js';
import { resolveSettings } from '../../../src/runs/settings.js';
import { openParts, type Parts } from '../../../src/worker/parts/parts.js';
import { openSigner, partsQueue } from '../../../src/worker/parts/protocol.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { openPartsTeam } from './team.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

it('a process that is told to end takes no more parts, while its own runs are still ending', async () => {
  const server = await privateRedis();
  closers.push(() => server.stop());
  const { store, close } = await openPartsTeam(server.url);
  closers.push(close);
  const service = 'http://127.0.0.1:9';
  const settings = resolveSettings({ ROWFERRY_API_URL: service, ROWFERRY_API_TOKEN: 'test-token' }, {}, '/nowhere');
  const ending = new AbortController();
  const { signal } = ending;
  const channel = runChannel(settings, store.pace(service), signal);
  closers.push(() => channel.close(0));
  const log = pino({ level: 'silent' });
  const signer = await openSigner(settings);
  const parts: Parts = await openParts({ store, service, settings, leaseMs: 1_000, signer, log, signal, channel });
  closers.push(parts.close);
  await until(async () => (await store.workers(partsQueue(service))) === 1, { what: 'it takes parts' });
  ending.abort();
  await until(async () => (await store.workers(partsQueue(service))) === 0, { what: 'it takes none' });
  // Its own coordinators still hear what others send for them.
  const job = await parts.queue.add('part', {});
  expect(await parts.queue.getJobState(job.id ?? '')).toBe('waiting');
});
