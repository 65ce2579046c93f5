import { isLosslessNumber } from 'lossless-json';

/**
 * Records as flat lists of texts, so that what is stored and what a write body asks for can be laid side by side.
 * Interface, sections 2.1 to 2.5 and 4.2 to 4.4: read here once more, apart from the program.
 */
export type Flat = ReadonlyMap<string, string>;

/** Spellings of write bodies that differ from the stored name. */
const SPELLINGS: Readonly<Record<string, string>> = {
  bldng_name: 'bldg_name',
  templates: 'template',
  hardware_model: 'asset_hardware_model',
  custom_form: 'form_template',
  asset_usage_status: 'usage_status',
};

/** Fields whose amounts are stored with two digits after the point, whatever digits were sent. */
const AMOUNTS = new Set([
  'original_cost',
  'estimated_salvage_value',
  'contract_service_per_item',
  'new_hardware_selling_unit_price',
  'manufacturer_warranty_unit_price',
  'first_offer_value',
  'cost_avoidance_value',
  'contract_risk_value',
  'total_contract_spend_value',
  'mrc',
  'nrc',
  'expenditure_type.capex_actual',
  'expenditure_type.opex_actual',
]);

/** Left out, these are false and not null. */
const FALSE_BY_DEFAULT = new Set(['nda_signed', 'msa_signed']);

/** No write body holds them: the service keeps them itself. */
export const KEPT_BY_SERVICE: ReadonlySet<string> = new Set(['id', 'company', 'contract_type']);

/** The number without what does not change it: `0012.50` is `12.5`. Anything else is undefined. */
export function amount(text: string): string | undefined {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  if (sign === undefined) return undefined;
  const short = fraction.replace(/0+$/, '');
  return `${sign}${whole.replace(/^0+(?=\d)/, '')}${short && `.${short}`}`;
}

const isNumeric = (field: string) => AMOUNTS.has(field) || /^(form_)?template\./.test(field);

/** Whether two texts stand for one value of a field; undefined and blank are both nothing. */
export function same(field: string, a: string | undefined, b: string | undefined): boolean {
  const [left, right] = [a ?? '', b ?? ''];
  if (left === right) return true;
  return isNumeric(field) && amount(left) !== undefined && amount(left) === amount(right);
}

/** What is stored: a record of `sandbox.raw`. */
export function flatStored(raw: Readonly<Record<string, unknown>>): Flat {
  const flat = new Map<string, string>();
  for (const [name, value] of Object.entries(raw)) {
    if (name === 'template') storedTemplates(flat, value);
    else if (name === 'form_template') storedForms(flat, value);
    else put(flat, name, value);
  }
  return flat;
}

/** What a write body asks for. Numbers keep their digits (`lossless-json`). */
export function flatBody(body: Readonly<Record<string, unknown>>): Flat {
  const flat = new Map<string, string>();
  for (const [spelling, value] of Object.entries(body)) {
    const name = storedName(spelling);
    // Two spellings of one field may stand in one body: a null does not undo the other's value.
    if (value === null || value === undefined) continue;
    if (name === 'template') for (const one of Array.isArray(value) ? value : [value]) bodyTemplate(flat, one);
    else if (name === 'form_template') bodyForms(flat, value);
    else if (name === 'category' && isRecord(value)) {
      put(flat, 'category', { category: value['id'], subcategory: value['subcategory'] });
    } else if (name === 'asset_hardware_model' && isRecord(value)) put(flat, name, value['id']);
    else put(flat, name, value);
  }
  return flat;
}

/** The stored name of a field that a body spells otherwise. */
export const storedName = (spelling: string): string => SPELLINGS[spelling] ?? spelling;

/** Whether a field is the named one or lies within it: `category.subcategory` lies within `category`. */
export function within(field: string, names: Iterable<string>): boolean {
  for (const name of names) if (field === name || field.startsWith(`${name}.`)) return true;
  return false;
}

function put(flat: Map<string, string>, name: string, value: unknown): void {
  if (value === null || value === undefined || value === '') return;
  if (isRecord(value)) for (const [part, inner] of Object.entries(value)) put(flat, `${name}.${part}`, inner);
  else if (Array.isArray(value)) for (const [at, inner] of value.entries()) put(flat, `${name}.${at}`, inner);
  else if (!(value === false && FALSE_BY_DEFAULT.has(name))) flat.set(name, text(value));
}

function storedTemplates(flat: Map<string, string>, value: unknown): void {
  for (const one of list(value)) {
    if (!isRecord(one)) continue;
    for (const pair of list(one['values'])) {
      const [field, held] = list(pair);
      put(flat, `template.${text(one['template'])}.${text(field)}`, held);
    }
  }
}

function bodyTemplate(flat: Map<string, string>, value: unknown): void {
  if (!isRecord(value)) return;
  for (const one of list(value['fields'])) {
    if (isRecord(one)) put(flat, `template.${text(value['id'])}.${text(one['id'])}`, one['value']);
  }
}

/** Bodies name the columns of a form and the store numbers them: rows are compared by form and by the values in them. */
function storedForms(flat: Map<string, string>, value: unknown): void {
  forms(
    flat,
    list(value).flatMap((row) =>
      isRecord(row) ? [{ form: text(row['form']), values: list(row['values']).map((pair) => list(pair)[1]) }] : [],
    ),
  );
}

function bodyForms(flat: Map<string, string>, value: unknown): void {
  forms(
    flat,
    list(value).flatMap((row) =>
      isRecord(row)
        ? [
            {
              form: text(row['id']),
              values: Object.values(isRecord(row['custom_form_data']) ? row['custom_form_data'] : {}),
            },
          ]
        : [],
    ),
  );
}

function forms(
  flat: Map<string, string>,
  rows: readonly { readonly form: string; readonly values: unknown[] }[],
): void {
  for (const [at, { form, values }] of rows.entries()) {
    const held = values.filter((one) => one !== null && one !== undefined && one !== '').map(text);
    const plain = held.map((one) => amount(one) ?? one).sort();
    put(flat, `form_template.${form}.${at}`, plain.join('\u0001'));
  }
}

function text(value: unknown): string {
  return isLosslessNumber(value) ? value.toString() : String(value);
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
