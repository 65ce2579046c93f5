import {
  categoryChoice,
  country as countryKind,
  currency as currencyKind,
  date,
  email,
  formRows,
  integer,
  type Kind,
  money,
  oneOf,
  reference,
  referenceObject,
  template as templateKind,
  templates,
  text,
} from './kinds.js';
import * as show from './render.js';
import {
  createOnly,
  field,
  fields,
  onBoth,
  onCreate,
  onUpdate,
  type Resource,
  readMembers,
  withSpellings,
} from './resource.js';

/** Assets: interface, sections 2.5 and 4.4. */

const SERVICE_LEVELS = ['none', 'oem', 'oem_extended', 'third_party'];

/** The spellings of the update body, and the names of the usage statuses they stand for. */
const USAGE_NAMES: Readonly<Record<string, string>> = {
  production: 'production',
  non_production: 'non production',
  none: 'none',
  other: 'other',
};

const usageSpelling = oneOf(...Object.keys(USAGE_NAMES));

/** The update body names a usage status by a fixed word; a status without a word cannot be written by it. */
const usageStatus: Kind<number> = (value, name, context) => {
  const word = usageSpelling(value, name, context);
  if (word === null) return null;
  const wanted = USAGE_NAMES[word];
  const found = context.lookups.list('usage-status', context.company).find((one) => one.name?.toLowerCase() === wanted);
  return found?.id ?? context.fail(name, `The company has no usage status "${wanted}".`);
};

const assetFields = [
  field('name', text(50), { required: true }),
  field('contract', reference('contract')),
  withSpellings('category', [onCreate('category', categoryChoice(false)), onUpdate('category', categoryChoice(true))]),
  field('attached_supplier', reference('supplier')),
  field('customer', reference('customer')),
  ...fields(text(50), 'product_description', 'manufacturer', 'serial_number', 'pseudo_number', 'unit'),
  withSpellings('bldg_name', [onCreate('bldg_name', text(50)), onBoth('bldng_name', text(50))]),
  ...fields(text(50), 'street', 'floor', 'room'),
  createOnly('area', text()),
  field('address', text(50)),
  createOnly('state_province', text(50)),
  field('city', text(50)),
  field('country', countryKind),
  field('zip_code', text(50)),
  field('location_description', text(1000)),
  field('general_info_notes', text(150)),
  field('asset_owner', reference('asset-owner')),
  createOnly('business_entity_type', text()),
  field('business_unit', reference('business-unit')),
  field('warranty_status', oneOf('none', 'out_of_warranty', 'within_warranty')),
  field(
    'warranty_type',
    oneOf(...SERVICE_LEVELS, 'advanced_replacement_warranty', 'standard_manufacturer_warranty', 'gold_level_support'),
  ),
  field('warranty_provider', reference('supplier')),
  ...fields(date, 'end_of_life_date', 'warranty_start_date', 'warranty_end_date'),
  field('warranty_contact_phone', text(20)),
  field('warranty_contact_email', email),
  field('warranty_notes', text(1000)),
  field('support_status', oneOf('none', 'out_of_support', 'within_support')),
  field('support_type', oneOf(...SERVICE_LEVELS)),
  field('support_provider', reference('supplier')),
  ...fields(date, 'end_of_support_date', 'support_start_date', 'support_end_date'),
  field('support_contact_phone', text(20)),
  field('support_contact_email', email),
  field('support_notes', text(1000)),
  withSpellings('usage_status', [
    onCreate('asset_usage_status', reference('usage-status')),
    onUpdate('usage_status', usageStatus),
  ]),
  ...fields(text(50), 'asset_tag', 'lifecycle_stage'),
  field('asset_notes', text(1000)),
  field('original_cost', money),
  field('service_start_date', date),
  field('depreciation_schedule', oneOf('other', '3_year_33_percent', '5_year_20_percent', '10_year_10_percent')),
  field('estimated_salvage_value', money),
  field('financial_notes', text(1000)),
  ...fields(
    text(50),
    'customer_part_number',
    'parent_manufacturer_part_number',
    'parent_serial_number',
    'manufacturer_part_number',
  ),
  withSpellings('asset_hardware_model', [
    onBoth('asset_hardware_model', referenceObject('hardware-model')),
    onCreate('hardware_model', referenceObject('hardware-model', true)),
  ]),
  ...fields(text(50), 'sales_manager_name', 'sales_manager_email', 'additional_sales_email'),
  field('contract_service_per_item', money),
  field('asset_location_address', text(50)),
  ...fields(text(), 'inventory_no', 'ssb_tag', 'mac_address', 'uscp_no', 'asset_physical_location'),
  field('make', integer),
  field('currency', currencyKind),
  field('new_hardware_selling_unit_price', money),
  field('manufacturer_currency', currencyKind),
  field('manufacturer_warranty_unit_price', money),
  withSpellings('template', [onCreate('templates', templates('asset')), onBoth('template', templateKind('asset'))]),
  withSpellings('form_template', [
    onBoth('form_template', formRows('asset')),
    onCreate('custom_form', formRows('asset')),
  ]),
];

export const asset: Resource = {
  name: 'asset',
  indexed: ['name', 'serial_number', 'asset_tag'],
  fields: assetFields,
  read: readMembers(
    assetFields,
    ['make', 'inventory_no', 'ssb_tag', 'mac_address', 'uscp_no', 'asset_physical_location'],
    [
      show.entryName('asset_hardware_model', 'asset_hardware_model', 'hardware-model'),
      show.renamed('business_entity', 'business_entity_type'),
      show.contract('contract'),
      show.category,
      show.entry('asset_owner', 'asset-owner', 'name', 'email', 'phone_number=phone'),
      show.entry('business_unit', 'business-unit', 'name'),
      show.party('warranty_provider', 'supplier'),
      show.party('support_provider', 'supplier'),
      show.party('attached_supplier', 'supplier'),
      show.partyName('supplier_name', 'attached_supplier', 'supplier'),
      show.party('customer', 'customer'),
      show.entry('usage_status', 'usage-status', 'name'),
      show.entryName('asset_usage_status', 'usage_status', 'usage-status'),
      // Written as a decimal, read as a text.
      ...show.members('contract_service_per_item'),
      show.alwaysNull('region'),
      show.alwaysNull('alert'),
      show.template,
      show.customForm,
    ],
  ),
};
