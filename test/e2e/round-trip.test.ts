import { describe, expect, it } from 'vitest';
import { resourceSpec } from '../../src/resources/registry.js';
import type { ResourceName } from '../../src/resources/spec.js';
import { type Desk, openDesk } from '../support/desk.js';
import { stored, strangerHome } from '../support/records.js';
import { exportForEditing, FORMATS } from './round-trip-bench.js';
import { filled, furnish, insert, TEXTS } from './round-trip-records.js';

let desk: Desk;

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
  it('every column that can be imported is filled', async () => {
    await fullDesk(resource);
    const exported = await exportForEditing(desk, resource);
    const importable = exported.columns.filter(({ field, readOnly }) => field !== undefined && !readOnly);
    const blank = importable.filter((column) => {
      const at = exported.columns.indexOf(column);
      return exported.rows.every((row) => row[at] === '');
    });
    expect(blank.map(({ field }) => field)).toEqual([]);
    const spec = resourceSpec(resource);
    const updatable = spec.fields.filter(({ read, readElse, update }) => (read ?? readElse) && update);
    const mapped = importable.map(({ field }) => field);
    expect(updatable.map(({ name }) => name).filter((name) => !mapped.includes(name))).toEqual([]);
  });

  it.each(FORMATS)('exported to %s and imported again, every row is unchanged and nothing is sent', async (format) => {
    await fullDesk(resource);
    const before = stored(desk.sandbox, resource);
    const { file } = await desk.export(resource, `data.${format}`, { editable: true });
    const result = await desk.import(file, file.replace(/\w+$/, 'yaml'));
    const touched = result.results.filter(({ outcome }) => outcome !== 'unchanged');
    // That a workbook's cover is not read is no fault of the file; nor that texts of the service look like "no value".
    const said = /^Further sheets are not read|are imported as that text\./;
    const warnings = result.summary.warnings.filter((text) => !said.test(text));
    expect([touched, result.faults, warnings]).toEqual([[], [], []]);
    expect([result.results.length, result.summary.requests.writes]).toEqual([before.size, 0]);
    expect(desk.sandbox.commits).toEqual([]);
    expect(stored(desk.sandbox, resource)).toEqual(before);
  });
});

describe('the round trip', () => {
  it.each([
    [{ dates: 'd/m', country: 'alpha2' }],
    [{ dates: 'datetime', country: 'alpha3' }],
    [{ dates: 'long', probe: 'ignored', filters: 'ignore_case' }],
  ] as const)('holds where the service shows %o', async (switches) => {
    await fullDesk('asset');
    desk.sandbox.setSwitches(switches);
    const { file } = await desk.export('asset', 'data.xlsx', { editable: true });
    const result = await desk.import(file, file.replace(/\w+$/, 'yaml'));
    expect(result.results.filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
    expect(result.commits).toBe(0);
  });

  it('holds at a home that knows nothing of the service', async () => {
    await fullDesk('contract');
    const { file } = await desk.export('contract', 'data.csv', { editable: true });
    const result = await desk.import(file, file.replace(/\w+$/, 'yaml'), strangerHome(desk));
    expect(result.results.filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
    expect(result.commits).toBe(0);
  });

  it('costs the import few requests beside the list of the records', async () => {
    await fullDesk('asset');
    const { file } = await desk.export('asset', 'data.csv', { editable: true });
    desk.sandbox.resetRequests();
    await desk.import(file, file.replace(/\w+$/, 'yaml'));
    // Lists of assets (2 pages), contracts, suppliers, categories, owners, statuses, templates and forms, and the company.
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(12);
  });
});
