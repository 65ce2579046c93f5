import { exportRecord } from '../../export/column.js';
import { exportColumns } from '../../export/columns.js';
import { type Condition, conditionOn, conditionText, type Problem } from '../../export/filter.js';
import { findOwnField, type Naming } from '../../export/names.js';
import { RunError } from '../../model/error.js';
import type { ReconcileJob } from '../../model/job.js';
import { foldText } from '../../model/value.js';
import type { Lexicon, ResourceName } from '../../resources/spec.js';
import type { Json } from '../../service/port.js';
import { customFieldsIn, loadCustomFields, type RunLexicon } from '../run/open-service.js';

export type Scope = NonNullable<Awaited<ReturnType<typeof openScope>>>;

/**
 * Which records of the service a job's file is about; the others are none of its orphans. Contract, section 4. Reads a job's scope by the rules of the filters of exports: names are fields, aliases and headings (`category.name`,
 * `template.Finance.Cost Centre`), values compare in the type of the field (choices without case, amounts and dates by value,
 * references by id or name). Fetches the custom field templates and forms where a name asks for them. Undefined: all records.
 * @throws RunError `usage` with every name and value that cannot be used.
 */
export async function openScope(
  scope: ReconcileJob['scope'],
  { resource, lexicon }: { readonly resource: ResourceName; readonly lexicon: RunLexicon },
) {
  const names = Object.keys(scope);
  if (names.length === 0) return undefined;
  await loadCustomFields(customFieldsIn(names), lexicon);
  const naming = scopeNaming(resource, lexicon);
  const conditions: Condition[] = [];
  const problems: string[] = [];
  for (const [name, given] of Object.entries(scope)) {
    const one = scopeCondition(name, given, naming);
    if ('problem' in one) problems.push(`scope: ${one.problem}`);
    else conditions.push(one);
  }
  if (problems.length > 0)
    throw new RunError('usage', 'The scope of the job cannot be used. Nothing was sent.', problems);
  return {
    /** Of a record as the list shows it. */
    keeps(record: Json): boolean {
      const shown = exportRecord(resource, record, { lexicon });
      return conditions.every((condition) => condition.matches(shown));
    },
    /** `category.name = Laptop and country = Germany`. */
    described: conditions.map((condition) => condition.described).join(' and '),
  };
}

/** What the names of a scope can mean. */
export function scopeNaming(
  resource: ResourceName,
  lexicon: Lexicon & Partial<Pick<RunLexicon, 'templates' | 'forms'>>,
): Naming {
  const context = { lexicon, templates: lexicon.templates ?? [], forms: lexicon.forms ?? [] };
  return { ...context, resource, columns: exportColumns(resource, context) };
}

/** Parameters of lists, and what stands for them. */
const LIST_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['company', 'a job is of one company; see its key `company`'],
  ['page', 'all pages are read'],
  ['ordering', 'all records are read'],
  ['req', 'records are read whole'],
  ...['custom_form_id', 'custom_form_name', 'custom_form_value'].map(
    (name) => [name, 'write form.<form>.<column>'] as const,
  ),
]);

/** The condition of a name and its values: any of them. */
export function scopeCondition(
  name: string,
  given: ReconcileJob['scope'][string],
  naming: Naming,
): Condition | Problem {
  const values = (Array.isArray(given) ? given : [given]).map((value) => String(value ?? ''));
  const instead = LIST_PARAMETERS.get(foldText(name));
  if (instead !== undefined) return { problem: `"${name}" is no field of a record: ${instead}.` };
  const condition = conditionOn(name, [...values, ...idsAmong(name, values, naming)], naming);
  return 'problem' in condition ? condition : { ...condition, described: conditionText(name, values) };
}

/** A number in the place of a name is taken as the id, too, as in the cells of a file; but digits are the number of a contract. */
function idsAmong(name: string, values: readonly string[], naming: Naming): readonly string[] {
  const type = findOwnField(name, naming)?.field.type;
  if (type?.kind !== 'reference' || type.to === 'contract') return [];
  return values.filter((value) => /^\s*\d+\s*$/.test(value)).map((value) => `id:${BigInt(value)}`);
}
