import { describe, expect, it } from 'vitest';
import { resourceSpec } from '../../../src/resources/registry.js';
import { remainingWindow } from '../../../src/runs/rows/connection.js';

/** 2026-01-01, in milliseconds; only differences matter. */
const NOW = 1_767_225_600_000;
const GUARDED = 15_000;
const WHOLE = 45_000;

function rest(
  resource: 'asset' | 'supplier' | 'contract' | 'customer',
  match: { key: string[]; unique_field?: string },
  uniqueField?: 'rejects' | 'upserts' | 'ignored',
  leftAt?: number,
): number {
  const run = {
    settings: { settleWindowMs: [1_000, 5_000, GUARDED, WHOLE] },
    clock: { wall: () => NOW },
    job: { resource, match },
  } as unknown as Parameters<typeof remainingWindow>[0];
  const behaviour = uniqueField && { probedAt: '', putAccepts: [], uniqueField };
  return remainingWindow(run, { spec: resourceSpec(resource), behaviour }, leftAt);
}

describe('how long requests of a killed process may still take effect (37, 40)', () => {
  const serial = { key: ['serial_number'], unique_field: 'serial_number' } as const;
  it.each([
    ['the service guards what every row has', rest('asset', { ...serial, key: ['serial_number'] }), GUARDED],
    ['it was found to refuse a second one', rest('asset', { ...serial, key: ['serial_number'] }, 'rejects'), GUARDED],
    ['it was found to ignore unique_field', rest('asset', { ...serial, key: ['serial_number'] }, 'ignored'), WHOLE],
    ['rows may have no value of what is guarded', rest('asset', { ...serial, key: ['asset_id'] }), WHOLE],
    ['nothing is guarded', rest('asset', { key: ['serial_number'] }), WHOLE],
    ['names of suppliers are guarded', rest('supplier', { key: ['name'] }), GUARDED],
    ['contracts are not', rest('contract', { key: ['contract_number'] }), WHOLE],
  ])('%s', (_, found, expected) => {
    expect(found).toBe(expected);
  });

  it('counts from the last sign of life, and never beyond the whole', () => {
    const match = { key: ['serial_number'], unique_field: 'serial_number' };
    expect(rest('asset', match, 'ignored', NOW - 20_000)).toBe(WHOLE - 15_000);
    expect(rest('asset', match, 'ignored', NOW - 60_000)).toBeLessThanOrEqual(0);
    expect(rest('asset', match, 'ignored', NOW + 3_600_000)).toBe(WHOLE);
  });
});
