import type { FieldSpec, ReferenceTarget, ResourceName, ResourceSpec } from '../resources/spec.js';
import type { BlankColumn, DropDown, ServiceNames } from './columns.js';

/**
 * Values of the example row that say more than their type could, by field. Together they keep the rules between fields
 * (interface, section 4.3). Whatever is not here is made from the field's type; names of records come from the service.
 */

const PARTY: Readonly<Record<string, string>> = {
  name: 'Example Office Supply Ltd',
  'contact_person.name': 'Nora Lindqvist',
  'contact_person.email': 'nora.lindqvist@example.com',
  'contact_person.type': 'sales',
  address_line_1: '12 Harbour Street',
  city: 'Dublin',
  state_province: 'Leinster',
  zip_postal_code: 'D02 X285',
  country: 'Ireland',
  phone: '+353 1 555 0100',
  website: 'www.example.com',
  general_description: 'Office furniture and stationery for all sites.',
};

export const EXAMPLES: Readonly<Record<ResourceName, Readonly<Record<string, string>>>> = {
  asset: {
    name: 'Laptop of the front desk',
    manufacturer: 'Example Devices',
    serial_number: '00EX-4417-0093',
    asset_tag: '000123',
    lifecycle_stage: 'Deployed',
    asset_notes: 'Comes with a docking station.',
    manufacturer_part_number: 'ED-14-16G',
    parent_serial_number: '00EX-4417-0001',
    inventory_no: '0004711',
    mac_address: '00:00:5E:00:53:01',
    address: '12 Harbour Street',
    city: 'Dublin',
    country: 'Ireland',
    state_province: 'Leinster',
    zip_code: 'D02 X285',
    floor: '0',
    room: '007',
    warranty_status: 'within_warranty',
    warranty_type: 'oem',
    end_of_life_date: '2030-12-31',
    warranty_start_date: '2026-01-15',
    warranty_end_date: '2029-01-14',
    warranty_contact_phone: '+353 1 555 0110',
    support_status: 'within_support',
    support_type: 'third_party',
    end_of_support_date: '2030-06-30',
    support_start_date: '2026-01-15',
    support_end_date: '2029-01-14',
    support_contact_phone: '+353 1 555 0120',
    original_cost: '1250.50',
    service_start_date: '2026-01-20',
    depreciation_schedule: '5_year_20_percent',
    'currency.value': 'EUR',
    'currency.symbol': '€',
    'manufacturer_currency.value': 'USD',
    'manufacturer_currency.symbol': '$',
    sales_manager_name: 'Priya Nair',
  },
  contract: {
    contract_type: 'buy_side',
    name: 'Network maintenance, all sites',
    number: '0002026-0017',
    country: 'Ireland',
    status: 'active',
    description: 'Maintenance of switches and routers.',
    contract_start_date: '2026-01-01',
    contract_end_date: '2028-12-31',
    notice_period: '90',
    service_start_date: '2026-01-15',
    end_of_term_clause: 'auto_renewed',
    end_of_term_action: 'renegotiate',
    timeline_notes: 'Review six months before the end.',
    total_contract_spend_value: '36000.00',
    first_offer_value: '39500.00',
    cost_avoidance_value: '3500.00',
    contract_risk_value: '1800.00',
    mrc: '900.00',
    nrc: '3600.00',
    'expenditure_type.type': 'blended',
    'expenditure_type.capex_actual': '6000.00',
    'expenditure_type.opex_actual': '30000.00',
    payment_terms: 'net_30',
    financing: 'self_paid',
    financial_notes: 'Billed at the end of each month.',
    approver: 'Ada Park',
    signer: 'Elena Rossi',
    signed_date: '15 December 2025',
  },
  supplier: {
    ...PARTY,
    type: 'foreign',
    ein: '001234567',
  },
  customer: PARTY,
};

/** Names to show where no service was asked; they say by themselves that they are examples. */
const STAND_INS: Partial<Record<ReferenceTarget, string>> = {
  'asset-owner': 'owner@example.com',
  'business-unit': 'Example Business Unit',
  category: 'Example Category',
  contract: '0002026-0017',
  customer: 'Example Customer',
  supplier: 'Example Supplier',
  'usage-status': 'Production',
};

/**
 * The example row: one text for each column, '' where nothing can be offered that is sure to be accepted. Dates are
 * `yyyy-MM-dd`, amounts plain decimals. With the service's names every reference is one that exists.
 */
export function exampleRow(
  spec: ResourceSpec,
  columns: readonly BlankColumn[],
  lists: ReadonlyMap<string, DropDown>,
  service: ServiceNames | undefined,
): string[] {
  const category = categoryOf(lists.get('category.name'), service);
  return columns.map(({ field, spec: one }) => {
    if (field === 'category.name') return category?.name ?? referenceOf(one, lists.get(field), service);
    if (field === 'category.subcategory') return category?.subcategory ?? (service ? '' : 'Example Subcategory');
    if (one.type.kind === 'reference') return referenceOf(one, lists.get(field), service);
    return EXAMPLES[spec.name][field] ?? byType(one);
  });
}

/** A category that has subcategories where there is one, so that both columns have something to show. */
function categoryOf(list: DropDown | undefined, service: ServiceNames | undefined) {
  const names = list?.values ?? [];
  const name = names.find((one) => (service?.subcategories.get(one) ?? []).length > 0) ?? names[0];
  if (name === undefined) return undefined;
  return { name, subcategory: service?.subcategories.get(name)?.[0] ?? '' };
}

function referenceOf({ type }: FieldSpec, list: DropDown | undefined, service: ServiceNames | undefined): string {
  if (type.kind !== 'reference') return '';
  if (list)
    return (
      (type.to === 'usage-status' && list.values.find((name) => /^production$/i.test(name))) || (list.values[0] ?? '')
    );
  return service ? '' : (STAND_INS[type.to] ?? '');
}

function byType({ type, label }: FieldSpec): string {
  switch (type.kind) {
    case 'text': {
      const text = `Example ${label.slice(label.lastIndexOf(':') + 1).trim()}`;
      return type.exact === undefined ? text.slice(0, type.max ?? 50).trim() : '0'.repeat(type.exact);
    }
    case 'texts':
    case 'email':
      return 'name@example.com';
    case 'integer':
      return String(Math.max(type.min ?? 0, 12));
    case 'decimal':
      return '1250.50';
    case 'date':
      return '2026-01-31';
    case 'boolean':
      return 'yes';
    case 'enum':
      return type.values[0] ?? '';
    case 'country':
      return 'Ireland';
    case 'reference':
      return '';
  }
}
