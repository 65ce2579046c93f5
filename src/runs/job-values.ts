import { RunError } from '../model/error.js';
import { customFieldName, type RowsJob } from '../model/job.js';
import type { Fields } from '../model/value.js';
import { jobValue } from '../pipeline/map/columns.js';
import { findTarget } from '../pipeline/map/targets.js';
import { loadDirectory } from '../pipeline/resolve/directory.js';
import { makeResolver, NameCollector } from '../pipeline/resolve/resolve.js';
import type { StagedValue } from '../pipeline/rows.js';
import type { FieldSpec } from '../resources/spec.js';
import type { Connection } from './connect.js';

/** Values that a job gives to records which are there already. */
export interface JobValues {
  /** By canonical field; names are resolved. */
  readonly fields: Fields;
  specOf(field: string): FieldSpec | undefined;
}

/**
 * Reads what a job says that records are to be given (`orphans.set`, `retire`), as it reads constants. `where`: the key of the
 * job file. Throws a `RunError` of kind `usage` that lists every fault.
 */
export async function resolveJobValues(
  given: Readonly<Record<string, string | number | boolean>>,
  where: string,
  job: RowsJob,
  { spec, lexicon, service, known, readAll }: Connection,
): Promise<JobValues> {
  const kinds = new Set(Object.keys(given).map((name) => customFieldName(name)?.kind));
  await Promise.all([kinds.has('template') && lexicon.loadTemplates(), kinds.has('form') && lexicon.loadForms()]);
  const catalogue = { templates: lexicon.templates, forms: lexicon.forms };
  const problems: string[] = [];
  const set: Record<string, StagedValue> = {};
  const specs = new Map<string, FieldSpec>();
  for (const [name, value] of Object.entries(given)) {
    const target = findTarget(name, job, spec, catalogue);
    if ('problem' in target) {
      problems.push(`${where}: ${target.problem}`);
      continue;
    }
    specs.set(target.field, target.spec);
    const read = jobValue(target, value, { where: `${where}.${name}`, job }, problems);
    if (read !== undefined) set[target.field] = read;
  }
  const names = new NameCollector();
  const row = { ref: { row: 1 }, set, issues: [] };
  names.add(row);
  const directory = await loadDirectory(names.names, { service, known, readAll });
  const resolved = makeResolver({ directory, key: [], columnOf: () => undefined })(row);
  problems.push(...resolved.issues.map((issue) => `${where}.${issue.field ?? ''}: ${issue.message}`));
  if (problems.length > 0) {
    throw new RunError('usage', 'What the job gives to records does not fit. Nothing was sent.', problems);
  }
  return { fields: resolved.set, specOf: (field) => specs.get(field) };
}
