import { counterpartyFields } from './counterparty.js';
import type { ResourceSpec } from './spec.js';

/**
 * Customer: interface section 2.4. It cannot be read or listed; the read form is that of the answer to a create.
 */

const shared = counterpartyFields('2.4');

export const customer: ResourceSpec = {
  name: 'customer',
  writePath: '/customer',
  fields: [...shared.head, ...shared.address, ...shared.contact, ...shared.agreements],
  filters: {},
  template: { read: 'template', create: 'template', createAsList: false, update: 'template' },
  templateTextMax: { create: 50, update: 50 },
  guarded: ['name'],
};
