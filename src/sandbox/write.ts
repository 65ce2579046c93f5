import type { Check, Faults, WritableName } from './kinds.js';
import type { Compiled, Target } from './resource.js';
import type { Stored, Value } from './stored.js';
import type { JsonObject } from './values.js';
import { COMPILED, type World } from './world.js';

export type Written =
  | { readonly ok: true; readonly record: Stored; readonly created: boolean }
  | { readonly ok: false; readonly faults: Faults };

export interface WriteRequest {
  readonly resource: WritableName;
  readonly operation: 'create' | 'update' | 'patch';
  readonly company: number;
  readonly body: JsonObject;
  readonly current?: Stored | undefined;
  /** `?unique_field=` of an asset create. */
  readonly uniqueField?: 'name' | 'serial_number' | undefined;
  /** For records put in without HTTP: every spelling may be used. */
  readonly inserted?: boolean;
  /** The id and moment (milliseconds) of a record put in without HTTP; default: the next id, now. */
  readonly id?: number | undefined;
  readonly moment?: number | undefined;
}

/**
 * Checks a body and stores the record. A PUT replaces the whole record: what the body leaves out becomes null or its
 * default (interface, section 4.1). Unknown members of a body are ignored.
 */
export function write(world: World, request: WriteRequest): Written {
  const compiled = COMPILED[request.resource];
  const faults: Faults = new Map();
  const check = checkOf(world, request, faults);
  const values = startingValues(compiled, request, world);
  const given = fill(compiled, values, request, check, world.switches.undocumentedOnPut);
  requireFields(compiled, values, given, faults, check, request.operation);
  if (faults.size === 0) {
    compiled.resource.rules?.((field) => values[compiled.positions.get(field)!] ?? null, check);
  }
  const existing = faults.size === 0 ? uniqueChecks(world, compiled, request, values, check) : undefined;
  if (faults.size > 0) return { ok: false, faults };
  if (existing) {
    return write(world, { ...request, operation: 'patch', current: existing, uniqueField: undefined, inserted: true });
  }
  const moment = request.moment ?? world.now();
  const record: Stored = {
    id: request.current?.id ?? request.id ?? world.nextId(request.resource),
    company: request.company,
    created: request.current?.created ?? moment,
    modified: moment,
    values,
  };
  world.put(request.resource, record);
  return { ok: true, record, created: request.current === undefined };
}

function checkOf(world: World, request: WriteRequest, faults: Faults): Check {
  return {
    operation: request.operation,
    company: request.company,
    current: request.current,
    lookups: world.lookups,
    switches: world.switches,
    exists: (resource, id) => world.table(resource).get(id)?.company === request.company,
    nextFormRow: world.nextFormRow,
    fail(field, message) {
      const messages = faults.get(field);
      if (messages) messages.push(message);
      else faults.set(field, [message]);
      return null;
    },
  };
}

function startingValues({ resource, blank }: Compiled, request: WriteRequest, world: World): Value[] {
  const { current, operation } = request;
  if (!current) return blank.slice();
  if (operation === 'patch' || world.switches.omittedOnPut === 'kept') return current.values.slice();
  return blank.map((value, position) =>
    resource.fields[position]!.fixed ? (current.values[position] ?? null) : value,
  );
}

/** Takes over what the body holds; answers the positions it named. */
function fill(
  compiled: Compiled,
  values: Value[],
  { operation, body, inserted }: WriteRequest,
  check: Check,
  undocumented: 'ignored' | 'accepted' | 'rejected',
): ReadonlySet<number> {
  const given = new Set<number>();
  let targets: ReadonlyMap<string, Target> = compiled.create;
  if (inserted) targets = compiled.insert;
  else if (operation !== 'create') targets = undocumented === 'accepted' ? compiled.any : compiled.update;
  const strict = operation !== 'create' && undocumented === 'rejected';
  for (const [name, value] of body) {
    const target = targets.get(name);
    if (target) {
      // Two spellings of one field may stand in one body: a null does not undo the other's value.
      if (value === null && given.has(target.position)) continue;
      values[target.position] = value === null ? compiled.blank[target.position]! : target.kind(value, name, check);
      given.add(target.position);
    } else if (strict && name !== 'company' && name !== 'id') check.fail(name, 'This field is not allowed here.');
  }
  return given;
}

function requireFields(
  { resource }: Compiled,
  values: readonly Value[],
  given: ReadonlySet<number>,
  faults: Faults,
  check: Check,
  operation: WriteRequest['operation'],
): void {
  for (const [position, field] of resource.fields.entries()) {
    if (!field.required || faults.has(field.name)) continue;
    const value = values[position] ?? null;
    if (!given.has(position)) {
      if (operation !== 'patch' && !(field.fixed && operation === 'update')) {
        check.fail(field.name, 'This field is required.');
      }
    } else if (value === null) check.fail(field.name, 'This field may not be null.');
    else if (typeof value === 'string' && value.trim() === '') check.fail(field.name, 'This field may not be blank.');
  }
}

/** Names that are unique per account, and `unique_field`; answers the asset that an upsert is to change. */
function uniqueChecks(
  world: World,
  { resource, positions }: Compiled,
  request: WriteRequest,
  values: readonly Value[],
  check: Check,
): Stored | undefined {
  const table = world.table(resource.name);
  if (resource.unique !== undefined) {
    const position = positions.get(resource.unique)!;
    const others = table.lookUp(position, values[position] as string).filter((id) => id !== request.current?.id);
    if (others.length > 0) {
      check.fail(resource.unique, `${resource.name} with this ${resource.unique} already exists.`);
    }
  }
  const { uniqueField } = request;
  if (uniqueField === undefined || world.switches.uniqueField === 'ignored') return undefined;
  const position = positions.get(uniqueField)!;
  const value = values[position];
  if (typeof value !== 'string' || value === '') return undefined;
  const same = table
    .lookUp(position, value)
    .map((id) => table.get(id)!)
    .filter((record) => record.company === request.company);
  if (same.length === 0) return undefined;
  if (world.switches.uniqueField === 'upserts') return same[0];
  check.fail(uniqueField, `asset with this ${uniqueField} already exists.`);
  return undefined;
}

/** The stored values by field name, without nulls: also those that no read shows. */
export function rawValues(resource: WritableName, record: Stored): Record<string, unknown> {
  const raw: Record<string, unknown> = { id: record.id, company: record.company };
  for (const [field, position] of COMPILED[resource].positions) {
    const value = record.values[position];
    if (value !== null && value !== undefined) raw[field] = value;
  }
  return raw;
}

/** Puts a record in without HTTP, under its `id` if it names one; throws where the body is not valid. */
export function insertRecord(world: World, resource: WritableName, body: JsonObject, moment?: number): Stored {
  const company = body.get('company') ?? 1;
  const id = body.get('id');
  const written = write(world, {
    resource,
    operation: 'create',
    company: typeof company === 'number' ? company : 1,
    body,
    inserted: true,
    id: typeof id === 'number' ? id : undefined,
    moment,
  });
  if (written.ok) return written.record;
  const said = [...written.faults].map(([field, messages]) => `${field}: ${messages.join(' ')}`).join('; ');
  throw new Error(`This ${resource} cannot be put into the sandbox: ${said}`);
}
