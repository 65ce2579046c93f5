import { asset } from './asset.js';
import { contract } from './contract.js';
import { customer } from './customer.js';
import { READ_ONLY_SPECS, type ReadOnlySpec } from './lookups.js';
import type { FieldSpec, ReadOnlyName, ResourceName, ResourceSpec } from './spec.js';
import { supplier } from './supplier.js';

export type { ReadOnlyField, ReadOnlyKind, ReadOnlySpec } from './lookups.js';

const SPECS: Readonly<Record<ResourceName, ResourceSpec>> = { asset, contract, supplier, customer };

/** The description of a resource that rows can be written to. */
export function resourceSpec(name: ResourceName): ResourceSpec {
  return SPECS[name];
}

/** The description of a resource that can only be read. */
export function readOnlySpec(name: ReadOnlyName): ReadOnlySpec {
  return READ_ONLY_SPECS[name];
}

const indexes = new WeakMap<ResourceSpec, ReadonlyMap<string, FieldSpec>>();

/** The field with this name or alias, without regard to case; custom fields are not among them. */
export function findField(spec: ResourceSpec, name: string): FieldSpec | undefined {
  let index = indexes.get(spec);
  if (!index) {
    index = indexFields(spec);
    indexes.set(spec, index);
  }
  return index.get(name) ?? index.get(name.trim().toLowerCase());
}

function indexFields(spec: ResourceSpec): ReadonlyMap<string, FieldSpec> {
  const index = new Map<string, FieldSpec>();
  for (const field of spec.fields) {
    for (const alias of field.aliases ?? []) index.set(alias, field);
  }
  // A name wins over another field's alias.
  for (const field of spec.fields) index.set(field.name, field);
  return index;
}

/** Names of all fields, in the order of the description: the order of export columns. */
export function fieldNames(spec: ResourceSpec): string[] {
  return spec.fields.map((field) => field.name);
}
