import type { Faults } from './kinds.js';
import type {
  CategoryChoice,
  CustomField,
  CustomValues,
  FormRow,
  LookupName,
  Lookups,
  StoredRecord,
  TemplateValues,
  Value,
} from './stored-record.js';
import type { Switches } from './switches.js';
import { countryOf, percentOf, showDate, showMoment } from './values.js';

/** Read forms as JSON text. Amounts are written digit by digit as they are stored. Interface, sections 2.2 to 2.5. */

/** What a read form takes from outside the record. */
export interface RenderContext {
  readonly lookups: Lookups;
  readonly switches: Readonly<Switches>;
  /** Name of a supplier or customer. */
  partyName(resource: 'supplier' | 'customer', id: number): string | undefined;
  contractNumber(id: number): string | undefined;
}

type Show = (value: NonNullable<Value>, context: RenderContext, record: StoredRecord) => string;

/** One member of a read form. */
interface Renderer {
  readonly name: string;
  /** The stored field it shows. */
  readonly from: string;
  readonly show: Show;
  /** What is shown where the record holds nothing; else null. */
  readonly blank?: string;
}

/** A member that is made from the whole record. */
interface RecordRenderer {
  readonly name: string;
  readonly of: (record: StoredRecord, context: RenderContext) => string;
}

export const quote = (text: string): string => JSON.stringify(text);
const orNull = (text: string | null | undefined): string =>
  text === null || text === undefined ? 'null' : quote(text);

/** Members of a read form that show the stored fields of their names. */
const membersWith =
  (show: Show) =>
  (...names: string[]): Renderer[] =>
    names.map((name) => ({ name, from: name, show }));

const dateText = (date: string, context: RenderContext): string => quote(showDate(date, context.switches.dates));

/** Text, numbers, booleans and values of several parts as stored. */
export const members = membersWith((value) => JSON.stringify(value));
export const amounts = membersWith((value) => value as string);
export const dates = membersWith((value, context) => dateText(value as string, context));
export const countries = membersWith((value, context) =>
  orNull(countryOf(value as number)?.[context.switches.country]),
);

export const renamed = (name: string, from: string): Renderer => ({
  name,
  from,
  show: (value) => JSON.stringify(value),
});

export const alwaysNull = (name: string): RecordRenderer => ({ name, of: () => 'null' });

export const idMember: RecordRenderer = { name: 'id', of: ({ id }) => String(id) };

export const modifiedDate: RecordRenderer = {
  name: 'modified_date',
  of: ({ modified }, context) => quote(showMoment(modified, context.switches.dates)),
};

/** A party as `{id, name}`. */
export const party = (name: string, resource: 'supplier' | 'customer'): Renderer => ({
  name,
  from: name,
  show: (id, context) => `{"id":${id},"name":${orNull(context.partyName(resource, id as number))}}`,
});

export const partyName = (name: string, from: string, resource: 'supplier' | 'customer'): Renderer => ({
  name,
  from,
  show: (id, context) => orNull(context.partyName(resource, id as number)),
});

/** A contract as `{id, number}`. */
export const contract = (name: string): Renderer => ({
  name,
  from: name,
  show: (id, context) => `{"id":${id},"number":${orNull(context.contractNumber(id as number))}}`,
});

/** A look-up entry with the members given, as the interface lists them for this place; `shown=entry's own` where it names one otherwise. */
export const entry = (name: string, lookup: LookupName, ...fieldPairs: string[]): Renderer => {
  const pairs = fieldPairs.map((one) => one.split('='));
  return {
    name,
    from: name,
    show: (id, context, record) => {
      const item = context.lookups.get(lookup, id as number, record.company) as Record<string, string> | undefined;
      return `{"id":${id}${pairs.map(([as = '', own = as]) => `,"${as}":${orNull(item?.[own])}`).join('')}}`;
    },
  };
};

/** Only the name of a look-up entry. */
export const entryName = (name: string, from: string, lookup: 'usage-status' | 'hardware-model'): Renderer => ({
  name,
  from,
  show: (id, context, record) => orNull(context.lookups.get(lookup, id as number, record.company)?.name),
});

export const category: Renderer = {
  name: 'category',
  from: 'category',
  show: (value, context, record) => {
    const { category: id, subcategory } = value as CategoryChoice;
    const name = context.lookups.get('category', id, record.company)?.category;
    return `{"id":${id},"name":${orNull(name)},"subcategory":${orNull(subcategory)}}`;
  },
};

/** With the shares of the total that the interface shows in reads. */
export const expenditure: Renderer = {
  name: 'expenditure_type',
  from: 'expenditure_type',
  show: (value, _, record) => {
    const { type, capex_actual: capex, opex_actual: opex } = value as Readonly<Record<string, string | null>>;
    const total = record.values['total_contract_spend_value'] as string | null;
    const share = (part: string | null = null) =>
      part === null || total === null ? 'null' : (percentOf(part, total) ?? 'null');
    return `{"type":${orNull(type)},"capex_actual":${capex},"opex_actual":${opex},"capex_percent":${share(capex)},"opex_percent":${share(opex)}}`;
  },
};

function customMembers(values: CustomValues, known: readonly CustomField[], context: RenderContext): string {
  const parts: string[] = [];
  for (const [id, value] of values) {
    const of = known.find((candidate) => candidate.id === id);
    if (!of) continue;
    let text = 'null';
    if (value !== null) {
      if (of.data_type === 'date') text = dateText(value as string, context);
      else text = of.data_type === 'text' ? quote(value as string) : String(value);
    }
    parts.push(`${quote(of.name)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

/** `{id, fields: {<field name>: value}}`; of several templates the first, as the interface shows one. */
export const template: Renderer = {
  name: 'template',
  from: 'template',
  show: (value, context, record) => {
    const [first] = value as readonly TemplateValues[];
    if (!first) return 'null';
    const known = context.lookups.get('custom-field-template', first.template, record.company)?.fields ?? [];
    return `{"id":${first.template},"fields":${customMembers(first.values, known, context)}}`;
  },
};

/** Rows of custom forms; every further row of a form carries `parent_row_id` and `seq_no`. */
export const customForm: Renderer = {
  name: 'custom_form',
  from: 'form_template',
  blank: '[]',
  show: (value, context, record) => {
    const rows = (value as readonly FormRow[]).map((row) => {
      const known = context.lookups.get('custom-form-template', row.form, record.company)?.fields ?? [];
      const place = row.parent === null ? '' : `,"parent_row_id":${row.parent},"seq_no":${row.sequence}`;
      return `{"id":${row.form},"custom_form_data":${customMembers(row.values, known, context)}${place}}`;
    });
    return `[${rows.join(',')}]`;
  },
};

export type ReadForm = readonly (Renderer | RecordRenderer)[];

/** Makes the function that writes a read form. */
export function compileReadForm(form: ReadForm): (record: StoredRecord, context: RenderContext) => string {
  const steps = form.map((step) => ({ label: `${quote(step.name)}:`, step }));
  return (record, context) => {
    const parts = steps.map(({ label, step }) => {
      if ('of' in step) return label + step.of(record, context);
      const value = record.values[step.from] ?? null;
      return label + (value === null ? (step.blank ?? 'null') : step.show(value, context, record));
    });
    return `{${parts.join(',')}}`;
  };
}

/** What the service answers, before a fault plan gets hold of it. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export const json = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): ServiceResponse => ({
  status,
  headers: body === '' ? headers : { ...JSON_TYPE, ...headers },
  body,
});

/** A refusal about the whole request. */
export function refuse(
  status: number,
  message: string,
  format: Switches['errorFormat'],
  headers: Readonly<Record<string, string>> = {},
): ServiceResponse {
  return errorResponse(status, new Map([['', [message]]]), format, headers);
}

export const refuseFields = (faults: Faults, format: Switches['errorFormat']): ServiceResponse =>
  errorResponse(400, faults, format, {});

export const oneFault = (field: string, message: string): Faults => new Map([[field, [message]]]);

/** The interface does not show the error format (section 7): each of these is met in services of this kind. */
function errorResponse(
  status: number,
  faults: Faults,
  format: Switches['errorFormat'],
  headers: Readonly<Record<string, string>>,
): ServiceResponse {
  const lines = [...faults].flatMap(([field, messages]) => messages.map((message) => ({ field, message })));
  const sentence = lines.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join(' ');
  if (format === 'text') {
    return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body: sentence };
  }
  if (format === 'html') {
    const plain = sentence.replace(/[<>&]/g, (mark) => `&#${mark.charCodeAt(0)};`);
    return {
      status,
      headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
      body: `<!doctype html><html><head><title>Error ${status}</title></head><body><h1>Error ${status}</h1><p>${plain}</p></body></html>`,
    };
  }
  const body = {
    fields: faults.has('') ? { detail: sentence } : Object.fromEntries(faults),
    detail: { detail: sentence },
    message: { message: sentence },
    errors: { errors: lines.map(({ field, message }) => (field ? { field, message } : { message })) },
  }[format];
  return json(status, JSON.stringify(body), headers);
}
