import { counterpartyFields } from './counterparty.js';
import { choice, country, fieldsOf, text } from './define.js';
import type { ResourceSpec } from './spec.js';

/** Supplier: interface sections 2.3 and 4.2. The list has no filters. */

const field = fieldsOf('2.3');
const shared = counterpartyFields('2.3');

export const supplier: ResourceSpec = {
  name: 'supplier',
  readPath: '/supplier/',
  writePath: '/supplier',
  fields: [
    ...shared.head,
    ...shared.address,
    ...shared.contact,
    field(
      'type',
      'Type',
      choice(['us', 'foreign'], {
        usa: 'us',
        unitedstates: 'us',
        domestic: 'us',
        nonus: 'foreign',
        international: 'foreign',
        overseas: 'foreign',
      }),
      'rcu',
      { aliases: ['supplier_type'], note: 'us or foreign.' },
    ),
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
    ...shared.agreements,
  ],
  filters: {},
  template: { read: 'template', create: 'template', createAsList: false, update: 'template' },
  templateTextMax: { create: 50, update: 50 },
  guarded: ['name'],
};
