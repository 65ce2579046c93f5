import { contactPerson, country, date, exactly, flag, oneOf, reference, template, text } from './kinds.js';
import * as show from './render.js';
import { field, fields, type Resource, readMembers } from './resource.js';

/** Suppliers and customers: interface, sections 2.3, 2.4 and 4.2. */

const commonFields = [
  field('name', text(50), { required: true }),
  field('category', reference('category')),
  field('contact_person', contactPerson),
  ...fields(text(50), 'address_line_1', 'address_line_2', 'city', 'state_province'),
  field('zip_postal_code', text(20)),
  field('country', country),
  ...fields(text(20), 'phone', 'mobile', 'fax'),
  field('website', text(50)),
  field('general_description', text(1000)),
  field('nda_signed', flag, { fallback: false }),
  field('nda_signed_date', date),
  field('msa_signed', flag, { fallback: false }),
  field('msa_signed_date', date),
  ...fields(text(1000), 'supplementary_description', 'additional_description'),
  // Custom field templates know the types asset, contract and supplier: a customer takes those of suppliers.
  field('template', template('supplier')),
];

const ownMembers = [show.entry('category', 'category', 'name=category'), show.template];

const supplierFields = [
  ...commonFields,
  field('type', oneOf('us', 'foreign')),
  ...fields(
    text(50),
    'business_name',
    'business_address_line_1',
    'business_address_line_2',
    'business_city',
    'business_state_province',
  ),
  field('business_zip_postal_code', text(20)),
  field('business_country', country),
  field('ein', exactly(9)),
  field('financial_description', text(1000)),
];

export const supplier: Resource = {
  name: 'supplier',
  indexed: ['name'],
  unique: 'name',
  fields: supplierFields,
  read: readMembers(supplierFields, [], ownMembers),
};

export const customer: Resource = {
  name: 'customer',
  indexed: ['name'],
  unique: 'name',
  fields: commonFields,
  read: readMembers(commonFields, [], ownMembers),
};
