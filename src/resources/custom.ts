import { Decimal } from '../model/decimal.js';
import { normaliseName, type Value } from '../model/value.js';
import { isEmptyJson, isObject } from './path.js';
import { type Loss, type ReadResult, readValue, recordId, shortJsonText } from './read-value.js';
import {
  type CustomField,
  type CustomTemplate,
  type FieldSpec,
  type FieldType,
  type Lexicon,
  MONEY_MAX,
  MONEY_MIN,
  memoized,
  type ResourceSpec,
} from './spec.js';

/** Custom field templates and custom forms: interface sections 2.1 (value rules) and 2.7 (their descriptions). */

const DATA_TYPES = ['date', 'money', 'number', 'text', 'attachment'] as const;

const NUMBER_LIMIT = 999_999_999_999_999;

/** A custom field template or custom form as the service sends it; undefined where it has no id. */
export function parseTemplate(json: unknown): CustomTemplate | undefined {
  if (!isObject(json)) return undefined;
  const id = recordId(json['id']);
  if (id === undefined) return undefined;
  const title = [json['name'], json['form_title']].find((text) => typeof text === 'string' && text !== '');
  const listed = Array.isArray(json['fields']) ? json['fields'].filter(isObject) : [];
  return {
    id,
    name: shortJsonText(title),
    resource: shortJsonText(json['type']),
    active: json['is_active'] !== false,
    fields: listed
      .map((field, at) => ({ field: parseField(field), order: orderOf(field, at) }))
      .sort((a, b) => a.order - b.order)
      .flatMap(({ field }) => (field ? [field] : [])),
  };
}

function orderOf(field: Readonly<Record<string, unknown>>, at: number): number {
  return typeof field['order'] === 'number' ? field['order'] : at;
}

function parseField(json: Readonly<Record<string, unknown>>): CustomField | undefined {
  const id = recordId(json['id']);
  if (id === undefined) return undefined;
  const dataType = DATA_TYPES.find((type) => type === String(json['data_type']).toLowerCase()) ?? 'text';
  return { id, name: shortJsonText(json['name']), dataType, active: json['is_active'] !== false };
}

type Spelling = readonly [of: (field: CustomField) => string, key: (text: string) => string];

const same = (text: string): string => text;
const folded = (text: string): string => normaliseName(text).toLowerCase();
const slug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** How a key may name its field, the surest first. */
const SPELLINGS: readonly Spelling[] = [
  [(field) => field.name, same],
  [(field) => String(field.id), same],
  [(field) => folded(field.name), folded],
  [(field) => slug(field.name), slug],
];

/** Place of the ids in `SPELLINGS`. */
const BY_ID = 1;

/** Fields by spelling, one map for each of `SPELLINGS`; null where several are spelt alike, and not just one of them is active. */
type Index = readonly ReadonlyMap<string, CustomField | null>[];

const spellingIndex = memoized((template: CustomTemplate): Index => {
  return SPELLINGS.map(([spell]) => {
    const alike = new Map<string, CustomField[]>();
    for (const field of template.fields) alike.set(spell(field), [...(alike.get(spell(field)) ?? []), field]);
    alike.delete('');
    return new Map([...alike].map(([key, fields]) => [key, onlyField(fields)] as const));
  });
});

/** The only one, or the only active one: job files name that, too. */
function onlyField(fields: readonly CustomField[]): CustomField | null {
  const [field, ...others] = fields.length > 1 ? fields.filter(({ active }) => active) : fields;
  return field && others.length === 0 ? field : null;
}

/**
 * The fields that the keys of a read form mean; what a key is, is not stated (interface, section 2.1). By the name, the
 * id, the name without case, its letters and digits alone: only where one field fits, and each field by its surest key. A key
 * that is there twice (a list may hold it so) names none.
 * Keys that are all ids of fields, and not all names, are ids: a field's name may be the id of another.
 */
export function fieldsByKey(template: CustomTemplate, keys: readonly string[]): ReadonlyMap<string, CustomField> {
  const found = new Map<string, CustomField>();
  const used = new Set<number>();
  const index = spellingIndex(template);
  if (areIds(index, keys)) {
    for (const key of keys) found.set(key, index[BY_ID]!.get(key)!);
    return found;
  }
  let unmatched = keys;
  for (const [at, byName] of index.entries()) {
    const rest: string[] = [];
    for (const key of unmatched) {
      const field = byName.get(SPELLINGS[at]?.[1](key) ?? '');
      if (field === undefined) rest.push(key);
      else if (field && !used.has(field.id)) {
        found.set(key, field);
        used.add(field.id);
      } else if (field && found.get(key) === field) found.delete(key);
    }
    if (rest.length === 0) break;
    unmatched = rest;
  }
  return found;
}

function areIds([names, ids]: Index, keys: readonly string[]): boolean {
  return keys.every((key) => ids?.get(key)) && !keys.every((key) => names?.get(key));
}

/** The type of a custom value; lengths of text are not stated for forms. */
export function customType(dataType: CustomField['dataType'], text: FieldType = { kind: 'text' }): FieldType {
  switch (dataType) {
    case 'money':
      return { kind: 'decimal', min: MONEY_MIN, max: MONEY_MAX };
    case 'number':
      return { kind: 'integer', min: -NUMBER_LIMIT, max: NUMBER_LIMIT };
    case 'date':
      return { kind: 'date' };
    default:
      return text;
  }
}

/** Customers have a template in both forms of the interface, which lists no template type for them: supplier templates serve. */
export function belongsTo(spec: ResourceSpec, { resource }: CustomTemplate): boolean {
  return resource === spec.name || (spec.name === 'customer' && resource === 'supplier');
}

/** Describes a field of a custom field template as if it were one of the resource's own. */
export function customFieldSpec(spec: ResourceSpec, template: CustomTemplate, field: CustomField): FieldSpec {
  const { create, update } = spec.templateTextMax;
  const text: FieldType = { kind: 'text', max: create, ...(update === create ? {} : { updateMax: update }) };
  return {
    name: templateFieldName(template.id, field.id),
    label: `${template.name}: ${field.name}`,
    type: customType(field.dataType, text),
    read: spec.template.read,
    ...(field.dataType === 'attachment' ? {} : { create: spec.template.create, update: spec.template.update }),
  };
}

/** Describes a column of a custom form; `occurrence` counts the form's rows in one record from 1. */
export function formFieldSpec(
  spec: ResourceSpec,
  form: CustomTemplate,
  field: CustomField,
  occurrence: number,
): FieldSpec {
  const where = field.dataType === 'attachment' ? undefined : spec.form;
  return {
    name: formFieldName(form.id, occurrence, field.name),
    label: `${form.name}: ${field.name}`,
    type: customType(field.dataType),
    ...(spec.form?.read ? { read: spec.form.read } : {}),
    ...(where ? { create: where.create } : {}),
    ...(where?.update ? { update: where.update } : {}),
  };
}

export function templateFieldName(template: number, field: number): string {
  return `template.${template}.${field}`;
}

export function formFieldName(form: number, occurrence: number, column: string): string {
  return `form.${form}${occurrence > 1 ? `#${occurrence}` : ''}.${column}`;
}

/** The parts of a canonical custom field name; undefined for a field of the resource itself. */
export type CustomName =
  | { readonly kind: 'template'; readonly template: number; readonly field: number }
  | { readonly kind: 'form'; readonly form: number; readonly occurrence: number; readonly column: string };

export function parseCustomName(name: string): CustomName | undefined {
  const template = /^template\.(\d+)\.(\d+)$/.exec(name);
  if (template) return { kind: 'template', template: Number(template[1]), field: Number(template[2]) };
  const form = /^form\.(\d+)(?:#(\d+))?\.([\s\S]+)$/.exec(name);
  if (!form) return undefined;
  return { kind: 'form', form: Number(form[1]), occurrence: Number(form[2] ?? 1), column: form[3] ?? '' };
}

/** A record that is being read. */
export interface Sink {
  readonly lexicon: Lexicon;
  readonly fields: Record<string, Value>;
  readonly losses: Loss[];
}

/** Takes in what a value came to. */
export function addReading(sink: Sink, field: string, raw: unknown, reading: ReadResult): void {
  if ('why' in reading) sink.losses.push({ field, text: shortJsonText(raw), why: reading.why });
  else sink.fields[field] = reading.value;
}

/** The objects that have an id, of one or a list of them, each with what it holds. `isWhole`: nothing else is there. */
function partsOf(raw: unknown, member: string) {
  const items = [raw].flat().filter((item) => !isEmptyJson(item));
  const parts = items.flatMap((item) => {
    const id = isObject(item) ? recordId(item['id']) : undefined;
    return isObject(item) && id !== undefined ? { id, item, held: item[member] } : [];
  });
  const others = parts.flatMap(({ item }) => Object.keys(item).filter((key) => key !== 'id' && key !== member));
  return { parts, isWhole: parts.length === items.length && others.length === 0 };
}

/** The custom field templates of a record with their values by key: `{id, fields: {key: value}}`, interface section 2.1. */
export function templateParts(raw: unknown) {
  const { parts, isWhole } = partsOf(raw, 'fields');
  const isOnce = new Set(parts.map(({ id }) => id)).size === parts.length;
  return {
    parts: parts.map(({ id, held }) => ({ id, entries: entriesOf(held) })),
    isWhole: isWhole && isOnce && parts.every(({ held }) => isEmptyJson(held) || isObject(held) || isPairs(held)),
  };
}

/** The form rows of a record: a list of `{id, custom_form_data: {column: value}}`, interface section 2.5. A form's rows count from 1. */
export function formParts(raw: unknown) {
  const { parts, isWhole } = partsOf(raw, 'custom_form_data');
  const counts = new Map<number, number>();
  return {
    parts: parts.map(({ id, item, held }) => {
      const row = (counts.get(id) ?? 0) + 1;
      counts.set(id, row);
      // Values that stand elsewhere, or are no object.
      const strange = isObject(held) ? undefined : Object.values(item).find(hasParts);
      return { id, row, data: isObject(held) ? held : {}, strange, parent: item['parent_row_id'] };
    }),
    isWhole: isWhole && parts.every(({ held }) => isEmptyJson(held) || isObject(held)),
  };
}

const hasParts = (raw: unknown): boolean => typeof raw === 'object' && !isEmptyJson(raw) && !(raw instanceof Decimal);

const isPairs = (raw: unknown): boolean =>
  Array.isArray(raw) &&
  raw.every((item) => isObject(item) && Object.keys(item).every((key) => /^(id|name|value)$/.test(key)));

/** An object's own entries; also of a list `[{id | name, value}]`. */
function entriesOf(raw: unknown): readonly (readonly [string, unknown])[] {
  if (isObject(raw)) return Object.entries(raw);
  if (!Array.isArray(raw)) return [];
  return raw.filter(isObject).map((item) => [shortJsonText(item['id'] ?? item['name']), item['value']] as const);
}

const hasValue = ([, raw]: readonly [string, unknown]): boolean => !isBlank(raw);

/**
 * What an assignment without values stands under where no field is described: no template has a field with this id, and
 * null under a column is never sent.
 */
const NO_FIELD = 0;
const NO_COLUMN = '-';

/**
 * Custom field values of a record. A key names its field in one of several ways. A template without any value leaves null
 * under its first field, or `template.<id>.0` where none is known, so that an update keeps it assigned.
 */
export function readTemplate(raw: unknown, sink: Sink): void {
  for (const { id, entries } of templateParts(raw).parts) {
    const template = sink.lexicon.template(id);
    const keys = entries.map(([key]) => key);
    const named = template && fieldsByKey(template, keys);
    const filled = entries.filter(hasValue);
    for (const [key, value] of filled) {
      const field = named?.get(key);
      if (field) addReading(sink, templateFieldName(id, field.id), value, readCustomValue(field, value, sink.lexicon));
      else {
        const why = template
          ? `the custom field template "${template.name}" had no field of this name when it was read; if it was renamed since, import the row again`
          : `the custom field template ${id} is not known`;
        addReading(sink, `template.${id}.${key}`, value, { why });
      }
    }
    if (filled.length === 0) sink.fields[templateFieldName(id, template?.fields[0]?.id ?? NO_FIELD)] = null;
  }
}

const NESTED_ROW = 'it belongs to a form row below another row, which no request can carry';

/**
 * Custom form rows of a record. One without values leaves null under one column, so that an update keeps it.
 * A row that hangs below another (`parent_row_id`) has no write form: its values are losses, and it is one if it has none.
 */
export function readForms(raw: unknown, sink: Sink): void {
  for (const { id, row: occurrence, data, strange, parent } of formParts(raw).parts) {
    const columns = sink.lexicon.form(id)?.fields ?? [];
    const isNested = !isBlank(parent) && parent !== 0;
    const filled = Object.entries(data).filter(hasValue);
    for (const [column, value] of filled) {
      const field = formFieldName(id, occurrence, column);
      const described = columns.find(({ name }) => name === column);
      const reading = readCustomValue(described, value, sink.lexicon);
      if (isNested) sink.losses.push({ ...reading, field, text: shortJsonText(value), why: NESTED_ROW });
      else addReading(sink, field, value, reading);
    }
    if (filled.length > 0) continue;
    const first = columns.find(({ dataType, name }) => dataType !== 'attachment' && name !== '');
    if (!isNested) sink.fields[formFieldName(id, occurrence, first?.name ?? NO_COLUMN)] = null;
    const text = strange === undefined ? 'a row without values' : shortJsonText(strange);
    const why = isNested ? NESTED_ROW : 'the service shows the row without custom_form_data, the object of its values';
    if (isNested || strange !== undefined)
      sink.losses.push({ field: formFieldName(id, occurrence, '').slice(0, -1), text, why });
  }
}

/** By the field's data type; a column that no form describes keeps the form it was sent in. */
function readCustomValue(field: CustomField | undefined, raw: unknown, lexicon: Lexicon): ReadResult {
  if (field?.dataType === 'attachment') return { why: 'it is an attachment, which no request can carry' };
  if (field) return readValue(customType(field.dataType), raw, lexicon);
  if (typeof raw === 'string' || typeof raw === 'boolean' || raw instanceof Decimal) return { value: raw };
  if (typeof raw !== 'number') return { why: 'it is neither a number nor text' };
  return { value: Number.isSafeInteger(raw) ? raw : Decimal.of(raw) };
}

function isBlank(raw: unknown): boolean {
  return raw === undefined || raw === null || raw === '';
}
