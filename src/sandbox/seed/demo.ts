import { createHash } from 'node:crypto';
import type { WritableName } from '../kinds.js';
import type {
  Category,
  CustomField,
  DataType,
  FieldTemplate,
  FormTemplate,
  License,
  LookupEntry,
} from '../stored-record.js';
import { asObject, type JsonObject, parseJson, toJson } from '../values.js';
import type { World } from '../world.js';
import { insertRecord } from '../write.js';
import {
  ARCHIVED_ASSETS,
  ARCHIVED_SUPPLIER,
  ASSETS,
  archivedContract,
  CONTRACTS,
  CUSTOMERS,
  SUPPLIERS,
} from './records.js';

/** An hour between one seeded record and the next, from this moment on: creation order is also age. */
const FIRST = Date.UTC(2024, 0, 8, 9);
const HOUR = 3_600_000;

/** The two companies with their look-ups and no records. Entries belong to company 1. */
export function seedCompanies(world: World): void {
  const { lookups: store } = world;
  for (const item of COMPANIES) store.put('company', null, item);
  for (const item of USERS) store.put('user', null, item);
  for (const item of CATEGORIES) store.put('category', 1, item);
  for (const item of OWNERS) store.put('asset-owner', 1, item);
  for (const item of USAGE_STATUSES) store.put('usage-status', 1, item);
  for (const item of BUSINESS_UNITS) store.put('business-unit', 1, item);
  for (const item of HARDWARE_MODELS) store.put('hardware-model', 1, item);
  for (const item of FIELD_TEMPLATES) store.put('custom-field-template', 1, item);
  for (const item of FORM_TEMPLATES) store.put('custom-form-template', 1, item);
}

/** The same, with the demo's records: always the same ones with the same ids. */
export function seedDemo(world: World): void {
  seedCompanies(world);
  let hours = 0;
  const insert = (resource: WritableName, body: object | string): number => {
    const value = typeof body === 'string' ? parseJson(body) : toJson(body);
    return insertRecord(world, resource, asObject(value) as JsonObject, FIRST + hours++ * HOUR).id;
  };
  for (const body of SUPPLIERS) insert('supplier', body);
  for (const body of CUSTOMERS) insert('customer', body);
  for (const body of CONTRACTS) insert('contract', body);
  for (const body of ASSETS) insert('asset', body);
  for (const item of LICENSES) world.lookups.put('license', 1, item);
  insert('contract', archivedContract(insert('supplier', ARCHIVED_SUPPLIER)));
  for (const body of ARCHIVED_ASSETS) insert('asset', body);
}

/** The look-up data of the demo account. */

const COMPANIES: readonly LookupEntry[] = [
  { id: 1, name: 'Northwind Operations', status: 'active' },
  { id: 2, name: 'Northwind Archive', status: 'archived' },
];

const user = (
  id: number,
  first_name: string,
  last_name: string,
  mailbox: string,
  role: 'admin' | 'user',
  status: 'has_site_access' | 'no_site_access' | 'removed',
): LookupEntry => ({ id, first_name, last_name, email: `${mailbox}@northwind.example`, role, status });

const USERS: readonly LookupEntry[] = [
  user(1, 'Ada', 'Park', 'ada.park', 'admin', 'has_site_access'),
  user(2, 'Zoë', 'Müller', 'zoe.mueller', 'user', 'no_site_access'),
  user(3, '明', '山田', 'akira.yamada', 'user', 'removed'),
];

const category = (id: number, name: string, subcategories: string[] | null): Category => ({
  id,
  category: name,
  subcategories,
});

const CATEGORIES: readonly Category[] = [
  category(1, 'Laptop', ['Business', 'Engineering', 'Rugged']),
  category(2, 'Desktop', ['Office', 'Workstation']),
  category(3, 'Server', ['Rack', 'Blade', 'Tower']),
  category(4, 'Network', ['Switch', 'Router', 'Firewall', 'Access Point']),
  category(5, 'Monitor', ['Standard', 'Wide']),
  category(6, 'Phone', ['Smartphone', 'Desk Phone']),
  category(7, 'Printer', ['Laser', 'Label']),
  category(8, 'Software', ['Subscription', 'Perpetual']),
  category(9, 'Services', ['Consulting', 'Maintenance', 'Telecom']),
  category(10, 'Facilities', null),
];

const owner = (id: number, name: string, mailbox: string): LookupEntry => ({
  id,
  name,
  email: `${mailbox}@northwind.example`,
  phone: `+1 555 01${String(id).padStart(2, '0')}`,
});

/** 9 and 10 share their name. */
const OWNERS: readonly LookupEntry[] = [
  owner(1, 'Ada Park', 'ada.park'),
  owner(2, 'Ben Osei', 'ben.osei'),
  owner(3, 'Chloé Martin', 'chloe.martin'),
  owner(4, 'Dmitri Volkov', 'dmitri.volkov'),
  owner(5, 'Elena Rossi', 'elena.rossi'),
  owner(6, 'Farid Haddad', 'farid.haddad'),
  owner(7, 'Grace Kim', 'grace.kim'),
  owner(8, 'Hugo Jensen', 'hugo.jensen'),
  owner(9, 'Sam Lee', 'sam.lee'),
  owner(10, 'Sam Lee', 'sam.lee2'),
];

const status = (id: number, name: string): LookupEntry => ({ id, company_id: 1, name, set_as_default: id === 1 });

/** "In repair" has no word in the asset update body. */
const USAGE_STATUSES: readonly LookupEntry[] = [
  status(1, 'Production'),
  status(2, 'Non production'),
  status(3, 'None'),
  status(4, 'Other'),
  status(5, 'In repair'),
];

const unit = (id: number, name: string, contact: string, mailbox: string): LookupEntry => ({
  id,
  name,
  contact_name: contact,
  contact_email: `${mailbox}@northwind.example`,
  contact_phone_number: `+1 555 02${String(id).padStart(2, '0')}`,
});

const BUSINESS_UNITS: readonly LookupEntry[] = [
  unit(1, 'IT Operations', 'Ada Park', 'ada.park'),
  unit(2, 'Finance', 'Elena Rossi', 'elena.rossi'),
  unit(3, 'Field Services', 'Ben Osei', 'ben.osei'),
  unit(4, 'Research', 'Chloé Martin', 'chloe.martin'),
];

const HARDWARE_MODELS: readonly LookupEntry[] = [
  { id: 1, name: 'Latitude 5450' },
  { id: 2, name: 'ThinkPad T14' },
  { id: 3, name: 'PowerEdge R660' },
  { id: 4, name: 'Catalyst 9300' },
];

const customFields = (firstId: number, ...named: [string, DataType][]): CustomField[] =>
  named.map(([name, type], index) => ({
    id: firstId + index,
    name,
    data_type: type,
    is_active: true,
    order: index + 1,
  }));

const template = (
  id: number,
  name: string,
  type: FieldTemplate['type'],
  fields: CustomField[],
  active = true,
): FieldTemplate => ({ id, name, is_active: active, type, fields });

const FIELD_TEMPLATES: readonly FieldTemplate[] = [
  template(
    1,
    'Finance',
    'asset',
    customFields(1, ['Cost Centre', 'text'], ['Budget', 'money'], ['Approved On', 'date'], ['Headcount', 'number']),
  ),
  template(
    2,
    'Procurement',
    'contract',
    customFields(11, ['PO Number', 'text'], ['Savings', 'money'], ['Reviewed On', 'date'], ['Sites', 'number']),
  ),
  template(3, 'Compliance', 'supplier', customFields(21, ['Risk Class', 'text'], ['Audit Date', 'date'])),
  template(4, 'Security', 'asset', customFields(31, ['Classification', 'text'], ['Encrypted', 'text'])),
  template(5, 'Legacy', 'asset', customFields(41, ['Old Code', 'text']), false),
];

const form = (
  id: number,
  name: string,
  type: FormTemplate['type'],
  description: string,
  fields: CustomField[],
): FormTemplate => ({
  id,
  name,
  form_title: name,
  type,
  form_desc: description,
  is_active: true,
  is_default: false,
  fields,
});

const FORM_TEMPLATES: readonly FormTemplate[] = [
  form(
    1,
    'Data centre',
    'asset',
    'Where a machine stands and what it draws',
    customFields(101, ['Rack', 'text'], ['Unit', 'number'], ['Power Draw', 'number'], ['Installed', 'date']),
  ),
  form(
    2,
    'Renewal checklist',
    'contract',
    'What is due before a renewal',
    customFields(111, ['Owner', 'text'], ['Budget', 'money'], ['Due', 'date']),
  ),
  form(3, 'Onboarding', 'customer', 'How a customer came to us', customFields(121, ['Segment', 'text'])),
];

/** The 40 licenses of the demo company. */

const NAMES = ['Office Suite', 'CAD Studio', 'Backup Manager', 'Antivirus', 'Éditeur PDF', 'Database Server'];
const TYPES = [
  'Product',
  'Support',
  'Perpetual',
  'Concurrent',
  'Volume',
  'Single-User',
  'Trial',
  'Enterprise',
  'Warranty',
];
const STATES = ['Active', 'Active', 'Inactive', 'Expired', 'Renewed'] as const;
const STATUSES = ['Assigned', 'Assigned', 'Unassigned', 'Pending Activation', 'Transferred'] as const;
const TERMS = ['Years', 'Months', 'Days'] as const;

const LICENSES: readonly License[] = Array.from({ length: 40 }, (_, index): License => {
  const id = index + 1;
  const year = 2022 + (index % 3);
  const month = String((index % 12) + 1).padStart(2, '0');
  const hash = createHash('sha256').update(`license ${id}`).digest('hex');
  return {
    license_id: id,
    hashed_id: hash.slice(0, 16),
    public_license_id: 700_000 + id,
    license_name: `${NAMES[index % NAMES.length]} ${year}`,
    type: TYPES[index % TYPES.length]!,
    state: STATES[index % STATES.length]!,
    status: STATUSES[index % STATUSES.length]!,
    issued_date: `${year}-${month}-01`,
    activation_date: index % 5 === 3 ? null : `${year}-${month}-05`,
    claimed_date: index % 4 === 0 ? null : `${year}-${month}-07`,
    expiry_date: index % 9 === 2 ? null : `${year + 2}-${month}-01`,
    is_transferrable: index % 2 === 0,
    is_key_universal: index % 7 === 0,
    license_key_number: hash
      .slice(16, 41)
      .toUpperCase()
      .replace(/(.{5})(?=.)/g, '$1-'),
    notes: index % 6 === 0 ? 'Réservé au siège' : null,
    stock_keeping_unit: `SKU-${String(9_000 + id)}`,
    term_type: TERMS[index % TERMS.length]!,
    term_value: [2, 24, 730][index % 3]!,
    quota: 5 * ((index % 10) + 1),
    issuer: (index % 10) + 1,
    assets: index % 2 === 0 ? [id, id + 40] : [],
    template: index % 8 === 0 ? { Entitlement: { Metric: 'Named user', Region: 'EMEA' } } : {},
  };
});
