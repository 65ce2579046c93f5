import { isDate } from './calendar.js';
import { Exact, type Json, type JsonObject } from './json.js';
import { type Check, integer, type Kind, member, money, object, text } from './kinds.js';
import type { CustomField } from './lookups.js';
import type { FormRow, TemplateValues } from './record.js';

/** Custom field values (`template`) and custom form rows (`form_template`). Interface, sections 2.1, 4.3, 4.4. */

const LARGEST = 999_999_999_999_999;

/** One value by its field's data type: table in section 2.1. */
function customValue(of: CustomField, value: Json, path: string, check: Check, textMax: number) {
  if (value === null) return null;
  switch (of.data_type) {
    case 'money':
      return money(value, path, check);
    case 'number':
      if (value instanceof Exact && /^-?\d+$/.test(value.text)) {
        return check.fail(path, `Ensure this value is between -${LARGEST} and ${LARGEST}.`);
      }
      return integer(value, path, check);
    case 'date':
      if (typeof value === 'string' && isDate(value)) return value;
      return check.fail(path, 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.');
    case 'text':
      return text(textMax)(value, path, check);
    case 'attachment':
      return check.fail(path, 'Attachments cannot be written.');
  }
}

/** The limit of a custom text: 50; the asset create body states 150. */
const textLimit = (check: Check, type: string): number => (type === 'asset' && check.operation === 'create' ? 150 : 50);

/** `{id, fields: [{id, value}]}`; an inactive template or field is refused unless the record holds it already. */
export function template(type: 'asset' | 'contract' | 'supplier'): Kind<readonly TemplateValues[]> {
  return (value, field, check) => {
    const one = templateValues(type, value, field, check);
    return one && [one];
  };
}

/** A list of the same; a response shows the first. */
export function templates(type: 'asset' | 'contract' | 'supplier'): Kind<readonly TemplateValues[]> {
  return (value, field, check) => {
    if (!Array.isArray(value)) return check.fail(field, 'Expected a list of items.');
    const all: TemplateValues[] = [];
    for (const [index, item] of value.entries()) {
      const one = templateValues(type, item, `${field}[${index}]`, check);
      if (one) all.push(one);
    }
    return all.length > 0 ? all : null;
  };
}

function templateValues(type: string, value: Json, field: string, check: Check): TemplateValues | null {
  const members = object(value, field, check);
  if (!members) return null;
  const id = requiredId(members, field, check);
  if (id === null) return null;
  const found = check.lookups.get('custom-field-template', id, check.company);
  if (!found) return check.fail(`${field}.id`, `Invalid pk "${id}" - object does not exist.`);
  if (found.type !== type) {
    return check.fail(`${field}.id`, `The template "${found.name}" is for the type ${found.type}, not ${type}.`);
  }
  const held = check.current?.values.some(
    (stored) => Array.isArray(stored) && stored.some((one) => 'template' in one && one.template === id),
  );
  if (!found.is_active && !held) return check.fail(`${field}.id`, `The template "${found.name}" is not active.`);
  const list = members.get('fields') ?? [];
  if (!Array.isArray(list)) return check.fail(`${field}.fields`, 'Expected a list of items.');
  const values: [number, string | number | null][] = [];
  for (const [index, item] of list.entries()) {
    const path = `${field}.fields[${index}]`;
    const entry = object(item, path, check);
    const fieldId = entry && requiredId(entry, path, check);
    if (!entry || fieldId === null) continue;
    const of = found.fields.find((candidate) => candidate.id === fieldId);
    if (!of) {
      check.fail(`${path}.id`, `The template "${found.name}" has no field "${fieldId}".`);
      continue;
    }
    const kept = customValue(of, entry.get('value') ?? null, `${path}.value`, check, textLimit(check, type));
    values.push([fieldId, kept]);
  }
  return { template: id, values };
}

/** List of `{id, custom_form_data: {<field name>: value}}`; further rows of one form hang under its first. */
export function formRows(type: 'asset' | 'contract'): Kind<readonly FormRow[]> {
  return (value, field, check) => {
    if (!Array.isArray(value)) return check.fail(field, 'Expected a list of items.');
    const rows: FormRow[] = [];
    for (const [index, item] of value.entries()) {
      const path = `${field}[${index}]`;
      const members = object(item, path, check);
      const id = members && requiredId(members, path, check);
      if (!members || id === null) continue;
      const values = formValues(type, id, members, path, check);
      if (!values) continue;
      const earlier = rows.filter((row) => row.form === id);
      const parent = earlier[0]?.row ?? null;
      rows.push({ form: id, row: check.nextFormRow(), parent, sequence: earlier.length + 1, values });
    }
    return rows.length > 0 ? rows : null;
  };
}

function formValues(type: string, id: number, members: JsonObject, path: string, check: Check) {
  const form = check.lookups.get('custom-form-template', id, check.company);
  if (!form) return check.fail(`${path}.id`, `Invalid pk "${id}" - object does not exist.`);
  if (form.type !== type) {
    return check.fail(`${path}.id`, `The form "${form.name}" is for the type ${form.type}, not ${type}.`);
  }
  const data = object(members.get('custom_form_data') ?? new Map(), `${path}.custom_form_data`, check);
  if (!data) return null;
  const values: [number, string | number | null][] = [];
  for (const [name, value] of data) {
    const of = form.fields.find((candidate) => candidate.name === name);
    const where = `${path}.custom_form_data.${name}`;
    if (!of) check.fail(where, `The form "${form.name}" has no field of this name.`);
    else values.push([of.id, customValue(of, value, where, check, textLimit(check, type))]);
  }
  return values;
}

function requiredId(members: JsonObject, field: string, check: Check): number | null {
  const given = (members.get('id') ?? null) !== null;
  return given ? member(members, 'id', integer, field, check) : check.fail(`${field}.id`, 'This field is required.');
}
