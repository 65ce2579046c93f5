import { afterEach, describe, expect, it } from 'vitest';
import { sharedStores } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, openCrew } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

const ROWS = 1_500;

/** Whether folders are shared does not matter to the store: each is tried on one. */
const cases = (await sharedStores()).map((store) => ({ ...store, sharedHome: store.name === 'redis' }));

describe.each(cases)('a coordinator that is told to end under load, on $name, one home: $sharedHome', (one) => {
  it('ends in time and keeps everything; the other worker goes on', async () => {
    crew = await openCrew({
      server: await one.start(),
      sharedHome: one.sharedHome,
      sandbox: { latencyMs: 20, keepBodies: false },
      env: { ROWFERRY_CONCURRENCY: '6' },
    });
    const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
    await crew.drop('assets.csv', assetSheet(ROWS));
    await until(() => crew.sandbox.commits.length >= 0.4 * ROWS, { what: 'the load' });
    const [coordinator, other] = workers[0].coordinates() ? workers : [workers[1], workers[0]];
    expect(other.coordinates()).toBe(false);

    const { ms, code } = await coordinator.terminate();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(30_000);
    expect(coordinator.err()).not.toContain('close_late');
    console.info(`${one.name}, one home ${one.sharedHome}: ended in ${Math.round(ms)} ms`);

    const run = await crew.only(120_000);
    expect(other.coordinates()).toBe(true);
    const { created = 0, unchanged = 0, total } = run.summary.rows;
    expect(run.summary.status).toBe('succeeded');
    expect({ total, written: created + unchanged }).toEqual({ total: ROWS, written: ROWS });
    // In a folder of its own the run begins anew, and finds what was written before.
    expect(unchanged > 0).toBe(!one.sharedHome);
    expectTruth(run, crew.sandbox, 'asset', 'serial_number', ROWS);
    expect(crew.sandbox.commits).toHaveLength(ROWS);
  }, 240_000);
});
