import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunError } from '../../../src/model/error.js';
import type { ReconcileJob } from '../../../src/model/job.js';
import { valueAt } from '../../../src/resources/path.js';
import type { ResourceName } from '../../../src/resources/spec.js';
import { openScope } from '../../../src/runs/reconcile/scope.js';
import { createLexicon, openLists, type RunLexicon } from '../../../src/runs/run/open-service.js';
import { openKnownIds } from '../../../src/service/known-ids.js';
import type { Json } from '../../../src/service/port.js';
import { type Bench, openBench } from '../../export/bench.js';

type Given = ReconcileJob['scope'];

let bench: Bench;
let lexicon: RunLexicon;
let dir: string;
let close: () => Promise<void>;
beforeEach(async () => {
  bench = await openBench();
  dir = await mkdtemp(join(tmpdir(), 'rowferry-scope-'));
  const known = openKnownIds(dir, 'service');
  lexicon = createLexicon(
    known,
    openLists(
      bench.service,
      (resource) => join(dir, `${resource}.ndjson`),
      () => undefined,
    ),
  );
  close = () => known.close();
});
afterEach(async () => {
  await close();
  await rm(dir, { recursive: true, force: true });
});

async function kept(scope: Given, resource: ResourceName = 'asset'): Promise<unknown[]> {
  const opened = await openScope(scope, { resource, lexicon });
  const all = await bench.read(resource as 'asset');
  return all.filter((record) => opened?.keeps(record) ?? true).map((record) => record['id']);
}

async function faults(scope: Given, resource: ResourceName = 'asset'): Promise<readonly string[]> {
  try {
    await openScope(scope, { resource, lexicon });
  } catch (error) {
    if (error instanceof RunError && error.kind === 'usage') return error.details;
    throw error;
  }
  return [];
}

describe('the scope of a job', () => {
  it('is everything where the job says nothing', async () => {
    expect(await openScope({}, { resource: 'asset', lexicon })).toBeUndefined();
  });

  it('is held against the records in the type of each field', async () => {
    const assets = await bench.read('asset');
    const of = (fits: (at: (path: string) => unknown) => boolean) =>
      assets.filter((one) => fits((path) => valueAt(one, path))).map((one) => one['id']);
    const cases: readonly [Given, unknown[]][] = [
      [{ 'category.name': 'Laptop' }, of((at) => at('category.name') === 'Laptop')],
      [{ 'category.name': 1 }, of((at) => at('category.id') === 1)],
      [{ 'category.name': ['Server', 1] }, of((at) => [1, 3].includes(Number(at('category.id'))))],
      [{ category: ['1', 'Server'] }, of((at) => [1, 3].includes(Number(at('category.id'))))],
      [{ supplier: 3 }, of((at) => at('attached_supplier.id') === 3)],
      [{ owner: 'ada.park@northwind.example' }, of((at) => at('asset_owner.id') === 1)],
      [{ country: ['de', 'JPN'] }, of((at) => ['Germany', 'Japan'].includes(String(at('country'))))],
      [{ warranty_type: 'OEM Extended' }, of((at) => at('warranty_type') === 'oem_extended')],
      [{ original_cost: '1,239.90' }, of((at) => Number(at('original_cost')) === 1239.9)],
      [{ asset_notes: null }, of((at) => at('asset_notes') === null)],
      [
        { asset_notes: '', lifecycle_stage: 'Retired' },
        of((at) => at('asset_notes') === null && at('lifecycle_stage') === 'Retired'),
      ],
      [
        { contract: [null, String(valueAt(assets[1], 'contract.number'))] },
        of((at) => at('contract') === null || at('contract.number') === valueAt(assets[1], 'contract.number')),
      ],
      [{ 'template.Finance.Cost Centre': 'CC-4003' }, of((at) => at('template.fields.Cost Centre') === 'CC-4003')],
      [{ 'template.1.2': 1503 }, of((at) => Number(at('template.fields.Budget')) === 1503)],
      [
        { ' CATEGORY.Name ': 'Laptop', 'category.subcategory': 'Rugged' },
        of((at) => at('category.name') === 'Laptop' && at('category.subcategory') === 'Rugged'),
      ],
    ];
    for (const [scope, expected] of cases) {
      expect(await kept(scope), JSON.stringify(scope)).toEqual(expected);
      expect(expected.length, JSON.stringify(scope)).toBeGreaterThan(0);
      expect(expected.length, JSON.stringify(scope)).toBeLessThan(assets.length);
    }
  });

  it('is found in any row of a custom form', async () => {
    const [one] = bench.sandbox.insert('asset', [
      {
        name: 'racked',
        form_template: [
          { id: 1, custom_form_data: { Rack: 'X1' } },
          { id: 1, custom_form_data: { Rack: 'X2' } },
        ],
      },
    ]);
    expect(await kept({ 'form.Data centre.Rack': 'X2' })).toEqual([one]);
  });

  it('is of contracts and suppliers, too', async () => {
    const contracts = await bench.read('contract');
    expect(await kept({ status: 'ACTIVE', type: 'Buy side' }, 'contract')).toEqual(
      contracts.filter((one) => one['status'] === 'active' && one['contract_type'] === 'buy_side').map(({ id }) => id),
    );
    const suppliers = await bench.read('supplier');
    expect(await kept({ nda_signed: true }, 'supplier')).toEqual(
      suppliers.filter((one) => one['nda_signed'] === true).map(({ id }) => id),
    );
  });

  it('may be a value that no record has', async () => {
    expect(await kept({ 'category.name': 'Spaceship' })).toEqual([]);
    expect(await kept({ 'category.name': 'laptop' })).toEqual([]);
  });

  it('is told in words', async () => {
    const scope = await openScope({ 'category.name': ['Laptop', 3], city: null }, { resource: 'asset', lexicon });
    expect(scope?.described).toBe('category.name = Laptop or 3 and city is blank');
  });

  it('asks the service for custom fields only where it names one', async () => {
    const before = bench.sandbox.requests.total;
    await openScope({ city: 'Bern' }, { resource: 'asset', lexicon });
    expect(bench.sandbox.requests.total).toBe(before);
    await openScope({ 'template.Finance.Budget': 1 }, { resource: 'asset', lexicon });
    expect(bench.sandbox.requests.total).toBeGreaterThan(before);
  });

  it('names everything that cannot be used', async () => {
    const told = await faults({
      'category.nam': 'Laptop',
      lifecycle_stge: 'x',
      original_cost: 'much',
      warranty_type: ['oem', 'forever'],
      'template.Finanze.Budget': 1,
      inventory_no: 'x',
      company: 1,
      req: 'warranty',
      custom_form_id: 1,
      modified_dat: 'x',
    });
    expect(told).toHaveLength(10);
    const text = told.join('\n');
    for (const words of [
      /"category.nam".*Did you mean "category.name"/,
      /"lifecycle_stge".*Did you mean "lifecycle_stage"/,
      /"original_cost": "much" must be a number/,
      /"warranty_type": "forever" must be one of/,
      /no custom field template "Finanze".*Did you mean "Finance"/,
      /inventory_no.*never shows it/,
      /show no "company"/,
      /show no "req"/,
      /show no "custom_form_id"/,
      /"modified_dat"/,
    ]) {
      expect(text).toMatch(words);
    }
    for (const line of told) expect(line).toMatch(/^scope: /);
  });

  it('takes records as odd as they come', async () => {
    const scope = await openScope({ 'category.name': 'Laptop' }, { resource: 'asset', lexicon });
    const odd: Json[] = [
      {},
      { id: 'x' },
      { id: 1, category: null },
      { id: 1, category: 'Laptop' },
      { id: 1, category: [] },
    ];
    expect(odd.map((record) => scope?.keeps(record))).toEqual([false, false, false, true, false]);
  });
});
