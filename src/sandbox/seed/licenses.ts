import { createHash } from 'node:crypto';
import type { License } from '../lookups.js';

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

export const LICENSES: readonly License[] = Array.from({ length: 40 }, (_, index): License => {
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
