import type {
  CategoryChoice,
  Composed,
  CustomField,
  FormRow,
  LookupName,
  Lookups,
  StoredRecord,
  TemplateValues,
  Value,
} from './stored-record.js';
import type { Switches } from './switches.js';
import { amountInRange, amountOf, countryOf, Exact, isDate, type Json, type JsonObject } from './values.js';

export type WritableName = 'asset' | 'contract' | 'supplier' | 'customer';

/** Faults of a body: messages by field, as the body spells it. */
export type Faults = Map<string, string[]>;

/** What the checks of one write body may look at, and where they put their faults. */
export interface WriteContext {
  readonly operation: 'create' | 'update' | 'patch';
  readonly company: number;
  /** The record that is updated. */
  readonly current: StoredRecord | undefined;
  readonly lookups: Lookups;
  readonly switches: Readonly<Switches>;
  /** Whether a record of this id exists in the company. */
  exists(resource: WritableName, id: number): boolean;
  nextFormRow(): number;
  /** Notes a fault under the field, spelled as in the body. */
  fail(field: string, message: string): null;
}

/** Checks one value that is not null; answers what is stored, or null after a fault. */
export type Kind<V = Value> = (value: Json, field: string, context: WriteContext) => V | null;

/** A text in a body is a window on the whole body, which would stay in memory with it. */
const detach = (text: string): string => (text.length < 13 ? text : Buffer.from(text, 'utf8').toString('utf8'));

const longerThan = (text: string, max: number): boolean => text.length > max && [...text].length > max;

export function text(max = Number.POSITIVE_INFINITY): Kind<string> {
  return (value, field, context) => {
    if (typeof value !== 'string') return context.fail(field, 'Not a valid string.');
    if (value.includes('\0')) return context.fail(field, 'Null characters are not allowed.');
    let accepted = context.switches.trimsText === 'on' ? value.trim() : value;
    if (longerThan(accepted, max)) return context.fail(field, `Ensure this field has no more than ${max} characters.`);
    if (context.switches.cutsText > 0) accepted = accepted.slice(0, context.switches.cutsText);
    return detach(accepted);
  };
}

export function exactly(length: number): Kind<string> {
  const plain = text();
  return (value, field, context) => {
    const accepted = plain(value, field, context);
    if (accepted === null || [...accepted].length === length) return accepted;
    return context.fail(field, `Ensure this field has exactly ${length} characters.`);
  };
}

export const email: Kind<string> = (value, field, context) => {
  const accepted = text(254)(value, field, context);
  if (accepted === null || accepted === '' || /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(accepted)) return accepted;
  return context.fail(field, 'Enter a valid email address.');
};

export const integer: Kind<number> = (value, field, context) =>
  typeof value === 'number' ? value : context.fail(field, 'A valid integer is required.');

export const daysCount: Kind<number> = (value, field, context) => {
  const days = integer(value, field, context);
  return days !== null && days < 0 ? context.fail(field, 'Ensure this value is greater than or equal to 0.') : days;
};

export const flag: Kind<boolean> = (value, field, context) =>
  typeof value === 'boolean' ? value : context.fail(field, 'Must be a valid boolean.');

export const date: Kind<string> = (value, field, context) =>
  typeof value === 'string' && isDate(value)
    ? value
    : context.fail(field, 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.');

/** 0.00 to 999999999999999.00; stored as text. */
export const money: Kind<string> = (value, field, context) => {
  const amount = amountOf(value);
  if (amount === undefined) return context.fail(field, 'A valid number is required.');
  return amountInRange(amount)
    ? amount
    : context.fail(field, 'Ensure this value is between 0.00 and 999999999999999.00.');
};

export function oneOf(...choices: readonly string[]): Kind<string> {
  return (value, field, context) =>
    // The choice itself is stored rather than its copy in the body, see `detach`.
    choices.find((choice) => choice === value) ??
    context.fail(field, `"${displayText(value)}" is not a valid choice. Choose one of: ${choices.join(', ')}.`);
}

export const country: Kind<number> = (value, field, context) => {
  const code = integer(value, field, context);
  return code === null || countryOf(code) ? code : context.fail(field, `Invalid country code "${code}".`);
};

/** An id of another record or look-up entry of the same company. */
export function reference(to: WritableName | LookupName): Kind<number> {
  const isRecord = to === 'asset' || to === 'contract' || to === 'supplier' || to === 'customer';
  return (value, field, context) => {
    const id = integer(value, field, context);
    if (id === null) return null;
    const isFound = isRecord ? context.exists(to, id) : context.lookups.get(to, id, context.company) !== undefined;
    return isFound ? id : context.fail(field, `Invalid pk "${id}" - object does not exist.`);
  };
}

/** `{id: int}`, or also the bare id. */
export function referenceObject(to: LookupName, allowBareId = false): Kind<number> {
  const plain = reference(to);
  return (value, field, context) => {
    if (allowBareId && typeof value === 'number') return plain(value, field, context);
    const members = object(value, field, context);
    if (!members) return null;
    const id = members.get('id') ?? null;
    if (id === null) return context.fail(`${field}.id`, 'This field is required.');
    return plain(id, `${field}.id`, context);
  };
}

function object(value: Json, field: string, context: WriteContext): JsonObject | null {
  return value instanceof Map ? value : context.fail(field, 'Invalid data. Expected a dictionary.');
}

/** A member of a nested object; absent and null are the same. */
function member<V>(from: JsonObject, name: string, kind: Kind<V>, field: string, context: WriteContext): V | null {
  const value = from.get(name) ?? null;
  return value === null ? null : kind(value, `${field}.${name}`, context);
}

function displayText(value: Json): string {
  if (value instanceof Exact) return value.text;
  if (value instanceof Map) return '{…}';
  return Array.isArray(value) ? '[…]' : String(value);
}

/** `{id: int, subcategory: string}`. Interface, sections 2.5, 4.3, 4.4. */
export function categoryChoice(idRequired: boolean): Kind<CategoryChoice> {
  return (value, field, context) => {
    const members = object(value, field, context);
    if (!members) return null;
    const id = member(members, 'id', integer, field, context);
    if (id === null) {
      const hasId = (members.get('id') ?? null) !== null;
      return idRequired && !hasId ? context.fail(`${field}.id`, 'This field is required.') : null;
    }
    const category = context.lookups.get('category', id, context.company);
    if (!category) return context.fail(`${field}.id`, `Invalid pk "${id}" - object does not exist.`);
    const subcategory = member(members, 'subcategory', text(), field, context);
    if (subcategory !== null && subcategory !== '' && !category.subcategories?.includes(subcategory)) {
      return context.fail(
        `${field}.subcategory`,
        `"${subcategory}" is not a subcategory of the category "${category.category}".`,
      );
    }
    return { category: id, subcategory: subcategory || null };
  };
}

/** An object whose members are each of a kind, stored under their names; one that is left out is null. */
function composed(kinds: Readonly<Record<string, Kind<NonNullable<Composed[string]>>>>): Kind<Composed> {
  return (value, field, context) => {
    const members = object(value, field, context);
    if (!members) return null;
    const parts = Object.entries(kinds).map(([name, kind]) => [name, member(members, name, kind, field, context)]);
    return Object.fromEntries(parts) as Composed;
  };
}

const contact = composed({
  name: text(50),
  email,
  type: oneOf('account_management', 'billing', 'executive', 'sales', 'support', 'technical'),
});

/** `{name, email, type}`: name and email are required of each other. Interface, section 2.3. */
export const contactPerson: Kind<Composed> = (value, field, context) => {
  const person = contact(value, field, context);
  if (!person) return null;
  const isProvided = (part: string): boolean => ((value as JsonObject).get(part) ?? '') !== '';
  if (isProvided('email') && !isProvided('name'))
    context.fail(`${field}.name`, 'This field is required when email is given.');
  if (isProvided('name') && !isProvided('email'))
    context.fail(`${field}.email`, 'This field is required when name is given.');
  return Object.values(person).some((part) => part !== null) ? person : null;
};

export const currency = composed({ value: text(50), symbol: text(50) });

/** Interface, section 4.3; its sum is checked with the contract's rules. */
export const expenditure = composed({
  type: oneOf('blended', 'capex', 'opex'),
  capex_actual: money,
  opex_actual: money,
});

const anyAlert = composed({
  is_active: flag,
  alert_days_before: integer,
  type: oneOf('end_date', 'notice_date'),
  email_message: text(),
  email_list: (value) => (Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : null),
});

/** A contract's alert as it is read; no documented body can write it. */
export const alert: Kind<Composed> = (value, field, context) => {
  const parsed = anyAlert(value, field, context);
  return parsed && { ...parsed, is_active: parsed['is_active'] ?? false, email_list: parsed['email_list'] ?? [] };
};

/** Custom field values (`template`) and custom form rows (`form_template`). Interface, sections 2.1, 4.3, 4.4. */

const LARGEST = 999_999_999_999_999;

/** One value by its field's data type: table in section 2.1. */
function customValue(of: CustomField, value: Json, path: string, context: WriteContext, textMax: number) {
  if (value === null) return null;
  switch (of.data_type) {
    case 'money':
      return money(value, path, context);
    case 'number':
      if (value instanceof Exact && /^-?\d+$/.test(value.text)) {
        return context.fail(path, `Ensure this value is between -${LARGEST} and ${LARGEST}.`);
      }
      return integer(value, path, context);
    case 'date':
      return date(value, path, context);
    case 'text':
      return text(textMax)(value, path, context);
    case 'attachment':
      return context.fail(path, 'Attachments cannot be written.');
  }
}

/** The limit of a custom text: 50; the asset create body states 150. */
const textLimit = (context: WriteContext, type: string): number =>
  type === 'asset' && context.operation === 'create' ? 150 : 50;

/** `{id, fields: [{id, value}]}`; an inactive template or field is refused unless the record holds it already. */
export function template(type: 'asset' | 'contract' | 'supplier'): Kind<readonly TemplateValues[]> {
  return (value, field, context) => {
    const one = templateValues(type, value, field, context);
    return one && [one];
  };
}

/** A list of the same; a response shows the first. */
export function templates(type: 'asset' | 'contract' | 'supplier'): Kind<readonly TemplateValues[]> {
  return (value, field, context) => {
    const all = items(value, field, context, (item, path) => templateValues(type, item, path, context));
    return all && all.length > 0 ? all : null;
  };
}

/** What is made of each item of a list; one with a fault is left out. */
function items<T>(
  value: Json,
  field: string,
  context: WriteContext,
  make: (item: Json, path: string) => T | null,
): T[] | null {
  if (!Array.isArray(value)) return context.fail(field, 'Expected a list of items.');
  return value.map((item, index) => make(item, `${field}[${index}]`)).filter((one) => one !== null);
}

function templateValues(type: string, value: Json, field: string, context: WriteContext): TemplateValues | null {
  const members = object(value, field, context);
  const id = members && requiredId(members, field, context);
  if (!members || id === null) return null;
  const found = context.lookups.get('custom-field-template', id, context.company);
  if (!found) return context.fail(`${field}.id`, `Invalid pk "${id}" - object does not exist.`);
  if (found.type !== type) {
    return context.fail(`${field}.id`, `The template "${found.name}" is for the type ${found.type}, not ${type}.`);
  }
  const stored = context.current?.values['template'];
  const isStored = Array.isArray(stored) && stored.some((one) => 'template' in one && one.template === id);
  if (!found.is_active && !isStored) return context.fail(`${field}.id`, `The template "${found.name}" is not active.`);
  const values = items(members.get('fields') ?? [], `${field}.fields`, context, (item, path) => {
    const entry = object(item, path, context);
    const fieldId = entry && requiredId(entry, path, context);
    if (!entry || fieldId === null) return null;
    const of = found.fields.find((candidate) => candidate.id === fieldId);
    if (!of) return context.fail(`${path}.id`, `The template "${found.name}" has no field "${fieldId}".`);
    const accepted = customValue(of, entry.get('value') ?? null, `${path}.value`, context, textLimit(context, type));
    return [fieldId, accepted] as const;
  });
  return values && { template: id, values };
}

/** List of `{id, custom_form_data: {<field name>: value}}`; further rows of one form hang under its first. */
export function formRows(type: 'asset' | 'contract'): Kind<readonly FormRow[]> {
  return (value, field, context) => {
    const parsedRows = items(value, field, context, (item, path) => {
      const members = object(item, path, context);
      const form = members && requiredId(members, path, context);
      if (!members || form === null) return null;
      const values = formValues(type, form, members, path, context);
      return values && { form, values };
    });
    const rows: FormRow[] = [];
    for (const { form, values } of parsedRows ?? []) {
      const earlier = rows.filter((row) => row.form === form);
      const parent = earlier[0]?.row ?? null;
      rows.push({ form, row: context.nextFormRow(), parent, sequence: earlier.length + 1, values });
    }
    return rows.length > 0 ? rows : null;
  };
}

function formValues(type: string, id: number, members: JsonObject, path: string, context: WriteContext) {
  const form = context.lookups.get('custom-form-template', id, context.company);
  if (!form) return context.fail(`${path}.id`, `Invalid pk "${id}" - object does not exist.`);
  if (form.type !== type) {
    return context.fail(`${path}.id`, `The form "${form.name}" is for the type ${form.type}, not ${type}.`);
  }
  const data = object(members.get('custom_form_data') ?? new Map(), `${path}.custom_form_data`, context);
  if (!data) return null;
  const values: [number, string | number | null][] = [];
  for (const [name, value] of data) {
    const of = form.fields.find((candidate) => candidate.name === name);
    const where = `${path}.custom_form_data.${name}`;
    if (!of) context.fail(where, `The form "${form.name}" has no field of this name.`);
    else values.push([of.id, customValue(of, value, where, context, textLimit(context, type))]);
  }
  return values;
}

function requiredId(members: JsonObject, field: string, context: WriteContext): number | null {
  const hasId = (members.get('id') ?? null) !== null;
  return hasId
    ? member(members, 'id', integer, field, context)
    : context.fail(`${field}.id`, 'This field is required.');
}
