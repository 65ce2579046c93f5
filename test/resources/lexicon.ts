import { findCountry } from '../../src/resources/countries.js';
import type { CustomTemplate, Lexicon } from '../../src/resources/spec.js';

/** A small service's names: templates 5 and 6, form 3, hardware model 71, usage statuses. */

const field = (id: number, name: string, dataType: CustomTemplate['fields'][number]['dataType']) => ({
  id,
  name,
  dataType,
  active: true,
});

export const FINANCE: CustomTemplate = {
  id: 5,
  name: 'Finance',
  resource: 'asset',
  active: true,
  fields: [
    field(51, 'Cost Centre', 'text'),
    field(52, 'Budget', 'money'),
    field(53, 'Seats', 'number'),
    field(54, 'Reviewed', 'date'),
  ],
};

export const OTHER: CustomTemplate = {
  id: 6,
  name: 'Other',
  resource: 'asset',
  active: true,
  fields: [field(61, 'Colour', 'text'), field(62, '61', 'text')],
};

export const RACKS: CustomTemplate = {
  id: 3,
  name: 'Data centre',
  resource: 'asset',
  active: true,
  fields: [
    field(31, 'Rack', 'text'),
    field(32, 'Units', 'number'),
    field(33, 'Price v1.2', 'money'),
    field(34, 'Photo', 'attachment'),
  ],
};

export const USAGE: Readonly<Record<number, string>> = {
  1: 'Production',
  2: 'Non-Production',
  3: 'None',
  4: 'Other',
  5: 'In storage',
};

export const lexicon: Lexicon = {
  template: (id) => [FINANCE, OTHER].find((one) => one.id === id),
  form: (id) => (id === RACKS.id ? RACKS : undefined),
  idOf: (target, name) => {
    if (target === 'hardware-model' && name === 'PowerEdge R740') return 71;
    if (target === 'usage-status')
      return Number(Object.keys(USAGE).find((id) => USAGE[Number(id)] === name) ?? 0) || undefined;
    return undefined;
  },
  nameOf: (target, id) => (target === 'usage-status' ? USAGE[id] : undefined),
};

export const codeOf = (name: string): number => findCountry(name)?.id ?? 0;
