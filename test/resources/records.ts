import fc from 'fast-check';
import { Decimal } from '../../src/model/decimal.js';
import type { Fields, Value } from '../../src/model/value.js';
import type { FieldSpec, ResourceSpec } from '../../src/resources/spec.js';
import { codeOf, USAGE } from './lexicon.js';

const money = fc
  .tuple(fc.bigInt({ min: 0n, max: 99_999_999_999_999_999n }))
  .map(([cents]) => Decimal.of(`${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`));
const words = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' });

function valuesOf(field: FieldSpec): fc.Arbitrary<Value> {
  const type = field.type;
  switch (type.kind) {
    case 'text':
      return words;
    case 'email':
      return fc.emailAddress();
    case 'integer':
      return fc.integer({ min: type.min ?? 0, max: 1_000_000 });
    case 'decimal':
      return money;
    case 'date':
      return fc
        .date({ min: new Date('1900-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })
        .map((day) => day.toISOString().slice(0, 10));
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...(type.update ?? type.values));
    case 'country':
      return fc
        .constantFrom('Germany', 'Australia', 'Democratic Republic of the Congo', "Cote d'Ivoire")
        .map((name) => ({
          id: codeOf(name),
          name,
        }));
    case 'reference':
      if (type.to === 'usage-status')
        return fc.integer({ min: 1, max: 4 }).map((id) => ({ id, name: USAGE[id] ?? '' }));
      if (type.to === 'hardware-model') return fc.constant({ id: 71, name: 'PowerEdge R740' });
      return fc.integer({ min: 1, max: 1e9 }).map((id) => ({ id }));
    case 'texts':
      return fc.array(words, { minLength: 1, maxLength: 3 });
  }
}

/** Records as a create can set them and a read shows them again. */
export function records(spec: ResourceSpec): fc.Arbitrary<Fields> {
  const own: Record<string, fc.Arbitrary<Value>> = {};
  for (const field of spec.fields) if (field.create && field.read && !field.derived) own[field.name] = valuesOf(field);
  const custom: Record<string, fc.Arbitrary<Value>> = {
    'template.5.51': words,
    'template.5.52': money,
    'template.5.53': fc.integer({ min: -1e9, max: 1e9 }),
    'template.5.54': fc.constant('2024-02-29'),
  };
  if (spec.form?.read) {
    custom['form.3.Rack'] = words;
    custom['form.3.Units'] = fc.integer();
    custom['form.3#2.Rack'] = words;
    custom['form.3#2.Price v1.2'] = money;
  }
  return fc.record({ ...own, ...custom }, { requiredKeys: [] }).map((made) => {
    const fields: Record<string, Value> = {};
    for (const [field, value] of Object.entries(made)) fields[field] = value ?? null;
    // A second row of a form has a first, and a subcategory a category.
    if (Object.keys(fields).some((name) => name.startsWith('form.3#2'))) fields['form.3.Rack'] ??= 'A1';
    if (fields['category.subcategory'] !== undefined) fields['category.name'] ??= { id: 9 };
    const rows = Object.keys(fields).filter((name) => name.startsWith('form.'));
    rows.sort((a, b) => Number(a.includes('#')) - Number(b.includes('#')));
    const ordered = Object.entries(fields).filter(([name]) => !name.startsWith('form.'));
    return Object.fromEntries([...ordered, ...rows.map((name) => [name, fields[name] ?? null] as [string, Value])]);
  });
}
