import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateOrderOf, readDate } from '../../src/resources/calendar.js';
import { fieldsByKey } from '../../src/resources/custom.js';
import { readRecord } from '../../src/resources/read.js';
import { ConventionSurvey } from '../../src/resources/read-conventions.js';
import { decimalSignOf, readAmount } from '../../src/resources/read-value.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { CustomTemplate, DateOrder, DecimalSign } from '../../src/resources/spec.js';
import { lexicon } from './lexicon.js';

const asset = resourceSpec('asset');

function conclude(...records: Record<string, unknown>[]) {
  const survey = new ConventionSurvey(asset);
  for (const record of records) survey.observe({ id: 1, ...record });
  return survey.conclude(lexicon);
}

describe('dates with two readings', () => {
  it.each<[string, DateOrder | 'either' | undefined]>([
    ['25/12/2024', 'dmy'],
    ['12/25/2024', 'mdy'],
    ['25.12.2024', 'dmy'],
    ['12-25-2024 00:00', 'mdy'],
    ['03/04/2024', 'either'],
    ['04/04/2024', undefined],
    ['2024-12-25', undefined],
    ['25 Dec 2024', undefined],
    ['13/13/2024', undefined],
    ['', undefined],
  ])('"%s" tells %s', (text, order) => {
    expect(dateOrderOf(text)).toBe(order);
  });

  it('are read in the order that is known, and not at all without', () => {
    const day = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(day, fc.constantFrom('/', '.', '-'), (moment, sign) => {
        const iso = moment.toISOString().slice(0, 10);
        const [y, m, d] = iso.split('-');
        expect(readDate([d, m, y].join(sign), 'dmy')).toBe(iso);
        expect(readDate([m, d, y].join(sign), 'mdy')).toBe(iso);
        expect([iso, undefined]).toContain(readDate([d, m, y].join(sign)));
      }),
    );
    expect(readDate('03/04/2024')).toBeUndefined();
  });
});

describe('amounts as text', () => {
  it.each<[string, DecimalSign | 'either' | undefined, string | undefined, string | undefined, string | undefined]>([
    // text, what it tells, its value: alone, where a point is the decimal sign, where a comma is
    ['1,200.00', '.', '1200', '1200', '1200'],
    ['1,234,567', '.', '1234567', '1234567', '1234567'],
    ['99,999,999,999,999.99', '.', '99999999999999.99', '99999999999999.99', '99999999999999.99'],
    ['-1,200.5', '.', '-1200.5', '-1200.5', '-1200.5'],
    ['12.50', '.', '12.5', '12.5', '12.5'],
    ['0.125', '.', '0.125', '0.125', '0.125'],
    ['1200.125', '.', '1200.125', '1200.125', '1200.125'],
    ['1,200', 'either', undefined, '1200', '1.2'],
    ['1.200', 'either', '1.2', '1.2', '1200'],
    ['12,50', ',', '12.5', '12.5', '12.5'],
    ['1.200,50', ',', '1200.5', '1200.5', '1200.5'],
    ['0,125', ',', '0.125', '0.125', '0.125'],
    ['1 200,5', ',', '1200.5', '1200.5', '1200.5'],
    ["1'200.50", '.', '1200.5', '1200.5', '1200.5'],
    ['1 200', undefined, '1200', '1200', '1200'],
    ['1200', undefined, '1200', '1200', '1200'],
    ['1,20.00', undefined, undefined, undefined, undefined],
    ['1,2,3', undefined, undefined, undefined, undefined],
    ['much', undefined, undefined, undefined, undefined],
  ])('"%s"', (text, tells, alone, point, comma) => {
    expect(decimalSignOf(text)).toBe(tells);
    const values = [readAmount(text), readAmount(text, '.'), readAmount(text, ',')];
    expect(values.map((value) => value?.text)).toEqual([alone, point, comma]);
  });
});

describe('what records tell about all of them', () => {
  it('the order of dates, from any date field', () => {
    expect(conclude({ warranty_start_date: '03/04/2024' }, { end_of_life_date: '25/12/2024' })).toEqual({
      dateOrder: 'dmy',
    });
    expect(conclude({ support_end_date: '12/25/2024', warranty_start_date: '03/04/2024' })).toEqual({
      dateOrder: 'mdy',
    });
    // A text field may hold what a person typed.
    expect(conclude({ asset_notes: '25/12/2024' })).toEqual({});
  });

  it('from custom fields of the type date, by what their template says', () => {
    expect(conclude({ template: { id: 5, fields: { Reviewed: '25/12/2024', 'Cost Centre': '12/25/2024' } } })).toEqual({
      dateOrder: 'dmy',
    });
    expect(conclude({ template: { id: 99, fields: { Reviewed: '25/12/2024' } } })).toEqual({});
    expect(conclude({ custom_form: [{ id: 3, custom_form_data: { 'Price v1.2': '1,200.50', Rack: '1,5' } }] })).toEqual(
      {
        decimalSign: '.',
      },
    );
  });

  it('nothing where they contradict one another; an example where one has two readings', () => {
    const [dmy, mdy] = [{ end_of_life_date: '25/12/2024' }, { end_of_life_date: '12/25/2024' }];
    expect(conclude(dmy, mdy)).toEqual({});
    expect(conclude(dmy, mdy, { warranty_end_date: '01/02/2024' })).toEqual({
      unclearDate: { field: 'warranty_end_date', text: '01/02/2024' },
    });
    expect(conclude({ warranty_end_date: '02/02/2024' })).toEqual({});
    expect(conclude({ original_cost: '1,200' })).toEqual({
      unclearAmount: { field: 'original_cost', text: '1,200' },
    });
    expect(conclude({ original_cost: '1.200' })).toEqual({});
  });

  it('the decimal sign of amounts, and records are read by it', () => {
    expect(conclude({ original_cost: '1,200', estimated_salvage_value: '12.50' })).toEqual({ decimalSign: '.' });
    expect(conclude({ original_cost: '1,200', estimated_salvage_value: '12,50' })).toEqual({ decimalSign: ',' });
    const json = { id: 1, original_cost: '1,200', warranty_end_date: '01/02/2024' };
    const read = (more: { decimalSign?: DecimalSign; dateOrder?: DateOrder }) => {
      const { fields, losses } = readRecord(asset, json, { ...lexicon, ...more });
      return [
        String(fields['original_cost']),
        String(fields['warranty_end_date']),
        losses.map((loss) => `${loss.field}: ${loss.why}`),
      ];
    };
    expect(read({ decimalSign: '.', dateOrder: 'mdy' })).toEqual(['1200', '2024-01-02', []]);
    expect(read({ decimalSign: ',', dateOrder: 'dmy' })).toEqual(['1.2', '2024-02-01', []]);
    expect(read({})[2]).toEqual([
      'warranty_end_date: it cannot be read as a date that means one day only',
      'original_cost: its comma could stand before decimals or before thousands',
    ]);
  });
});

describe('fieldsByKey', () => {
  const template = (...names: string[]): CustomTemplate => ({
    id: 7,
    name: 'T',
    resource: 'asset',
    active: true,
    fields: names.map((name, at) => ({ id: 701 + at, name, dataType: 'text', active: true })),
  });
  const ids = (names: string[], ...keys: string[]) => {
    const found = fieldsByKey(template(...names), keys);
    return keys.map((key) => found.get(key)?.id);
  };

  it('by name, by id, without case, by letters and digits alone', () => {
    expect(ids(['Cost Centre', 'Budget'], 'Cost Centre', 'Budget')).toEqual([701, 702]);
    expect(ids(['Cost Centre', 'Budget'], '701', '702')).toEqual([701, 702]);
    expect(ids(['Cost Centre', 'Budget'], 'cost centre', 'BUDGET')).toEqual([701, 702]);
    expect(ids(['Cost Centre', 'Budget (€)'], 'cost_centre', 'budget')).toEqual([701, 702]);
    expect(ids(['Cost Centre', 'Référence'], 'costCentre', 'reference')).toEqual([701, 702]);
  });

  it('all by id, where not all of them are names', () => {
    expect(ids(['Cost Centre', '701'], '701', '702')).toEqual([701, 702]);
    expect(ids(['702', '701'], '701', '702')).toEqual([702, 701]);
    expect(ids(['702', '703', 'Last'], '701', '702', '703')).toEqual([701, 702, 703]);
    // One key is no id: names stand first.
    expect(ids(['Cost Centre', '701'], '701', '702', 'Cost Centre')).toEqual([702, undefined, 701]);
  });

  it('a surer way stands above another', () => {
    expect(ids(['702', 'Other'], '702')).toEqual([701]);
    expect(ids(['cost_centre', 'Cost Centre'], 'cost_centre')).toEqual([701]);
    expect(ids(['COST', 'cost'], 'cost')).toEqual([702]);
    // The key spelt exactly has the field; the other would overwrite it.
    expect(ids(['Cost Centre'], 'cost_centre', 'Cost Centre')).toEqual([undefined, 701]);
  });

  it('none where several fields fit, or none does', () => {
    expect(ids(['Cost-Centre', 'Cost Centre'], 'cost_centre')).toEqual([undefined]);
    expect(ids(['COST', 'cost'], 'Cost')).toEqual([undefined]);
    expect(ids(['Cost Centre', '???'], 'Gone', '', '!', '709')).toEqual([undefined, undefined, undefined, undefined]);
  });
});
