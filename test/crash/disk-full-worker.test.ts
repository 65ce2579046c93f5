import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { itWith, privateRedis } from '../support/servers.js';
import { expectTruth } from '../support/truth.js';
import { until } from '../support/until.js';
import { assetSheet, type Crew, openCrew, told as toldBy } from '../support/worker.js';
import { others } from './bench.js';
import { openSmallDisk, type SmallDisk } from './small-disk.js';

const ROWS = 2_000;
const withRedis = await itWith('redis');

let crew: Crew | undefined;
let disk: SmallDisk | undefined;
afterEach(async () => {
  await crew?.close();
  await disk?.remove();
  crew = undefined;
  disk = undefined;
});

withRedis(
  'the disk of a worker fills up in the middle of a dropped file: the file is kept, and all is done once there is space (39)',
  async ({ skip }) => {
    disk = await openSmallDisk();
    if (disk === undefined) return skip('mounting a small disk needs root');
    const redis = await privateRedis();
    let posts = 0;
    crew = await openCrew({
      server: { url: redis.url, home: disk.path, stop: () => redis.stop() },
      env: { ROWFERRY_HOME: join(disk.path, 'home') },
      sandbox: {
        onRequest({ method }) {
          if (method === 'POST' && ++posts === 100) disk?.fill();
        },
      },
    });
    const worker = await crew.worker('one');
    await crew.drop('assets.csv', assetSheet(ROWS));
    await until(() => /disk is full/.test(worker.err()), { what: 'the warning' });
    const sent = crew.sandbox.commits.length;
    expect(sent).toBeLessThan(ROWS);
    expect(await crew.ended('done')).toEqual([]);
    // The file waits in processing/, and nowhere else.
    const places = readdirSync(crew.inbox, { recursive: true, encoding: 'utf8' });
    expect(places.filter((path) => /^(?:processing|failed)\/.*assets\.csv$/.test(path))).toEqual([
      expect.stringMatching(/^processing\//),
    ]);
    await until(() => /goes on by itself once there is space/.test(worker.err()), {
      what: 'word of the wait',
    });
    expect(worker.child.exitCode).toBeNull();

    disk.free();
    const inbox = crew;
    await until(async () => (await inbox.ended('done')).length === 1, { withinMs: 120_000, what: 'the end' });
    const [done = ''] = await crew.ended('done');
    const told = await toldBy(done);
    const bad = others(told, 'created').filter((line) => !/^\d+ unchanged /.test(line));
    expect(bad).toEqual([]);
    expectTruth(told, crew.sandbox, 'asset', 'serial_number', ROWS);
    expect(crew.sandbox.commits).toHaveLength(ROWS);
    expect(worker.err()).not.toMatch(/\\n\s+at /);
  },
  240_000,
);
