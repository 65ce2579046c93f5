import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveSettings } from '../../../src/runs/settings.js';
import { runWorker } from '../../../src/worker/worker.js';
import { availableStores, type StoreServer } from '../../support/servers.js';

let queue: StoreServer;
beforeAll(async () => {
  const stores = await availableStores();
  queue = await (stores.find(({ name }) => name === 'redis') ?? stores[0]!).start();
});
afterAll(() => queue.stop());

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-inbox-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Starts a worker with this drop folder, and tells it to end at once. */
function start(inbox: string, queueOnly = false): Promise<void> {
  const env = {
    ROWFERRY_API_URL: 'http://127.0.0.1:9',
    ROWFERRY_API_TOKEN: 'test-token',
    ROWFERRY_HOME: queue.home,
    ...(queue.url !== undefined && { ROWFERRY_QUEUE_URL: queue.url }),
    ROWFERRY_HTTP: 'off',
    ROWFERRY_INBOX: inbox,
  };
  return runWorker({
    settings: resolveSettings(env, {}, dir),
    queueOnly,
    pages: join(dir, 'pages'),
    log: pino({ level: 'silent' }),
    notice: () => undefined,
    clean: (text) => text,
    signal: AbortSignal.abort(),
  });
}

describe('a drop folder that can never be', () => {
  it.each([
    ['a file', 'file'],
    ['below a file', 'file/inbox'],
    ['a link that leads nowhere', 'link'],
    ['a name that is too long', 'x'.repeat(300)],
  ])('%s: the worker does not begin', async (_, name) => {
    await writeFile(join(dir, 'file'), 'a');
    await symlink(join(dir, 'nowhere', 'else'), join(dir, 'link'));
    const refused = await start(join(dir, name)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'usage', message: expect.stringContaining('--inbox or ROWFERRY_INBOX') });
    await start(join(dir, name), true);
  });

  it('one that is missing is made', async () => {
    await start(join(dir, 'drop', 'here'));
    expect((await stat(join(dir, 'drop', 'here'))).isDirectory()).toBe(true);
  });
});
