import { distance } from 'fastest-levenshtein';
import { normaliseKey, type Ref } from '../model/value.js';
import { recordId } from '../resources/read-value.js';
import type { ReferenceTarget } from '../resources/spec.js';
import type { Json, KnownIds, Service } from '../service/port.js';
import { askFilter, type Filter, listIsCheaper, trustFilter } from './filter.js';
import type { ReadAll } from './read-all.js';

/** What looking a name up came to. */
export type Lookup =
  | { readonly kind: 'found'; readonly ref: Ref; readonly record?: Json }
  | { readonly kind: 'missing'; readonly nearest: readonly string[] }
  | { readonly kind: 'ambiguous'; readonly ids: readonly number[] };

export interface Directory {
  lookup(target: ReferenceTarget, name: string): Lookup;
  /** Categories may share a name and differ in their subcategories. */
  category(name: string, subcategory: string | undefined): Lookup;
  /** Subcategories of a category; undefined where the category is not known. */
  subcategories(id: number): readonly string[] | undefined;
  nameOf(target: ReferenceTarget, id: number): string | undefined;
}

interface Entry {
  readonly id: number;
  readonly name: string;
  readonly record: Json;
}

/** Where the names of a target are read from, and under which spellings a record is found. */
const SOURCES: Partial<
  Record<ReferenceTarget, { list: Filter['resource']; names: readonly string[]; filter?: string }>
> = {
  'asset-owner': { list: 'asset-owner', names: ['name', 'email'] },
  category: { list: 'category', names: ['category'] },
  contract: { list: 'contract', names: ['number'], filter: 'contract_no' },
  supplier: { list: 'supplier', names: ['name'] },
  'usage-status': { list: 'usage-status', names: ['name'] },
};

/** Targets that the service cannot list; their names are learned from other records. */
const LEARNED = { customer: 'customer', 'business-unit': 'business-unit', 'hardware-model': 'hardware-model' } as const;

/** How names of other records are swept when a customer or business unit is not known yet. */
export interface DirectoryOptions {
  readonly service: Service;
  readonly known: KnownIds;
  /** Reads every record of a list; customers and business units are learned on the way. */
  readonly readAll: ReadAll;
}

/**
 * Looks up the names a file uses, each list once. Contracts are filtered by number where that takes fewer requests
 * than the list; the answer is checked again here because how the filter compares is not stated.
 */
export async function loadDirectory(
  needed: ReadonlyMap<ReferenceTarget, ReadonlySet<string>>,
  options: DirectoryOptions,
): Promise<Directory> {
  const tables = new Map<ReferenceTarget, Map<string, Entry[]>>();
  const missing = (['customer', 'business-unit'] as const).filter((target) =>
    [...(needed.get(target) ?? [])].some((name) => options.known.ids(target, name).length === 0),
  );
  // First, because it may read a list that is wanted again below.
  if (missing.length > 0) await sweep(options, missing, needed);
  for (const [target, names] of needed) {
    const source = SOURCES[target];
    if (source) tables.set(target, await loadTable(source, names, options));
  }
  return directory(tables, options.known);
}

async function loadTable(
  source: NonNullable<(typeof SOURCES)[ReferenceTarget]>,
  names: ReadonlySet<string>,
  options: DirectoryOptions,
): Promise<Map<string, Entry[]>> {
  const table = new Map<string, Entry[]>();
  const add = (record: Json) => {
    const id = recordId(record['id']);
    if (id === undefined) return;
    const display = String(record[source.names[0] ?? ''] ?? '');
    for (const field of source.names) {
      const name = normaliseKey(String(record[field] ?? ''));
      if (name === '') continue;
      for (const key of new Set([name, ...(field === 'email' ? [name.toLowerCase()] : [])])) {
        const entries = table.get(key) ?? [];
        if (!entries.some((entry) => entry.id === id)) entries.push({ id, name: display, record });
        table.set(key, entries);
      }
    }
  };
  const { service, readAll } = options;
  if (source.filter && source.names[0]) {
    const filter: Filter = { resource: source.list, parameter: source.filter, field: source.names[0] };
    const first = await readAll.first(source.list);
    const dear = !readAll.has(source.list) && !listIsCheaper(first.count, names.size);
    if (dear && (await trustFilter(service, filter, first))) {
      const answers = await Promise.all([...names].map((name) => askFilter(service, filter, name, first.count)));
      if (answers.every((records) => records !== undefined)) {
        for (const records of answers) records?.forEach(add);
        return table;
      }
    }
  }
  await readAll(source.list, (records) => records.forEach(add), { keep: source.filter !== undefined });
  return table;
}

/** Contracts first, then assets: both show the customers and business units they belong to. */
async function sweep(
  options: DirectoryOptions,
  targets: readonly ('customer' | 'business-unit')[],
  needed: ReadonlyMap<ReferenceTarget, ReadonlySet<string>>,
): Promise<void> {
  for (const resource of ['contract', 'asset'] as const) {
    // Reading is what teaches the names.
    await options.readAll(resource, () => undefined, { keep: true });
    const open = targets.some((target) =>
      [...(needed.get(target) ?? [])].some((name) => options.known.ids(target, name).length === 0),
    );
    if (!open) return;
  }
}

function directory(tables: ReadonlyMap<ReferenceTarget, Map<string, Entry[]>>, known: KnownIds): Directory {
  const names = new Map<ReferenceTarget, Map<number, string>>();
  for (const [target, table] of tables) {
    names.set(target, new Map([...table.values()].flat().map((entry) => [entry.id, entry.name])));
  }
  const entriesOf = (target: ReferenceTarget, name: string): readonly Entry[] => {
    const wanted = normaliseKey(name);
    const table = tables.get(target);
    if (table) return table.get(wanted) ?? (wanted.includes('@') ? table.get(wanted.toLowerCase()) : undefined) ?? [];
    const kind = LEARNED[target as keyof typeof LEARNED];
    return kind ? known.ids(kind, name).map((id) => ({ id, name: known.nameOf(kind, id) ?? name, record: {} })) : [];
  };
  const learnedName = (target: ReferenceTarget, id: number) => {
    const kind = LEARNED[target as keyof typeof LEARNED];
    return kind ? known.nameOf(kind, id) : undefined;
  };
  const allNames = (target: ReferenceTarget): Iterable<string> => {
    const kind = LEARNED[target as keyof typeof LEARNED];
    return kind
      ? known.names(kind)
      : new Set([...(tables.get(target)?.values() ?? [])].flat().map((entry) => entry.name));
  };
  const mailboxes = (target: ReferenceTarget): Iterable<string> =>
    new Set([...(tables.get(target)?.values() ?? [])].flat().map((entry) => String(entry.record['email'] ?? '')));
  const decide = (entries: readonly Entry[], target: ReferenceTarget, name: string): Lookup => {
    const [first, second] = entries;
    if (first && !second) return { kind: 'found', ref: { id: first.id, name: first.name }, record: first.record };
    if (first) return { kind: 'ambiguous', ids: entries.map((entry) => entry.id).sort((a, b) => a - b) };
    const others = name.includes('@') ? mailboxes(target) : allNames(target);
    return { kind: 'missing', nearest: nearest(name, others) };
  };
  const subcategories = (id: number) => {
    for (const entries of tables.get('category')?.values() ?? []) {
      const entry = entries.find((one) => one.id === id);
      if (entry) return list(entry.record['subcategories']);
    }
    return undefined;
  };
  return {
    lookup: (target, name) => decide(entriesOf(target, name), target, name),
    category(name, subcategory) {
      const entries = entriesOf('category', name);
      const wanted = subcategory === undefined ? undefined : normaliseKey(subcategory);
      const fitting = entries.filter((one) =>
        list(one.record['subcategories']).some((sub) => normaliseKey(sub) === wanted),
      );
      return decide(entries.length > 1 && fitting.length > 0 ? fitting : entries, 'category', name);
    },
    subcategories,
    nameOf: (target, id) => names.get(target)?.get(id) ?? learnedName(target, id),
  };
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Up to three names that a person may have meant. */
export function nearest(name: string, names: Iterable<string>): readonly string[] {
  const wanted = normaliseKey(name).toLowerCase();
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  const scored: { name: string; score: number }[] = [];
  for (const candidate of names) {
    const text = normaliseKey(candidate).toLowerCase();
    if (Math.abs(text.length - wanted.length) > limit && !text.startsWith(wanted) && !wanted.startsWith(text)) continue;
    const score = text === wanted ? 0 : text.startsWith(wanted) || wanted.startsWith(text) ? 1 : distance(text, wanted);
    if (score <= limit) scored.push({ name: candidate, score });
  }
  return scored
    .sort((a, b) => a.score - b.score || a.name.localeCompare(b.name))
    .slice(0, 3)
    .map((one) => one.name);
}
