import { requireId } from '../../resources/read.js';
import type { Json, Readable } from '../../service/port.js';
import { type Filter, inWaves, PAGE_SIZE, probeValues, queryFilter } from './filter.js';
import { type Keys, keyText } from './key.js';
import { filterFor, filterValues, isProbed, type MatchOptions, recordKey } from './match.js';

/** A record that has a key, exactly. */
interface Found {
  readonly id: number;
  readonly record: Json;
}

/** New records stand at the end of the list: so many of its last pages are looked through, for what others may have added. */
const SPARE_PAGES = 4;

/**
 * Fresh look-ups of keys, for settling writes whose effect is open; nothing that was read before is believed. Many keys
 * cost little more than one: serial numbers are probed together, and the end of the list is read once for all.
 * `createdSince`: records that may stand behind those looked for. The answer has every key that was asked for, with the records that have it.
 */
async function lookUpKeys(
  keys: Keys,
  options: MatchOptions,
  createdSince = 0,
): Promise<ReadonlyMap<string, readonly Found[]>> {
  const wanted = new Map([...keys.keys()].map((key) => [keyText(key), new Map<number, Json>()]));
  const visit = (records: readonly Json[]) => {
    for (const record of records) {
      const found = wanted.get(keyText(recordKey(record, options)));
      if (found) found.set(requireId(options.spec, record), record);
    }
  };
  const filter = filterFor(options);
  let believed = filter !== undefined;
  if (filter) {
    for (const [value, spellings] of await valuesToAsk(keys, filter, options)) {
      for (const text of [value, ...spellings]) {
        if (text === '' || text.trim() === 'list') continue;
        const records = await queryFilter(options.service, filter, text, Number.POSITIVE_INFINITY);
        if (records) visit(records);
        else believed = false;
      }
    }
  }
  // Where a filter found nothing, is ignored, or there is none, the last pages tell.
  const lacking = () => [...wanted.values()].some((found) => found.size === 0);
  const pages = SPARE_PAGES + (believed ? 0 : Math.ceil(createdSince / PAGE_SIZE));
  if (lacking()) await lastPages(pages, lacking, options, visit);
  return new Map(
    [...keys.keys()].map((key) => [key, [...(wanted.get(keyText(key)) ?? [])].map(([id, record]) => ({ id, record }))]),
  );
}

/** Values that a filter is asked for; a probe leaves out those that do not exist. */
async function valuesToAsk(keys: Keys, filter: Filter, options: MatchOptions): Promise<Keys> {
  const values = filterValues(keys, filter, options);
  if (values.size < 2 || !isProbed(filter)) return values;
  const first = await options.service.page(filter.resource, 1);
  return (await probeValues(values, first, options.service)) ?? values;
}

async function lastPages(
  pages: number,
  lacking: () => boolean,
  options: MatchOptions,
  visit: (records: readonly Json[]) => void,
): Promise<void> {
  const resource = options.spec.name as Readable;
  const first = await options.service.page(resource, 1);
  visit(first.results);
  const last = Math.ceil(first.count / PAGE_SIZE);
  for (let page = last; page > Math.max(1, last - pages) && (lacking() || page > last - SPARE_PAGES); page--)
    visit((await options.service.page(resource, page)).results);
}

/**
 * Gathers look-ups that are asked for at about the same time into one. `spelling` is the key as the row spells it,
 * `createdBefore` how many records the run had created when the row was sent, `runLater` runs something later, `createsBegun` how many it may have created by now. Undefined where
 * the key cannot be looked up.
 */
export function batchLookUps(
  options: MatchOptions,
  createsBegun: () => number,
  runLater: (milliseconds: number, run: () => void) => unknown,
): (key: string, spelling: string, createdBefore: number) => Promise<readonly Found[] | undefined> {
  interface Batch {
    readonly keys: Map<string, string[]>;
    /** The least of them. */
    createdBefore: number;
    readonly found: Promise<ReadonlyMap<string, readonly Found[]>>;
  }
  let open: Batch | undefined;
  const isById = options.key.length === 1 && options.key[0] === 'id';

  function begin(): Batch {
    const keys: Batch['keys'] = new Map();
    const gathered = new Promise<void>((done) => void runLater(GATHER_MS, done));
    const found = gathered.then(() => {
      open = undefined;
      return lookUpKeys(keys, options, createsBegun() - batch.createdBefore);
    });
    const batch: Batch = { keys, createdBefore: Number.POSITIVE_INFINITY, found };
    return batch;
  }

  return async (key, spelling, createdBefore) => {
    if (!options.spec.readable || key === '' || isById) return undefined;
    open ??= begin();
    const spellings = open.keys.get(key) ?? [];
    if (spelling !== key && !spellings.includes(spelling)) spellings.push(spelling);
    open.keys.set(key, spellings);
    open.createdBefore = Math.min(open.createdBefore, createdBefore);
    return (await open.found).get(key) ?? [];
  };
}

/** Short beside the seconds between two looks at an open write. */
const GATHER_MS = 20;

/**
 * Learns the ids of records that were created by requests whose answers were empty. New records have the highest ids,
 * so the last pages of the list hold them: one request for 25 ids. `rows` is row by key, as outcomes show it; `created`
 * is how many records the run created in all: those with known ids stand among the others. A key that two of the
 * records have stays without an id: which of them is ours cannot be told. `onRecord` is shown the records on the way.
 * Interface, section 8.
 */
export async function learnIds(
  rows: ReadonlyMap<string, number>,
  created: number,
  options: MatchOptions,
  onLearned: (row: number, id: number) => void,
  onRecord: (row: number, record: Json) => void = () => undefined,
): Promise<void> {
  const { spec, service } = options;
  if (rows.size === 0 || !spec.readable) return;
  if (rows.size <= 2 && Object.keys(spec.filters).some((field) => options.key.includes(field))) {
    const found = await lookUpKeys(new Map([...rows.keys()].map((key) => [key, []])), options);
    for (const [key, row] of rows) {
      const [one, other] = found.get(key) ?? [];
      if (!one || other) continue;
      onRecord(row, one.record);
      onLearned(row, one.id);
    }
    return;
  }
  const resource = spec.name as Readable;
  const first = await service.page(resource, 1);
  const last = Math.max(1, Math.ceil(first.count / PAGE_SIZE));
  const expected = Math.ceil(rows.size / PAGE_SIZE) + 1;
  const lowest = Math.max(1, last - Math.ceil(Math.max(rows.size, created) / PAGE_SIZE) - 1 - SPARE_PAGES);
  const found = new Map<string, number | 'several'>();
  let top = last;
  for (let pages = expected; top >= lowest && found.size < rows.size; pages = SPARE_PAGES) {
    const count = Math.min(pages, top - lowest + 1);
    const numbers = Array.from({ length: count }, (_, i) => top - i);
    await inWaves(numbers, async (page) => {
      const { results } = page === 1 ? first : await service.page(resource, page);
      for (const record of results) {
        const id = record['id'];
        const key = keyText(recordKey(record, options));
        const row = rows.get(key);
        if (typeof id !== 'number' || key === '' || row === undefined) continue;
        const other = found.get(key);
        found.set(key, other === undefined || other === id ? id : 'several');
        onRecord(row, record);
      }
    });
    top -= pages;
  }
  for (const [key, id] of found) {
    const row = rows.get(key);
    if (row !== undefined && id !== 'several') onLearned(row, id);
  }
}
