import type { ResourceName, ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';
import { combinedKey } from './combined-key.js';
import type { FileProfile } from './profile.js';
import type { SuggestedKey } from './suggestion.js';

/** Fields that identify a record by nature, the best first. */
const NATURAL: Readonly<Record<ResourceName, readonly string[]>> = {
  asset: ['serial_number', 'asset_tag', 'name'],
  contract: ['number', 'name'],
  supplier: ['name'],
  customer: ['name'],
};

/** A column in which more rows than this have no key of their own is taken only where there is no better one. */
const ENOUGH = 0.98;

/** Others that a record has for itself; taken only where no natural key is mapped. Never an address or free text. */
const IDENTIFYING: Readonly<Record<ResourceName, readonly string[]>> = {
  asset: ['pseudo_number', 'inventory_no', 'ssb_tag', 'uscp_no', 'mac_address'],
  contract: [],
  supplier: ['ein', 'business_name', 'website', 'contact_person.email'],
  // Of a customer nothing but the name can be looked up.
  customer: [],
};

/** The mapped column, or columns, that tell records apart, measured; undefined where none can be a key. */
export function chooseKey(
  spec: ResourceSpec,
  assigned: readonly Assigned[],
  file: Pick<FileProfile, 'rows' | 'sample' | 'whole'>,
): SuggestedKey | undefined {
  const measured = assigned.flatMap((one) => (one.mapped ? [measure(spec, one, file.rows)] : []));
  const among = (fields: readonly string[]) =>
    fields.flatMap((field) => measured.find((one) => one.field === field) ?? []);
  const natural = among(NATURAL[spec.name]);
  return (
    natural.find(({ fits }) => fits) ??
    combinedKey(spec, assigned, { ...file, leading: [...NATURAL[spec.name], ...IDENTIFYING[spec.name]] }, ENOUGH) ??
    mostUsable(natural) ??
    mostUsable(among(IDENTIFYING[spec.name]))
  );
}

function mostUsable(keys: readonly SuggestedKey[]): SuggestedKey | undefined {
  return keys.reduce<SuggestedKey | undefined>(
    (best, key) => (best && best.usable >= key.usable ? best : key),
    undefined,
  );
}

function measure(spec: ResourceSpec, { column, mapped }: Assigned, rows: number): SuggestedKey {
  const { profile } = column;
  const field = mapped!.field.name;
  const unreadable = mapped!.fit.unreadable ?? 0;
  const usable = profile.filled - profile.repeats - unreadable;
  const natural = NATURAL[spec.name].includes(field);
  const fits = natural && rows > 0 && usable / rows >= ENOUGH;
  return {
    field,
    heading: profile.heading,
    also: [],
    wholeRepeats: 0,
    unreadable,
    usable,
    blank: profile.blank,
    repeats: profile.repeats,
    counted: profile.counted,
    fits,
    natural,
    uniqueField: fits && spec.name === 'asset' && (field === 'name' || field === 'serial_number') ? field : undefined,
  };
}
