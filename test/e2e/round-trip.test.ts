import { afterEach, describe, expect, it } from 'vitest';
import { resourceSpec } from '../../src/resources/registry.js';
import type { ResourceName } from '../../src/resources/spec.js';
import { type Desk, openDesk } from '../support/desk.js';
import { stored } from '../support/records.js';
import { exportForEditing, FORMATS, place } from './round-trip-bench.js';
import { filled, furnish, insert, TEXTS } from './round-trip-records.js';

let desk: Desk;
afterEach(() => desk.close());

const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const LISTED: readonly ResourceName[] = ['asset', 'contract', 'supplier'];

async function fullDesk(resource: ResourceName): Promise<void> {
  desk = await openDesk();
  furnish(desk.sandbox);
  insert(
    desk.sandbox,
    resource,
    range(TEXTS.length).map((n) => filled(desk.sandbox, resource, n)),
  );
}

describe.each(LISTED)('%s with every field filled', (resource) => {
  it('exported for editing and imported again, every row is unchanged and nothing is sent', async () => {
    await fullDesk(resource);
    const before = stored(desk.sandbox, resource);
    const exported = await exportForEditing(desk, resource);
    const spec = resourceSpec(resource);
    const blank = exported.columns.filter(
      ({ field }, at) => field !== undefined && exported.rows.every((row) => row[at] === ''),
    );
    expect(blank.map(({ field }) => field)).toEqual([]);
    expect(spec.fields.length).toBeGreaterThan(20);
    for (const format of FORMATS) {
      const { file, job } = await place(desk, exported, format);
      const result = await desk.import(file, job);
      const touched = result.results.filter(({ outcome }) => outcome !== 'unchanged');
      expect([format, touched, result.faults, result.summary.warnings]).toEqual([format, [], [], []]);
      expect([result.results.length, result.summary.requests.writes]).toEqual([before.size, 0]);
    }
    expect(desk.sandbox.commits).toEqual([]);
    expect(stored(desk.sandbox, resource)).toEqual(before);
  });
});
