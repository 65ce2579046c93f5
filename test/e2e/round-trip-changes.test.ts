import { describe, expect, it } from 'vitest';
import { resourceSpec } from '../../src/resources/registry.js';
import type { FieldType, ResourceName } from '../../src/resources/spec.js';
import { type Desk, openDesk } from '../support/desk.js';
import { stored, teach } from '../support/records.js';
import { exportForEditing, FORMATS, place } from './round-trip-bench.js';
import { filled, furnish, insert } from './round-trip-records.js';

let desk: Desk;

/** Another value of each kind, as a person would type it. */
const OTHER: Partial<Record<FieldType['kind'], string>> = {
  text: '=changed, 007',
  email: 'changed@b.example',
  decimal: '0.01',
  integer: '3',
  date: '2024-06-30',
  boolean: 'true',
  country: 'Japan',
};

/** Where the kind alone does not tell a value that fits the record. */
const FITTING: Readonly<Record<string, string>> = {
  'category.name': 'Network',
  'category.subcategory': 'Router',
  asset_owner: 'Chloé Martin',
  asset_hardware_model: 'id:2',
  business_unit: 'Finance',
  attached_supplier: 'Acme Two',
  supplier: 'Acme Two',
  warranty_provider: 'id:5',
  support_provider: '5',
  customer: 'Globex',
  contract: 'C. 7',
  parent_contract: 'id:4',
  usage_status: 'Other',
  status: 'archived',
  contract_end_date: '2024-12-31',
  'expenditure_type.type': 'capex',
  ein: '999999999',
  nda_signed: 'true',
  msa_signed: 'true',
};

/** Names under which the sandbox keeps what job files name otherwise. */
const STORED: Readonly<Record<string, string>> = { 'category.name': 'category', 'category.subcategory': 'category' };

/** Records that an update can carry whole: what can be set on create only is left blank. */
function carried(resource: ResourceName): Record<string, never> {
  const record = filled(desk.sandbox, resource, 0);
  const spec = resourceSpec(resource);
  const fields = Object.fromEntries(
    Object.entries(record).filter(([name]) => {
      const field = spec.fields.find((one) => one.name === name);
      return (
        !name.startsWith('form.') && (field === undefined || field.read !== undefined || field.readElse !== undefined)
      );
    }),
  );
  for (const field of spec.fields) if (field.update === undefined && !field.keptByService) delete fields[field.name];
  return { ...fields, ...base(resource) } as Record<string, never>;
}

function base(resource: ResourceName): Record<string, unknown> {
  const category = { 'category.name': { id: 4 } };
  if (resource === 'asset') return { ...category, 'category.subcategory': 'Switch', usage_status: { id: 1 } };
  if (resource !== 'contract') return { ...category, nda_signed: false, msa_signed: false };
  return {
    ...category,
    'category.subcategory': 'Switch',
    status: 'active',
    'expenditure_type.type': 'opex',
    contract_start_date: '2024-01-01',
    contract_end_date: '2025-01-01',
    service_start_date: '2024-07-01',
    customer: { id: 4 },
    nrc: 0,
    notice_period: 5,
  };
}

describe.each(['asset', 'contract', 'supplier'] as const)('%s', (resource) => {
  it.each(FORMATS)('one field of each record is changed in %s: exactly that field changes', async (format) => {
    desk = await openDesk();
    furnish(desk.sandbox);
    await teach(desk, 'hardware-model', { 1: 'Latitude 5450', 2: 'ThinkPad T14', 9: '5450' });
    await teach(desk, 'business-unit', { 2: 'Finance' });
    await teach(desk, 'customer', { 2: 'Globex' });
    desk.sandbox.insert('supplier', [{ name: 'Acme Two' }]);
    desk.sandbox.putLookup('category', 1, { id: 4, category: 'Network', subcategories: ['Switch', 'Router'] });
    desk.sandbox.putLookup('category', 1, { id: 30, category: 'Other net', subcategories: ['Switch'] });
    const { columns } = await exportForEditing(desk, resource);
    const spec = resourceSpec(resource);
    const changeable = columns.filter(({ field, readOnly }) => field !== undefined && field !== 'id' && !readOnly);
    const own = changeable.filter(({ field = '' }) => spec.fields.some(({ name }) => name === field));
    const held = Object.keys(carried(resource));
    const custom = changeable.filter(({ field = '' }) => field.startsWith('template.') && held.includes(field));
    expect(custom.length).toBeGreaterThan(1);
    expect(own.length).toBeGreaterThan(20);
    const changed = [...own, ...custom];
    const ids = insert(
      desk.sandbox,
      resource,
      changed.map((_, n) => ({ ...carried(resource), name: `Record ${n}` })),
      { alert: false },
    );
    const before = stored(desk.sandbox, resource);
    const exported = await exportForEditing(desk, resource);
    const wanted = new Map<number, string>();
    const shown = new Map<string, string>();
    for (const [at, { field = '', type, heading }] of changed.entries()) {
      // Reports name custom fields as the headings of exports do.
      shown.set(field, field.startsWith('template.') ? heading : field);
      const id = ids[at]!;
      const now = exported.cell(id, field);
      const choice = type?.kind === 'enum' ? type.values.find((value) => value !== now) : undefined;
      const text = field === 'category.name' ? 'Other net' : (FITTING[field] ?? choice ?? OTHER[type?.kind ?? 'text']);
      expect([field, text, now]).not.toEqual([field, now, now]);
      exported.put(id, field, text ?? '');
      wanted.set(id, field);
    }
    const { file, job } = await place(desk, exported, format);
    const result = await desk.import(file, job);
    expect(result.faults).toEqual([]);
    const outcomes = new Map(result.results.map((row) => [Number(row['id']), row['outcome']]));
    const changes = new Map(result.results.map((row) => [Number(row['id']), row['changed_fields']]));
    for (const [id, record] of stored(desk.sandbox, resource)) {
      const field = wanted.get(id);
      const was = before.get(id)!;
      const parts = [...new Set([...Object.keys(was), ...Object.keys(record)])].filter(
        (key) => !same(was[key], record[key]),
      );
      const expected = field === undefined ? [] : [storedName(field)];
      expect([id, outcomes.get(id), parts]).toEqual([id, field === undefined ? 'unchanged' : 'updated', expected]);
      expect(changes.get(id)).toBe(shown.get(field ?? '') ?? '');
    }
    expect(result.commits).toBe(changed.length);
    const again = await desk.import(file, job);
    expect(again.outcomes.filter((one) => !one.endsWith('unchanged'))).toEqual([]);
    expect(again.commits).toBe(0);
  });
});

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function storedName(field: string): string {
  return STORED[field] ?? field.split('.')[0] ?? field;
}
