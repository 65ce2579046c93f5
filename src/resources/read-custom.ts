import { Decimal } from '../model/decimal.js';
import type { Value } from '../model/value.js';
import { customType, fieldsByKey, formFieldName, templateFieldName } from './custom.js';
import type { Loss } from './loss.js';
import { isObject } from './path.js';
import { type Reading, readValue, recordId, shown } from './read-value.js';
import type { CustomField, CustomTemplate, Lexicon } from './spec.js';

/** What is read is put into these. */
export interface Sink {
  readonly fields: Record<string, Value>;
  readonly losses: Loss[];
}

/**
 * What an assignment without values stands under where no field is described: no template has a field with this id, and
 * null under a column is never sent.
 */
const NO_FIELD = 0;
const NO_COLUMN = '-';

/**
 * Custom field values of a record: `{id, fields: {key: value}}`, interface section 2.1. A key names its field
 * in one of several ways. A template without any value leaves null under its first field, or `template.<id>.0` where none
 * is known, so that an update keeps it assigned.
 */
export function readTemplate(raw: unknown, lexicon: Lexicon, sink: Sink): void {
  for (const item of Array.isArray(raw) ? raw : [raw]) {
    if (!isObject(item)) continue;
    const id = recordId(item['id']);
    if (id === undefined) continue;
    readTemplateItem(id, entriesOf(item['fields']), lexicon.template(id), lexicon, sink);
  }
}

/** An object's own entries; also of a list `[{id | name, value}]`. */
export function entriesOf(raw: unknown): readonly (readonly [string, unknown])[] {
  if (isObject(raw)) return Object.entries(raw);
  if (!Array.isArray(raw)) return [];
  return raw.filter(isObject).map((item) => [shown(item['id'] ?? item['name']), item['value']] as const);
}

function readTemplateItem(
  id: number,
  entries: readonly (readonly [string, unknown])[],
  template: CustomTemplate | undefined,
  lexicon: Lexicon,
  sink: Sink,
): void {
  let held = false;
  const named =
    template &&
    fieldsByKey(
      template,
      entries.map(([key]) => key),
    );
  for (const [key, raw] of entries) {
    if (isNothing(raw)) continue;
    held = true;
    const field = named?.get(key);
    if (!template || !field) {
      const why = template
        ? `the custom field template "${template.name}" had no field of this name when it was read; if it was renamed since, import the row again`
        : `the custom field template ${id} is not known`;
      sink.losses.push({ field: `template.${id}.${key}`, text: shown(raw), why });
      continue;
    }
    const name = templateFieldName(id, field.id);
    const reading = readCustomValue(field, raw, lexicon);
    if ('why' in reading) sink.losses.push({ field: name, text: shown(raw), why: reading.why });
    else sink.fields[name] = reading.value;
  }
  if (!held) sink.fields[templateFieldName(id, template?.fields[0]?.id ?? NO_FIELD)] = null;
}

/**
 * Custom form rows of a record: a list of `{id, custom_form_data: {column: value}}`, interface section 2.5.
 * A form's rows are counted in their order; one without values leaves null under one column, so that an update keeps it.
 * A row that hangs below another (`parent_row_id`) has no write form: its values are losses, and it is one if it has none.
 */
export function readForms(raw: unknown, lexicon: Lexicon, sink: Sink): void {
  const seen = new Map<number, number>();
  for (const item of Array.isArray(raw) ? raw : [raw]) {
    if (!isObject(item)) continue;
    const id = recordId(item['id']);
    if (id === undefined) continue;
    const data = isObject(item['custom_form_data']) ? item['custom_form_data'] : {};
    const occurrence = (seen.get(id) ?? 0) + 1;
    seen.set(id, occurrence);
    const parent = item['parent_row_id'];
    if (isNothing(parent) || parent === 0) readFormRow(id, occurrence, data, lexicon, sink);
    else loseChildRow(id, occurrence, data, lexicon, sink);
  }
}

function loseChildRow(
  id: number,
  occurrence: number,
  data: Readonly<Record<string, unknown>>,
  lexicon: Lexicon,
  sink: Sink,
): void {
  const row: Sink = { fields: {}, losses: [] };
  readFormRow(id, occurrence, data, lexicon, row);
  const why = 'it belongs to a form row below another row, which no request can carry';
  for (const [column, raw] of Object.entries(data)) {
    if (isNothing(raw)) continue;
    const field = formFieldName(id, occurrence, column);
    const value = row.fields[field];
    sink.losses.push({ field, text: shown(raw), why, ...(value === undefined ? {} : { value }) });
  }
  if (Object.values(data).every(isNothing)) {
    sink.losses.push({ field: formFieldName(id, occurrence, '').slice(0, -1), text: 'a row without values', why });
  }
}

function readFormRow(
  id: number,
  occurrence: number,
  data: Readonly<Record<string, unknown>>,
  lexicon: Lexicon,
  sink: Sink,
): void {
  const form = lexicon.form(id);
  let held = false;
  for (const [column, raw] of Object.entries(data)) {
    if (isNothing(raw)) continue;
    held = true;
    const name = formFieldName(id, occurrence, column);
    const described = form?.fields.find((field) => field.name === column);
    const reading = readCustomValue(described, raw, lexicon);
    if ('why' in reading) sink.losses.push({ field: name, text: shown(raw), why: reading.why });
    else sink.fields[name] = reading.value;
  }
  const first = form?.fields.find((field) => field.dataType !== 'attachment' && field.name !== '');
  if (!held) sink.fields[formFieldName(id, occurrence, first?.name ?? NO_COLUMN)] = null;
}

/** By the field's data type; a column that no form describes keeps the form it was sent in. */
function readCustomValue(field: CustomField | undefined, raw: unknown, lexicon: Lexicon): Reading {
  if (field?.dataType === 'attachment') return { why: 'it is an attachment, which no request can carry' };
  if (field) return readValue(customType(field.dataType), raw, lexicon);
  if (typeof raw === 'string' || typeof raw === 'boolean' || raw instanceof Decimal) return { value: raw };
  if (typeof raw !== 'number') return { why: 'it is neither a number nor text' };
  return { value: Number.isSafeInteger(raw) ? raw : Decimal.of(raw) };
}

function isNothing(raw: unknown): boolean {
  return raw === undefined || raw === null || raw === '';
}
