import { asset } from './asset.js';
import { contract } from './contract.js';
import { customer, supplier } from './counterparty.js';
import { type FieldSpec, memoized, type ReadOnlyName, type ResourceName, type ResourceSpec } from './spec.js';

const SPECS: Readonly<Record<ResourceName, ResourceSpec>> = { asset, contract, supplier, customer };

/** The description of a resource that rows can be written to. */
export function resourceSpec(name: ResourceName): ResourceSpec {
  return SPECS[name];
}

/** The description of a resource that can only be read. */
export function readOnlySpec(name: ReadOnlyName): ReadOnlySpec {
  return READ_ONLY_SPECS[name];
}

/** The field with this name or alias, without regard to case; custom fields are not among them. */
export function findField(spec: ResourceSpec, name: string): FieldSpec | undefined {
  const index = fieldIndex(spec);
  return index.get(name) ?? index.get(name.trim().toLowerCase());
}

const fieldIndex = memoized((spec: ResourceSpec): ReadonlyMap<string, FieldSpec> => {
  const index = new Map<string, FieldSpec>();
  for (const field of spec.fields) {
    for (const alias of field.aliases ?? []) index.set(alias, field);
  }
  // A name wins over another field's alias.
  for (const field of spec.fields) index.set(field.name, field);
  return index;
});

/**
 * Resources that can only be read: interface sections 2.6, 2.7 and 4.1.
 * They have no canonical form: an export shows what the service sent.
 */

/** What a read-only field holds; `object` and `objects` are nested JSON. */
type ReadOnlyKind = 'integer' | 'text' | 'boolean' | 'date text' | 'texts' | 'integers' | 'object' | 'objects';

export interface ReadOnlyField {
  /** As reads show it. */
  readonly name: string;
  readonly kind: ReadOnlyKind;
  /** Documented values; `open` where the document does not show the whole list. */
  readonly values?: readonly string[];
  readonly open?: boolean;
}

export interface ReadOnlySpec {
  /** Only the list is documented: a record cannot be read by its id. */
  readonly listOnly?: true;
  /** Query parameters that filter the list by a field: parameter by field name. */
  readonly filters?: Readonly<Record<string, string>>;
  readonly fields: readonly ReadOnlyField[];
}

function fields(
  ...columns: readonly (readonly [name: string, kind: ReadOnlyKind, values?: readonly string[], open?: 'open'])[]
): readonly ReadOnlyField[] {
  return columns.map(([name, kind, values, open]) => ({
    name,
    kind,
    ...(values ? { values } : {}),
    ...(open ? { open: true } : {}),
  }));
}

const READ_ONLY_SPECS: Readonly<Record<ReadOnlyName, ReadOnlySpec>> = {
  license: {
    listOnly: true,
    fields: fields(
      ['license_id', 'integer'],
      ['hashed_id', 'text'],
      ['public_license_id', 'integer'],
      ['license_name', 'text'],
      [
        'type',
        'text',
        ['Product', 'Support', 'Perpetual', 'Concurrent', 'Volume', 'Single-User', 'Trial', 'Enterprise', 'Warranty'],
        'open',
      ],
      ['state', 'text', ['Active', 'Inactive', 'Expired', 'Renewed'], 'open'],
      ['status', 'text', ['Assigned', 'Unassigned', 'Pending Activation', 'Transferred']],
      ['issued_date', 'date text'],
      ['activation_date', 'date text'],
      ['claimed_date', 'date text'],
      ['expiry_date', 'date text'],
      ['is_transferrable', 'boolean'],
      ['is_key_universal', 'boolean'],
      ['license_key_number', 'text'],
      ['notes', 'text'],
      ['stock_keeping_unit', 'text'],
      ['term_type', 'text', ['Years', 'Days', 'Months']],
      ['term_value', 'integer'],
      ['quota', 'integer'],
      ['issuer', 'integer'],
      ['assets', 'integers'],
      ['template', 'object'],
    ),
  },
  company: {
    fields: fields(['id', 'integer'], ['name', 'text'], ['status', 'text', ['active', 'archived']]),
  },
  user: {
    fields: fields(
      ['id', 'integer'],
      ['first_name', 'text'],
      ['last_name', 'text'],
      ['email', 'text'],
      ['role', 'text', ['admin', 'user']],
      ['status', 'text', ['has_site_access', 'no_site_access', 'removed']],
    ),
  },
  category: {
    filters: { category: 'name', subcategories: 'subcategory' },
    fields: fields(['id', 'integer'], ['category', 'text'], ['subcategories', 'texts']),
  },
  'usage-status': {
    // The interface declares the `name` parameter as an int, so it cannot be trusted to filter by name.
    fields: fields(['id', 'integer'], ['company_id', 'integer'], ['name', 'text'], ['set_as_default', 'boolean']),
  },
  'asset-owner': {
    fields: fields(['id', 'integer'], ['name', 'text'], ['email', 'text'], ['phone', 'text']),
  },
  'custom-field-template': {
    fields: fields(
      ['id', 'integer'],
      ['name', 'text'],
      ['is_active', 'boolean'],
      ['type', 'text', ['asset', 'contract', 'supplier']],
      ['fields', 'objects'],
    ),
  },
  'custom-form-template': {
    fields: fields(
      ['id', 'integer'],
      ['name', 'text'],
      ['form_title', 'text'],
      ['type', 'text', ['asset', 'contract', 'customer', 'supplier']],
      ['form_desc', 'text'],
      ['is_active', 'boolean'],
      ['is_default', 'boolean'],
      ['fields', 'objects'],
    ),
  },
};
