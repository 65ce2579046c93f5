import { exportRecord } from '../../export/column.js';
import { exportColumns } from '../../export/columns.js';
import { conditionsOn } from '../../export/filter.js';
import { usageError } from '../../model/error.js';
import type { ReconcileJob } from '../../model/job.js';
import { customFieldsIn } from '../../pipeline/map/targets.js';
import type { ResourceName } from '../../resources/spec.js';
import type { Json } from '../../service/port.js';
import { loadCustomFields, type RunLexicon } from '../run/open-service.js';

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
  const context = { lexicon, templates: lexicon.templates, forms: lexicon.forms };
  const columns = exportColumns(resource, context);
  const { conditions, problems } = conditionsOn(scope, { ...context, resource, columns });
  if (problems.length > 0) {
    const details = problems.map(({ message }) => `scope: ${message}`);
    throw usageError('The scope of the job cannot be used. Nothing was sent.', details);
  }
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
