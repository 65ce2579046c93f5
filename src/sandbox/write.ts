import type { Faults, WritableName, WriteContext } from './kinds.js';
import type { Compiled, Target } from './resource.js';
import type { StoredRecord, Value } from './stored-record.js';
import type { JsonObject } from './values.js';
import { COMPILED, type World } from './world.js';

export type WriteResult =
  | { readonly ok: true; readonly record: StoredRecord; readonly created: boolean }
  | { readonly ok: false; readonly faults: Faults };

export interface WriteRequest {
  readonly resource: WritableName;
  readonly operation: 'create' | 'update' | 'patch';
  readonly company: number;
  readonly body: JsonObject;
  readonly current?: StoredRecord | undefined;
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
export function write(world: World, request: WriteRequest): WriteResult {
  const compiled = COMPILED[request.resource];
  const faults: Faults = new Map();
  const context = writeContext(world, request, faults);
  const values = initialValues(compiled, request, world);
  const written = applyBody(compiled, values, request, context, world.switches.undocumentedOnPut);
  requireFields(compiled, values, written, faults, context, request.operation);
  if (faults.size === 0) compiled.resource.rules?.((field) => values[field] ?? null, context);
  const existing = faults.size === 0 ? checkUnique(world, compiled, request, values, context) : undefined;
  if (faults.size > 0) return { ok: false, faults };
  if (existing) {
    return write(world, { ...request, operation: 'patch', current: existing, uniqueField: undefined, inserted: true });
  }
  const moment = request.moment ?? world.now();
  const record: StoredRecord = {
    id: request.current?.id ?? request.id ?? world.nextId(request.resource),
    company: request.company,
    created: request.current?.created ?? moment,
    modified: moment,
    values,
  };
  world.put(request.resource, record);
  return { ok: true, record, created: request.current === undefined };
}

function writeContext(world: World, request: WriteRequest, faults: Faults): WriteContext {
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

function initialValues({ resource, blank }: Compiled, request: WriteRequest, world: World): Values {
  const { current, operation } = request;
  if (!current) return { ...blank };
  const values = { ...current.values };
  if (operation === 'patch' || world.switches.omittedOnPut === 'kept') return values;
  for (const { name, fixed, fallback } of resource.fields) if (!fixed) values[name] = fallback;
  return values;
}

type Values = Record<string, Value>;

/** Takes over what the body holds; answers the fields it named. */
function applyBody(
  compiled: Compiled,
  values: Values,
  { operation, body, inserted }: WriteRequest,
  context: WriteContext,
  undocumented: 'ignored' | 'accepted' | 'rejected',
): ReadonlySet<string> {
  const written = new Set<string>();
  let targets: ReadonlyMap<string, Target> = compiled.create;
  if (inserted) targets = compiled.insert;
  else if (operation !== 'create') targets = undocumented === 'accepted' ? compiled.any : compiled.update;
  const strict = operation !== 'create' && undocumented === 'rejected';
  for (const [name, value] of body) {
    const target = targets.get(name);
    if (target) {
      // Two spellings of one field may stand in one body: a null does not undo the other's value.
      const { field, kind } = target;
      if (value === null && written.has(field)) continue;
      values[field] = value === null ? compiled.blank[field]! : kind(value, name, context);
      written.add(field);
    } else if (strict && name !== 'company' && name !== 'id') context.fail(name, 'This field is not allowed here.');
  }
  return written;
}

function requireFields(
  { resource }: Compiled,
  values: Values,
  written: ReadonlySet<string>,
  faults: Faults,
  context: WriteContext,
  operation: WriteRequest['operation'],
): void {
  for (const { name, required, fixed } of resource.fields) {
    if (!required || faults.has(name)) continue;
    const value = values[name] ?? null;
    if (!written.has(name)) {
      if (operation !== 'patch' && !(fixed && operation === 'update')) context.fail(name, 'This field is required.');
    } else if (value === null) context.fail(name, 'This field may not be null.');
    else if (typeof value === 'string' && value.trim() === '') context.fail(name, 'This field may not be blank.');
  }
}

/** Names that are unique per account, and `unique_field`; answers the asset that an upsert is to change. */
function checkUnique(
  world: World,
  { resource }: Compiled,
  request: WriteRequest,
  values: Values,
  context: WriteContext,
): StoredRecord | undefined {
  const table = world.table(resource.name);
  if (resource.unique !== undefined) {
    const same = table.lookUp(resource.unique, values[resource.unique] as string);
    const others = same.filter((id) => id !== request.current?.id);
    if (others.length > 0) {
      context.fail(resource.unique, `${resource.name} with this ${resource.unique} already exists.`);
    }
  }
  const { uniqueField } = request;
  if (uniqueField === undefined || world.switches.uniqueField === 'ignored') return undefined;
  const value = values[uniqueField];
  if (typeof value !== 'string' || value === '') return undefined;
  const same = table
    .lookUp(uniqueField, value)
    .map((id) => table.get(id)!)
    .filter((record) => record.company === request.company);
  if (same.length === 0) return undefined;
  if (world.switches.uniqueField === 'upserts') return same[0];
  context.fail(uniqueField, `asset with this ${uniqueField} already exists.`);
  return undefined;
}

/** The stored values by field name, without nulls: also those that no read shows. */
export function rawValues({ id, company, values }: StoredRecord): Record<string, unknown> {
  return { id, company, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) };
}

/** Puts a record in without HTTP, under its `id` if it names one; throws where the body is not valid. */
export function insertRecord(world: World, resource: WritableName, body: JsonObject, moment?: number): StoredRecord {
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
  const faultText = [...written.faults].map(([field, messages]) => `${field}: ${messages.join(' ')}`).join('; ');
  throw new Error(`This ${resource} cannot be put into the sandbox: ${faultText}`);
}
