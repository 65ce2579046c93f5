import type { FieldSpec, ResourceSpec } from './spec.js';
import { choice, country, date, email, field, id, money, reference, text } from './spec.js';

/**
 * Asset: interface sections 2.5 (reads, lengths) and 4.4 (bodies).
 * Where the two spell a field differently, the description carries each spelling in its own path.
 */

const PROVISION = ['none', 'oem', 'oem_extended', 'third_party'];

const CREATE_ONLY = 'Can be set on create only.';
const NEVER_READ = 'Reads never show it.';

const fields: readonly FieldSpec[] = [
  field('id', 'Id', id, 'r', { derived: true, note: 'Given by the service; may be the match key.' }),

  field('name', 'Name', text(50), 'rcu', { aliases: ['asset_name'], required: true }),
  field('manufacturer', 'Manufacturer', text(50), 'rcu', { aliases: ['manufacturer_name'] }),
  field('serial_number', 'Serial number', text(50), 'rcu', { aliases: ['serial', 'serial_no'] }),
  field('pseudo_number', 'Pseudo number', text(50), 'rcu'),
  field('asset_tag', 'Asset tag', text(50), 'rcu', { aliases: ['tag'] }),
  field('lifecycle_stage', 'Lifecycle stage', text(50), 'rcu'),
  field('product_description', 'Product description', text(50), 'rcu'),
  field('asset_notes', 'Asset notes', text(1000), 'rcu', { aliases: ['notes'] }),
  field('asset_hardware_model', 'Hardware model', reference('hardware-model'), 'r', {
    aliases: ['hardware_model'],
    readElse: ['hardware_model'],
    readsNameOnly: true,
    create: 'asset_hardware_model.id',
    update: 'asset_hardware_model.id',
    note: 'By id, or by a name that an earlier run learned: hardware models cannot be listed.',
  }),
  field('manufacturer_part_number', 'Manufacturer part number', text(50), 'rcu'),
  field('parent_manufacturer_part_number', 'Parent manufacturer part number', text(50), 'rcu'),
  field('parent_serial_number', 'Parent serial number', text(50), 'rcu'),
  field('customer_part_number', 'Customer part number', text(50), 'rcu'),
  field('business_entity_type', 'Business entity', text(), 'c', {
    aliases: ['business_entity'],
    read: 'business_entity',
    readElse: ['business_entity_type'],
    note: CREATE_ONLY,
  }),
  field('make', 'Make', reference('make'), 'cu', { note: `By id. ${NEVER_READ}` }),
  field('inventory_no', 'Inventory number', text(), 'cu', { aliases: ['inventory_number'], note: NEVER_READ }),
  field('ssb_tag', 'SSB tag', text(), 'cu', { note: NEVER_READ }),
  field('mac_address', 'MAC address', text(), 'cu', { note: NEVER_READ }),
  field('uscp_no', 'USCP number', text(), 'cu', { note: NEVER_READ }),
  field('asset_physical_location', 'Physical location', text(), 'cu', { note: NEVER_READ }),

  field('contract', 'Contract', reference('contract'), 'rcu', {
    aliases: ['contract.number', 'contract_no', 'contract_number'],
    note: 'By contract number; digits are a number, too, not an id.',
  }),
  field('category.name', 'Category', reference('category'), '', {
    aliases: ['category'],
    requiredOnUpdate: true,
    read: 'category',
    create: 'category.id',
    update: 'category.id',
    note: 'Required in updates.',
  }),
  field('category.subcategory', 'Subcategory', text(), 'rcu', {
    aliases: ['subcategory'],
    note: 'Needs a category.',
  }),
  field('asset_owner', 'Owner', reference('asset-owner'), 'rcu', {
    aliases: ['asset_owner.name', 'owner'],
    note: 'By name, e-mail address or id.',
  }),
  field('asset_owner.email', 'Owner: e-mail', text(), 'r', { derived: true }),
  field('asset_owner.phone_number', 'Owner: phone', text(), 'r', { derived: true }),
  field('business_unit', 'Business unit', reference('business-unit'), 'rcu', { aliases: ['business_unit.name'] }),
  field('attached_supplier', 'Supplier', reference('supplier'), 'rcu', {
    aliases: ['attached_supplier.name', 'supplier'],
  }),
  field('supplier_name', 'Supplier name', text(), 'r', { derived: true }),
  field('customer', 'Customer', reference('customer'), 'rcu', { aliases: ['customer.name'] }),
  field('usage_status', 'Usage status', reference('usage-status'), 'r', {
    aliases: ['asset_usage_status', 'usage_status.name'],
    readElse: ['asset_usage_status'],
    create: 'asset_usage_status',
    update: 'usage_status',
    updateWords: ['production', 'non_production', 'none', 'other'],
    note: 'An update accepts only production, non_production, none and other.',
  }),

  field('address', 'Address', text(50), 'rcu'),
  field('city', 'City', text(50), 'rcu'),
  field('country', 'Country', country, 'rcu'),
  field('region', 'Region', text(), 'r', { derived: true }),
  field('state_province', 'State or province', text(50), 'rc', { aliases: ['state', 'province'], note: CREATE_ONLY }),
  field('zip_code', 'ZIP code', text(50), 'rcu', { aliases: ['zip', 'postal_code', 'postcode', 'zip_postal_code'] }),
  field('location_description', 'Location description', text(1000), 'rcu'),
  field('asset_location_address', 'Location address', text(50), 'rcu'),
  field('bldg_name', 'Building', text(50), 'rc', {
    aliases: ['bldng_name', 'building', 'building_name'],
    readElse: ['bldng_name'],
    update: 'bldng_name',
  }),
  field('floor', 'Floor', text(50), 'rcu'),
  field('unit', 'Unit', text(50), 'rcu'),
  field('room', 'Room', text(50), 'rcu'),
  field('street', 'Street', text(50), 'rcu'),
  field('area', 'Area', text(), 'rc', { note: CREATE_ONLY }),
  field('general_info_notes', 'General notes', text(150), 'rcu'),

  field('warranty_status', 'Warranty status', choice(['none', 'out_of_warranty', 'within_warranty']), 'rcu'),
  field(
    'warranty_type',
    'Warranty type',
    {
      kind: 'enum',
      values: [...PROVISION, 'advanced_replacement_warranty', 'standard_manufacturer_warranty', 'gold_level_support'],
      read: PROVISION,
    },
    'rcu',
    { note: 'Reads are documented to show only none, oem, oem_extended and third_party.' },
  ),
  field('warranty_provider', 'Warranty provider', reference('supplier'), 'rcu', {
    aliases: ['warranty_provider.name'],
    note: 'A supplier.',
  }),
  field('end_of_life_date', 'End of life', date, 'rcu'),
  field('warranty_start_date', 'Warranty start', date, 'rcu'),
  field('warranty_end_date', 'Warranty end', date, 'rcu'),
  field('warranty_contact_phone', 'Warranty phone', text(20), 'rcu'),
  field('warranty_contact_email', 'Warranty e-mail', email(254), 'rcu'),
  field('warranty_notes', 'Warranty notes', text(1000), 'rcu'),

  field('support_status', 'Support status', choice(['none', 'out_of_support', 'within_support']), 'rcu'),
  field('support_type', 'Support type', choice(PROVISION), 'rcu'),
  field('support_provider', 'Support provider', reference('supplier'), 'rcu', {
    aliases: ['support_provider.name'],
    note: 'A supplier.',
  }),
  field('end_of_support_date', 'End of support', date, 'rcu'),
  field('support_start_date', 'Support start', date, 'rcu'),
  field('support_end_date', 'Support end', date, 'rcu'),
  field('support_contact_phone', 'Support phone', text(20), 'rcu'),
  field('support_contact_email', 'Support e-mail', email(254), 'rcu'),
  field('support_notes', 'Support notes', text(1000), 'rcu'),

  field('original_cost', 'Original cost', money, 'rcu', { aliases: ['purchase_cost', 'cost'] }),
  field('service_start_date', 'Service start', date, 'rcu'),
  field(
    'depreciation_schedule',
    'Depreciation schedule',
    choice(['other', '3_year_33_percent', '5_year_20_percent', '10_year_10_percent']),
    'rcu',
  ),
  field('estimated_salvage_value', 'Estimated salvage value', money, 'rcu', { aliases: ['salvage_value'] }),
  field('financial_notes', 'Financial notes', text(1000), 'rcu'),
  field('currency.value', 'Currency', text(50), 'rcu', { aliases: ['currency'] }),
  field('currency.symbol', 'Currency symbol', text(50), 'rcu', { aliases: ['currency_symbol'] }),
  field('new_hardware_selling_unit_price', 'New hardware selling unit price', money, 'rcu'),
  field('manufacturer_currency.value', 'Manufacturer currency', text(50), 'rcu', {
    aliases: ['manufacturer_currency'],
  }),
  field('manufacturer_currency.symbol', 'Manufacturer currency symbol', text(50), 'rcu', {
    aliases: ['manufacturer_currency_symbol'],
  }),
  field('manufacturer_warranty_unit_price', 'Manufacturer warranty unit price', money, 'rcu'),
  field('contract_service_per_item', 'Contract service per item', money, 'rcu', {
    note: 'Reads show it as text, bodies carry a number.',
  }),

  field('sales_manager_name', 'Sales manager', text(50), 'rcu'),
  field('sales_manager_email', 'Sales manager e-mail', email(50), 'rcu'),
  field('additional_sales_email', 'Additional sales e-mail', email(50), 'rcu'),
  field('alert', 'Alert', text(), 'r', { derived: true }),
];

export const asset: ResourceSpec = {
  name: 'asset',
  readable: true,
  fields,
  filters: {
    name: 'name',
    serial_number: 'serial_number',
    manufacturer: 'manufacturer_name',
    asset_tag: 'asset_tag',
  },
  template: { read: 'template', create: 'templates', createAsList: true, update: 'template' },
  form: { read: 'custom_form', create: 'form_template', update: 'form_template' },
  naturalKeys: ['serial_number', 'asset_tag', 'name'],
  templateTextMax: { create: 150, update: 50 },
  // Uniqueness is asked for per request (`unique_field`), so nothing is guarded by itself.
  uniqueFields: [],
};
