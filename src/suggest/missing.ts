import { ruleText } from '../resources/describe.js';
import { isRequired } from '../resources/rules.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';
import type { MissingField } from './suggestion.js';

/** What a person must put in; no value of any field, so that a job in which it is left is refused. */
export const TO_FILL = '?';

/** Fields that every new record needs and no column gives, each with the constant that may stand in. */
export function missingFields(spec: ResourceSpec, assigned: readonly Assigned[]): MissingField[] {
  const given = new Set(assigned.flatMap(({ mapped }) => (mapped ? [mapped.field.name] : [])));
  const fields = spec.fields.filter((field) => isRequired(field, 'create') && !given.has(field.name));
  return fields.map((field) => ({
    field: field.name,
    rule: ruleText(field).replaceAll('`', ''),
    constant: constantFor(field, given),
    columns: assigned.flatMap(({ column, guesses, mapped }) =>
      !mapped && guesses.some((guess) => guess.field === field) ? [column.profile.heading] : [],
    ),
  }));
}

function constantFor(field: FieldSpec, given: ReadonlySet<string>): string | undefined {
  // A record has its own name and number: the same one in every row is never right.
  if (field.type.kind === 'text' || field.type.kind === 'email') return undefined;
  if (field.name === 'contract_type' && given.has('supplier') !== given.has('customer')) {
    return given.has('supplier') ? 'buy_side' : 'sell_side';
  }
  return TO_FILL;
}
