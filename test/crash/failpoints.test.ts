import { describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { RESUME } from './bench.js';
import { BEGUN, SCENARIOS } from './failpoint-scenarios.js';
import { everyMoment, everyRecovery } from './failpoints.js';

describe('an import that is killed at a milestone, and restarted until it is quiet', { timeout: 600_000 }, () => {
  it('at each that an undisturbed one comes to, with creates and updates (37)', async () => {
    const { wrong, killed, moments } = await everyMoment(SCENARIOS.importAssets);
    expect(wrong).toEqual([]);
    // How often lines and pages go to the disk together is not the same in every run.
    expect(killed).toBeGreaterThan(moments * 0.8);
  });

  it('and every recovery again, at the next milestone: contracts over three generations (37)', async () => {
    const { wrong, killed, moments } = await everyRecovery(SCENARIOS.importContracts, BEGUN.importContracts, 1);
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(moments / 2);
  });

  it('what its rows refer to is created once, and every recovery killed again (37)', async () => {
    const { wrong, killed, moments } = await everyMoment(SCENARIOS.importReferences, [
      'references-begun',
      'references-ended',
    ]);
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(moments * 0.8);
    const again = await everyRecovery(SCENARIOS.importReferences, BEGUN.importReferences, 1);
    expect(again.wrong).toEqual([]);
  });

  it('customers: what a kill leaves open is unknown, and never sent again (37)', async () => {
    const { wrong, killed, moments } = await everyRecovery(SCENARIOS.importCustomers, BEGUN.importCustomers, 0);
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(moments / 2);
  });
});

it('killed when a request has taken effect and its answer is on its way: the effect is found, not repeated (37)', {
  timeout: 120_000,
}, async () => {
  const { bench, argv, codes, verify } = await SCENARIOS.importAssets();
  try {
    bench.sandbox.setFaults(['PUT * nth=1 timeout_after', 'POST * nth=5 timeout_after']);
    // The first update goes alone; after it the others go together, and five of the new ones.
    for (const [method, nth] of [
      ['PUT', 1],
      ['POST', 5],
    ] as const) {
      const started = await bench.start(method === 'PUT' ? argv : RESUME);
      const done = () => bench.sandbox.commits.filter((one) => one.method === method).length >= nth;
      await until(done, { what: `the ${method} request ${nth}` });
      started.child.kill('SIGKILL');
      expect(await started.ended).toBe('SIGKILL');
    }
    expect(codes).toContain((await bench.inside(RESUME)).code);
    expect(await verify(2)).toEqual([]);
  } finally {
    await bench.close();
  }
});
