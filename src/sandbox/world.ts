import { ASSET_VIEWS, asset } from './asset.js';
import { contract } from './contract.js';
import type { WritableName } from './kinds.js';
import { customer, supplier } from './party.js';
import { readForm, type Surroundings } from './render.js';
import { type Compiled, compile } from './resource.js';
import { createLookups, type Lookups, type Stored } from './stored.js';
import type { Switches } from './switches.js';

export const COMPILED: Readonly<Record<WritableName, Compiled>> = {
  asset: compile(asset),
  contract: compile(contract),
  supplier: compile(supplier),
  customer: compile(customer),
};

const NAMES = Object.keys(COMPILED) as WritableName[];

/** Everything the sandbox holds, and the two ways to look at it: as it is, and as lists see it (`lag`). */
export interface World {
  readonly lookups: Lookups;
  readonly switches: Readonly<Switches>;
  table(resource: WritableName): Table;
  /** The table as lists and filters see it: behind by `switches.lag` milliseconds. */
  listed(resource: WritableName): Table;
  nextId(resource: WritableName): number;
  nextFormRow(): number;
  put(resource: WritableName, record: Stored): void;
  remove(resource: WritableName, id: number): void;
  /** The read form as JSON text. */
  show(resource: WritableName, record: Stored): string;
  /** What `req=warranty` or `req=support` keeps of an asset. */
  showAssetView(view: 'warranty' | 'support', record: Stored): string;
  setSwitches(changes: Partial<Switches>): void;
  now(): number;
}

interface Pending {
  readonly due: number;
  readonly resource: WritableName;
  readonly apply: (table: Table) => void;
}

export function createWorld(initial: Switches, now: () => number): World {
  const lookups = createLookups();
  const switches: Switches = { ...initial };
  const each = <T>(make: (name: WritableName) => T) =>
    Object.fromEntries(NAMES.map((name) => [name, make(name)])) as Record<WritableName, T>;
  const newTable = (name: WritableName) => {
    const { positions, resource } = COMPILED[name];
    return createTable(resource.indexed.map((field) => positions.get(field)!));
  };
  const tables = each(newTable);
  const lastIds = each(() => 0);
  const forms = each((name) => readForm(COMPILED[name].resource.read, COMPILED[name].positions));
  let formRow = 0;
  let lagging: Record<WritableName, Table> | undefined;
  let pending: Pending[] = [];

  const nameAt = {
    supplier: COMPILED.supplier.positions.get('name')!,
    customer: COMPILED.customer.positions.get('name')!,
  };
  const numberAt = COMPILED.contract.positions.get('number')!;
  const around: Surroundings = {
    lookups,
    switches,
    partyName: (resource, id) => tables[resource].get(id)?.values[nameAt[resource]] as string | undefined,
    contractNumber: (id) => tables.contract.get(id)?.values[numberAt] as string | undefined,
  };
  const assetView = (view: keyof typeof ASSET_VIEWS) =>
    readForm(
      COMPILED.asset.resource.read.filter(({ name }) => ASSET_VIEWS[view].test(name)),
      COMPILED.asset.positions,
    );
  const assetViews = { warranty: assetView('warranty'), support: assetView('support') };

  const change = (resource: WritableName, apply: (table: Table) => void): void => {
    apply(tables[resource]);
    if (lagging) pending.push({ due: now() + switches.lag, resource, apply });
  };

  const catchUp = (views: Record<WritableName, Table>): void => {
    const moment = now();
    let done = 0;
    for (; done < pending.length && pending[done]!.due <= moment; done++) {
      pending[done]!.apply(views[pending[done]!.resource]);
    }
    if (done > 0) pending = pending.slice(done);
  };

  return {
    lookups,
    switches,
    now,
    table: (resource) => tables[resource],
    listed(resource) {
      if (!lagging) return tables[resource];
      catchUp(lagging);
      return lagging[resource];
    },
    nextId: (resource) => ++lastIds[resource],
    nextFormRow: () => ++formRow,
    put(resource, record) {
      lastIds[resource] = Math.max(lastIds[resource], record.id);
      change(resource, (table) => table.put(record));
    },
    remove: (resource, id) => change(resource, (table) => table.remove(id)),
    // Made anew each time (8 µs): kept texts cost more in memory and collection than they save.
    show: (resource, record) => forms[resource](record, around),
    showAssetView: (view, record) => assetViews[view](record, around),
    setSwitches(changes) {
      Object.assign(switches, changes);
      if (switches.lag > 0) lagging ??= each((name) => tables[name].clone());
      else {
        lagging = undefined;
        pending = [];
      }
    },
  };
}

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

/** Ids of the records that have a text, or belong to a company, ascending. */
type Index<K> = Map<K, number[]>;

/** Where an id stands in an ascending list, or would stand; new ids are nearly always the highest. */
function placeOf(list: readonly number[], id: number): number {
  let low = 0;
  let high = list.length;
  if (high === 0 || list[high - 1]! < id) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function indexAdd<K>(index: Index<K>, key: K, id: number): void {
  const held = index.get(key);
  if (held) held.splice(placeOf(held, id), 0, id);
  else index.set(key, [id]);
}

function indexRemove<K>(index: Index<K>, key: K, id: number): void {
  const held = index.get(key);
  held?.splice(placeOf(held, id), 1);
  if (held?.length === 0) index.delete(key);
}

/** `indexed`: positions of the text fields that `lookUp` answers for. */
export function createTable(indexed: readonly number[]): Table {
  const records = new Map<number, Stored>();
  const companies: Index<number> = new Map();
  const indexes = new Map<number, Index<string>>(indexed.map((position) => [position, new Map()]));
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
    if (before && before.company !== record.company) indexRemove(companies, before.company, record.id);
    if (before?.company !== record.company) indexAdd(companies, record.company, record.id);
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
      indexRemove(companies, record.company, id);
      records.delete(id);
      version++;
    },
    ids: (company) => companies.get(company) ?? [],
    all: () => records.values(),
    isIndexed: (position) => indexes.has(position),
    lookUp: (position, text) => indexes.get(position)?.get(text) ?? [],
    clone() {
      const copy = createTable(indexed);
      for (const record of records.values()) copy.put(record);
      return copy;
    },
  };
}
