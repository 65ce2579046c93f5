import type { ResourceName, ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';
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

/** The mapped column that tells records apart, measured; undefined where none can be a key. */
export function chooseKey(spec: ResourceSpec, assigned: readonly Assigned[], rows: number): SuggestedKey | undefined {
  const measured = assigned.flatMap((one) => (one.mapped ? [measure(spec, one, rows)] : []));
  const natural = NATURAL[spec.name].flatMap((field) => measured.find((one) => one.field === field) ?? []);
  const good = natural.find(({ fits }) => fits);
  if (good) return good;
  const best = mostUsable(natural);
  if (best) return best;
  // Of a customer nothing but the name can be looked up.
  if (spec.readPath === undefined) return undefined;
  const able = new Set(
    assigned.flatMap(({ mapped }) => {
      const kind = mapped?.field.type.kind;
      const notes = /notes|description/.test(mapped?.field.name ?? '');
      return mapped?.field.read !== undefined && (kind === 'text' || kind === 'email') && !notes
        ? [mapped.field.name]
        : [];
    }),
  );
  return mostUsable(measured.filter(({ field }) => able.has(field)));
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
  const usable = profile.filled - profile.repeats;
  const natural = NATURAL[spec.name].includes(field);
  const fits = natural && rows > 0 && usable / rows >= ENOUGH;
  return {
    field,
    heading: profile.heading,
    usable,
    blank: profile.blank,
    repeats: profile.repeats,
    counted: profile.counted,
    fits,
    natural,
    uniqueField: fits && spec.name === 'asset' && (field === 'name' || field === 'serial_number') ? field : undefined,
  };
}
