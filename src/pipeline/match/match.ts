import { countText, formatNumber } from '../../model/count-text.js';
import { readFields, requireId } from '../../resources/read.js';
import type { Lexicon, ResourceSpec } from '../../resources/spec.js';
import type { Json, MirrorRecord, Page, ProbedBehaviour, Readable, Service, Snapshot } from '../../service/port.js';
import {
  type Filter,
  filterRequests,
  inWaves,
  listRequests,
  PAGE_SIZE,
  PROBE_SIZE,
  probeValues,
  probeWhileCheap,
  queryValues,
  verifyFilter,
} from './filter.js';
import { countTexts, type Keys, keyOf, keyParts, lookalikeKey } from './key.js';

/** Sees records as they are read; `readAt` in milliseconds since 1970. */
type Visit = (records: readonly Json[], readAt: number) => void;

/** A list that was read. */
interface ReadList {
  /** Ids ascended without repeats and the count held. */
  readonly certified: boolean;
  /** Records that the service counted from first to last, and did not show. */
  readonly unshown: number;
  /** Whether no record was missed, for two requests at most: what moved while it was read may have hidden one. */
  confirm(): Promise<boolean>;
}

/** Reads lists before the first write of a run; what it keeps is not asked of the service a second time. */
export interface ReadAll {
  /**
   * Every record of a list, in any order of pages. `keep`: the list is likely to be wanted again. `backward`: one page after the
   * other from the last, so that what is removed or added at the end meanwhile hides none.
   */
  (
    resource: Readable,
    visit: Visit,
    options?: { readonly keep?: boolean; readonly backward?: boolean },
  ): Promise<ReadList>;
  /** Page 1, which tells what the whole list costs. */
  first(resource: Readable): Promise<Page>;
  /** Whether the list was read whole and kept, so that it costs no request. */
  has(resource: Readable): boolean;
}

/** Ids that are read one by one without asking first what the list would cost. */
const FEW_IDS = 20;
/** Times a list is read that changes meanwhile. */
const MAX_READINGS = 3;

export interface MatchOptions {
  readonly spec: ResourceSpec;
  readonly key: readonly string[];
  readonly service: Service;
  readonly lexicon: Lexicon;
  readonly snapshot: Snapshot;
  readonly readAll: ReadAll;
  /** Sees every record that is kept. */
  readonly onRecord?: (record: Json) => void;
  /** Of what a record holds in the fields that rows may set; absent where that is not to be had. */
  readonly fingerprint?: (record: Json) => number;
  /** Gathers records whose key only looks like that of a row. */
  readonly lookalikes?: Lookalikes;
  /** Told where the service counts so many records more than it shows: a key that was not found may be that of one of them. */
  readonly onUnshown?: (records: number) => void;
  /** How filters were found to match, by `resource.parameter`. */
  readonly filters?: ProbedBehaviour['filters'];
  /** Fingerprints of rows: nobody asks for a record that has one of them. */
  readonly rowFingerprints?: { has(fingerprint: number): boolean };
  readonly now: () => number;
}

/** Key by id of the records that were seen, by the look of their keys, where that is also the look of another key of the file. */
export type Lookalikes = Map<string, Map<number, string>>;

/**
 * Finds the records that the keys of a file may match, the cheapest way in requests (`filter.ts`), and keeps them in the
 * snapshot. Returns how it was done, in words, with the requests it took.
 *
 *   a key the service cannot filter by → the whole list
 *   serial numbers → probe; those that exist: one filtered request each, or the list as soon as that is likely to be cheaper
 *   other keys → one filtered request each, after a positive control, or the list where that is cheaper
 *
 * What a filter returns is checked by exact key; what it does not return is believed only where it has found a record
 * that is known to exist. Interface, sections 4.4 and 8.
 */
export async function matchKeys(keys: Keys, options: MatchOptions): Promise<string> {
  if (keys.size === 0) return 'no keys to look up';
  const { spec, service, readAll } = options;
  if (!spec.readable) return 'customers cannot be read: matched with what earlier runs wrote';
  const resource = spec.name as Readable;
  const before = service.counts.reads;
  const withRequests = (how: string) => `${how}: ${countText(service.counts.reads - before, 'request')}`;
  const ids = options.key.length === 1 && options.key[0] === 'id';
  if (ids && keys.size <= FEW_IDS) return withRequests(await byId(keys, options));
  const first = await readAll.first(resource);
  const { count } = first;
  const viaList = async (why = '') => withRequests(`${why}${await readWhole(keys, first, options)}`);
  const listCost = (missing: boolean) => (readAll.has(resource) ? 0 : listRequests(count, missing));
  if (ids) return listCost(false) <= keys.size ? viaList() : withRequests(await byId(keys, options));
  const filter = filterFor(options);
  if (!filter) return viaList('no filter for the key: ');
  let values = filterValues(keys, filter, options, true);
  if (values.has('')) return viaList('parts of the key are blank: ');
  const texts = countTexts(values);
  let known = false;
  let how = `asked for ${values.size === 1 ? 'the one key' : `each of ${formatNumber(values.size)} keys`}`;
  const probed = isProbed(filter) && !readAll.has(resource) && (await probeWhileCheap(values, first, service));
  if (probed) {
    const { existing, asked, hits, expensive } = probed;
    if (asked === 0) return viaList();
    how = `probed ${asked < texts ? `${formatNumber(asked)} of ` : ''}${countText(texts, 'serial number')}, ${countText(hits, 'exists', 'exist')}`;
    if (expensive) return viaList(`${how}; then `);
    if (existing.size === 0) return withRequests(how);
    if (listCost(existing.size < values.size) <= hits) return viaList(`${how}; then `);
    how += `, and asked for ${existing.size === 1 ? 'it' : 'each of these'}`;
    known = true;
    values = existing;
  }
  if (values.has('list')) return viaList('the serial number "list" cannot be filtered by: ');
  // Which keys are missing is not known: the ends of the list may have to be read again.
  if (!known && listCost(true) <= filterRequests(texts)) return viaList();
  const doubted = 'the filter cannot be trusted: ';
  if (!known && !(await verifyFilter(service, filter, first))) return viaList(doubted);
  const answered = await queryValues(values, {
    ...queryOf(filter, first, keys, options),
    known,
    instead: listCost(true),
  });
  if (answered === 'believed') return withRequests(how);
  return viaList(answered === 'expensive' ? 'filters would have taken more: ' : doubted);
}

/** How many keys of the file a record has. */
export function keysFound(keys: Keys, snapshot: Snapshot): number {
  let found = 0;
  for (const key of keys.keys()) if (snapshot.has(key)) found++;
  return found;
}

/** Reads the list so that a key which was not found does not exist. Returns how, in words. */
async function readWhole(keys: Keys, first: Page, options: MatchOptions): Promise<string> {
  const read = (backward = false) =>
    options.readAll(options.spec.name as Readable, (records, at) => keepMatching(records, keys, at, options), {
      backward,
    });
  let list = await read();
  let readings = 1;
  // While it changes under the reading, a record may slip through.
  for (; !list.certified && readings < MAX_READINGS; readings++) list = await read();
  const times = readings > 1 ? `, ${readings} times because it changed` : '';
  const pages = Math.ceil(first.count / PAGE_SIZE);
  const how =
    first.count === 0 && readings === 1
      ? 'the list is empty'
      : `read the whole list, ${countText(first.count, 'record')} on ${countText(pages, 'page')}${times}`;
  if (keysFound(keys, options.snapshot) === keys.size) return how;
  // A key that was not found may be created: what the reading may have missed is asked for, or read over.
  if (list.certified && (await list.confirm())) return how;
  const asked = await recheckMissing(keys, first, options, list.certified ? undefined : Number.POSITIVE_INFINITY);
  if (asked) return how;
  const { unshown } = await read(true);
  if (unshown === 0) return `${how}; then once more from its end, because it moved`;
  options.onUnshown?.(unshown);
  return `${how}; it counts ${countText(unshown, 'record')} more than it shows`;
}

/**
 * A record that moved to a page already read, while another took its place in the count, was missed by a list that
 * looks whole. Where a few requests tell (`most` of them), the keys that were not found are asked for once more. False where they were not, or the filter cannot be believed.
 */
export async function recheckMissing(
  keys: Keys,
  first: Page,
  options: MatchOptions,
  most = Math.ceil(first.count / PAGE_SIZE / 20),
): Promise<boolean> {
  if (first.count === 0 || keysFound(keys, options.snapshot) === keys.size) return true;
  const filter = filterFor(options);
  const missing = new Map<string, readonly string[]>();
  for (const [key, spellings] of keys) if (!options.snapshot.has(key)) missing.set(key, spellings);
  if (!filter || (first.count <= PAGE_SIZE && most !== Number.POSITIVE_INFINITY)) return false;
  let values = filterValues(missing, filter, options);
  if (values.has('')) return false;
  // Where the list tells nothing, the filter has to be one that finds what is there.
  if (most === Number.POSITIVE_INFINITY && !(await verifyFilter(options.service, filter, first))) return false;
  if (isProbed(filter) && Math.ceil(values.size / PROBE_SIZE) <= most) {
    const probed = await probeValues(values, first, options.service);
    // A probe that tells nothing leaves the filters.
    if (probed) values = probed;
    else if (values.size > most) return false;
  } else if (values.size > most) return false;
  const whole = most !== Number.POSITIVE_INFINITY && !isProbed(filter);
  return (await queryValues(values, { ...queryOf(filter, first, keys, options), whole })) === 'believed';
}

/** How a filter is asked for keys of the file: what it finds of them goes to the snapshot. */
function queryOf(filter: Filter, { count }: Page, keys: Keys, options: MatchOptions) {
  const { service, filters } = options;
  return {
    service,
    filter,
    count,
    visit: (records: readonly Json[]) => keepMatching(records, keys, options.now(), options),
    // Whether it was found to find parts of texts.
    contains: filters?.[`${filter.resource}.${filter.parameter}`] === 'contains',
  };
}

/** Whether the service can be asked for many values of the filter in one request. */
export function isProbed(filter: Filter): boolean {
  return filter.resource === 'asset' && filter.field === 'serial_number';
}

/** The key of a record of the service, compared like the keys of the file. */
export function recordKey(
  record: Json,
  { spec, key, lexicon }: Pick<MatchOptions, 'spec' | 'key' | 'lexicon'>,
): string {
  const { fields } = readFields(spec, key, record, lexicon);
  const id = key.includes('id') && typeof record['id'] === 'number' ? { id: record['id'] } : {};
  return keyOf({ ...fields, ...id }, key);
}

function keepMatching(records: readonly Json[], keys: Keys, readAt: number, options: MatchOptions): void {
  for (const record of records) {
    const key = recordKey(record, options);
    if (key === '') continue;
    const alike = options.lookalikes && isLookalike(key, keys);
    if (!alike && !keys.has(key)) continue;
    // To leave it out would be to create it a second time.
    const id = requireId(options.spec, record);
    if (alike && options.lookalikes) noteLookalike(options.lookalikes, key, id);
    if (!alike || keys.has(key)) keepRecord({ id, record, key, readAt }, options);
  }
}

/** Whether a key looks like another one of the file. */
export function isLookalike(key: string, keys: Keys): boolean {
  const alikeKey = lookalikeKey(key);
  return keys.odd?.has(alikeKey) === true || (alikeKey !== key && keys.has(alikeKey));
}

export function noteLookalike(lookalikes: Lookalikes, key: string, id: number): void {
  const alikeKey = lookalikeKey(key);
  const ids = lookalikes.get(alikeKey) ?? new Map<number, string>();
  lookalikes.set(alikeKey, ids.set(id, key));
}

/** Puts a record that a row means into the snapshot, whole where its row may change it. */
export function keepRecord(
  { id, record, key, readAt, text }: KeptRecord,
  {
    onRecord,
    fingerprint,
    rowFingerprints,
    snapshot,
  }: Pick<MatchOptions, 'onRecord' | 'fingerprint' | 'rowFingerprints' | 'snapshot'>,
): void {
  onRecord?.(record);
  const print = fingerprint?.(record) ?? Number.NaN;
  if (rowFingerprints?.has(print)) snapshot.addFingerprint(id, key, print);
  else snapshot.add(id, record, key, readAt, text);
}

/** `text`: where that is at hand. */
interface KeptRecord extends Omit<MirrorRecord, 'text'>, Partial<Pick<MirrorRecord, 'text'>> {
  readonly id: number;
  readonly key: string;
}

async function byId(keys: Keys, options: MatchOptions): Promise<string> {
  const resource = options.spec.name as Readable;
  await inWaves([...keys.keys()], async (key) => {
    const record = await options.service.get(resource, Number(key));
    if (!record) return;
    keepRecord({ id: Number(key), record, key, readAt: options.now() }, options);
  });
  return `read ${keys.size === 1 ? 'the one id' : `each of ${formatNumber(keys.size)} ids`}`;
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

/**
 * What to filter by: the keys themselves, or of keys of several fields the one part that a filter compares. `alike`: such a part
 * also as others that look the same have it, because what it finds may be the record of another key.
 */
export function filterValues(keys: Keys, filter: Filter, options: MatchOptions, alike = false): Keys {
  if (options.key.length === 1) return keys;
  const values = new Map<string, readonly string[]>();
  for (const [key, spellings] of keys) {
    const value = part(key, filter, options);
    const others = new Set(values.get(value) ?? []);
    const texts = alike ? [...spellings, lookalikeKey(key)] : spellings;
    for (const text of texts) others.add(part(text, filter, options));
    others.delete(value);
    values.set(value, others.size === 0 ? NONE : [...others]);
  }
  return values;
}

const NONE: readonly string[] = [];
