import type { RowsJob } from '../../model/job.js';
import { type Fields, isEmpty, sameValue, type Value } from '../../model/value.js';
import type { FieldSpec, ResourceSpec } from '../../resources/spec.js';
import type { Json, KnownIds } from '../../service/port.js';
import { decodeFields, encodeFields } from '../codec.js';
import { keyOf } from '../match/key.js';
import { isNarrowEnum } from './merge.js';

/** What of a context tells which fields reads show, and where the rest is remembered. */
interface Memory {
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

const NOTHING = (): void => undefined;

const unseenBy = new WeakMap<Memory['specOf'], Map<string, boolean>>();

/** Whether reads do not show what is written to a field. Remembered: it is asked for every value of every row. */
export function isUnseen(
  field: string,
  memory: Pick<Memory, 'spec' | 'specOf'>,
  told = within(unseenBy, memory.specOf),
): boolean {
  let unseen = told.get(field);
  if (unseen === undefined) {
    unseen = isHidden(field, memory);
    told.set(field, unseen);
  }
  return unseen;
}

function isHidden(field: string, { spec, specOf }: Pick<Memory, 'spec' | 'specOf'>): boolean {
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

/** The same before the record has an id: kept from before the request goes out until the id is known. The answer takes it back. */
export function rememberUnnamed(fields: Fields, memory: Memory): () => void {
  const { spec, known } = memory;
  const kept = keptOf(fields, memory);
  if (Object.keys(kept).length === 0) return NOTHING;
  const before = identities(fields, memory).map(
    (identity) => [identity, known.lastWrittenAs(spec.name, identity)] as const,
  );
  for (const [identity] of before) known.rememberAs(spec.name, identity, encodeFields(kept) as Json);
  return () => {
    for (const [identity, was] of before) known.rememberAs(spec.name, identity, was);
  };
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
  if (byId) return withSent(id, row, byId, memory);
  const natural = record?.[NATURAL[spec.name]];
  for (const identity of identities(
    typeof natural === 'string' ? { ...row, [NATURAL[spec.name]]: natural } : row,
    memory,
  )) {
    const found = known.lastWrittenAs(spec.name, identity);
    if (found) return withSent(id, row, found, memory);
  }
  return withSent(id, row, undefined, memory);
}

/**
 * Updates that this process is sending, by the book that they are noted in: to itself they are not done yet. With what an
 * earlier update without a known outcome was to leave there.
 */
const underWay = new WeakMap<KnownIds, Map<string, Json | undefined>>();
const flushing = new WeakMap<KnownIds, Promise<void>>();

/**
 * What an update is about to leave in a record and reads do not show, on disk before it goes out: where its outcome never
 * becomes known, because the process dies or the service is silent, a later update carries this over, not what was before.
 */
export async function rememberSent(id: number, changed: Fields, memory: Memory): Promise<void> {
  const { spec, known } = memory;
  const sent = Object.entries(changed).filter(([field]) => spec.readPath === undefined || isUnseen(field, memory));
  if (sent.length === 0) return;
  const key = sentKey(id, memory);
  const sending = within(underWay, known);
  if (!sending.has(key)) sending.set(key, known.lastWrittenAs(spec.name, key));
  known.rememberAs(spec.name, key, { ...sending.get(key), ...(encodeFields(Object.fromEntries(sent)) as Json) });
  // Those that go out together share one write to the disk.
  let flushed = flushing.get(known);
  if (!flushed) {
    flushed = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      flushing.delete(known);
      return known.flush();
    });
    flushing.set(known, flushed);
  }
  await flushed;
}

/** The outcome of the update is known: the record holds what was carried and set, also of an earlier update. */
export function forgetSent(id: number, memory: Memory): void {
  memory.known.rememberAs(memory.spec.name, sentKey(id, memory), undefined);
  underWay.get(memory.known)?.delete(sentKey(id, memory));
}

/** The update did not take effect: what an earlier one may have left is as uncertain as before. */
export function takeBackSent(id: number, memory: Memory): void {
  const key = sentKey(id, memory);
  const sending = underWay.get(memory.known);
  if (!sending?.has(key)) return;
  memory.known.rememberAs(memory.spec.name, key, sending.get(key));
  sending.delete(key);
}

/** No identity of a record: those are a field, `=` and a key. */
const sentKey = (id: number, { spec }: Memory): string => `sent ${spec.name} ${id}`;

function within<K extends object, V>(maps: WeakMap<K, Map<string, V>>, key: K): Map<string, V> {
  let map = maps.get(key);
  if (!map) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}

/**
 * Adds what an update without a known outcome was to leave there. Whether it did is not certain: what the row itself sets
 * counts as a change, whichever of both values it has.
 */
function withSent(id: number | undefined, row: Fields, last: Json | undefined, memory: Memory): Json | undefined {
  if (id === undefined) return last;
  const key = sentKey(id, memory);
  const sending = underWay.get(memory.known);
  const sent = sending?.has(key) ? sending.get(key) : memory.known.lastWrittenAs(memory.spec.name, key);
  if (!sent) return last;
  // A record that cannot be read is known whole or not at all.
  if (last === undefined && memory.spec.readPath === undefined) return undefined;
  const fields: Record<string, Value> = { ...decodeFields(last ?? {}) };
  for (const [field, value] of Object.entries(decodeFields(sent))) {
    const own = row[field];
    if (own === undefined || (sameValue(own, fields[field]) && !sameValue(own, value))) fields[field] = value;
  }
  return encodeFields(fields) as Json;
}

/** By its natural key and by the key of the job: the next job may match by another one. */
function identities(fields: Fields, { spec, job }: Memory): string[] {
  const natural = NATURAL[spec.name];
  const { key } = job.match;
  const found: string[] = [];
  const byNatural = keyOf(fields, [natural]);
  if (byNatural !== '') found.push(`${natural}=${byNatural}`);
  if (key.length === 1 && (key[0] === natural || key[0] === 'id')) return found;
  const byKey = keyOf(fields, key);
  if (byKey !== '') found.push(`${key.join('+')}=${byKey}`);
  return found;
}

function keptOf(fields: Fields, memory: Memory): Record<string, Value> {
  if (memory.spec.name === 'customer') return { ...fields };
  const kept: Record<string, Value> = {};
  const told = within(unseenBy, memory.specOf);
  for (const field of Object.keys(fields)) {
    if (!isUnseen(field, memory, told)) continue;
    const value = fields[field];
    if (value !== undefined && !isEmpty(value)) kept[field] = value;
  }
  return kept;
}
