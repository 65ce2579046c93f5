import { type Fields, isEmpty, isRef, type Value, valueText } from '../model/value.js';
import { type CustomName, parseCustomName } from './custom.js';
import { putAt } from './path.js';
import { fieldReaders } from './read.js';
import type { Loss } from './read-value.js';
import type { FieldSpec, Lexicon, ResourceSpec } from './spec.js';
import { matchingWord } from './value-check.js';

/** A request body, decimals as Decimal, and what the record holds that this operation cannot carry. */
export interface BodyResult {
  readonly body: Record<string, unknown>;
  readonly lost: readonly Loss[];
}

type Operation = 'create' | 'update';

/** The body of a create: interface sections 4.2 to 4.4. Empty values are left out. */
export function createBody(spec: ResourceSpec, company: number, fields: Fields, lexicon: Lexicon): BodyResult {
  return new BodyBuilder('create', spec, company, lexicon, NONE).build(fields);
}

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
): BodyResult {
  return new BodyBuilder('update', spec, company, lexicon, accepted).build(fields);
}

const NONE: ReadonlySet<string> = new Set();

/** A body in the making, of fields in canonical form. */
class BodyBuilder {
  readonly body: Record<string, unknown>;
  readonly lost: Loss[] = [];

  constructor(
    private readonly operation: Operation,
    private readonly spec: ResourceSpec,
    company: number,
    private readonly lexicon: Lexicon,
    private readonly accepted: ReadonlySet<string>,
  ) {
    this.body = { company };
  }

  build(fields: Fields): BodyResult {
    const { spec } = this;
    const own = fieldReaders(spec);
    const idle = spec.idleGroups ? idleFields(spec, fields) : NONE;
    const custom: CustomValue[] = [];
    for (const name of Object.keys(fields)) {
      const value = fields[name] ?? null;
      const field = own.get(name)?.field;
      const parts = field ? undefined : parseCustomName(name);
      if (parts) custom.push({ name, parts, value });
      else if (isEmpty(value) || field?.derived || idle.has(name)) continue;
      else if (!field) this.addLoss(name, value, `a ${spec.name} has no such field`);
      else {
        const why = this.putField(field, value);
        if (why) this.addLoss(name, value, why);
      }
    }
    if (custom.length > 0) {
      this.putTemplate(custom);
      this.putForms(custom);
    }
    return { body: this.body, lost: this.lost };
  }

  private addLoss(name: string, value: Value, why: string): void {
    this.lost.push({ field: name, text: valueText(value), why });
  }

  /** Puts one value into the body; the answer says why it could not. */
  private putField(field: FieldSpec, value: Value): string | undefined {
    const { operation } = this;
    const path = field[operation];
    const wire = operation === 'create' ? wireValue(field, value) : updateValue(field, value, this.lexicon);
    const why =
      path === undefined
        ? `${operation === 'create' ? 'a create cannot set' : 'an update cannot carry'} it`
        : this.put(path, wire);
    if (why === undefined || operation === 'create') return why;
    const createPath = this.accepted.has(field.name) ? (field.create ?? field.read) : undefined;
    if (createPath !== undefined && this.put(createPath, wireValue(field, value)) === undefined) return undefined;
    return path === undefined && field.keptByService ? undefined : why;
  }

  private put(path: string, wire: Wire): string | undefined {
    if ('why' in wire) return wire.why;
    putAt(this.body, path, wire.value);
    return undefined;
  }

  private putTemplate(custom: readonly CustomValue[]): void {
    const { operation, spec, body } = this;
    const byTemplate = new Map<number, CustomValue[]>();
    for (const one of custom) {
      if (one.parts.kind !== 'template') continue;
      const values = byTemplate.get(one.parts.template) ?? [];
      byTemplate.set(one.parts.template, values);
      if (!isEmpty(one.value)) values.push(one);
    }
    const filled = [...byTemplate].filter(([, values]) => values.length > 0);
    // The one with values counts; one without any is carried by an update only, so that it stays assigned.
    const [chosen, ...others] = filled.length > 0 || operation === 'create' ? filled : byTemplate;
    if (!chosen) return;
    for (const { name, value } of others.flatMap(([, values]) => values))
      this.addLoss(name, value, 'a record holds one custom field template');
    const values = chosen[1].flatMap(({ parts, value }) =>
      parts.kind === 'template' ? { id: parts.field, value } : [],
    );
    const item = { id: chosen[0], fields: values };
    putAt(body, spec.template[operation], operation === 'create' && spec.template.createAsList ? [item] : item);
  }

  private putForms(custom: readonly CustomValue[]): void {
    const { operation, spec, lexicon } = this;
    const path = spec.form?.[operation] ?? (this.accepted.has('form') ? spec.form?.create : undefined);
    const rows = new Map<string, { readonly form: number; readonly data: [string, Value][] }>();
    for (const { name, parts, value } of custom) {
      if (parts.kind !== 'form') continue;
      const column = lexicon.form(parts.form)?.fields.find((field) => field.name === parts.column);
      const why =
        path === undefined
          ? spec.form
            ? 'an update cannot carry custom forms'
            : `a ${spec.name} has no custom forms`
          : column?.dataType === 'attachment'
            ? 'no request can carry an attachment'
            : undefined;
      if (why !== undefined) {
        if (!isEmpty(value)) this.addLoss(name, value, why);
        continue;
      }
      const key = `${parts.form}#${parts.occurrence}`;
      const row = rows.get(key) ?? { form: parts.form, data: [] };
      rows.set(key, row);
      if (!isEmpty(value)) row.data.push([parts.column, value]);
    }
    const sent = [...rows.values()].filter(({ data }) => data.length > 0 || operation === 'update');
    if (path === undefined || sent.length === 0) return;
    // Own properties by definition, so that a column called __proto__ is one.
    const items = sent.map(({ form, data }) => ({ id: form, custom_form_data: Object.fromEntries(data) }));
    putAt(this.body, path, items);
  }
}

interface CustomValue {
  readonly name: string;
  readonly parts: CustomName;
  readonly value: Value;
}

/** Read-only groups that are switched off hold nothing worth keeping. */
function idleFields(spec: ResourceSpec, fields: Fields): ReadonlySet<string> {
  const idle = new Set<string>();
  for (const { prefix, signs } of spec.idleGroups ?? []) {
    if (signs.some((sign) => !isEmpty(fields[sign]) && fields[sign] !== false)) continue;
    for (const field of spec.fields) if (field.name.startsWith(prefix)) idle.add(field.name);
  }
  return idle;
}

type Wire = { readonly value: unknown } | { readonly why: string };

function updateValue(field: FieldSpec, value: Value, lexicon: Lexicon): Wire {
  if (field.updateWords) return updateWord(field, field.updateWords, value, lexicon);
  if (field.type.kind === 'enum' && field.type.update && !field.type.update.includes(String(value))) {
    return { why: `an update accepts only ${field.type.update.join(' and ')}` };
  }
  return wireValue(field, value);
}

/** Both operations carry the id of its value. */
function isById({ type }: FieldSpec): boolean {
  return type.kind === 'reference' || type.kind === 'country';
}

/** The value in the form both operations share: references and countries as ids. */
function wireValue(field: FieldSpec, value: Value): Wire {
  if (!isById(field)) return { value };
  if (isRef(value)) return { value: value.id };
  return typeof value === 'number' ? { value } : { why: 'its id is not known' };
}

function updateWord(field: FieldSpec, words: readonly string[], value: Value, lexicon: Lexicon): Wire {
  const target = field.type.kind === 'reference' ? field.type.to : undefined;
  const id = isRef(value) ? value.id : typeof value === 'number' ? value : undefined;
  const ownName = isRef(value) ? value.name : typeof value === 'string' ? value : undefined;
  const name = ownName ?? (target && id !== undefined ? lexicon.nameOf(target, id) : undefined);
  if (name === undefined) return { why: 'its name is not known, and an update carries the name' };
  const word = matchingWord(words, name);
  return word === undefined ? { why: `an update accepts only ${words.join(', ')}` } : { value: word };
}
