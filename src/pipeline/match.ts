import { readRecord } from '../resources/read.js';
import type { Lexicon, ResourceSpec } from '../resources/spec.js';
import type { Json, Page, Readable, Service, Snapshot } from '../service/port.js';
import { askFilter, type Filter, listIsCheaper, PAGE_SIZE, trustFilter } from './filter.js';
import { keyOf, keyParts } from './key.js';
import type { ReadAll } from './read-all.js';

/** Serial numbers asked for in one probe. */
const PROBE_SIZE = 500;
/** Look-ups started at once; how many are in flight is the service's business. */
const WAVE = 64;

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

/**
 * Finds the records that the keys of a file may match, the cheapest way in requests, and keeps them in the snapshot.
 * Returns how it was done, in words. What a filter returns is checked by exact key; what a filter does not
 * return is believed only after a positive control. Interface, sections 4.4 and 8.
 */
export async function matchKeys(keys: ReadonlySet<string>, options: MatchOptions): Promise<string> {
  if (keys.size === 0) return 'no keys to look up';
  const { spec, service } = options;
  if (!spec.readPath || spec.name === 'customer')
    return 'customers cannot be read: matched with what earlier runs wrote';
  if (options.key.length === 1 && options.key[0] === 'id') return byId(keys, options);
  const first = await service.page(spec.name, 1);
  const pages = Math.ceil(first.count / PAGE_SIZE);
  const mirror = async (why: string) => {
    const { certified } = await options.readAll(
      spec.name as Readable,
      (records) => keep(records, keys, options),
      first,
    );
    const drift = certified ? '' : '; the list changed while it was read';
    return `${why}: read the whole list, ${first.count} records on ${pages} ${pages === 1 ? 'page' : 'pages'}${drift}`;
  };
  const filter = filterFor(options);
  if (!filter || listIsCheaper(first.count, cheapestKeys(keys.size, options)))
    return mirror(filter ? 'cheapest' : 'no filter for the key');
  let wanted: ReadonlySet<string> = keys;
  let how = 'filtered by key';
  if (spec.name === 'asset' && filter.field === 'serial_number' && keys.size > 1) {
    const probed = await probe(keys, first, options);
    if (probed) {
      wanted = probed;
      how = `probed ${keys.size} serial numbers, ${probed.size} exist`;
      if (wanted.size === 0) return how;
    }
    if (listIsCheaper(first.count, wanted.size) || wanted.has('list')) return mirror(how);
  }
  if (how === 'filtered by key' && !(await trustFilter(service, filter, first)))
    return mirror('the filter cannot be trusted');
  const answered = await ask(wanted, filter, keys, options);
  // The probe said that these exist: a filter that does not find them all is not to be believed about the others.
  const complete = answered && (wanted === keys || [...wanted].every((key) => options.snapshot.ids(key).length > 0));
  return complete ? `${how}, one request for each` : mirror('the filter cannot be trusted');
}

/** One look-up of one key, for settling a write whose effect is open. Undefined: this key cannot be looked up. */
export async function lookUpKey(
  key: string,
  options: MatchOptions,
): Promise<readonly { id: number; record: Json }[] | undefined> {
  const { spec, service } = options;
  if (!spec.readPath || spec.name === 'customer' || key === '') return undefined;
  if (options.key[0] === 'id' && options.key.length === 1) return undefined;
  const found = new Map<number, Json>();
  const visit = (records: readonly Json[]) => {
    for (const record of records) {
      if (typeof record['id'] === 'number' && recordKey(record, options) === key) found.set(record['id'], record);
    }
  };
  const filter = filterFor(options);
  const records =
    filter && part(key, filter, options) !== 'list'
      ? await askFilter(service, filter, part(key, filter, options))
      : undefined;
  if (records) visit(records);
  // New records stand at the end of the list: where a filter found nothing or there is none, the last pages tell.
  if (found.size === 0) await lastPages(options, visit);
  return [...found].map(([id, record]) => ({ id, record }));
}

async function lastPages(options: MatchOptions, visit: (records: readonly Json[]) => void): Promise<void> {
  const resource = options.spec.name as Readable;
  const first = await options.service.page(resource, 1);
  visit(first.results);
  const last = Math.ceil(first.count / PAGE_SIZE);
  for (let page = last; page > Math.max(1, last - 4); page--)
    visit((await options.service.page(resource, page)).results);
}

/** The key of a record of the service, compared like the keys of the file. */
export function recordKey(record: Json, options: Pick<MatchOptions, 'spec' | 'key' | 'lexicon'>): string {
  return keyOf(readRecord(keySpec(options), record, options.lexicon).fields, options.key);
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

async function keep(records: readonly Json[], keys: ReadonlySet<string>, options: MatchOptions): Promise<void> {
  const at = options.now();
  for (const record of records) {
    if (typeof record['id'] !== 'number') continue;
    const key = recordKey(record, options);
    if (key === '' || !keys.has(key)) continue;
    options.onRecord?.(record);
    await options.snapshot.add(record['id'], record, key, at);
  }
}

async function byId(keys: ReadonlySet<string>, options: MatchOptions): Promise<string> {
  const resource = options.spec.name as Readable;
  await inWaves([...keys], async (key) => {
    const record = await options.service.get(resource, Number(key));
    if (!record) return;
    options.onRecord?.(record);
    await options.snapshot.add(Number(key), record, key, options.now());
  });
  return 'read by id, one request for each';
}

/** The filter that narrows most: the first part of the key that has one and is text. */
function filterFor(options: MatchOptions): Filter | undefined {
  for (const field of options.key) {
    const parameter = options.spec.filters[field];
    const read = options.spec.fields.find((one) => one.name === field)?.read;
    if (parameter && read) return { resource: options.spec.name as Readable, parameter, field: read };
  }
  return undefined;
}

function part(key: string, filter: Filter, options: MatchOptions): string {
  const index = options.key.findIndex((field) => options.spec.filters[field] === filter.parameter);
  return keyParts(key)[index] ?? '';
}

/** Least requests that single look-ups of so many keys can take: the probe tells for many at once that they do not exist. */
function cheapestKeys(keys: number, options: MatchOptions): number {
  return options.spec.name === 'asset' && options.key[0] === 'serial_number' && keys > 1
    ? Math.ceil(keys / PROBE_SIZE)
    : keys;
}

/** Serial numbers that exist; undefined where the service's answer cannot be believed. */
async function probe(
  keys: ReadonlySet<string>,
  first: Page,
  options: MatchOptions,
): Promise<ReadonlySet<string> | undefined> {
  if (options.key.length !== 1) return undefined;
  const control = first.results
    .map((record) => record['serial_number'])
    .find((serial) => typeof serial === 'string' && serial.trim() !== '');
  if (typeof control !== 'string') return undefined;
  const existing = new Set<string>();
  const all = [...keys];
  for (let at = 0; at < all.length; at += PROBE_SIZE) {
    const batch = all.slice(at, at + PROBE_SIZE);
    const answer = await options.service.probeSerials(
      at === 0 && !batch.includes(control) ? [...batch, control] : batch,
    );
    if (answer === 'ignored' || (at === 0 && !answer.has(control))) return undefined;
    for (const serial of answer) {
      const key = keyOf({ serial_number: serial }, ['serial_number']);
      if (keys.has(key)) existing.add(key);
    }
  }
  return existing;
}

/** False where one of the answers was too long to be a filter's. */
async function ask(
  wanted: ReadonlySet<string>,
  filter: Filter,
  keys: ReadonlySet<string>,
  options: MatchOptions,
): Promise<boolean> {
  let complete = true;
  const values = new Set([...wanted].map((key) => part(key, filter, options)));
  await inWaves([...values], async (value) => {
    if (value === '' || value === 'list') {
      complete = false;
      return;
    }
    const records = await askFilter(options.service, filter, value);
    if (records) await keep(records, keys, options);
    else complete = false;
  });
  return complete;
}

async function inWaves<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += WAVE) await Promise.all(items.slice(at, at + WAVE).map(work));
}
