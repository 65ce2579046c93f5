import { ASSET_VIEWS, asset } from './asset.js';
import { contract } from './contract.js';
import type { WritableName } from './kinds.js';
import { createLookups, type Lookups } from './lookups.js';
import { customer, supplier } from './party.js';
import type { Stored } from './record.js';
import { readForm, type Surroundings } from './render.js';
import { type Compiled, compile } from './resource.js';
import type { Switches } from './switches.js';
import { createTable, type Table } from './table.js';

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
  const assetRead = (kept: readonly string[]) =>
    readForm(
      COMPILED.asset.resource.read.filter((one) => kept.includes(one.name)),
      COMPILED.asset.positions,
    );
  const assetViews = { warranty: assetRead(ASSET_VIEWS.warranty), support: assetRead(ASSET_VIEWS.support) };

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
