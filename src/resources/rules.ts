import { fault, type Issue } from '../model/issue.js';
import { withArticle } from '../model/resource-names.js';
import { type Fields, isEmpty, valueText } from '../model/value.js';
import { contractRules } from './contract.js';
import { type FieldSpec, memoized, type ResourceSpec } from './spec.js';

/** Whether this operation must carry a value of the field. */
export function isRequired(field: FieldSpec, operation: 'create' | 'update'): boolean {
  if (operation === 'create') return field.required === true && field.create !== undefined;
  return (field.required === true || field.requiredOnUpdate === true) && field.update !== undefined;
}

/**
 * Checks a whole record, in canonical form, against the rules that look at more than one value: required fields, values
 * that belong together, contract rules 1 to 7 (interface section 4.3), and a status that updates do not accept.
 * For an update, `fields` is the record as it would be afterwards.
 */
export function checkRecord(spec: ResourceSpec, fields: Fields, operation: 'create' | 'update'): Issue[] {
  const issues: Issue[] = [];
  for (const field of ruledFields(spec)[operation]) {
    if (isEmpty(fields[field.name])) issues.push(requiredFault(spec, field, operation));
  }
  addPairs(spec, fields, issues);
  if (operation === 'update') issues.push(...statusIssues(spec, fields));
  if (spec.name === 'contract') issues.push(...contractRules(fields));
  return issues;
}

/** Every row is asked for these few. */
const ruledFields = memoized((spec: ResourceSpec) => ({
  create: spec.fields.filter((field) => isRequired(field, 'create')),
  update: spec.fields.filter((field) => isRequired(field, 'update')),
  /** Whose values an update may not all have. */
  limited: spec.fields.flatMap((field) =>
    field.type.kind === 'enum' && field.type.update ? [{ field, allowed: field.type.update }] : [],
  ),
}));

function requiredFault(spec: ResourceSpec, field: FieldSpec, operation: 'create' | 'update'): Issue {
  const says = `has no value. ${operation === 'create' ? `A new ${spec.name}` : `The update of ${withArticle(spec.name)}`} needs one: fill the cell, or give the field a default in the job.`;
  return fault('required', `${field.label} ${says}`, { field: field.name, value: '' });
}

/** What means something beside the other alone: a person's name and e-mail, a currency and its symbol. */
export const PARTNERS: readonly (readonly [string, string])[] = [
  ['contact_person.name', 'contact_person.email'],
  ['sales_manager_name', 'sales_manager_email'],
  ['currency.value', 'currency.symbol'],
  ['manufacturer_currency.value', 'manufacturer_currency.symbol'],
];

/** What must not stand alone: [the field that is missing, the field that needs it]. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['contact_person.name', 'contact_person.email'],
  ['contact_person.email', 'contact_person.name'],
  ['category.name', 'category.subcategory'],
];

function addPairs(spec: ResourceSpec, fields: Fields, issues: Issue[]): void {
  for (const [absent, present] of PAIRS) {
    if (isEmpty(fields[present]) || !isEmpty(fields[absent])) continue;
    if (issues.some((issue) => issue.field === absent)) continue;
    const label = (name: string) => spec.fields.find((field) => field.name === name)?.label ?? name;
    issues.push(
      fault(
        'pair_incomplete',
        `${label(present)} is "${valueText(fields[present])}" and ${label(absent)} is blank: the service needs both. ` +
          `Fill ${absent}, or leave both blank.`,
        { field: absent, value: '' },
      ),
    );
  }
}

function statusIssues(spec: ResourceSpec, fields: Fields): Issue[] {
  return ruledFields(spec).limited.flatMap(({ field, allowed }) => {
    const value = fields[field.name];
    if (isEmpty(value) || allowed.includes(String(value))) return [];
    return fault(
      'status_not_writable',
      `${field.label} is "${valueText(value)}"; an update accepts only ${allowed.join(' and ')}. ` +
        'Say in the job what the value should become, or change it in the service.',
      { field: field.name, value: valueText(value) },
    );
  });
}
