import { describe, expect, it } from 'vitest';
import { findField, readOnlySpec, resourceSpec } from '../../src/resources/registry.js';
import { READ_ONLY, type ResourceName, WRITABLE } from '../../src/resources/spec.js';
import { readPath, writePath } from '../../src/service/address.js';
import type { Readable } from '../../src/service/port.js';

/** Typed out from the interface, by operation; a reference stands for its whole object. */

const CONTRACT_BODY = `name number parent_contract first_offer_value cost_avoidance_value contract_risk_value customer
  supplier country status category.id category.subcategory description business_unit contract_start_date
  contract_end_date notice_period service_start_date end_of_term_clause end_of_term_action timeline_notes
  total_contract_spend_value mrc nrc expenditure_type.type expenditure_type.capex_actual expenditure_type.opex_actual
  payment_terms financing financial_notes`;

const PARTY_READ = `id name category contact_person.name contact_person.email contact_person.type address_line_1
  address_line_2 city state_province zip_postal_code country phone mobile fax website general_description nda_signed
  nda_signed_date msa_signed msa_signed_date supplementary_description additional_description`;
const SUPPLIER_READ = `${PARTY_READ} type business_name business_address_line_1 business_address_line_2 business_city
  business_state_province business_zip_postal_code business_country ein financial_description`;

const ASSET_BOTH = `name contract category.id category.subcategory attached_supplier customer product_description
  manufacturer serial_number pseudo_number unit street floor room address city country zip_code location_description
  general_info_notes asset_owner business_unit warranty_type warranty_provider end_of_life_date warranty_start_date
  warranty_end_date warranty_contact_phone warranty_contact_email warranty_notes support_type support_provider
  end_of_support_date support_start_date support_end_date support_contact_phone support_contact_email support_notes
  asset_tag lifecycle_stage asset_notes original_cost service_start_date depreciation_schedule estimated_salvage_value
  financial_notes customer_part_number parent_manufacturer_part_number parent_serial_number manufacturer_part_number
  asset_hardware_model.id sales_manager_name sales_manager_email additional_sales_email contract_service_per_item
  asset_location_address inventory_no ssb_tag mac_address uscp_no asset_physical_location make currency.value
  currency.symbol new_hardware_selling_unit_price manufacturer_currency.value manufacturer_currency.symbol
  manufacturer_warranty_unit_price warranty_status support_status`;

const LISTS: Record<ResourceName, { read: string; create: string; update: string }> = {
  contract: {
    read: `id contract_type name number parent_contract customer supplier country status category category.subcategory
      description business_unit business_unit.contact_name business_unit.contact_email
      business_unit.contact_phone_number contract_start_date contract_end_date service_start_date notice_period
      end_of_term_clause end_of_term_action timeline_notes total_contract_spend_value first_offer_value
      cost_avoidance_value contract_risk_value mrc nrc expenditure_type.type expenditure_type.capex_actual
      expenditure_type.opex_actual expenditure_type.capex_percent expenditure_type.opex_percent payment_terms financing
      financial_notes alert.is_active alert.alert_days_before alert.type alert.email_message alert.email_list
      modified_date template approver signer signed_date`,
    create: `${CONTRACT_BODY} contract_type template form_template approver signer signed_date`,
    update: `${CONTRACT_BODY} template`,
  },
  supplier: {
    read: `${SUPPLIER_READ} template`,
    create: `${SUPPLIER_READ} template`,
    update: `${SUPPLIER_READ} template`,
  },
  customer: { read: `${PARTY_READ} template`, create: `${PARTY_READ} template`, update: `${PARTY_READ} template` },
  asset: {
    read: `id name manufacturer serial_number pseudo_number asset_tag lifecycle_stage product_description asset_notes
      asset_hardware_model manufacturer_part_number parent_manufacturer_part_number parent_serial_number
      customer_part_number business_entity contract category category.subcategory asset_owner asset_owner.email
      asset_owner.phone_number business_unit warranty_provider support_provider attached_supplier usage_status customer
      supplier_name address city country region state_province zip_code location_description asset_location_address
      bldg_name floor unit room street area general_info_notes warranty_status warranty_type end_of_life_date
      warranty_start_date warranty_end_date warranty_contact_phone warranty_contact_email warranty_notes support_status
      support_type end_of_support_date support_start_date support_end_date support_contact_phone support_contact_email
      support_notes original_cost service_start_date depreciation_schedule estimated_salvage_value financial_notes
      currency.value currency.symbol new_hardware_selling_unit_price manufacturer_currency.value
      manufacturer_currency.symbol manufacturer_warranty_unit_price contract_service_per_item sales_manager_name
      sales_manager_email additional_sales_email alert template custom_form`,
    create: `${ASSET_BOTH} bldg_name area state_province business_entity_type asset_usage_status templates form_template`,
    update: `${ASSET_BOTH} bldng_name usage_status template form_template`,
  },
};

const words = (list: string) => list.split(/\s+/).sort();

describe('the descriptions and the interface name the same fields', () => {
  for (const name of WRITABLE) {
    const spec = resourceSpec(name);
    for (const operation of ['read', 'create', 'update'] as const) {
      it(`${name}: ${operation}`, () => {
        const named = spec.fields.flatMap((field) => {
          if (operation !== 'read' && field.derived) return [];
          return field[operation] === undefined ? [] : [field[operation]];
        });
        named.push(spec.template[operation]);
        if (spec.form?.[operation] !== undefined) named.push(spec.form[operation]);
        const expected = words(LISTS[name][operation]).filter((path) => operation === 'read' || path !== 'id');
        expect(named.sort()).toEqual(expected);
      });
    }

    it(`${name}: names and aliases mean one field each`, () => {
      const names = spec.fields.map((field) => field.name);
      expect(new Set(names).size).toBe(names.length);
      const aliases = spec.fields.flatMap((field) => field.aliases ?? []);
      expect(new Set(aliases).size).toBe(aliases.length);
      expect(aliases.filter((alias) => names.includes(alias))).toEqual([]);
      for (const field of spec.fields) {
        expect(findField(spec, field.name)).toBe(field);
        for (const alias of field.aliases ?? []) expect(findField(spec, alias.toUpperCase())).toBe(field);
      }
      for (const word of ['constructor', '__proto__', 'toString', '']) expect(findField(spec, word)).toBeUndefined();
    });
  }

  it('spellings of the interface that differ per operation lead to one field', () => {
    const asset = resourceSpec('asset');
    expect(findField(asset, 'bldng_name')?.name).toBe('bldg_name');
    expect(findField(asset, 'hardware_model')?.name).toBe('asset_hardware_model');
    expect(findField(asset, 'asset_usage_status')?.name).toBe('usage_status');
    expect(findField(asset, 'business_entity')?.name).toBe('business_entity_type');
    for (const name of ['asset', 'contract', 'supplier', 'customer'] as const) {
      expect(findField(resourceSpec(name), 'Category')?.name).toBe('category.name');
    }
  });
});

/** Lengths in characters, by resource. */
const LENGTHS: Record<ResourceName, Record<number, string>> = {
  contract: {
    50: 'name number approver signer signed_date',
    1000: 'description timeline_notes financial_notes',
  },
  supplier: {
    20: 'zip_postal_code business_zip_postal_code phone mobile fax',
    50: `name contact_person.name address_line_1 address_line_2 city state_province business_name
      business_address_line_1 business_address_line_2 business_city business_state_province website`,
    254: 'contact_person.email',
    1000: 'general_description financial_description supplementary_description additional_description',
  },
  customer: {
    20: 'zip_postal_code phone mobile fax',
    50: 'name contact_person.name address_line_1 address_line_2 city state_province website',
    254: 'contact_person.email',
    1000: 'general_description supplementary_description additional_description',
  },
  asset: {
    20: 'warranty_contact_phone support_contact_phone',
    50: `name product_description manufacturer serial_number pseudo_number unit bldg_name street floor room address
      state_province city zip_code asset_tag lifecycle_stage customer_part_number parent_manufacturer_part_number
      parent_serial_number manufacturer_part_number asset_location_address sales_manager_name sales_manager_email
      additional_sales_email currency.value currency.symbol manufacturer_currency.value manufacturer_currency.symbol`,
    150: 'general_info_notes',
    254: 'warranty_contact_email support_contact_email',
    1000: 'location_description warranty_notes support_notes asset_notes financial_notes',
  },
};

/** Fields by kind, where the kind is not text. */
const KINDS: Record<ResourceName, Record<string, string>> = {
  contract: {
    date: 'contract_start_date contract_end_date service_start_date',
    country: 'country',
    reference: 'parent_contract customer supplier category.name business_unit',
    decimal: `total_contract_spend_value first_offer_value cost_avoidance_value contract_risk_value mrc nrc
      expenditure_type.capex_actual expenditure_type.opex_actual expenditure_type.capex_percent
      expenditure_type.opex_percent`,
    integer: 'id notice_period alert.alert_days_before',
    boolean: 'alert.is_active',
    texts: 'alert.email_list',
    enum: `contract_type status end_of_term_clause end_of_term_action expenditure_type.type payment_terms financing
      alert.type`,
  },
  supplier: {
    date: 'nda_signed_date msa_signed_date',
    country: 'country business_country',
    reference: 'category.name',
    integer: 'id',
    boolean: 'nda_signed msa_signed',
    enum: 'contact_person.type type',
    email: 'contact_person.email',
  },
  customer: {
    date: 'nda_signed_date msa_signed_date',
    country: 'country',
    reference: 'category.name',
    integer: 'id',
    boolean: 'nda_signed msa_signed',
    enum: 'contact_person.type',
    email: 'contact_person.email',
  },
  asset: {
    date: `end_of_life_date warranty_start_date warranty_end_date end_of_support_date support_start_date
      support_end_date service_start_date`,
    country: 'country',
    reference: `contract category.name asset_owner business_unit attached_supplier customer warranty_provider
      support_provider usage_status asset_hardware_model make`,
    decimal: `original_cost estimated_salvage_value contract_service_per_item new_hardware_selling_unit_price
      manufacturer_warranty_unit_price`,
    integer: 'id',
    enum: 'warranty_status warranty_type support_status support_type depreciation_schedule',
    email: 'warranty_contact_email support_contact_email sales_manager_email additional_sales_email',
  },
};

const ENUMS: Partial<Record<ResourceName, Record<string, string>>> = {
  contract: {
    contract_type: 'buy_side sell_side',
    status: 'active archived cancelled draft expired suspended terminated',
    end_of_term_clause: 'auto_expires auto_renewed',
    end_of_term_action: 'allow_auto_renew allow_expiration disallow_auto_renew renegotiate',
    'expenditure_type.type': 'blended capex opex',
    payment_terms: 'custom net_30 net_45 net_60',
    financing: 'custom financed leased self_paid',
    'alert.type': 'end_date notice_date',
  },
  supplier: {
    type: 'us foreign',
    'contact_person.type': 'account_management billing executive sales support technical',
  },
  customer: { 'contact_person.type': 'account_management billing executive sales support technical' },
  asset: {
    warranty_status: 'none out_of_warranty within_warranty',
    warranty_type: `none oem oem_extended third_party advanced_replacement_warranty standard_manufacturer_warranty
      gold_level_support`,
    support_status: 'none out_of_support within_support',
    support_type: 'none oem oem_extended third_party',
    depreciation_schedule: 'other 3_year_33_percent 5_year_20_percent 10_year_10_percent',
  },
};

describe('the descriptions keep the constraints of the interface', () => {
  for (const name of WRITABLE) {
    const spec = resourceSpec(name);

    it(`${name}: lengths`, () => {
      const stated = Object.entries(LENGTHS[name]).flatMap(([max, list]) =>
        words(list).map((field) => `${field} ${max}`),
      );
      const described = spec.fields.flatMap((field) => {
        const max = field.type.kind === 'text' || field.type.kind === 'email' ? field.type.max : undefined;
        return max === undefined ? [] : [`${field.name} ${max}`];
      });
      expect(described.sort()).toEqual(stated.sort());
    });

    it(`${name}: kinds`, () => {
      const described: Record<string, string[]> = {};
      for (const field of spec.fields) {
        if (field.type.kind !== 'text')
          described[field.type.kind] = [...(described[field.type.kind] ?? []), field.name].sort();
      }
      const stated = Object.fromEntries(Object.entries(KINDS[name]).map(([kind, list]) => [kind, words(list)]));
      expect(described).toEqual(stated);
    });

    it(`${name}: lists of values`, () => {
      const described = spec.fields.flatMap((field) =>
        field.type.kind === 'enum' ? [[field.name, [...field.type.values].sort()] as const] : [],
      );
      const stated = Object.entries(ENUMS[name] ?? {}).map(([field, list]) => [field, words(list)] as const);
      expect(Object.fromEntries(described)).toEqual(Object.fromEntries(stated));
    });

    it(`${name}: every money field a body carries has the documented range`, () => {
      for (const field of spec.fields) {
        if (field.type.kind !== 'decimal' || field.derived) continue;
        expect([field.name, field.type.min, field.type.max]).toEqual([field.name, '0', '999999999999999']);
      }
    });
  }

  it('states what only some operations accept', () => {
    const status = findField(resourceSpec('contract'), 'status')?.type;
    expect(status?.kind === 'enum' && status.update).toEqual(['active', 'archived']);
    const warranty = findField(resourceSpec('asset'), 'warranty_type')?.type;
    expect(warranty?.kind === 'enum' && warranty.read).toEqual(['none', 'oem', 'oem_extended', 'third_party']);
    expect(findField(resourceSpec('asset'), 'usage_status')?.updateWords).toEqual([
      'production',
      'non_production',
      'none',
      'other',
    ]);
    expect(findField(resourceSpec('supplier'), 'ein')?.type).toEqual({ kind: 'text', exact: 9 });
    expect(resourceSpec('asset').templateTextMax).toEqual({ create: 150, update: 50 });
    expect(resourceSpec('contract').templateTextMax).toEqual({ create: 50, update: 50 });
  });

  it('names required fields', () => {
    const required = (name: ResourceName) =>
      resourceSpec(name)
        .fields.filter((field) => field.required)
        .map((field) => field.name)
        .sort();
    expect(required('contract')).toEqual(
      words(
        `contract_type name number country status contract_start_date contract_end_date total_contract_spend_value`,
      ),
    );
    for (const name of ['asset', 'supplier', 'customer'] as const) expect(required(name)).toEqual(['name']);
    expect(
      resourceSpec('asset')
        .fields.filter((field) => field.requiredOnUpdate)
        .map((field) => field.name),
    ).toEqual(['category.name']);
  });

  it('names paths, filters and guarded keys', () => {
    expect(
      WRITABLE.map((name) => [name, resourceSpec(name).readable && readPath(name as Readable), writePath(name)]),
    ).toEqual([
      ['asset', '/asset/', '/asset'],
      ['contract', '/contract/', '/contract'],
      ['supplier', '/supplier/', '/supplier'],
      ['customer', false, '/customer'],
    ]);
    expect(resourceSpec('contract').filters).toEqual({ name: 'name', number: 'contract_no' });
    expect(resourceSpec('asset').filters).toEqual({
      name: 'name',
      serial_number: 'serial_number',
      manufacturer: 'manufacturer_name',
      asset_tag: 'asset_tag',
    });
    expect(resourceSpec('supplier').filters).toEqual({});
    expect(WRITABLE.map((name) => resourceSpec(name).uniqueFields)).toEqual([[], [], ['name'], ['name']]);
  });
});

const READ_ONLY_FIELDS: Record<(typeof READ_ONLY)[number], string> = {
  license: `license_id hashed_id public_license_id license_name type state status issued_date activation_date
    claimed_date expiry_date is_transferrable is_key_universal license_key_number notes stock_keeping_unit term_type
    term_value quota issuer assets template`,
  company: 'id name status',
  user: 'id first_name last_name email role status',
  category: 'id category subcategories',
  'usage-status': 'id company_id name set_as_default',
  'asset-owner': 'id name email phone',
  'custom-field-template': 'id name is_active type fields',
  'custom-form-template': 'id name form_title type form_desc is_active is_default fields',
};

describe('read-only resources', () => {
  for (const name of READ_ONLY) {
    it(name, () => {
      const spec = readOnlySpec(name);
      const names = spec.fields.map((field) => field.name);
      expect([...names].sort()).toEqual(words(READ_ONLY_FIELDS[name]));
      expect(Object.keys(spec.filters ?? {}).filter((field) => !names.includes(field))).toEqual([]);
      expect(readPath(name)).toMatch(new RegExp(`^/${name}/?$`));
    });
  }
});
