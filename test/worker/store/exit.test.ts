import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cliPath } from '../../support/build.js';
import { QUICK } from '../../support/process.js';
import { availableStores } from '../../support/servers.js';
import { until } from '../../support/until.js';

/** After `close` nothing keeps a process alive: no timer, no connection. */
describe.each(await availableStores())('a process with a queue on $name', ({ start }) => {
  it.each(['there', 'away'])(
    'ends by itself once it has closed, the server being %s',
    async (where) => {
      const server = await start();
      if (where === 'away' && !server.server) return server.stop();
      const module = pathToFileURL(join(dirname(dirname(await cliPath())), 'worker', 'store', 'open.js')).href;
      const script = `
      const { openStore } = await import(${JSON.stringify(module)});
      const store = await openStore({ ...${JSON.stringify({ url: server.url, home: server.home })}, strict: false,
        patienceMs: 20_000, notice: () => undefined, signal: new AbortController().signal });
      const [queue, events] = [store.queue('a'), store.events?.('a')];
      const worker = store.worker('a', async () => undefined, {});
      await Promise.all([events?.waitUntilReady(), worker.waitUntilReady?.(), store.lease('one', 5_000)]);
      await queue.add('import', {});
      process.stdin.once('data', async () => {
        process.stdin.destroy();
        const began = performance.now();
        await store.close();
        console.log('closed in', performance.now() - began);
      });
      console.log('ready');`;
      const file = join(server.home, 'member.mjs');
      await writeFile(file, script);
      const child = spawn(process.execPath, [...QUICK, file], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
      try {
        await until(() => said.includes('ready'));
        if (where === 'away') await server.server?.kill();
        child.stdin.write('close\n');
        await until(() => child.exitCode !== null || child.signalCode !== null, {
          what: `its end: ${said}`,
        });
        expect(await ended).toEqual([0, null]);
        expect(Number(/closed in (\S+)/.exec(said)?.[1])).toBeLessThan(5_000);
      } finally {
        child.kill('SIGKILL');
        await server.stop();
      }
    },
    90_000,
  );
});
