import { choice, country, date, email, field, id, type ResourceSpec, reference, text, yesNo } from './spec.js';

/**
 * The fields that suppliers and customers share (interface, sections 2.3 and 2.4), in groups,
 * so that each resource puts its own fields where its documents have them.
 */
const SHARED = {
  head: [
    field('id', 'Id', id, 'r', { derived: true, note: 'Given by the service; may be the match key.' }),
    field('name', 'Name', text(50), 'rcu', { required: true, note: 'Unique in the account.' }),
    field('category.name', 'Category', reference('category'), '', {
      aliases: ['category'],
      read: 'category',
      create: 'category',
      update: 'category',
    }),
    field('contact_person.name', 'Contact: name', text(50), 'rcu', {
      aliases: ['contact_name', 'contact_person'],
      note: 'Required when the contact has an e-mail address.',
    }),
    field('contact_person.email', 'Contact: e-mail', email(254), 'rcu', {
      aliases: ['contact_email'],
      note: 'Required when the contact has a name.',
    }),
    field(
      'contact_person.type',
      'Contact: type',
      choice(['account_management', 'billing', 'executive', 'sales', 'support', 'technical']),
      'rcu',
      { aliases: ['contact_type'] },
    ),
  ],
  address: [
    field('address_line_1', 'Address line 1', text(50), 'rcu', { aliases: ['address', 'address_1'] }),
    field('address_line_2', 'Address line 2', text(50), 'rcu', { aliases: ['address_2'] }),
    field('city', 'City', text(50), 'rcu'),
    field('state_province', 'State or province', text(50), 'rcu', { aliases: ['state', 'province'] }),
    field('zip_postal_code', 'ZIP or postal code', text(20), 'rcu', {
      aliases: ['zip', 'zip_code', 'postal_code', 'postcode'],
    }),
    field('country', 'Country', country, 'rcu'),
  ],
  contact: [
    field('phone', 'Phone', text(20), 'rcu'),
    field('mobile', 'Mobile', text(20), 'rcu'),
    field('fax', 'Fax', text(20), 'rcu'),
    field('website', 'Website', text(50), 'rcu'),
    field('general_description', 'General description', text(1000), 'rcu', { aliases: ['description'] }),
  ],
  agreements: [
    field('nda_signed', 'NDA signed', yesNo, 'rcu', { aliases: ['nda'] }),
    field('nda_signed_date', 'NDA signed on', date, 'rcu', { aliases: ['nda_date'] }),
    field('msa_signed', 'MSA signed', yesNo, 'rcu', { aliases: ['msa'] }),
    field('msa_signed_date', 'MSA signed on', date, 'rcu', { aliases: ['msa_date'] }),
    field('supplementary_description', 'Supplementary description', text(1000), 'rcu'),
    field('additional_description', 'Additional description', text(1000), 'rcu'),
  ],
};

/** Supplier: interface, sections 2.3 and 4.2. The list has no filters. */
export const supplier: ResourceSpec = {
  name: 'supplier',
  readable: true,
  fields: [
    ...SHARED.head,
    ...SHARED.address,
    ...SHARED.contact,
    field('type', 'Type', choice(['us', 'foreign']), 'rcu', { aliases: ['supplier_type'], note: 'us or foreign.' }),
    field('business_name', 'Business name', text(50), 'rcu'),
    field('business_address_line_1', 'Business address line 1', text(50), 'rcu'),
    field('business_address_line_2', 'Business address line 2', text(50), 'rcu'),
    field('business_city', 'Business city', text(50), 'rcu'),
    field('business_state_province', 'Business state or province', text(50), 'rcu'),
    field('business_zip_postal_code', 'Business ZIP or postal code', text(20), 'rcu'),
    field('business_country', 'Business country', country, 'rcu'),
    field('ein', 'EIN', { kind: 'text', exact: 9 }, 'rcu', {
      note: 'Employer identification number: exactly 9 characters.',
    }),
    field('financial_description', 'Financial description', text(1000), 'rcu'),
    ...SHARED.agreements,
  ],
  filters: {},
  template: { read: 'template', create: 'template', createAsList: false, update: 'template' },
  naturalKeys: ['name'],
  templateTextMax: { create: 50, update: 50 },
  uniqueFields: ['name'],
};

/** Customer: interface section 2.4. It cannot be read or listed; the read form is that of the answer to a create. */
export const customer: ResourceSpec = {
  name: 'customer',
  readable: false,
  fields: [...SHARED.head, ...SHARED.address, ...SHARED.contact, ...SHARED.agreements],
  filters: {},
  template: { read: 'template', create: 'template', createAsList: false, update: 'template' },
  naturalKeys: ['name'],
  templateTextMax: { create: 50, update: 50 },
  uniqueFields: ['name'],
};
