import { describe, expect, it } from 'vitest';
import { BEGUN, SCENARIOS } from './failpoint-scenarios.js';
import { everyMoment, everyRecovery } from './failpoints.js';

describe('an export that is killed at a milestone, and restarted until it is quiet', { timeout: 600_000 }, () => {
  it('at each that an undisturbed one comes to: the target is the old file or the whole new one (37)', async () => {
    const { wrong, killed, moments } = await everyMoment(SCENARIOS.exportAssets);
    expect(wrong).toEqual([]);
    // How often lines and pages go to the disk together is not the same in every run.
    expect(killed).toBeGreaterThan(moments * 0.8);
  });

  it('and every recovery again, at the next milestone (37)', async () => {
    const { wrong, killed, moments } = await everyRecovery(SCENARIOS.exportAssets, BEGUN.exportAssets, 0);
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(moments / 3);
  });
});
