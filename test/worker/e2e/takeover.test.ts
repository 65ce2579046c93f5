import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FULL } from '../../support/full.js';
import type { Started } from '../../support/process.js';
import { availableStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, type CrewOptions, openCrew } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

async function embeddedCrew(options: Omit<CrewOptions, 'server'> = {}): Promise<Crew> {
  const [embedded] = await availableStores();
  crew = await openCrew({ server: await embedded!.start(), ...options });
  return crew;
}

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

describe('the next worker on the home', () => {
  it('loses and doubles no job that is put on the queue while owner after owner is killed', async () => {
    await embeddedCrew();
    const JOBS = FULL ? 12 : 2;
    const orders: Promise<Record<string, unknown>>[] = [];
    let owner = await crew.worker('w0');
    for (let i = 0; i < JOBS; i++) {
      // Ordered before the owner dies, while nobody has the queue, and after.
      orders.push(enqueue(`f${i}.csv`, assetSheet(2, 10 * i)).then(sent));
      if (i % 2 === 0) await owner.kill();
      orders.push(enqueue(`g${i}.csv`, assetSheet(2, 1_000 + 10 * i)).then(sent));
      if (i % 2 === 1) await owner.kill();
      owner = await crew.worker(`w${i + 1}`, { early: true });
      await until(() => /"Drop folder: /.test(owner.err()), { what: 'the next owner' });
    }
    const ids = (await Promise.all(orders)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2 * JOBS);
    await until(() => crew.sandbox.commits.length >= 4 * JOBS, { what: 'every job' });
    // A job that was put twice would be a run more.
    const runs = async () => (await readdir(join(crew.home('w0'), 'runs'))).length;
    await until(async () => (await runs()) === 2 * JOBS, { what: 'a run for each job' });
    await owner.terminate();
    expect(crew.sandbox.commits).toHaveLength(4 * JOBS);
    expect(await runs()).toBe(2 * JOBS);
  }, 240_000);
});
