import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import type { Fields, Value } from '../../src/model/value.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { checkRecord } from '../../src/resources/rules.js';
import type { WRITABLE } from '../../src/resources/spec.js';

const contract = resourceSpec('contract');

const GOOD: Fields = {
  contract_type: 'buy_side',
  name: 'Cleaning',
  number: 'C-1',
  supplier: { id: 4 },
  country: { id: 276, name: 'Germany' },
  status: 'active',
  contract_start_date: '2024-01-01',
  contract_end_date: '2024-12-31',
  total_contract_spend_value: Decimal.of('1000'),
};

const codes = (change: Record<string, Value>, operation: 'create' | 'update' = 'create') =>
  checkRecord(contract, { ...GOOD, ...change }, operation).map((issue) => `${issue.code} ${issue.field}`);

describe('required fields', () => {
  it('a blank create names every required field of the resource, once', () => {
    const missing = (name: (typeof WRITABLE)[number], operation: 'create' | 'update') =>
      checkRecord(resourceSpec(name), { name: '' }, operation)
        .map((issue) => `${issue.code} ${issue.field}`)
        .sort();
    expect(missing('contract', 'create')).toEqual([
      'required contract_end_date',
      'required contract_start_date',
      'required contract_type',
      'required country',
      'required name',
      'required number',
      'required status',
      'required total_contract_spend_value',
    ]);
    expect(missing('contract', 'update')).toEqual([
      'required contract_end_date',
      'required contract_start_date',
      'required country',
      'required name',
      'required number',
      'required status',
      'required total_contract_spend_value',
    ]);
    expect(missing('asset', 'create')).toEqual(['required name']);
    expect(missing('asset', 'update')).toEqual(['required category.name', 'required name']);
    for (const name of ['supplier', 'customer'] as const) {
      expect(missing(name, 'create')).toEqual(['required name']);
      expect(missing(name, 'update')).toEqual(['required name']);
    }
  });

  it('says for which operation a value is needed', () => {
    const [issue] = checkRecord(resourceSpec('asset'), { name: 'x' }, 'update');
    expect(issue?.message).toContain('The update of an asset needs one');
    expect(checkRecord(contract, {}, 'create')[0]?.message).toContain('A new contract needs one');
  });
});

describe('values that belong together', () => {
  const supplier = resourceSpec('supplier');
  const pairCodes = (fields: Fields) =>
    checkRecord(supplier, { name: 'S', ...fields }, 'create').map((issue) => `${issue.code} ${issue.field}`);

  it('a contact has a name and an e-mail address, or neither', () => {
    expect(pairCodes({ 'contact_person.name': 'Ann' })).toEqual(['pair_incomplete contact_person.email']);
    expect(pairCodes({ 'contact_person.email': 'a@b.c' })).toEqual(['pair_incomplete contact_person.name']);
    expect(pairCodes({ 'contact_person.name': 'Ann', 'contact_person.email': 'a@b.c' })).toEqual([]);
    expect(pairCodes({ 'contact_person.type': 'sales' })).toEqual([]);
  });

  it('a subcategory needs its category', () => {
    expect(codes({ 'category.subcategory': 'Hygiene' })).toEqual(['pair_incomplete category.name']);
    expect(codes({ 'category.subcategory': 'Hygiene', 'category.name': { id: 2 } })).toEqual([]);
  });

  it('a missing category of an asset update is told once', () => {
    const issues = checkRecord(resourceSpec('asset'), { name: 'x', 'category.subcategory': 'y' }, 'update');
    expect(issues.map((issue) => issue.code)).toEqual(['required']);
  });
});

describe('contract rules, at their boundaries', () => {
  it('the record the other cases vary is good', () => {
    expect(codes({})).toEqual([]);
    expect(codes({}, 'update')).toEqual([]);
  });

  it.each<[string, Record<string, Value>, string[]]>([
    [
      '1 sell-side without customer',
      { contract_type: 'sell_side', customer: null },
      ['rule_customer_required customer'],
    ],
    ['1 sell-side with customer', { contract_type: 'sell_side', customer: { id: 3 }, supplier: null }, []],
    ['2 buy-side without supplier', { supplier: null }, ['rule_supplier_required supplier']],
    ['3 one day', { contract_end_date: '2024-01-02' }, []],
    ['3 same day', { contract_end_date: '2024-01-01' }, ['rule_start_before_end contract_start_date']],
    ['3 backwards', { contract_end_date: '2023-12-31' }, ['rule_start_before_end contract_start_date']],
    ['4 one day less than 365', { notice_period: 364 }, []],
    ['4 as long as the contract', { notice_period: 365 }, ['rule_notice_period notice_period']],
    ['4 longer', { notice_period: 366 }, ['rule_notice_period notice_period']],
    ['5 on the first day', { service_start_date: '2024-01-01' }, []],
    ['5 the day before', { service_start_date: '2023-12-31' }, ['rule_service_start service_start_date']],
    ['5 the day before the end', { service_start_date: '2024-12-30' }, []],
    ['5 on the end', { service_start_date: '2024-12-31' }, ['rule_service_start service_start_date']],
    ['6 equal', { nrc: Decimal.of('1000.00') }, []],
    ['6 a cent more', { nrc: Decimal.of('1000.01') }, ['rule_nrc_total nrc']],
    [
      '7 equal to the cent',
      {
        'expenditure_type.type': 'blended',
        'expenditure_type.capex_actual': Decimal.of('333.33'),
        'expenditure_type.opex_actual': Decimal.of('666.67'),
      },
      [],
    ],
    [
      '7 a cent short',
      {
        'expenditure_type.type': 'blended',
        'expenditure_type.capex_actual': Decimal.of('333.33'),
        'expenditure_type.opex_actual': Decimal.of('666.66'),
      },
      ['rule_blended_sum expenditure_type.capex_actual'],
    ],
    [
      '7 opex missing',
      { 'expenditure_type.type': 'blended', 'expenditure_type.capex_actual': Decimal.of('1000') },
      ['rule_blended_sum expenditure_type.opex_actual'],
    ],
    ['7 both missing', { 'expenditure_type.type': 'blended' }, ['rule_blended_sum expenditure_type.capex_actual']],
    ['7 not blended', { 'expenditure_type.type': 'capex', 'expenditure_type.capex_actual': Decimal.of('1') }, []],
  ])('%s', (_, change, expected) => {
    expect(codes(change)).toEqual(expected);
    expect(codes(change, 'update')).toEqual(expected);
  });

  it('messages carry the actual values', () => {
    const [issue] = checkRecord(contract, { ...GOOD, notice_period: 400 }, 'create');
    expect(issue).toMatchObject({ code: 'rule_notice_period', value: '400', severity: 'error', origin: 'local' });
    for (const part of ['400', '365', '2024-01-01', '2024-12-31']) expect(issue?.message).toContain(part);
    expect(issue?.column).toBeUndefined();
  });

  it('all broken rules are told, not the first', () => {
    expect(
      codes({
        supplier: null,
        notice_period: 999,
        service_start_date: '2030-01-01',
        nrc: Decimal.of('2000'),
        'expenditure_type.type': 'blended',
      }),
    ).toHaveLength(5);
  });

  it('a leap year counts its day', () => {
    const leap = { contract_start_date: '2024-02-28', contract_end_date: '2024-03-01' };
    expect(codes({ ...leap, notice_period: 1 })).toEqual([]);
    expect(codes({ ...leap, notice_period: 2 })).toEqual(['rule_notice_period notice_period']);
  });

  it('blended sums hold exactly, whatever the amounts', () => {
    const cents = fc.bigInt({ min: 0n, max: 10n ** 16n });
    const decimal = (amount: bigint) => Decimal.of(`${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`);
    fc.assert(
      fc.property(cents, cents, fc.bigInt({ min: -1n, max: 1n }), (capex, opex, off) => {
        fc.pre(capex + opex + off >= 0n);
        const found = codes({
          'expenditure_type.type': 'blended',
          'expenditure_type.capex_actual': decimal(capex),
          'expenditure_type.opex_actual': decimal(opex),
          total_contract_spend_value: decimal(capex + opex + off),
        });
        expect(found).toEqual(off === 0n ? [] : ['rule_blended_sum expenditure_type.capex_actual']);
      }),
    );
  });
});

describe('status of an update', () => {
  const statuses = ['active', 'archived', 'cancelled', 'draft', 'expired', 'suspended', 'terminated'];
  it('accepts active and archived only; a create accepts all', () => {
    const refused = statuses.filter((status) => codes({ status }, 'update').includes('status_not_writable status'));
    expect(refused).toEqual(['cancelled', 'draft', 'expired', 'suspended', 'terminated']);
    expect(statuses.filter((status) => codes({ status }).length > 0)).toEqual([]);
  });
});
