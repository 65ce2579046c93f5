import { checkRecord } from '../resources/rules.js';
import type { ResourceSpec } from '../resources/spec.js';

/** Fields without which the service refuses a value of this one: a contact's name and e-mail address, a subcategory's category. */
export function partnersOf(spec: ResourceSpec, field: string): string[] {
  return checkRecord(spec, { [field]: TEXT }, 'create').flatMap((issue) =>
    issue.code === 'pair_incomplete' && issue.field !== undefined ? [issue.field] : [],
  );
}

/** Any text will do: whether a partner is needed does not depend on the value. */
const TEXT = 'x';
