import { isRequired } from './rules.js';
import type { FieldSpec, FieldType, ReferenceTarget, ResourceSpec } from './spec.js';

/** The fields of a resource as a Markdown table for the README; operations are R (read), C (create), U (update). */
export function fieldTable(spec: ResourceSpec): string {
  const rows = spec.fields.map((field) => [
    `\`${field.name}\``,
    typeName(field.type),
    ruleText(field),
    field.read === undefined ? '' : 'R',
    field.create === undefined || field.derived ? '' : isRequired(field, 'create') ? '**C**' : 'C',
    field.update === undefined || field.derived ? '' : isRequired(field, 'update') ? '**U**' : 'U',
    noteText(field),
  ]);
  return [
    ['Field', 'Type', 'Rule', 'Read', 'Create', 'Update', 'Note'],
    ['---', '---', '---', '---', '---', '---', '---'],
    ...rows,
  ]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

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
/** How a cell refers to a record, where that is not by name or id. */
const HOW_REFERRED: Partial<Record<ReferenceTarget, string>> = {
  'asset-owner': 'name, e-mail address or id',
  contract: 'contract number',
  make: 'id',
};

function noteText(field: FieldSpec): string {
  const parts: string[] = [];
  if (field.note) parts.push(field.note);
  if (field.derived && field.name !== 'id') parts.push('Derived by the service.');
  if (field.aliases) parts.push(`Also: ${field.aliases.map((alias) => `\`${alias}\``).join(', ')}.`);
  return parts.join(' ');
}
