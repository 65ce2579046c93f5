import { describe, expect, it } from 'vitest';
import { BEGUN, SCENARIOS } from './failpoint-scenarios.js';
import { everyMoment, everyRecovery } from './failpoints.js';

describe('a night that is killed at a milestone, and restarted until it is quiet', { timeout: 600_000 }, () => {
  it('at each that an undisturbed one comes to, those of the orphans among them (37)', async () => {
    const { wrong, killed, moments } = await everyMoment(SCENARIOS.reconcileAssets);
    expect(wrong).toEqual([]);
    // How often lines and pages go to the disk together is not the same in every run.
    expect(killed).toBeGreaterThan(moments * 0.8);
  });

  it('and every recovery again, at the next milestone (37)', async () => {
    const { wrong, killed, moments } = await everyRecovery(SCENARIOS.reconcileAssets, BEGUN.reconcileAssets, 0);
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(moments / 2);
  });
});
