import type { FieldSpec, ReferenceTarget, ResourceSpec } from '../resources/spec.js';
import type { BlankColumn } from './columns.js';
import { EXAMPLES } from './example-values.js';
import type { DropDown, ServiceNames } from './lists.js';

/** Names to show where no service was asked; they say by themselves that they are examples. */
const STAND_INS: Partial<Record<ReferenceTarget, string>> = {
  'asset-owner': 'owner@example.com',
  'business-unit': 'Example Business Unit',
  category: 'Example Category',
  contract: '0002026-0017',
  customer: 'Example Customer',
  supplier: 'Example Supplier',
  'usage-status': 'Production',
};

/**
 * The example row: one text for each column, '' where nothing can be offered that is sure to be accepted. Dates are
 * `yyyy-MM-dd`, amounts plain decimals. With the service's names every reference is one that exists.
 */
export function exampleRow(
  spec: ResourceSpec,
  columns: readonly BlankColumn[],
  lists: ReadonlyMap<string, DropDown>,
  service: ServiceNames | undefined,
): string[] {
  const category = categoryOf(lists.get('category.name'), service);
  return columns.map(({ field, spec: one }) => {
    if (field === 'category.name') return category?.name ?? referenceOf(one, lists.get(field), service);
    if (field === 'category.subcategory') return category?.subcategory ?? (service ? '' : 'Example Subcategory');
    if (one.type.kind === 'reference') return referenceOf(one, lists.get(field), service);
    return EXAMPLES[spec.name][field] ?? byType(one);
  });
}

/** A category that has subcategories where there is one, so that both columns have something to show. */
function categoryOf(list: DropDown | undefined, service: ServiceNames | undefined) {
  const names = list?.values ?? [];
  const name = names.find((one) => (service?.subcategories.get(one) ?? []).length > 0) ?? names[0];
  if (name === undefined) return undefined;
  return { name, subcategory: service?.subcategories.get(name)?.[0] ?? '' };
}

function referenceOf({ type }: FieldSpec, list: DropDown | undefined, service: ServiceNames | undefined): string {
  if (type.kind !== 'reference') return '';
  if (list)
    return (
      (type.to === 'usage-status' && list.values.find((name) => /^production$/i.test(name))) || (list.values[0] ?? '')
    );
  return service ? '' : (STAND_INS[type.to] ?? '');
}

function byType({ type, label }: FieldSpec): string {
  switch (type.kind) {
    case 'text': {
      const text = `Example ${label.slice(label.lastIndexOf(':') + 1).trim()}`;
      return type.exact === undefined ? text.slice(0, type.max ?? 50).trim() : '0'.repeat(type.exact);
    }
    case 'texts':
    case 'email':
      return 'name@example.com';
    case 'integer':
      return String(Math.max(type.min ?? 0, 12));
    case 'decimal':
      return '1250.50';
    case 'date':
      return '2026-01-31';
    case 'boolean':
      return 'yes';
    case 'enum':
      return type.values[0] ?? '';
    case 'country':
      return 'Ireland';
    case 'reference':
      return '';
  }
}
