import { asset } from './asset.js';
import { contract } from './contract.js';
import { customer, supplier } from './counterparty.js';
import type { WritableName } from './kinds.js';
import { compileReadForm, type RenderContext } from './render.js';
import { type Compiled, compile } from './resource.js';
import { createLookups, type StoredRecord } from './stored-record.js';
import type { Switches } from './switches.js';

export const COMPILED: Readonly<Record<WritableName, Compiled>> = {
  asset: compile(asset),
  contract: compile(contract),
  supplier: compile(supplier),
  customer: compile(customer),
};

const NAMES = Object.keys(COMPILED) as WritableName[];

export type World = ReturnType<typeof createWorld>;

interface Pending {
  readonly due: number;
  readonly resource: WritableName;
  readonly apply: (table: Table) => void;
}

/** Everything the sandbox holds, and the two ways to look at it: as it is, and as lists see it (`lag`). */
export function createWorld(initial: Switches, now: () => number) {
  const lookups = createLookups();
  const switches: Switches = { ...initial };
  const byResource = <T>(make: (name: WritableName) => T) =>
    Object.fromEntries(NAMES.map((name) => [name, make(name)])) as Record<WritableName, T>;
  const tables = byResource((name) => new Table(COMPILED[name].resource.indexed));
  const lastIds = byResource(() => 0);
  let formRow = 0;
  let delayedTables: Record<WritableName, Table> | undefined;
  let pending: Pending[] = [];

  const context: RenderContext = {
    lookups,
    switches,
    partyName: (resource, id) => tables[resource].get(id)?.values['name'] as string | undefined,
    contractNumber: (id) => tables.contract.get(id)?.values['number'] as string | undefined,
  };
  const forms = byResource((name) => compileReadForm(COMPILED[name].resource.read));

  const applyChange = (resource: WritableName, apply: (table: Table) => void): void => {
    apply(tables[resource]);
    if (delayedTables) pending.push({ due: now() + switches.lag, resource, apply });
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
    switches: switches as Readonly<Switches>,
    now,
    table: (resource: WritableName): Table => tables[resource],
    /** The table as lists and filters see it: behind by `switches.lag` milliseconds. */
    listTable(resource: WritableName): Table {
      if (!delayedTables) return tables[resource];
      catchUp(delayedTables);
      return delayedTables[resource];
    },
    nextId: (resource: WritableName): number => ++lastIds[resource],
    nextFormRow: (): number => ++formRow,
    put(resource: WritableName, record: StoredRecord): void {
      lastIds[resource] = Math.max(lastIds[resource], record.id);
      applyChange(resource, (table) => table.put(record));
    },
    remove: (resource: WritableName, id: number): void => applyChange(resource, (table) => table.remove(id)),
    /** The read form as JSON text. Made anew each time (8 µs): kept texts cost more in memory and collection than they save. */
    show: (resource: WritableName, record: StoredRecord): string => forms[resource](record, context),
    setSwitches(changes: Partial<Switches>): void {
      Object.assign(switches, changes);
      if (switches.lag > 0) delayedTables ??= byResource((name) => tables[name].clone());
      else {
        delayedTables = undefined;
        pending = [];
      }
    },
  };
}

/** Ids of the records that have a text, or belong to a company, ascending. */
type Index<K> = Map<K, number[]>;

/** Where an id stands in an ascending list, or would stand; new ids are nearly always the highest. */
const insertionIndex = (list: readonly number[], id: number): number => list.findLastIndex((one) => one < id) + 1;

function indexAdd<K>(index: Index<K>, key: K, id: number): void {
  const entries = index.get(key);
  if (entries) entries.splice(insertionIndex(entries, id), 0, id);
  else index.set(key, [id]);
}

function indexRemove<K>(index: Index<K>, key: K, id: number): void {
  const entries = index.get(key);
  entries?.splice(insertionIndex(entries, id), 1);
  if (entries?.length === 0) index.delete(key);
}

/** The records of one resource, with indexes on some text fields. */
export class Table {
  readonly #records = new Map<number, StoredRecord>();
  readonly #companies: Index<number> = new Map();
  readonly #indexes: ReadonlyMap<string, Index<string>>;
  /** Rises with every change. */
  version = 0;

  /** `indexed`: the text fields that `lookUp` answers for. */
  constructor(readonly indexed: readonly string[]) {
    this.#indexes = new Map(indexed.map((field) => [field, new Map()]));
  }

  get(id: number): StoredRecord | undefined {
    return this.#records.get(id);
  }

  /** Adds or replaces. */
  put(record: StoredRecord): void {
    const before = this.#records.get(record.id);
    for (const [field, index] of this.#indexes) {
      const old = before?.values[field];
      const text = record.values[field];
      if (old === text) continue;
      if (typeof old === 'string') indexRemove(index, old, record.id);
      if (typeof text === 'string') indexAdd(index, text, record.id);
    }
    if (before && before.company !== record.company) indexRemove(this.#companies, before.company, record.id);
    if (before?.company !== record.company) indexAdd(this.#companies, record.company, record.id);
    this.#records.set(record.id, record);
    this.version++;
  }

  remove(id: number): void {
    const record = this.#records.get(id);
    if (!record) return;
    for (const [field, index] of this.#indexes) {
      const text = record.values[field];
      if (typeof text === 'string') indexRemove(index, text, id);
    }
    indexRemove(this.#companies, record.company, id);
    this.#records.delete(id);
    this.version++;
  }

  /** Ids of a company, ascending. Not to be changed by the caller. */
  ids(company: number): readonly number[] {
    return this.#companies.get(company) ?? [];
  }

  all(): IterableIterator<StoredRecord> {
    return this.#records.values();
  }

  /** Ids of the records of any company whose indexed field has exactly this text, ascending. */
  lookUp(field: string, text: string): readonly number[] {
    return this.#indexes.get(field)?.get(text) ?? [];
  }

  clone(): Table {
    const copy = new Table(this.indexed);
    for (const record of this.#records.values()) copy.put(record);
    return copy;
  }
}
