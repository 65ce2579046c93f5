import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { takeLock } from '../../src/runs/run/lock.js';
import { serviceDir } from '../../src/service/address.js';
import { serve } from '../service/server.js';
import { cliPath } from '../support/build.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const ASSETS = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });
const ONE = 'Name,Serial\r\nLaptop,SN-1';
const lockOf = async (of: Desk) => {
  const dir = serviceDir(of.home, of.sandbox.url, 1);
  await mkdir(dir, { recursive: true });
  return join(dir, 'writing-asset.lock');
};

describe('a lock that was abandoned', () => {
  it('by a process that lives on (a worker) is taken over by another process', async () => {
    desk = await openDesk();
    const path = await lockOf(desk);
    const compiled = pathToFileURL(join(dirname(await cliPath()), '../runs/run/lock.js')).href;
    const script = `import(${JSON.stringify(compiled)}).then(async (m) => {
      const release = await m.takeLock(${JSON.stringify(path)}, 'Writing');
      await release('abandon'); console.log('ready'); setInterval(() => {}, 1000); })`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const told: number[] = [];
      await (await takeLock(path, 'Writing', (at) => told.push(at)))();
      expect(told).toHaveLength(1);
    } finally {
      child.kill();
      await ended;
    }
  });

  it('stands until somebody has waited: an interrupted wait leaves it to the next', async () => {
    desk = await openDesk();
    const path = await lockOf(desk);
    await (await takeLock(path, 'Writing'))('abandon');
    const env = { ROWFERRY_SETTLE_WINDOW: '0.1,3,4' };
    const file = await desk.file('a.csv', ONE);
    const stop = new AbortController();
    const one = await desk.import(file, ASSETS, {
      env,
      signal: stop.signal,
      // Once it waits.
      onNotice: (text) => text.includes('without a word') && setImmediate(() => stop.abort('SIGINT')),
    });
    expect(one.notices.join()).toContain('ended without a word');
    const second = await desk.import(file, ASSETS, { env });
    expect(second.notices.join()).toContain('ended without a word');
  });
});

describe('a lock that another run left', () => {
  it('is waited for by a run that is taken up again (37)', async () => {
    desk = await openDesk();
    const path = await lockOf(desk);
    const env = { ROWFERRY_SETTLE_WINDOW: '0.1,1,2', ROWFERRY_CONCURRENCY: '1' };
    const stop = new AbortController();
    const rows = Array.from({ length: 30 }, (_, n) => [`n${n}`, `S-${n}`]);
    const first = desk.import(await desk.file('a.csv', [['Name', 'Serial'], ...rows]), ASSETS, {
      env,
      signal: stop.signal,
      onProgress: () => desk.sandbox.commits.length > 3 && stop.abort('SIGINT'),
    });
    expect((await first).summary.status).toBe('interrupted');
    // Another run of these records was killed a moment ago.
    await (await takeLock(path, 'Writing'))('abandon');
    const again = await desk.resume({ env });
    expect(again.summary.rows.created).toBe(30);
    expect(again.notices.join()).toContain('ended without a word');
  });
});

describe('ids of runs', () => {
  it('sort after all that are there, those of undoing too, whatever the clock does (42)', async () => {
    desk = await openDesk();
    const ahead = new Date(Date.now() + 3_600_000).toISOString().replace(/[-:.]/g, '');
    await mkdir(join(desk.home, 'runs', `${ahead}-abcdef`), { recursive: true });
    const made = await desk.import(await desk.file('a.csv', ONE), ASSETS);
    expect(made.summary.run > ahead).toBe(true);
    const undone = await desk.undo(made.summary.run);
    expect(undone.summary.run > made.summary.run).toBe(true);
  });
});

describe('what an update of unknown outcome left is not forgotten', () => {
  const job = (columns: object, more: object = {}) =>
    importOf('asset', 'serial_number', { Serial: 'serial_number', ...columns }, more);
  const file = (name: string, headings: string[], ...cells: (string | number)[][]) =>
    desk.file(name, [headings, ...cells]);
  const held = () => desk.sandbox.raw('asset').map((one) => [one['city'], one['mac_address']]);
  it.each(['status=400', 'unchanged', 'status=400 hidden'])(
    'by a later row that wrote nothing: %s (30)',
    async (how) => {
      desk = await openDesk();
      desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'S-1', category: { id: 3 }, city: 'Ulm' }]);
      const mac = job({ Mac: 'mac_address' });
      await desk.import(await file('a.csv', ['Serial', 'Mac'], ['S-1', 'old']), mac);
      desk.sandbox.setFaults(['PUT /asset close_after']);
      expect((await desk.import(await file('b.csv', ['Serial', 'Mac'], ['S-1', 'new']), mac)).outcomes).toEqual([
        '2 unknown',
      ]);
      expect(held()).toEqual([['Ulm', 'new']]);
      if (how === 'unchanged') {
        desk.sandbox.setFaults([]);
      } else {
        desk.sandbox.setFaults(['PUT /asset nth=1 status=400']);
        const more = how.endsWith('hidden')
          ? await desk.import(await file('c.csv', ['Serial', 'Ssb'], ['S-1', 'tag']), job({ Ssb: 'ssb_tag' }))
          : await desk.import(await file('c.csv', ['Serial', 'City'], ['S-1', 'Nope']), job({ City: 'city' }));
        expect(more.outcomes).toEqual(['2 rejected']);
      }
      desk.sandbox.setFaults([]);
      await desk.import(await file('d.csv', ['Serial', 'City'], ['S-1', 'Bonn']), job({ City: 'city' }));
      expect(held()).toEqual([['Bonn', 'new']]);
    },
  );
});

describe('a gateway that gives up waiting', () => {
  it.each([504, 408])(
    '%i: an unguarded create may still be under way, and is not sent again (4, 11)',
    async (status) => {
      desk = await openDesk();
      let posts = 0;
      let late: Promise<unknown> | undefined;
      const gateway = await serve(async (response, seen) => {
        const pass = () =>
          fetch(`${desk.sandbox.url}${seen.url.pathname}${seen.url.search}`, {
            method: seen.method,
            headers: { authorization: String(seen.headers.authorization), 'content-type': 'application/json' },
            ...(seen.method === 'GET' ? {} : { body: seen.body }),
          });
        if (seen.method === 'POST' && ++posts === 1) {
          late = pause(1_200).then(pass);
          response.writeHead(status, { 'content-type': 'text/html' }).end('<html>gateway time-out</html>');
          return;
        }
        const answer = await pass();
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      });
      const env = { ROWFERRY_API_URL: gateway.url, ROWFERRY_TIMEOUT: '0.3', ROWFERRY_SETTLE_WINDOW: '0.05,0.2,0.4' };
      const run = await desk.import(await desk.file('a.csv', ONE), ASSETS, { env });
      await late;
      expect(desk.sandbox.records('asset')).toHaveLength(1);
      expect(run.outcomes).toEqual(['2 unknown']);
    },
  );
});

describe('an update that the run was stopped at', () => {
  it('leaves nothing behind that a later update would carry over', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'SN-1', category: { id: 3 }, mac_address: 'by-hand' }]);
    desk.sandbox.setFaults(['PUT /asset status=403']);
    const mac = { ...ASSETS, columns: { Serial: 'serial_number', Mac: 'mac_address' } };
    const stopped = await desk.import(await desk.file('a.csv', 'Serial,Mac\r\nSN-1,never-sent'), mac);
    expect(stopped.outcomes).toEqual(['2 not_attempted']);
    desk.sandbox.setFaults([]);
    const city = { ...ASSETS, columns: { Serial: 'serial_number', City: 'city' } };
    await desk.import(await desk.file('b.csv', 'Serial,City\r\nSN-1,Bonn'), city);
    expect(desk.sandbox.raw('asset')[0]?.['mac_address']).not.toBe('never-sent');
  });
});

describe('a create that was never sent', () => {
  it('leaves nothing behind that a later update would carry over', async () => {
    desk = await openDesk();
    const hidden = { ...ASSETS, columns: { ...ASSETS.columns, Mac: 'mac_address' } };
    desk.sandbox.setFaults(['POST /asset status=403']);
    const rows = 'Name,Serial,Mac\r\nLaptop,SN-1,never-sent';
    const stopped = await desk.import(await desk.file('a.csv', rows), hidden);
    expect(stopped.outcomes).toEqual(['2 not_attempted']);
    desk.sandbox.setFaults([]);
    // Somebody makes the record by hand.
    desk.sandbox.insert('asset', [
      { name: 'Laptop', serial_number: 'SN-1', category: { id: 3 }, mac_address: 'by-hand' },
    ]);
    const city = { ...ASSETS, columns: { Serial: 'serial_number', City: 'city' } };
    await desk.import(await desk.file('b.csv', 'Serial,City\r\nSN-1,Bonn'), city);
    expect(desk.sandbox.raw('asset')[0]?.['mac_address']).not.toBe('never-sent');
  });
});
