import { runFailure } from '../model/error.js';
import { withArticle } from '../model/resource-names.js';
import { type Fields, isEmpty } from '../model/value.js';
import { addReading, readForms, readTemplate, type Sink } from './custom.js';
import { isEmptyJson, isObject, stepsOf, valueAt } from './path.js';
import { type Loss, readValue, recordId, shortJsonText } from './read-value.js';
import { type FieldSpec, type Lexicon, memoized, type ResourceSpec, readPaths } from './spec.js';

/** A record of the service in canonical form (model/value.ts). */
export interface ReadRecord {
  readonly id: number;
  /**
   * Fields that hold a value. Null stands only under one field of a custom field template or form row that is
   * assigned and empty.
   */
  readonly fields: Fields;
  readonly losses: readonly Loss[];
  /** Keys of the read form, dotted inside objects, that hold a value and that the interface does not name. */
  readonly unknown: readonly string[];
}

/**
 * Reads a record of the service: interface sections 2.2 to 2.5. Throws a RunError where the answer carries no id,
 * because then it is no record of this interface at all.
 */
export function readRecord(spec: ResourceSpec, json: Readonly<Record<string, unknown>>, lexicon: Lexicon): ReadRecord {
  const id = requireId(spec, json);
  const sink: Sink = { lexicon, fields: {}, losses: [] };
  for (const reader of fieldReaders(spec).values()) readField(reader, json, sink);
  readCustom(spec, json, sink);
  return { id, fields: sink.fields, losses: sink.losses, unknown: unknownKeys(spec, json) };
}

/** Some fields of a record, and maybe others, as `readRecord` reads them. */
export function readFields(
  spec: ResourceSpec,
  names: readonly string[],
  json: Readonly<Record<string, unknown>>,
  lexicon: Lexicon,
): Pick<ReadRecord, 'fields' | 'losses'> {
  const readers = fieldReaders(spec);
  const sink: Sink = { lexicon, fields: {}, losses: [] };
  let custom = false;
  for (const name of names) {
    const reader = readers.get(name);
    if (reader) readField(reader, json, sink);
    else custom ||= name !== 'id';
  }
  // They stand together in a place of their own.
  if (custom) readCustom(spec, json, sink);
  return sink;
}

function readCustom(spec: ResourceSpec, json: Readonly<Record<string, unknown>>, sink: Sink): void {
  readTemplate(json[spec.template.read], sink);
  if (spec.form?.read) readForms(json[spec.form.read], sink);
  for (const key of [spec.template.read, spec.form?.read ?? []].flat()) {
    for (const item of [json[key]].flat()) {
      if (isEmptyJson(item) || item === false) continue;
      // With an id it is read above; without anything in it none is assigned.
      if (isObject(item) && (recordId(item['id']) !== undefined || Object.values(item).every(isEmptyJson))) continue;
      sink.losses.push({
        field: key,
        text: shortJsonText(item),
        why: 'it has no id by which a request could carry it',
      });
    }
  }
}

/** Throws a `RunError` where the record has none that can be used. */
export function requireId(spec: ResourceSpec, json: Readonly<Record<string, unknown>>): number {
  const id = recordId(json['id']);
  if (id !== undefined) return id;
  throw runFailure(
    `The service sent ${withArticle(spec.name)} without an id that can be used (id = ${shortJsonText(json['id']) || 'nothing'}): ` +
      'ids are whole numbers up to 9007199254740991. Check that ROWFERRY_API_URL points to the service and not to something in front of it.',
  );
}

/** A field, and where reads show it: the steps of its paths, in the order they are looked at; none where they do not. */
export interface FieldReader {
  readonly field: FieldSpec;
  readonly paths: readonly (readonly string[])[];
  /** Of the first field of a group: the key of the object that holds it. */
  readonly group?: string | undefined;
}

/** The resource's own fields by name, in the order of the description. */
export const fieldReaders = memoized((spec: ResourceSpec): ReadonlyMap<string, FieldReader> => {
  const groups = new Set(knownKeys(spec).parts.keys());
  return new Map(
    spec.fields.map((field) => {
      const paths = readPaths(field).map(stepsOf);
      return [
        field.name,
        { field, paths, group: paths.map(([head = '']) => head).find((head) => groups.delete(head)) },
      ];
    }),
  );
});

function readField({ field, paths, group }: FieldReader, json: Readonly<Record<string, unknown>>, sink: Sink): void {
  for (const steps of paths) {
    const raw = valueAt(json, steps);
    if (raw === undefined || raw === null) continue;
    const reading = readValue(field.type, raw, sink.lexicon);
    const isLost = 'why' in reading;
    if (!isLost && isEmpty(reading.value)) continue;
    if (!isLost || !field.derived) addReading(sink, field.name, raw, reading);
    return;
  }
  const whole = group === undefined ? undefined : json[group];
  if (isEmptyJson(whole) || whole === false || isObject(whole)) return;
  addReading(sink, field.name, whole, {
    why: `the service shows ${group} in another form than an object with its parts`,
  });
}

/** Keys the service keeps for itself, whatever the resource. */
const SERVICE_KEYS = ['id', 'company', 'created_date', 'modified_date'];

interface KnownKeys {
  readonly top: ReadonlySet<string>;
  /** Objects that a write rebuilds from their parts: a part the interface does not name would be lost. */
  readonly parts: ReadonlyMap<string, ReadonlySet<string>>;
}

const knownKeys = memoized((spec: ResourceSpec): KnownKeys => {
  const top = new Set([...SERVICE_KEYS, spec.template.read]);
  if (spec.form?.read) top.add(spec.form.read);
  const parts = new Map<string, Set<string>>();
  const whole = new Set<string>();
  for (const path of spec.fields.flatMap(readPaths)) {
    const [head = '', part] = path.split('.');
    top.add(head);
    if (part === undefined) whole.add(head);
    else parts.set(head, (parts.get(head) ?? new Set()).add(part));
  }
  // A reference is written by its id; what else the service shows about it belongs to the other record.
  for (const head of whole) parts.delete(head);
  return { top, parts };
});

function unknownKeys(spec: ResourceSpec, json: Readonly<Record<string, unknown>>): string[] {
  const { top, parts } = knownKeys(spec);
  const unknown: string[] = [];
  for (const [key, value] of Object.entries(json)) {
    if (isEmptyJson(value)) continue;
    if (!top.has(key)) unknown.push(key);
    const inner = parts.get(key);
    if (!inner || !isObject(value)) continue;
    for (const [part, partValue] of Object.entries(value)) {
      if (!inner.has(part) && !isEmptyJson(partValue)) unknown.push(`${key}.${part}`);
    }
  }
  return unknown;
}
