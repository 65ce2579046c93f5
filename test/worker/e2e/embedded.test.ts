import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { availableStores } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { assetSheet, type Crew, openCrew, TOKEN } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

it('a worker with nothing installed: a dropped file, and a job that another process puts on its queue', async () => {
  const [embedded] = await availableStores();
  crew = await openCrew({ server: await embedded!.start() });
  const worker = await crew.worker('one');
  await crew.drop('dropped.csv', assetSheet(40));
  const dropped = await crew.only(60_000);
  expect(dropped.summary).toMatchObject({ status: 'succeeded', rows: { created: 40, total: 40 } });
  expectTruth(dropped, crew.sandbox, 'asset', 'serial_number', 40);

  await writeFile(join(crew.inbox, 'more.csv'), assetSheet(60));
  const file = join(crew.inbox, 'more.csv');
  const queued = await crew.command('one', 'enqueue', 'import', '--job', 'assets', '--file', file, '--wait', '--json');
  expect(await queued.ended, queued.err()).toBe(0);
  expect(JSON.parse(queued.out())).toMatchObject({ rows: { created: 20, unchanged: 40, total: 60 } });
  expect(crew.sandbox.commits).toHaveLength(60);
  expect((await worker.terminate()).code).toBe(0);
  expect(worker.err()).not.toContain(TOKEN);
}, 120_000);
