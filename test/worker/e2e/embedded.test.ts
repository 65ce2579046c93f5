import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Started } from '../../support/process.js';
import { availableStores } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, openCrew, TOKEN } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

/** Puts an import of a new file on the queue. */
async function enqueue(name: string, content: string, ...more: string[]): Promise<Started> {
  const file = join(crew.dir, name);
  await writeFile(file, content);
  return crew.command('one', 'enqueue', 'import', '--job', 'assets', '--file', file, '--json', ...more);
}

async function sent(started: Started): Promise<Record<string, unknown>> {
  expect(await started.ended, started.err()).toBe(0);
  return JSON.parse(started.out());
}

it('a worker with nothing installed takes a dropped file, and jobs that another process puts on its queue, before and while it is there', async () => {
  const [embedded] = await availableStores();
  crew = await openCrew({ server: await embedded!.start() });
  const before = await enqueue('before.csv', assetSheet(10, 500));
  expect(await sent(before)).toMatchObject({ queue: 'rowferry', name: 'import', workers: 0 });
  expect(before.err()).toContain('No worker is connected');

  const worker = await crew.worker('one');
  expect((await stat(join(crew.home('one'), 'queue.sock'))).mode & 0o777).toBe(0o600);
  await until(() => crew.sandbox.commits.length === 10, { what: 'the job that waited' });
  await crew.drop('dropped.csv', assetSheet(40));
  const dropped = await crew.only(60_000);
  expect(dropped.summary).toMatchObject({ status: 'succeeded', rows: { created: 40, total: 40 } });
  expectTruth(dropped, crew.sandbox, 'asset', 'serial_number', 40);

  const queued = await enqueue('more.csv', assetSheet(60), '--wait');
  expect(await sent(queued)).toMatchObject({ rows: { created: 20, unchanged: 40, total: 60 } });
  expect(crew.sandbox.commits).toHaveLength(70);
  const wrong = await enqueue('wrong.csv', 'Nummer\r\n1', '--wait');
  expect([await wrong.ended, wrong.err()]).toEqual([2, expect.stringContaining('columns.Serial')]);
  const doctor = await crew.command('one', 'doctor');
  await doctor.ended;
  expect(doctor.out()).toMatch(/queue +embedded in .*, 1 worker is connected/);
  expect((await worker.terminate()).code).toBe(0);
  expect(worker.err()).not.toContain(TOKEN);
});

it('files of one job are written in the order in which they came, however long the first one takes to begin', async () => {
  const [embedded] = await availableStores();
  let held: Promise<void> | undefined;
  const onRequest = () => {
    if (held) return undefined;
    // Until the other one has written, if it does; it is not to.
    held = until(() => crew.sandbox.commits.length >= 20, { withinMs: 5_000 }).catch(() => undefined);
    return held;
  };
  crew = await openCrew({ server: await embedded!.start(), sandbox: { onRequest } });
  await crew.worker('one');
  const sheetOf = (name: string) =>
    ['Name,Serial', ...Array.from({ length: 20 }, (_, i) => `${name} ${i},S${i}`)].join('\r\n');
  await crew.drop('monday.csv', sheetOf('old'));
  await until(() => held !== undefined, { what: 'the first run begins' });
  await crew.drop('tuesday.csv', sheetOf('new'));
  await until(async () => (await crew.ended()).length === 2, { withinMs: 60_000, what: 'both runs' });
  const names = crew.sandbox.records('asset').map(({ name }) => String(name).split(' ')[0]);
  expect(names).toEqual(Array.from({ length: 20 }, () => 'new'));
});
