import { Decimal } from '../../src/model/decimal.js';
import { countryByCode } from '../../src/resources/countries.js';
import type { ResourceName } from '../../src/resources/spec.js';
import { FINANCE, OTHER, USAGE } from './lexicon.js';

/**
 * What a service that follows the interface would show after it stored a body. Written from the interface alone, field
 * by field, so that it does not repeat a mistake of the descriptions.
 */
export function shownAfter(
  resource: ResourceName,
  id: number,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown: Record<string, unknown> = { id };
  for (const [key, value] of Object.entries(body)) Object.assign(shown, showOne(resource, key, onTheWire(value)));
  return shown;
}

/** Money travels as a JSON number; long ones arrive as Decimal. */
function onTheWire(value: unknown): unknown {
  if (value instanceof Decimal) return value.text.replace(/\D/g, '').length <= 15 ? Number(value.text) : value;
  if (Array.isArray(value)) return value.map(onTheWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, onTheWire(inner)]));
}

const NAMED = [
  'supplier',
  'customer',
  'business_unit',
  'asset_owner',
  'attached_supplier',
  'warranty_provider',
  'support_provider',
];
const UNSEEN = ['company', 'make', 'inventory_no', 'ssb_tag', 'mac_address', 'uscp_no', 'asset_physical_location'];

function showOne(resource: ResourceName, key: string, value: unknown): Record<string, unknown> {
  if (UNSEEN.includes(key)) return {};
  if (NAMED.includes(key)) return { [key]: { id: value, name: `Name ${value}` } };
  if (key === 'contract' || key === 'parent_contract') return { [key]: { id: value, number: `No ${value}` } };
  if (key === 'country' || key === 'business_country') return { [key]: countryByCode(Number(value))?.name };
  if (key === 'category') return { category: showCategory(resource, value) };
  if (key === 'templates') return { template: showTemplate((value as unknown[])[0]) };
  if (key === 'template') return { template: showTemplate(value) };
  if (key === 'form_template') return resource === 'asset' ? { custom_form: value } : {};
  if (key === 'asset_usage_status') return { usage_status: { id: value, name: USAGE[Number(value)] } };
  if (key === 'usage_status') return { usage_status: usageByWord(String(value)) };
  if (key === 'bldng_name') return { bldg_name: value };
  if (key === 'business_entity_type') return { business_entity: value };
  if (key === 'asset_hardware_model')
    return { [key]: (value as { id: number }).id === 71 ? 'PowerEdge R740' : 'Unheard of' };
  if (key === 'contract_service_per_item') return { [key]: String(value) };
  return { [key]: value };
}

function showCategory(resource: ResourceName, value: unknown): unknown {
  if (resource === 'supplier' || resource === 'customer') return { id: value, name: `Name ${value}` };
  const { id, subcategory } = value as { id?: number; subcategory?: string };
  return { id, name: `Name ${id}`, subcategory: subcategory ?? null };
}

function showTemplate(value: unknown): unknown {
  const { id, fields } = value as { id: number; fields: { id: number; value: unknown }[] };
  const names = [...FINANCE.fields, ...OTHER.fields];
  const named = fields.map((one) => [names.find((field) => field.id === one.id)?.name, one.value]);
  return { id, fields: Object.fromEntries(named) };
}

function usageByWord(word: string): unknown {
  const id = { production: 1, non_production: 2, none: 3, other: 4 }[word] ?? 0;
  return { id, name: USAGE[id] };
}
