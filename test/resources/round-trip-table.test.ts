import { describe, expect, it } from 'vitest';
import { resourceSpec } from '../../src/resources/registry.js';
import { type ResourceName, WRITABLE } from '../../src/resources/spec.js';
import { createBody, updateBody } from '../../src/resources/write.js';
import { type RoundTripClass, roundTripTable, roundTripText } from '../support/resource-tables.js';
import { lexicon } from './lexicon.js';

/** Fields of one class in updates. */
function inUpdates(resource: ResourceName, wanted: RoundTripClass): string[] {
  return roundTripTable(resourceSpec(resource))
    .filter((line) => line.operation === 'update' && line.class === wanted)
    .map((line) => line.field);
}

/** Written down from the interface, sections 2.2 to 2.5, 4.3 and 4.4, not from the descriptions. */
const EXPECTED: Readonly<Record<string, Partial<Record<RoundTripClass, readonly string[]>>>> = {
  asset: {
    derived: ['id', 'asset_owner.email', 'asset_owner.phone_number', 'supplier_name', 'region', 'alert'],
    kept: [],
    'not writable': ['business_entity_type', 'state_province', 'area', 'form.attachment'],
    'not readable': ['make', 'inventory_no', 'ssb_tag', 'mac_address', 'uscp_no', 'asset_physical_location'],
    hidden: [],
  },
  contract: {
    derived: [
      'id',
      'business_unit.contact_name',
      'business_unit.contact_email',
      'business_unit.contact_phone_number',
      'expenditure_type.capex_percent',
      'expenditure_type.opex_percent',
      'modified_date',
    ],
    kept: ['contract_type'],
    'not writable': [
      'alert.is_active',
      'alert.alert_days_before',
      'alert.type',
      'alert.email_message',
      'alert.email_list',
      'approver',
      'signer',
      'signed_date',
    ],
    'not readable': [],
    hidden: ['form.text', 'form.money', 'form.number', 'form.date', 'form.attachment'],
  },
  supplier: { derived: ['id'], kept: [], 'not writable': [], 'not readable': [], hidden: [] },
  customer: { derived: ['id'], kept: [], 'not writable': [], 'round trip': [], hidden: [] },
};

describe('the round-trip table', () => {
  it.each(WRITABLE)(
    '%s: has every field in both operations, and the classes are those of the interface (30)',
    (name) => {
      const spec = resourceSpec(name);
      const table = roundTripTable(spec);
      for (const operation of ['create', 'update'] as const) {
        const fields = table.filter((line) => line.operation === operation).map((line) => line.field);
        expect(new Set(fields).size).toBe(fields.length);
        expect(fields.slice(0, spec.fields.length)).toEqual(spec.fields.map((field) => field.name));
        expect(fields).toEqual(expect.arrayContaining(['template.text', 'template.money', 'template.number']));
      }
      for (const [wanted, fields] of Object.entries(EXPECTED[name]!)) {
        expect(inUpdates(name, wanted as RoundTripClass), wanted).toEqual(fields);
      }
      const rest = inUpdates(name, name === 'customer' ? 'not readable' : 'round trip');
      expect(rest.length).toBeGreaterThan(20);
    },
  );

  it('says of each field what its bodies do', () => {
    const sample = { text: 'x', enum: 'active', reference: { id: 1 }, country: { id: 276, name: 'Germany' } } as const;
    for (const name of WRITABLE) {
      const spec = resourceSpec(name);
      for (const line of roundTripTable(spec)) {
        const field = spec.fields.find((one) => one.name === line.field);
        if (!field || field.updateWords || line.class === 'derived') continue;
        const value = sample[field.type.kind as 'text'] ?? 'x';
        const { body, lost } =
          line.operation === 'create'
            ? createBody(spec, 1, { [field.name]: value }, lexicon)
            : updateBody(spec, 1, { [field.name]: value }, lexicon, new Set());
        const sent = Object.keys(body).length > 1;
        expect([line.operation, field.name, sent]).toEqual([
          line.operation,
          field.name,
          line.class === 'round trip' || line.class === 'not readable',
        ]);
        // An idle group of fields is not worth a warning.
        const idle = ['alert.alert_days_before', 'alert.type'].includes(field.name);
        expect(lost.length, `${line.operation} ${field.name}`).toBe(sent || line.class === 'kept' || idle ? 0 : 1);
      }
    }
  });

  it('names what makes the round trip in part only', () => {
    const limits = (name: ResourceName) =>
      roundTripTable(resourceSpec(name))
        .filter((line) => line.operation === 'update' && line.limit !== '' && !/^(template|form)\./.test(line.field))
        .map((line) => `${line.field}: ${line.limit}`);
    expect(limits('asset')).toEqual([
      'asset_hardware_model: reads show its name: its id must be known',
      'usage_status: written as `production`, `non_production`, `none`, `other`',
      'warranty_type: reads are not documented to show `advanced_replacement_warranty`, `standard_manufacturer_warranty`, `gold_level_support`',
    ]);
    expect(limits('contract')).toEqual(['status: written as `active`, `archived`']);
    expect([limits('supplier'), limits('customer')]).toEqual([[], []]);
  });

  it('is a table of Markdown with one line a class', () => {
    for (const name of WRITABLE) {
      const lines = roundTripText(resourceSpec(name)).split('\n');
      expect(lines[0]).toBe('| In updates | Fields | A value that the row does not set |');
      const classes = new Set(
        roundTripTable(resourceSpec(name))
          .filter((one) => one.operation === 'update')
          .map((one) => one.class),
      );
      expect(lines.slice(2).map((line) => line.split(' | ')[0]!.slice(2))).toHaveLength(classes.size);
    }
    const asset = roundTripText(resourceSpec('asset'));
    expect(asset).toContain('| not writable | `business_entity_type`, `state_province`, `area`, `form.attachment`');
    expect(roundTripText(resourceSpec('customer'))).toContain('from our own last write');
  });
});
