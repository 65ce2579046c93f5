import { type Fields, isEmpty, isRef, type Value, valueText } from '../model/value.js';
import { type CustomName, parseCustomName } from './custom.js';
import { putAt } from './path.js';
import { fieldReaders } from './read.js';
import type { Loss } from './read-value.js';
import type { FieldSpec, Lexicon, ResourceSpec } from './spec.js';
import { matchingWord } from './value-check.js';

/** A request body, decimals as Decimal, and what the record holds that this operation cannot carry. */
export interface Written {
  readonly body: Record<string, unknown>;
  readonly lost: readonly Loss[];
}

type Operation = 'create' | 'update';

/** The body of a create: interface sections 4.2 to 4.4. Empty values are left out. */
export function createBody(spec: ResourceSpec, company: number, fields: Fields, lexicon: Lexicon): Written {
  return write('create', spec, company, fields, lexicon, NONE);
}

/**
 * What a create with these fields cannot carry: `createBody` without the body, which nearly every row is spared, because
 * all of its values are such that a create takes them.
 */
export function lostOnCreate(spec: ResourceSpec, company: number, fields: Fields, lexicon: Lexicon): readonly Loss[] {
  const own = fieldReaders(spec);
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const field = own.get(name)?.field;
    if (isEmpty(value) || (field?.create !== undefined && (!isById(field) || isRef(value)))) continue;
    return createBody(spec, company, fields, lexicon).lost;
  }
  return NOTHING_LOST;
}

const NOTHING_LOST: readonly Loss[] = [];

/**
 * The body of an update of the whole record. What is left out is cleared by the service, so `fields` is everything
 * the record shall hold. `accepted` names fields that the service is known to keep although the interface does not
 * list them (`form`: all form columns): they are sent as a create sends them.
 */
export function updateBody(
  spec: ResourceSpec,
  company: number,
  fields: Fields,
  lexicon: Lexicon,
  accepted: ReadonlySet<string>,
): Written {
  return write('update', spec, company, fields, lexicon, accepted);
}

function write(
  operation: Operation,
  spec: ResourceSpec,
  company: number,
  fields: Fields,
  lexicon: Lexicon,
  accepted: ReadonlySet<string>,
): Written {
  const body: Record<string, unknown> = { company };
  const lost: Loss[] = [];
  const own = fieldReaders(spec);
  const idle = spec.idleGroups ? idleFields(spec, fields) : NONE;
  const custom: Custom[] = [];
  for (const name of Object.keys(fields)) {
    const value = fields[name] ?? null;
    const field = own.get(name)?.field;
    if (field) {
      if (isEmpty(value) || field.derived || idle.has(name)) continue;
      const why = putField(operation, field, value, body, lexicon, accepted);
      if (why) lost.push({ field: name, text: valueText(value), why });
      continue;
    }
    const parts = parseCustomName(name);
    if (parts) custom.push({ name, parts, value });
    else if (!isEmpty(value))
      lost.push({ field: name, text: valueText(value), why: `a ${spec.name} has no such field` });
  }
  if (custom.length > 0) {
    putTemplate(operation, spec, custom, body, lost);
    putForms(operation, spec, custom, body, lost, lexicon, accepted);
  }
  return { body, lost };
}

const NONE: ReadonlySet<string> = new Set();

/** Read-only groups that are switched off hold nothing worth keeping. */
function idleFields(spec: ResourceSpec, fields: Fields): ReadonlySet<string> {
  const idle = new Set<string>();
  for (const { prefix, signs } of spec.idleGroups ?? []) {
    if (signs.some((sign) => !isEmpty(fields[sign]) && fields[sign] !== false)) continue;
    for (const field of spec.fields) if (field.name.startsWith(prefix)) idle.add(field.name);
  }
  return idle;
}

/** Puts one value into the body; the answer says why it could not. */
function putField(
  operation: Operation,
  field: FieldSpec,
  value: Value,
  body: Record<string, unknown>,
  lexicon: Lexicon,
  accepted: ReadonlySet<string>,
): string | undefined {
  let why = operation === 'create' ? 'a create cannot set it' : 'an update cannot carry it';
  const path = operation === 'create' ? field.create : field.update;
  if (path !== undefined) {
    const wire = operation === 'create' ? idOf(field, value) : updateValue(field, value, lexicon);
    if (!('why' in wire)) {
      putAt(body, path, wire.value);
      return undefined;
    }
    why = wire.why;
  }
  const kept = operation === 'update' && accepted.has(field.name) ? (field.create ?? field.read) : undefined;
  const wire = kept === undefined ? undefined : idOf(field, value);
  if (kept !== undefined && wire && !('why' in wire)) {
    putAt(body, kept, wire.value);
    return undefined;
  }
  return operation === 'update' && path === undefined && field.keptByService ? undefined : why;
}

type Wire = { readonly value: unknown } | { readonly why: string };

function updateValue(field: FieldSpec, value: Value, lexicon: Lexicon): Wire {
  if (field.updateWords) return updateWord(field, field.updateWords, value, lexicon);
  if (field.type.kind === 'enum' && field.type.update && !field.type.update.includes(String(value))) {
    return { why: `an update accepts only ${field.type.update.join(' and ')}` };
  }
  return idOf(field, value);
}

/** Both operations carry the id of its value. */
function isById({ type }: FieldSpec): boolean {
  return type.kind === 'reference' || type.kind === 'country';
}

/** The value in the form both operations share: references and countries as ids. */
function idOf(field: FieldSpec, value: Value): Wire {
  if (!isById(field)) return { value };
  if (isRef(value)) return { value: value.id };
  return typeof value === 'number' ? { value } : { why: 'its id is not known' };
}

function updateWord(field: FieldSpec, words: readonly string[], value: Value, lexicon: Lexicon): Wire {
  const target = field.type.kind === 'reference' ? field.type.to : undefined;
  const id = isRef(value) ? value.id : typeof value === 'number' ? value : undefined;
  const known = isRef(value) ? value.name : typeof value === 'string' ? value : undefined;
  const name = known ?? (target && id !== undefined ? lexicon.nameOf(target, id) : undefined);
  if (name === undefined) return { why: 'its name is not known, and an update carries the name' };
  const word = matchingWord(words, name);
  return word === undefined ? { why: `an update accepts only ${words.join(', ')}` } : { value: word };
}

interface Custom {
  readonly name: string;
  readonly parts: CustomName;
  readonly value: Value;
}

function putTemplate(
  operation: Operation,
  spec: ResourceSpec,
  custom: readonly Custom[],
  body: Record<string, unknown>,
  lost: Loss[],
): void {
  const byTemplate = new Map<number, { id: number; value: Value }[]>();
  const named = new Map<number, Custom[]>();
  for (const one of custom) {
    if (one.parts.kind !== 'template') continue;
    const { template, field } = one.parts;
    const values = byTemplate.get(template) ?? [];
    byTemplate.set(template, values);
    if (isEmpty(one.value)) continue;
    values.push({ id: field, value: one.value });
    named.set(template, [...(named.get(template) ?? []), one]);
  }
  // The one with values counts; one without any is carried by an update only, so that it stays assigned.
  const [chosen] = named.size > 0 ? named.keys() : operation === 'update' ? byTemplate.keys() : [];
  if (chosen === undefined) return;
  for (const [template, values] of named) {
    if (template === chosen) continue;
    for (const { name, value } of values) {
      lost.push({ field: name, text: valueText(value), why: 'a record holds one custom field template' });
    }
  }
  const item = { id: chosen, fields: byTemplate.get(chosen) ?? [] };
  if (operation === 'update') putAt(body, spec.template.update, item);
  else putAt(body, spec.template.create, spec.template.createAsList ? [item] : item);
}

function putForms(
  operation: Operation,
  spec: ResourceSpec,
  custom: readonly Custom[],
  body: Record<string, unknown>,
  lost: Loss[],
  lexicon: Lexicon,
  accepted: ReadonlySet<string>,
): void {
  const documented = operation === 'create' ? spec.form?.create : spec.form?.update;
  const path = documented ?? (operation === 'update' && accepted.has('form') ? spec.form?.create : undefined);
  const rows = new Map<string, { form: number; occurrence: number; held: boolean; data: [string, Value][] }>();
  for (const { name, parts, value } of custom) {
    if (parts.kind !== 'form') continue;
    const empty = isEmpty(value);
    if (path === undefined) {
      const why = spec.form ? 'an update cannot carry custom forms' : `a ${spec.name} has no custom forms`;
      if (!empty) lost.push({ field: name, text: valueText(value), why });
      continue;
    }
    const column = lexicon.form(parts.form)?.fields.find((field) => field.name === parts.column);
    if (column?.dataType === 'attachment') {
      if (!empty) lost.push({ field: name, text: valueText(value), why: 'no request can carry an attachment' });
      continue;
    }
    const key = `${parts.form}#${parts.occurrence}`;
    const row = rows.get(key) ?? { form: parts.form, occurrence: parts.occurrence, held: false, data: [] };
    rows.set(key, row);
    if (empty) continue;
    row.held = true;
    row.data.push([parts.column, value]);
  }
  const sent = [...rows.values()].filter((row) => row.held || operation === 'update');
  if (path === undefined || sent.length === 0) return;
  putAt(
    body,
    path,
    // Own properties by definition, so that a column called __proto__ is one.
    sent.map((row) => ({ id: row.form, custom_form_data: Object.fromEntries(row.data) })),
  );
}
