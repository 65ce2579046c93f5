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
  address_line_2: 'Second floor',
  city: 'Dublin',
  state_province: 'Leinster',
  zip_postal_code: 'D02 X285',
  country: 'Ireland',
  phone: '+353 1 555 0100',
  mobile: '+353 85 555 0101',
  fax: '+353 1 555 0102',
  website: 'www.example.com',
  general_description: 'Office furniture and stationery for all sites.',
  nda_signed_date: '2025-03-01',
  msa_signed_date: '2025-03-15',
  supplementary_description: 'Orders by e-mail only.',
  additional_description: 'Reviewed every year in March.',
};

export const EXAMPLES: Readonly<Record<ResourceName, Readonly<Record<string, string>>>> = {
  asset: {
    name: 'Laptop of the front desk',
    manufacturer: 'Example Devices',
    serial_number: '00EX-4417-0093',
    pseudo_number: 'P-100093',
    asset_tag: '000123',
    lifecycle_stage: 'Deployed',
    product_description: '14 inch laptop, 16 GB',
    asset_notes: 'Comes with a docking station.',
    manufacturer_part_number: 'ED-14-16G',
    parent_manufacturer_part_number: 'ED-14',
    parent_serial_number: '00EX-4417-0001',
    customer_part_number: 'C-7781',
    business_entity_type: 'Branch office',
    inventory_no: '0004711',
    ssb_tag: 'SSB-0093',
    mac_address: '00:00:5E:00:53:01',
    uscp_no: 'U-0093',
    asset_physical_location: 'Front desk, left',
    address: '12 Harbour Street',
    city: 'Dublin',
    country: 'Ireland',
    state_province: 'Leinster',
    zip_code: 'D02 X285',
    location_description: 'Reception on the ground floor.',
    asset_location_address: '12 Harbour Street, Dublin',
    bldg_name: 'Harbour House',
    floor: '0',
    unit: 'A',
    room: '007',
    street: 'Harbour Street',
    area: 'Reception',
    general_info_notes: 'Badge needed at night.',
    warranty_status: 'within_warranty',
    warranty_type: 'oem',
    end_of_life_date: '2030-12-31',
    warranty_start_date: '2026-01-15',
    warranty_end_date: '2029-01-14',
    warranty_contact_phone: '+353 1 555 0110',
    warranty_contact_email: 'warranty@example.com',
    warranty_notes: 'Next business day, on site.',
    support_status: 'within_support',
    support_type: 'third_party',
    end_of_support_date: '2030-06-30',
    support_start_date: '2026-01-15',
    support_end_date: '2029-01-14',
    support_contact_phone: '+353 1 555 0120',
    support_contact_email: 'support@example.com',
    support_notes: 'Have the serial number at hand.',
    original_cost: '1250.50',
    service_start_date: '2026-01-20',
    depreciation_schedule: '5_year_20_percent',
    estimated_salvage_value: '150.00',
    financial_notes: 'Bought from the 2026 budget.',
    'currency.value': 'EUR',
    'currency.symbol': '€',
    new_hardware_selling_unit_price: '1399.00',
    'manufacturer_currency.value': 'USD',
    'manufacturer_currency.symbol': '$',
    manufacturer_warranty_unit_price: '99.90',
    contract_service_per_item: '12.75',
    sales_manager_name: 'Priya Nair',
    sales_manager_email: 'priya.nair@example.com',
    additional_sales_email: 'sales@example.com',
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
    business_name: 'Example Office Supply Limited',
    business_address_line_1: '12 Harbour Street',
    business_address_line_2: 'Second floor',
    business_city: 'Dublin',
    business_state_province: 'Leinster',
    business_zip_postal_code: 'D02 X285',
    business_country: 'Ireland',
    ein: '001234567',
    financial_description: 'Pays within 30 days.',
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
