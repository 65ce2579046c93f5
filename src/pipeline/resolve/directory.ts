import { isRefused } from '../../model/error.js';
import { foldText, normaliseKey, normaliseName, type Ref } from '../../model/value.js';
import { recordId } from '../../resources/read-value.js';
import type { ReferenceTarget } from '../../resources/spec.js';
import type { Json, KnownIds, Service } from '../../service/port.js';
import { nearestNames } from '../map/headings.js';
import { type Filter, filterRequests, listRequests, queryValues, verifyFilter } from '../match/filter.js';
import type { ReadAll } from '../match/match.js';
import { isId } from '../rows.js';

/** What looking a name up came to. */
export type Lookup =
  /** `byId`: the text is no name but the id. */
  | { readonly kind: 'found'; readonly ref: Ref; readonly record?: Json; readonly byId?: true }
  | { readonly kind: 'missing'; readonly nearest: readonly string[] }
  | { readonly kind: 'ambiguous'; readonly ids: readonly number[] };

interface Entry {
  readonly id: number;
  readonly name: string;
  /** Under which it was found, as names are compared exactly. */
  readonly spelling: string;
  readonly record: Json;
}

interface Table {
  /** By name, with repeated blanks as one. */
  readonly byName: Map<string, Entry[]>;
  readonly byId: Map<number, Entry>;
  /** Whether it has every record of the list. */
  isWhole?: true;
  /** The list did not stay the same while it was read, or could not be. */
  isUncertain?: true;
}

/** Where the names of a target are read from, and under which spellings a record is found. */
export const NAME_SOURCES: Partial<
  Record<ReferenceTarget, { list: Filter['resource']; names: readonly string[]; filter?: string }>
> = {
  'asset-owner': { list: 'asset-owner', names: ['name', 'email'] },
  category: { list: 'category', names: ['category'] },
  contract: { list: 'contract', names: ['number'], filter: 'contract_no' },
  supplier: { list: 'supplier', names: ['name'] },
  'usage-status': { list: 'usage-status', names: ['name'] },
};

/** Under which a record of a list is found: one for each of its names, '' where it lacks that. */
export const spellingsOf = (target: ReferenceTarget, record: Json): string[] =>
  (NAME_SOURCES[target]?.names ?? []).map((field) => nameText(record[field]));

/** A name as a list shows it; '' for what is none. */
export const nameText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Targets that the service cannot list; their names are learned from other records. */
export const LEARNED = ['customer', 'business-unit', 'hardware-model'] as const satisfies readonly ReferenceTarget[];
type Learned = (typeof LEARNED)[number];

/** The names that a file uses, by what they refer to. */
export type ReferenceNames = ReadonlyMap<ReferenceTarget, ReadonlySet<string>>;

/** How names of other records are swept when a customer or business unit is not known yet. */
export interface DirectoryOptions {
  readonly service: Service;
  readonly known: Pick<KnownIds, 'ids' | 'names' | 'nameOf'>;
  /** Reads every record of a list; customers and business units are learned on the way. */
  readonly readAll: ReadAll;
  readonly warn?: (text: string) => void;
}

/**
 * Looks up the names a file uses, each list once. Contracts are filtered by number where that takes fewer requests
 * than the list; the answer is checked again here because how the filter compares is not stated.
 */
export async function loadDirectory(needed: ReferenceNames, options: DirectoryOptions): Promise<Directory> {
  const tables = new Map<ReferenceTarget, Table>();
  const missing = (['customer', 'business-unit'] as const).filter((target) =>
    hasUnknown(target, needed, options.known),
  );
  // First, because it may read a list that is wanted again below.
  const isUnread = missing.length > 0 && (await learnNames(options, missing, needed));
  for (const [target, names] of needed) {
    const source = NAME_SOURCES[target];
    if (source) tables.set(target, await loadTable(source, names, options));
    else if (isLearned(target)) tables.set(target, learnedTable(target, options.known, isUnread));
  }
  return directory(tables, options.known);
}

function isLearned(target: ReferenceTarget): target is Learned {
  return LEARNED.some((one) => one === target);
}

/** Whether a name is not known yet. A number is an id: no list is read to see whether a record bears it as its name. */
function hasUnknown(target: Learned, needed: ReferenceNames, known: DirectoryOptions['known']): boolean {
  return [...(needed.get(target) ?? [])].some((name) => !isId(name) && known.ids(target, name).length === 0);
}

function learnedTable(target: Learned, known: DirectoryOptions['known'], isUnread: boolean): Table {
  const table: Table = { byName: new Map(), byId: new Map(), ...(isUnread && { isUncertain: true }) };
  for (const name of known.names(target))
    for (const id of known.ids(target, name)) addEntry(table, { id, name, record: {} }, name);
  return table;
}

function addEntry({ byName, byId }: Table, entry: Omit<Entry, 'spelling'>, spelling: string): void {
  const key = normaliseName(spelling);
  const entries = byName.get(key) ?? [];
  if (!entries.some(({ id }) => id === entry.id)) entries.push({ ...entry, spelling: normaliseKey(spelling) });
  byName.set(key, entries);
  byId.set(entry.id, { ...entry, spelling });
}

async function loadTable(
  source: NonNullable<(typeof NAME_SOURCES)[ReferenceTarget]>,
  names: ReadonlySet<string>,
  options: DirectoryOptions,
): Promise<Table> {
  const table: Table = { byName: new Map(), byId: new Map() };
  const add = (record: Json) => {
    const id = recordId(record['id']);
    if (id === undefined || table.byId.has(id)) return;
    const entry = { id, name: String(record[source.names[0] ?? ''] ?? ''), record };
    table.byId.set(id, { ...entry, spelling: '' });
    for (const field of source.names) {
      const name = normaliseKey(String(record[field] ?? ''));
      if (name === '') continue;
      for (const spelling of new Set([name, ...(field === 'email' ? [name.toLowerCase()] : [])]))
        addEntry(table, entry, spelling);
    }
  };
  const { service, readAll } = options;
  if (source.filter && source.names[0]) {
    const filter: Filter = { resource: source.list, parameter: source.filter, field: source.names[0] };
    const first = await readAll.first(source.list);
    const ids = [...names].map(normaliseKey).filter(isId);
    const rest = listRequests(first.count);
    const useFilter = !readAll.has(source.list) && filterRequests(names.size + ids.length) < rest;
    if (useFilter && (await verifyFilter(service, filter, first))) {
      const values = new Map<string, string[]>();
      for (const name of names) {
        const key = normaliseKey(name);
        values.set(key, [...(values.get(key) ?? []), ...(name === key ? [] : [name])]);
      }
      const matches: Json[] = [];
      const query = { service, filter, count: first.count, instead: rest };
      if ((await queryValues(values, { ...query, visit: (records) => void matches.push(...records) })) === 'believed') {
        matches.forEach(add);
        for (const record of await Promise.all(ids.map((id) => service.get(source.list, Number(id)))))
          if (record) add(record);
        return table;
      }
    }
  }
  const { certified } = await readAll(source.list, (records) => records.forEach(add), {
    keep: source.filter !== undefined,
  });
  table.isWhole = true;
  if (!certified) table.isUncertain = true;
  return table;
}

/**
 * Contracts first, then assets: both show the customers and business units they belong to. One that the token may not read
 * teaches none, and is warned of. Whether there is such a one.
 */
async function learnNames(
  { readAll, known, warn }: DirectoryOptions,
  targets: readonly Learned[],
  needed: ReferenceNames,
): Promise<boolean> {
  let isUnread = false;
  for (const resource of ['contract', 'asset'] as const) {
    try {
      // Reading is what teaches the names.
      await readAll(resource, () => undefined, { keep: true });
    } catch (error) {
      if (!isRefused(error)) throw error;
      isUnread = true;
      const what = targets.map((target) => `${target.replace('-', ' ')}s`).join(' and ');
      warn?.(`Names of ${what} could not be looked for in ${resource}s, which show them: ${error.message}`);
    }
    if (!targets.some((target) => hasUnknown(target, needed, known))) break;
  }
  return isUnread;
}

export type Directory = ReturnType<typeof directory>;

function directory(tables: ReadonlyMap<ReferenceTarget, Table>, known: DirectoryOptions['known']) {
  const entriesOf = (target: ReferenceTarget, name: string): readonly Entry[] => {
    const wanted = normaliseKey(name);
    const { byName } = tables.get(target) ?? {};
    const key = normaliseName(name);
    const found = byName?.get(key) ?? (key.includes('@') ? byName?.get(key.toLowerCase()) : undefined) ?? [];
    const exact = found.filter(({ spelling }) => spelling === wanted);
    return exact.length > 0 ? exact : found;
  };
  const allEntries = (target: ReferenceTarget): Entry[] => [...(tables.get(target)?.byId.values() ?? [])];
  const allNames = (target: ReferenceTarget): Iterable<string> => new Set(allEntries(target).map(({ name }) => name));
  const mailboxes = (target: ReferenceTarget): Iterable<string> =>
    new Set(allEntries(target).map(({ record }) => String(record['email'] ?? '')));
  const decide = (matches: readonly Entry[], target: ReferenceTarget, name: string): Lookup => {
    const text = normaliseKey(name);
    const id = isId(text) ? Number(text) : undefined;
    const own =
      id === undefined || matches.some((entry) => entry.id === id) ? undefined : tables.get(target)?.byId.get(id);
    const entries = own ? [...matches, own] : matches;
    const [first, second] = entries;
    if (second) return { kind: 'ambiguous', ids: entries.map((entry) => entry.id).sort((a, b) => a - b) };
    const byId = own || (!first && id !== undefined && !NAME_SOURCES[target]) ? ({ byId: true } as const) : {};
    if (first) return { kind: 'found', ref: { id: first.id, name: first.name }, record: first.record, ...byId };
    // Of what the service cannot list, it alone can tell whether the id exists.
    if (id !== undefined && !NAME_SOURCES[target]) return { kind: 'found', ref: { id }, ...byId };
    const others = name.includes('@') ? mailboxes(target) : allNames(target);
    return { kind: 'missing', nearest: nearestNames(name, others) };
  };
  const folded = new Map<ReferenceTarget, ReadonlySet<string>>();
  const foldedNames = (target: ReferenceTarget): ReadonlySet<string> => {
    const names = folded.get(target) ?? new Set([...allNames(target)].map(foldText));
    folded.set(target, names);
    return names;
  };
  /** Subcategories of a category; undefined where the category is not known. */
  const subcategories = (id: number): readonly string[] | undefined => {
    const entry = tables.get('category')?.byId.get(id);
    return entry && list(entry.record['subcategories']);
  };
  return {
    /** By name; a number is the id, unless a record bears it as its exact name. Contract, section 4. */
    lookup: (target: ReferenceTarget, name: string) => decide(entriesOf(target, name), target, name),
    /** Categories may share a name and differ in their subcategories. */
    category(name: string, subcategory: string | undefined) {
      const entries = entriesOf('category', name);
      const wanted = subcategory === undefined ? undefined : normaliseName(subcategory);
      const fitting = entries.filter((one) =>
        list(one.record['subcategories']).some((sub) => normaliseName(sub) === wanted),
      );
      return decide(entries.length > 1 && fitting.length > 0 ? fitting : entries, 'category', name);
    },
    subcategories,
    /** Whether the service lists these records. */
    isListed: (target: ReferenceTarget) => NAME_SOURCES[target] !== undefined,
    /** Of a name that is missing: whether it is certain that no record bears it, nor one that differs in case or invisible characters alone. */
    mayCreate: (target: ReferenceTarget, name: string) =>
      !tables.get(target)?.isUncertain && !foldedNames(target).has(foldText(name)),
    /** Whether records may be there that its list did not show. */
    isUncertain: (target: ReferenceTarget) => tables.get(target)?.isUncertain === true,
    /** Under which each record of a list that was read whole is found. */
    spellings: (target: ReferenceTarget): string[][] =>
      tables.get(target)?.isWhole ? allEntries(target).map(({ record }) => spellingsOf(target, record)) : [],
    /** Whether the whole list was read, and no record there has this id. */
    lacks: (target: ReferenceTarget, id: number) =>
      tables.get(target)?.isWhole === true && !tables.get(target)?.byId.has(id),
    nameOf: (target: ReferenceTarget, id: number) =>
      isLearned(target) ? known.nameOf(target, id) : tables.get(target)?.byId.get(id)?.name,
  };
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
