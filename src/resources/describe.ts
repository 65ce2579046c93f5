import { countryNames } from './countries.js';
import type { FieldSpec, FieldType, ReferenceTarget } from './spec.js';

/** What a field holds, in one or two words for people. */
export function typeName(type: FieldType): string {
  switch (type.kind) {
    case 'text':
      return 'text';
    case 'email':
      return 'e-mail address';
    case 'texts':
      return 'list of text';
    case 'integer':
      return 'whole number';
    case 'decimal':
      return 'decimal';
    case 'date':
      return 'date';
    case 'boolean':
      return 'yes or no';
    case 'enum':
      return 'one of a list';
    case 'reference':
      return type.to.replace('-', ' ');
    case 'country':
      return 'country';
  }
}

/** The rule a value must keep, for people; '' where the interface states none. */
export function ruleText(field: FieldSpec): string {
  const type = field.type;
  switch (type.kind) {
    case 'text':
      if (type.exact !== undefined) return `exactly ${type.exact} characters`;
      return type.max === undefined ? '' : `at most ${type.max} characters`;
    case 'email':
      return `at most ${type.max} characters`;
    case 'integer':
    case 'decimal':
      if (type.min === undefined) return type.max === undefined ? '' : `at most ${type.max}`;
      return type.max === undefined ? `${type.min} or more` : `${type.min} to ${type.max}`;
    case 'date':
      return 'yyyy-MM-dd';
    case 'enum':
      return type.values.map((value) => `\`${value}\``).join(', ');
    case 'reference':
      return HOW_REFERRED[type.to] ?? 'name or id';
    case 'country':
      return 'name or code of ISO 3166-1';
    default:
      return '';
  }
}

/** What a field takes, where that is a list that no service has to be asked for. */
export function fixedChoices(type: FieldType): readonly string[] {
  if (type.kind === 'enum') return type.values;
  if (type.kind === 'boolean') return ['yes', 'no'];
  return type.kind === 'country' ? countryNames() : [];
}

/** How a cell refers to a record, where that is not by name or id. */
const HOW_REFERRED: Partial<Record<ReferenceTarget, string>> = {
  'asset-owner': 'name, e-mail address or id',
  contract: 'contract number',
  make: 'id',
};
