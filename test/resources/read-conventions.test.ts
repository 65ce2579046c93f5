import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { dateOrderOf, readDate } from '../../src/resources/calendar.js';
import { fieldsByKey } from '../../src/resources/custom.js';
import { readRecord } from '../../src/resources/read.js';
import { ConventionSurvey } from '../../src/resources/read-conventions.js';
import { decimalSignOf, readAmount } from '../../src/resources/read-value.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { CustomTemplate, DateOrder } from '../../src/resources/spec.js';
import { lexicon } from './lexicon.js';

const asset = resourceSpec('asset');

function conclude(...records: Record<string, unknown>[]) {
  const survey = new ConventionSurvey(asset);
  for (const record of records) survey.observe({ id: 1, ...record });
  return survey.conclude();
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
  it.each<[string, ReturnType<typeof decimalSignOf>, string | undefined]>([
    ['1,200.00', '.', '1200'],
    ['1,234,567', '.', '1234567'],
    ['99,999,999,999,999.99', '.', '99999999999999.99'],
    ['-1,200.5', '.', '-1200.5'],
    ['12.50', '.', '12.5'],
    ['0.125', '.', '0.125'],
    ['1200.50', '.', '1200.5'],
    ['1200.125', '.', '1200.125'],
    ['1,200', 'either', undefined],
    ['1.200', 'either', undefined],
    ['12,50', ',', '12.5'],
    ['1.200,50', ',', '1200.5'],
    ['1.234.567', ',', '1234567'],
    ['0,125', ',', '0.125'],
    ['1 200,5', ',', '1200.5'],
    ["1'200.50", '.', '1200.5'],
    ['1 200', undefined, '1200'],
    ['1200', undefined, '1200'],
    ['1,20.00', undefined, undefined],
    ['1,2,3', undefined, undefined],
    ['much', undefined, undefined],
  ])('"%s"', (text, sign, value) => {
    expect([decimalSignOf(text), readAmount(text)?.text]).toEqual([sign, value]);
  });

  it('are the amount that was written, or none: in no way of writing another', () => {
    const ways = [
      { thousands: '', decimals: '.' },
      { thousands: ',', decimals: '.' },
      { thousands: '.', decimals: ',' },
      { thousands: ' ', decimals: ',' },
      { thousands: "'", decimals: '.' },
    ];
    const digits = fc.stringMatching(/^\d{0,3}$/);
    fc.assert(
      fc.property(fc.maxSafeNat(), digits, fc.constantFrom(...ways), (whole, rest, { thousands, decimals }) => {
        const grouped = String(whole).replace(/\B(?=(\d{3})+$)/g, thousands);
        const written = Decimal.of(rest === '' ? String(whole) : `${whole}.${rest}`).text;
        expect([written, undefined]).toContain(
          readAmount(rest === '' ? grouped : `${grouped}${decimals}${rest}`)?.text,
        );
      }),
      { numRuns: 2_000 },
    );
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

  it('custom fields tell nothing', () => {
    expect(conclude({ template: { id: 5, fields: { Reviewed: '25/12/2024' } } })).toEqual({});
    expect(conclude({ custom_form: [{ id: 3, custom_form_data: { Checked: '25/12/2024' } }] })).toEqual({});
  });

  it('nothing where they contradict one another; an example where one has two readings', () => {
    const [dmy, mdy] = [{ end_of_life_date: '25/12/2024' }, { end_of_life_date: '12/25/2024' }];
    expect(conclude(dmy, mdy)).toEqual({});
    expect(conclude(dmy, mdy, { warranty_end_date: '01/02/2024' })).toEqual({
      unclearDate: { field: 'warranty_end_date', text: '01/02/2024' },
    });
    expect(conclude({ warranty_end_date: '02/02/2024' })).toEqual({});
  });

  it('records are read by the order of dates, and amounts with two readings not at all', () => {
    const json = {
      id: 1,
      original_cost: '1,200',
      estimated_salvage_value: '1.200',
      contract_service_per_item: '1200.50',
      warranty_end_date: '01/02/2024',
    };
    const read = (more: { dateOrder?: DateOrder }) => {
      const { fields, losses } = readRecord(asset, json, { ...lexicon, ...more });
      expect([fields['original_cost'], fields['estimated_salvage_value']]).toEqual([undefined, undefined]);
      expect(String(fields['contract_service_per_item'])).toBe('1200.5');
      return [fields['warranty_end_date'], losses.map((loss) => `${loss.field}: ${loss.why}`)];
    };
    const amounts = [
      'original_cost: its comma could stand before decimals or before thousands',
      'estimated_salvage_value: its point could stand before decimals or before thousands',
    ];
    expect(read({ dateOrder: 'mdy' })).toEqual(['2024-01-02', amounts]);
    expect(read({ dateOrder: 'dmy' })).toEqual(['2024-02-01', amounts]);
    expect(read({})).toEqual([
      undefined,
      ['warranty_end_date: it cannot be read as a date that means one day only', ...amounts],
    ]);
  });
});

describe('fieldsByKey', () => {
  /** `~` before a name: inactive. */
  const template = (...names: string[]): CustomTemplate => ({
    id: 7,
    name: 'T',
    resource: 'asset',
    active: true,
    fields: names.map((name, at) => {
      return { id: 701 + at, name: name.replace('~', ''), dataType: 'text', active: !name.startsWith('~') };
    }),
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

  it('the only active one of several that fit, as a job file means it', () => {
    expect(ids(['~Cost', 'Cost', '~COST'], 'Cost')).toEqual([702]);
    expect(ids(['~Cost Centre', 'Cost-Centre'], 'cost_centre')).toEqual([702]);
    expect(ids(['~Cost', 'cost'], 'Cost', 'cost')).toEqual([701, 702]);
    expect(ids(['~Cost'], 'Cost')).toEqual([701]);
  });

  it('none where several fields fit, or none does', () => {
    expect(ids(['Cost-Centre', 'Cost Centre'], 'cost_centre')).toEqual([undefined]);
    expect(ids(['COST', 'cost'], 'Cost')).toEqual([undefined]);
    expect(ids(['~Cost', '~Cost'], 'Cost')).toEqual([undefined]);
    expect(ids(['Cost', '~Cost'], 'Cost', 'Cost')).toEqual([undefined, undefined]);
    expect(ids(['Cost Centre', '???'], 'Gone', '', '!', '709')).toEqual([undefined, undefined, undefined, undefined]);
  });
});
