import { asset } from './asset.js';
import { contract } from './contract.js';
import type { WritableName } from './kinds.js';
import { customer, supplier } from './party.js';
import { readForm, type Surroundings } from './render.js';
import { type Compiled, compile } from './resource.js';
import { createLookups, type Stored } from './stored.js';
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
  const each = <T>(make: (name: WritableName) => T) =>
    Object.fromEntries(NAMES.map((name) => [name, make(name)])) as Record<WritableName, T>;
  const newTable = (name: WritableName) => {
    const { positions, resource } = COMPILED[name];
    return new Table(resource.indexed.map((field) => positions.get(field)!));
  };
  const tables = each(newTable);
  const lastIds = each(() => 0);
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
  const forms = each((name) => readForm(COMPILED[name].resource.read, COMPILED[name].positions));

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
    switches: switches as Readonly<Switches>,
    now,
    table: (resource: WritableName): Table => tables[resource],
    /** The table as lists and filters see it: behind by `switches.lag` milliseconds. */
    listed(resource: WritableName): Table {
      if (!lagging) return tables[resource];
      catchUp(lagging);
      return lagging[resource];
    },
    nextId: (resource: WritableName): number => ++lastIds[resource],
    nextFormRow: (): number => ++formRow,
    put(resource: WritableName, record: Stored): void {
      lastIds[resource] = Math.max(lastIds[resource], record.id);
      change(resource, (table) => table.put(record));
    },
    remove: (resource: WritableName, id: number): void => change(resource, (table) => table.remove(id)),
    /** The read form as JSON text. Made anew each time (8 µs): kept texts cost more in memory and collection than they save. */
    show: (resource: WritableName, record: Stored): string => forms[resource](record, around),
    setSwitches(changes: Partial<Switches>): void {
      Object.assign(switches, changes);
      if (switches.lag > 0) lagging ??= each((name) => tables[name].clone());
      else {
        lagging = undefined;
        pending = [];
      }
    },
  };
}

/** Ids of the records that have a text, or belong to a company, ascending. */
type Index<K> = Map<K, number[]>;

/** Where an id stands in an ascending list, or would stand; new ids are nearly always the highest. */
const placeOf = (list: readonly number[], id: number): number => list.findLastIndex((one) => one < id) + 1;

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

/** The records of one resource, with indexes on some text fields. */
export class Table {
  readonly #records = new Map<number, Stored>();
  readonly #companies: Index<number> = new Map();
  readonly #indexes: ReadonlyMap<number, Index<string>>;
  /** Rises with every change. */
  version = 0;

  /** `indexed`: positions of the text fields that `lookUp` answers for. */
  constructor(readonly indexed: readonly number[]) {
    this.#indexes = new Map(indexed.map((position) => [position, new Map()]));
  }

  get(id: number): Stored | undefined {
    return this.#records.get(id);
  }

  /** Adds or replaces. */
  put(record: Stored): void {
    const before = this.#records.get(record.id);
    for (const [position, index] of this.#indexes) {
      const old = before?.values[position];
      const text = record.values[position];
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
    for (const [position, index] of this.#indexes) {
      const text = record.values[position];
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

  all(): IterableIterator<Stored> {
    return this.#records.values();
  }

  /** Ids of the records of any company whose indexed field has exactly this text, ascending. */
  lookUp(position: number, text: string): readonly number[] {
    return this.#indexes.get(position)?.get(text) ?? [];
  }

  clone(): Table {
    const copy = new Table(this.indexed);
    for (const record of this.#records.values()) copy.put(record);
    return copy;
  }
}
