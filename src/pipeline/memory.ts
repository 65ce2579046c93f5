import type { RowsJob } from '../model/job.js';
import { type Fields, isEmpty, type Value } from '../model/value.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import type { Json, KnownIds } from '../service/port.js';
import { encodeFields } from './codec.js';
import { keyOf } from './key.js';
import { isNarrowEnum } from './merge.js';

/** What of a context tells which fields reads show, and where the rest is remembered. */
export interface Memory {
  readonly spec: ResourceSpec;
  readonly specOf: (field: string) => FieldSpec | undefined;
  readonly known: KnownIds;
  readonly job: RowsJob;
}

/** Fields that identify a record by themselves, also where a job matches by others. */
const NATURAL: Readonly<Record<ResourceSpec['name'], string>> = {
  asset: 'serial_number',
  contract: 'number',
  supplier: 'name',
  customer: 'name',
};

/** Whether reads do not show what is written to a field. */
export function isUnseen(field: string, { spec, specOf }: Pick<Memory, 'spec' | 'specOf'>): boolean {
  if (field.startsWith('template.')) return false;
  if (field.startsWith('form.')) return spec.form?.read === undefined;
  const one = specOf(field);
  return one?.read === undefined || isNarrowEnum(one);
}

/** Keeps what cannot be read back: a customer whole, of other records the fields that reads do not show. */
export function remember(id: number, fields: Fields, memory: Memory): void {
  const { spec, known } = memory;
  for (const identity of identities(fields, memory)) known.rememberAs(spec.name, identity, undefined);
  if (spec.name === 'customer' && typeof fields['name'] === 'string') known.learn('customer', id, fields['name']);
  const kept = keptOf(fields, memory);
  if (spec.name === 'customer' || Object.keys(kept).length > 0 || known.lastWritten(spec.name, id)) {
    known.remember(spec.name, id, encodeFields(kept) as Json);
  }
}

/** The same before the record has an id: kept from before the request goes out until the id is known. */
export function rememberUnnamed(fields: Fields, memory: Memory): void {
  const kept = keptOf(fields, memory);
  if (Object.keys(kept).length === 0) return;
  for (const identity of identities(fields, memory)) {
    memory.known.rememberAs(memory.spec.name, identity, encodeFields(kept) as Json);
  }
}

/** The record was not made after all. */
export function forgetUnnamed(fields: Fields, memory: Memory): void {
  for (const identity of identities(fields, memory)) memory.known.rememberAs(memory.spec.name, identity, undefined);
}

/** What our last write left in a record that reads do not show; the row and the record are what identifies it. */
export function lastWritten(
  id: number | undefined,
  row: Fields,
  record: Json | undefined,
  memory: Memory,
): Json | undefined {
  const { spec, known } = memory;
  const byId = id === undefined ? undefined : known.lastWritten(spec.name, id);
  if (byId) return byId;
  const natural = record?.[NATURAL[spec.name]];
  for (const identity of identities(
    typeof natural === 'string' ? { ...row, [NATURAL[spec.name]]: natural } : row,
    memory,
  )) {
    const found = known.lastWrittenAs(spec.name, identity);
    if (found) return found;
  }
  return undefined;
}

/** By its natural key and by the key of the job: the next job may match by another one. */
function identities(fields: Fields, { spec, job }: Memory): string[] {
  const natural = NATURAL[spec.name];
  return [[natural], job.match.key]
    .filter((key, at) => at === 0 || key.length > 1 || (key[0] !== natural && key[0] !== 'id'))
    .map((key) => ({ key, text: keyOf(fields, key) }))
    .filter(({ text }) => text !== '')
    .map(({ key, text }) => `${key.join('+')}=${text}`);
}

function keptOf(fields: Fields, memory: Memory): Record<string, Value> {
  if (memory.spec.name === 'customer') return { ...fields };
  const kept: Record<string, Value> = {};
  for (const field of Object.keys(fields)) {
    const value = fields[field];
    if (value !== undefined && !isEmpty(value) && isUnseen(field, memory)) kept[field] = value;
  }
  return kept;
}
