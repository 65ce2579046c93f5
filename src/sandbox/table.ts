import type { Stored } from './record.js';

/** The records of one resource, in the order of their ids, with indexes on some text fields. */
export interface Table {
  readonly size: number;
  /** Rises with every change. */
  readonly version: number;
  get(id: number): Stored | undefined;
  /** Adds or replaces. */
  put(record: Stored): void;
  remove(id: number): void;
  /** Ids of a company, ascending. Not to be changed by the caller. */
  ids(company: number): readonly number[];
  all(): IterableIterator<Stored>;
  isIndexed(position: number): boolean;
  /** Ids of the records of any company whose indexed field has exactly this text, ascending. */
  lookUp(position: number, text: string): readonly number[];
  clone(): Table;
}

const NONE: readonly number[] = [];

/** Adds to an ascending list; new ids are nearly always the highest. */
function addSorted(list: number[], id: number): void {
  if (list.length === 0 || list[list.length - 1]! < id) {
    list.push(id);
    return;
  }
  const place = placeOf(list, id);
  if (list[place] !== id) list.splice(place, 0, id);
}

function placeOf(list: readonly number[], id: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function removeSorted(list: number[], id: number): void {
  const place = placeOf(list, id);
  if (list[place] === id) list.splice(place, 1);
}

/** An index holds a bare id for the usual case of one record, a list for several. */
type Index = Map<string, number | number[]>;

function indexAdd(index: Index, text: string, id: number): void {
  const held = index.get(text);
  if (held === undefined) index.set(text, id);
  else if (typeof held === 'number') {
    if (held !== id) index.set(text, held < id ? [held, id] : [id, held]);
  } else addSorted(held, id);
}

function indexRemove(index: Index, text: string, id: number): void {
  const held = index.get(text);
  if (held === id) index.delete(text);
  else if (Array.isArray(held)) {
    removeSorted(held, id);
    if (held.length === 1) index.set(text, held[0]!);
  }
}

/** `indexed`: positions of the text fields that `lookUp` answers for. */
export function createTable(indexed: readonly number[]): Table {
  const records = new Map<number, Stored>();
  const companies = new Map<number, number[]>();
  const indexes = new Map<number, Index>(indexed.map((position) => [position, new Map()]));
  let version = 0;

  const put = (record: Stored): void => {
    const before = records.get(record.id);
    for (const [position, index] of indexes) {
      const old = before?.values[position];
      const text = record.values[position];
      if (old === text) continue;
      if (typeof old === 'string') indexRemove(index, old, record.id);
      if (typeof text === 'string') indexAdd(index, text, record.id);
    }
    if (before && before.company !== record.company) removeSorted(companies.get(before.company)!, record.id);
    if (!before || before.company !== record.company) {
      const list = companies.get(record.company);
      if (list) addSorted(list, record.id);
      else companies.set(record.company, [record.id]);
    }
    records.set(record.id, record);
    version++;
  };

  return {
    get size() {
      return records.size;
    },
    get version() {
      return version;
    },
    get: (id) => records.get(id),
    put,
    remove(id) {
      const record = records.get(id);
      if (!record) return;
      for (const [position, index] of indexes) {
        const text = record.values[position];
        if (typeof text === 'string') indexRemove(index, text, id);
      }
      removeSorted(companies.get(record.company)!, id);
      records.delete(id);
      version++;
    },
    ids: (company) => companies.get(company) ?? NONE,
    all: () => records.values(),
    isIndexed: (position) => indexes.has(position),
    lookUp(position, text) {
      const held = indexes.get(position)?.get(text);
      return held === undefined ? NONE : typeof held === 'number' ? [held] : held;
    },
    clone() {
      const copy = createTable(indexed);
      for (const record of records.values()) copy.put(record);
      return copy;
    },
  };
}
