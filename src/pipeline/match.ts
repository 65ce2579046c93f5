import { readRecord } from '../resources/read.js';
import type { Lexicon, ResourceSpec } from '../resources/spec.js';
import type { Json, Page, Readable, Service, Snapshot } from '../service/port.js';
import { askFilter, type Filter, listIsCheaper, PAGE_SIZE, trustFilter } from './filter.js';
import { type Keys, keyOf, keyParts } from './key.js';
import { probes, probeValues } from './probe-values.js';
import type { ReadAll } from './read-all.js';

/** Look-ups started at once; how many are in flight is the service's business. */
const WAVE = 64;
/** Ids that are read one by one without asking first what the list would cost. */
const FEW_IDS = 20;
/** Times a list is read that changes meanwhile. */
const MOST_READINGS = 3;

export interface MatchOptions {
  readonly spec: ResourceSpec;
  readonly key: readonly string[];
  readonly service: Service;
  readonly lexicon: Lexicon;
  readonly snapshot: Snapshot;
  readonly readAll: ReadAll;
  /** Sees every record that is kept. */
  readonly onRecord?: (record: Json) => void;
  readonly now: () => number;
}

/** Values to filter by, in normal form, and how the file spells each otherwise. */
export type Values = ReadonlyMap<string, readonly string[]>;

/**
 * Finds the records that the keys of a file may match, the cheapest way in requests, and keeps them in the snapshot.
 * Returns how it was done, in words.
 *
 *   a key the service cannot filter by, or more keys than the list has pages → the whole list
 *   serial numbers → probe, 500 in a request; those that exist: one filtered request each, or the list if that is cheaper
 *   other keys → one filtered request each, after a positive control
 *
 * What a filter returns is checked by exact key; what it does not return is believed only where it has found a record
 * that is known to exist. Interface, sections 4.4 and 8.
 */
export async function matchKeys(keys: Keys, options: MatchOptions): Promise<string> {
  if (keys.size === 0) return 'no keys to look up';
  const { spec, service, readAll } = options;
  if (!spec.readPath || spec.name === 'customer')
    return 'customers cannot be read: matched with what earlier runs wrote';
  const resource = spec.name as Readable;
  const ids = options.key.length === 1 && options.key[0] === 'id';
  if (ids && keys.size <= FEW_IDS) return byId(keys, options);
  const first = await readAll.first(resource);
  const listFor = (lookUps: number) => readAll.has(resource) || listIsCheaper(first.count, lookUps);
  const mirror = async (why: string) => {
    const { how, certified } = await readList(why, keys, first, options);
    await (certified ? lookAgain(keys, first, options) : lookAgain(keys, first, options, Number.POSITIVE_INFINITY));
    return how;
  };
  if (ids) return listFor(keys.size) ? mirror('cheapest') : byId(keys, options);
  const filter = filterFor(options);
  if (!filter) return mirror('no filter for the key');
  let values = valuesOf(keys, filter, options);
  if (values.has('')) return mirror('parts of the key are blank');
  const canProbe = isProbed(filter);
  if (listFor(canProbe ? probes(values.size) : values.size)) return mirror('cheapest');
  let how = 'filtered by key';
  if (canProbe && (values.size > 1 || values.has('list'))) {
    const probed = await probeValues(values, first, service);
    if (probed === 'dear') return mirror('cheapest, as a probe showed');
    if (probed) {
      how = `probed ${values.size} serial numbers, ${probed.size} exist`;
      if (probed.size === 0) return how;
      values = probed;
    }
  }
  if (values.has('list')) return mirror('the serial number "list" cannot be filtered by');
  if (listFor(values.size)) return mirror(how);
  const known = how !== 'filtered by key';
  if (!known && !(await trustFilter(service, filter, first))) return mirror('the filter cannot be trusted');
  const answered = await ask(values, known, { filter, keys, count: first.count }, options);
  return answered ? `${how}, one request for each` : mirror('the filter cannot be trusted');
}

/** Reads the list whole; again while it changes under the reading, because a record may have slipped through. */
async function readList(
  why: string,
  keys: Keys,
  first: Page,
  options: MatchOptions,
): Promise<{ readonly how: string; readonly certified: boolean }> {
  const pages = Math.ceil(first.count / PAGE_SIZE);
  let readings = 0;
  let certified = false;
  while (!certified && readings++ < MOST_READINGS) {
    ({ certified } = await options.readAll(options.spec.name as Readable, (records, at) =>
      keep(records, keys, at, options),
    ));
  }
  const times = readings > 1 ? `, ${Math.min(readings, MOST_READINGS)} times because it changed` : '';
  const how = `${why}: read the whole list, ${first.count} records on ${pages} ${pages === 1 ? 'page' : 'pages'}${times}`;
  return { how, certified };
}

/**
 * A record that moved to a page already read, while another took its place in the count, was missed by a list that
 * looks whole. Where a few requests tell (`most` of them), the keys that were not found are asked for once more. False where they were not, or the filter cannot be believed.
 */
export async function lookAgain(
  keys: Keys,
  first: Page,
  options: MatchOptions,
  most = Math.ceil(first.count / PAGE_SIZE / 20),
): Promise<boolean> {
  const filter = filterFor(options);
  const missing = new Map([...keys].filter(([key]) => options.snapshot.ids(key).length === 0));
  if (missing.size === 0 || first.count === 0) return true;
  if (!filter || (first.count <= PAGE_SIZE && most !== Number.POSITIVE_INFINITY)) return false;
  let values = valuesOf(missing, filter, options);
  if (values.has('')) return false;
  // Where the list tells nothing, the filter has to be one that finds what is there.
  if (most === Number.POSITIVE_INFINITY && !(await trustFilter(options.service, filter, first))) return false;
  if (isProbed(filter) && probes(values.size) <= most) {
    const probed = await probeValues(values, first, options.service);
    // A probe that tells nothing leaves the filters.
    if (probed && probed !== 'dear') values = probed;
    else if (values.size > most) return false;
  } else if (values.size > most) return false;
  return ask(values, false, { filter, keys, count: first.count }, options);
}

/** Whether the service can be asked for many values of the filter in one request. */
export function isProbed(filter: Filter): boolean {
  return filter.resource === 'asset' && filter.field === 'serial_number';
}

/** The key of a record of the service, compared like the keys of the file. */
export function recordKey(record: Json, options: Pick<MatchOptions, 'spec' | 'key' | 'lexicon'>): string {
  const { fields } = readRecord(keySpec(options), record, options.lexicon);
  const id = options.key.includes('id') && typeof record['id'] === 'number' ? { id: record['id'] } : {};
  return keyOf({ ...fields, ...id }, options.key);
}

const keySpecs = new WeakMap<ResourceSpec, { key: string; spec: ResourceSpec }>();

/** Only the key's fields: a mirror reads many records of which few are wanted. */
function keySpec(options: Pick<MatchOptions, 'spec' | 'key'>): ResourceSpec {
  const key = options.key.join('\n');
  const cached = keySpecs.get(options.spec);
  if (cached?.key === key) return cached.spec;
  const spec = { ...options.spec, fields: options.spec.fields.filter((field) => options.key.includes(field.name)) };
  keySpecs.set(options.spec, { key, spec });
  return spec;
}

async function keep(records: readonly Json[], keys: Keys, readAt: number, options: MatchOptions): Promise<void> {
  for (const record of records) {
    if (typeof record['id'] !== 'number') continue;
    const key = recordKey(record, options);
    if (key === '' || !keys.has(key)) continue;
    options.onRecord?.(record);
    await options.snapshot.add(record['id'], record, key, readAt);
  }
}

async function byId(keys: Keys, options: MatchOptions): Promise<string> {
  const resource = options.spec.name as Readable;
  await inWaves([...keys.keys()], async (key) => {
    const record = await options.service.get(resource, Number(key));
    if (!record) return;
    options.onRecord?.(record);
    await options.snapshot.add(Number(key), record, key, options.now());
  });
  return 'read by id, one request for each';
}

/** The filter that narrows most: the first part of the key that has one and is text. */
export function filterFor(options: MatchOptions): Filter | undefined {
  for (const field of options.key) {
    const parameter = options.spec.filters[field];
    const read = options.spec.fields.find((one) => one.name === field)?.read;
    if (parameter && read) return { resource: options.spec.name as Readable, parameter, field: read };
  }
  return undefined;
}

/** The part of a key that the filter compares; '' where it is blank or a key for people cannot be taken apart. */
function part(key: string, filter: Filter, options: MatchOptions): string {
  const index = options.key.findIndex((field) => options.spec.filters[field] === filter.parameter);
  const parts = keyParts(key, options.key.length);
  return parts?.[index] ?? '';
}

/** What to filter by: the keys themselves, or of keys of several fields the one part that a filter compares. */
export function valuesOf(keys: Keys, filter: Filter, options: MatchOptions): Values {
  if (options.key.length === 1) return keys;
  const values = new Map<string, readonly string[]>();
  for (const [key, spellings] of keys) {
    const value = part(key, filter, options);
    const others = new Set(values.get(value) ?? []);
    for (const spelling of spellings) others.add(part(spelling, filter, options));
    others.delete(value);
    values.set(value, others.size === 0 ? NONE : [...others]);
  }
  return values;
}

const NONE: readonly string[] = [];

/**
 * Filters for each value. False where the filter is not to be believed: an answer too long for a filter's, or of values
 * that are `known` to exist one that was not found.
 */
async function ask(
  values: Values,
  known: boolean,
  { filter, keys, count }: { filter: Filter; keys: Keys; count: number },
  options: MatchOptions,
): Promise<boolean> {
  let believed = true;
  const one = async ([value, spellings]: readonly [string, readonly string[]]) => {
    let found = false;
    for (const text of [value, ...spellings]) {
      if (text === '' || text.trim() === 'list') continue;
      const records = await askFilter(options.service, filter, text, count);
      if (!records) {
        believed = false;
        return;
      }
      found ||= records.some((record) => keyOf({ value: String(record[filter.field] ?? '') }, ['value']) === value);
      await keep(records, keys, options.now(), options);
    }
    if (known && !found) believed = false;
  };
  // The first goes alone: it shows a filter that is ignored before many are sent.
  const all = [...values];
  await inWaves(all.slice(0, 1), one, () => believed);
  await inWaves(all.slice(1), one, () => believed);
  return believed;
}

async function inWaves<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  goOn: () => boolean = () => true,
): Promise<void> {
  for (let at = 0; at < items.length && goOn(); at += WAVE) await Promise.all(items.slice(at, at + WAVE).map(work));
}
