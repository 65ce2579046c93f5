import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import type { Value } from '../../src/model/value.js';
import { readDate } from '../../src/resources/calendar.js';
import { customFieldSpec, formFieldSpec, parseCustomName, parseTemplate } from '../../src/resources/custom.js';
import { findField, resourceSpec } from '../../src/resources/registry.js';
import type { FieldSpec, ResourceName } from '../../src/resources/spec.js';
import { WRITABLE } from '../../src/resources/spec.js';
import { booleanValue, checkValue, enumValue } from '../../src/resources/value-check.js';
import { fieldTable } from '../support/resource-tables.js';
import { FINANCE, RACKS } from './lexicon.js';

function fieldOf(resource: ResourceName, name: string): FieldSpec {
  const field = findField(resourceSpec(resource), name);
  if (!field) throw new Error(`no field ${name}`);
  return field;
}

const code = (resource: ResourceName, name: string, value: Value, operation?: 'create' | 'update') =>
  checkValue(fieldOf(resource, name), value, operation)?.code;

describe('checkValue', () => {
  it.each<[ResourceName, string, Value, string | undefined]>([
    ['asset', 'name', 'x'.repeat(50), undefined],
    ['asset', 'name', 'x'.repeat(51), 'too_long'],
    ['asset', 'name', '🚚'.repeat(50), undefined],
    ['asset', 'name', '🚚'.repeat(51), 'too_long'],
    ['asset', 'name', '', undefined],
    ['asset', 'name', null, undefined],
    ['asset', 'area', 'x'.repeat(5000), undefined],
    ['asset', 'asset_notes', 'two\r\nlines\tand a tab', undefined],
    ['asset', 'asset_notes', 'bell\u0007', 'control_character'],
    ['asset', 'asset_notes', 'c1\u0085', undefined],
    ['asset', 'asset_notes', 'del\u007f', 'control_character'],
    ['asset', 'asset_notes', 'nul\0', 'nul_character'],
    ['asset', 'asset_notes', 'half \ud83d pair', 'invalid_encoding'],
    ['asset', 'asset_notes', 'caf\ufffd', 'invalid_encoding'],
    ['supplier', 'ein', '123456789', undefined],
    ['supplier', 'ein', '12345678', 'wrong_length'],
    ['supplier', 'ein', '12-3456789', 'wrong_length'],
    ['supplier', 'contact_person.email', 'ann@example.com', undefined],
    ['supplier', 'contact_person.email', "o'neil+x@müller.example", undefined],
    ['supplier', 'contact_person.email', 'root@localhost', undefined],
    ['supplier', 'contact_person.email', 'ann', 'not_an_email'],
    ['supplier', 'contact_person.email', 'ann@', 'not_an_email'],
    ['supplier', 'contact_person.email', '@example.com', 'not_an_email'],
    ['supplier', 'contact_person.email', 'a@b@c', 'not_an_email'],
    ['supplier', 'contact_person.email', 'ann @example.com', 'not_an_email'],
    ['supplier', 'contact_person.email', 'ann@example..com', 'not_an_email'],
    ['supplier', 'contact_person.email', `${'a'.repeat(250)}@b.c`, undefined],
    ['supplier', 'contact_person.email', `${'a'.repeat(251)}@b.c`, 'too_long'],
    ['asset', 'original_cost', Decimal.of('0'), undefined],
    ['asset', 'original_cost', Decimal.of('-0.01'), 'out_of_range'],
    ['asset', 'original_cost', Decimal.of('999999999999999.00'), undefined],
    ['asset', 'original_cost', Decimal.of('999999999999999.01'), 'out_of_range'],
    ['asset', 'original_cost', 'much', 'not_a_number'],
    ['contract', 'notice_period', 0, undefined],
    ['contract', 'notice_period', -1, 'out_of_range'],
    ['contract', 'notice_period', 1.5, 'not_an_integer'],
    ['contract', 'contract_start_date', '2024-02-29', undefined],
    ['contract', 'contract_start_date', '2023-02-29', 'not_a_date'],
    ['contract', 'contract_start_date', '29.02.2024', 'not_a_date'],
    ['supplier', 'nda_signed', false, undefined],
    ['supplier', 'nda_signed', 'maybe', 'not_a_boolean'],
    ['contract', 'status', 'expired', undefined],
    ['contract', 'status', 'gone', 'not_in_list'],
    ['asset', 'warranty_type', 'gold_level_support', undefined],
    ['asset', 'support_type', 'gold_level_support', 'not_in_list'],
    ['asset', 'contract', { id: 5 }, undefined],
    ['asset', 'contract', { id: 0 }, 'reference_not_found'],
    ['asset', 'contract', 'C-1', 'reference_not_found'],
    ['asset', 'country', { id: 36, name: 'Australia' }, undefined],
  ])('%s %s %j → %s', (resource, name, value, expected) => {
    expect(code(resource, name, value)).toBe(expected);
  });

  it('says how long the text is, what is accepted and by how much to shorten it', () => {
    const issue = checkValue(fieldOf('asset', 'name'), 'x'.repeat(63));
    expect(issue).toMatchObject({ field: 'name', severity: 'error', origin: 'local', value: 'x'.repeat(63) });
    expect(issue?.message).toBe('Name has 63 characters; the service accepts at most 50. Shorten it by 13.');
    expect(issue?.column).toBeUndefined();
  });

  it('counts code points for any text', () => {
    const field = fieldOf('contract', 'number');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        fc.pre(text !== '');
        expect(checkValue(field, text)?.code === 'too_long').toBe([...text].length > 50);
      }),
    );
  });
});

describe('custom fields', () => {
  const asset = resourceSpec('asset');

  it('parses what the service sends, in its order', () => {
    const template = parseTemplate({
      id: 5,
      name: 'Finance',
      is_active: true,
      type: 'asset',
      fields: [
        { id: 2, name: 'B', data_type: 'money', is_active: false, order: 2 },
        { id: 1, name: 'A', data_type: 'text', is_active: true, order: 1 },
        { name: 'no id' },
      ],
    });
    expect(template).toEqual({
      id: 5,
      name: 'Finance',
      resource: 'asset',
      active: true,
      fields: [
        { id: 1, name: 'A', dataType: 'text', active: true },
        { id: 2, name: 'B', dataType: 'money', active: false },
      ],
    });
    expect(
      parseTemplate({ id: 3, name: '', form_title: 'Racks', type: 'asset', is_active: false, fields: null }),
    ).toEqual({
      id: 3,
      name: 'Racks',
      resource: 'asset',
      active: false,
      fields: [],
    });
    for (const odd of [null, 'x', [], {}, { id: 'x' }, { id: 0 }]) expect(parseTemplate(odd)).toBeUndefined();
  });

  it('describes template fields by data type', () => {
    const described = FINANCE.fields.map((field) => customFieldSpec(asset, FINANCE, field));
    expect(described.map((field) => [field.name, field.type])).toEqual([
      ['template.5.51', { kind: 'text', max: 150, updateMax: 50 }],
      ['template.5.52', { kind: 'decimal', min: '0', max: '999999999999999' }],
      ['template.5.53', { kind: 'integer', min: -999999999999999, max: 999999999999999 }],
      ['template.5.54', { kind: 'date' }],
    ]);
    const [text] = described;
    expect(text && checkValue(text, 'x'.repeat(150), 'create')).toBeUndefined();
    expect(text && checkValue(text, 'x'.repeat(151), 'create')?.code).toBe('too_long');
    expect(text && checkValue(text, 'x'.repeat(51), 'update')?.code).toBe('too_long');
    const contract = customFieldSpec(resourceSpec('contract'), FINANCE, FINANCE.fields[0]!);
    expect(contract.type).toEqual({ kind: 'text', max: 50 });
  });

  it('describes form columns; an attachment cannot be written', () => {
    const [rack, , price, photo] = RACKS.fields.map((field) => formFieldSpec(asset, RACKS, field, 2));
    expect(rack).toMatchObject({ name: 'form.3#2.Rack', create: 'form_template', update: 'form_template' });
    expect(photo?.create ?? photo?.update).toBeUndefined();
    expect(parseCustomName(price?.name ?? '')).toEqual({ kind: 'form', form: 3, occurrence: 2, column: 'Price v1.2' });
    const onContract = formFieldSpec(resourceSpec('contract'), RACKS, RACKS.fields[0]!, 1);
    expect(onContract).toMatchObject({ name: 'form.3.Rack', create: 'form_template' });
    expect(onContract.update ?? onContract.read).toBeUndefined();
    expect(formFieldSpec(resourceSpec('supplier'), RACKS, RACKS.fields[0]!, 1).create).toBeUndefined();
  });
});

describe('enumValue', () => {
  const match = (resource: ResourceName, name: string, text: string) => {
    const type = fieldOf(resource, name).type;
    return type.kind === 'enum' ? enumValue(type, text) : undefined;
  };

  it.each<[ResourceName, string, string, string | undefined]>([
    ['contract', 'contract_type', 'Buy Side', 'buy_side'],
    ['contract', 'contract_type', 'buy-side', 'buy_side'],
    ['contract', 'contract_type', 'BUYSIDE', 'buy_side'],
    ['contract', 'contract_type', 'Purchase', undefined],
    ['contract', 'contract_type', ' sell–side ', 'sell_side'],
    ['contract', 'contract_type', 'both', undefined],
    ['contract', 'payment_terms', 'Net 30', 'net_30'],
    ['contract', 'payment_terms', '60 days', undefined],
    ['asset', 'warranty_type', 'OEM Extended', 'oem_extended'],
    ['asset', 'warranty_type', 'Gold level support', 'gold_level_support'],
    ['asset', 'depreciation_schedule', '3 Year 33%', '3_year_33_percent'],
    ['supplier', 'type', 'U.S.', 'us'],
    ['supplier', 'type', 'constructor', undefined],
    ['supplier', 'type', '', undefined],
  ])('%s %s "%s" → %s', (resource, name, text, expected) => {
    expect(match(resource, name, text)).toBe(expected);
  });

  it('finds every value of every list, in any case', () => {
    for (const name of WRITABLE) {
      for (const field of resourceSpec(name).fields) {
        if (field.type.kind !== 'enum') continue;
        for (const value of field.type.values) {
          expect(enumValue(field.type, value)).toBe(value);
          expect(enumValue(field.type, value.toUpperCase().replaceAll('_', ' '))).toBe(value);
        }
      }
    }
  });

  it('reads yes and no', () => {
    for (const text of ['Yes', 'TRUE', 'y', '1', 'x', 'Ja', 'sí', '✓']) expect(booleanValue(text), text).toBe(true);
    for (const text of ['No', 'false', 'N', '0', 'Nein', 'não', '✗']) expect(booleanValue(text), text).toBe(false);
    for (const text of ['', 'maybe', '2', 'constructor', 'n/a']) expect(booleanValue(text), text).toBeUndefined();
  });
});

describe('readDate', () => {
  it.each<[string, string | undefined]>([
    ['2024-03-05', '2024-03-05'],
    ['2024-03-05T23:59:59.999Z', '2024-03-05'],
    ['2024-03-05 10:11:12+02:00', '2024-03-05'],
    ['2024/3/5', '2024-03-05'],
    ['March 5, 2024', '2024-03-05'],
    ['5 Mar 2024', '2024-03-05'],
    ['05-MAR-2024', '2024-03-05'],
    ['Tue, 05 Mar 2024 10:00:00 GMT', '2024-03-05'],
    ['Sept. 5th, 2024 at 9:30 am', '2024-09-05'],
    ['25/12/2024', '2024-12-25'],
    ['12/25/2024', '2024-12-25'],
    ['05.05.2024', '2024-05-05'],
    ['01/02/2024', undefined],
    ['2024-02-30', undefined],
    ['2023-02-29', undefined],
    ['31 June 2024', undefined],
    ['5 Foo 2024', undefined],
    ['05/03/24', undefined],
    ['1709600000', undefined],
    ['', undefined],
  ])('"%s" → %s', (text, expected) => {
    expect(readDate(text)).toBe(expected);
  });

  it('reads back every day of the calendar, with and without a time', () => {
    const day = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(day, (moment) => {
        const iso = moment.toISOString();
        expect(readDate(iso)).toBe(iso.slice(0, 10));
        expect(readDate(iso.slice(0, 10))).toBe(iso.slice(0, 10));
      }),
    );
  });
});

describe('fieldTable', () => {
  it('has one line per field, and as many cells in each', () => {
    for (const name of WRITABLE) {
      const spec = resourceSpec(name);
      const lines = fieldTable(spec).split('\n');
      expect(lines).toHaveLength(spec.fields.length + 2);
      for (const line of lines) expect(line.split(/(?<!\\)\|/)).toHaveLength(9);
      for (const field of spec.fields)
        expect(lines.some((line) => line.startsWith(`| \`${field.name}\` |`))).toBe(true);
    }
  });

  it('marks what each operation takes', () => {
    const line = (name: string) =>
      fieldTable(resourceSpec('contract'))
        .split('\n')
        .find((one) => one.startsWith(`| \`${name}\``));
    expect(line('contract_type')).toContain('| R | **C** |  |');
    expect(line('name')).toContain('| R | **C** | **U** |');
    expect(line('alert.type')).toContain('| R |  |  |');
  });
});
