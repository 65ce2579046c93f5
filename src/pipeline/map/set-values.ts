import { customFieldName, type JobFault, type KeyPath, type RowsJob } from '../../model/job.js';
import { withArticle } from '../../model/resource-names.js';
import type { FieldSpec, ResourceSpec } from '../../resources/spec.js';
import type { StagedValue } from '../rows.js';
import { jobValue } from './columns.js';
import { type Catalogue, findTarget } from './targets.js';

/** What a job is held against. `catalogue` is undefined where the service was not asked. */
interface SetContext {
  readonly job: RowsJob;
  readonly spec: ResourceSpec;
  readonly catalogue: Catalogue | undefined;
}

/**
 * Values that a job gives to records which are there already (`retire`, `orphans.set`), read as constants are. `path`: where the
 * job says them. Only fields that an update can write are taken, and none of the key.
 */
export function compileSetValues(
  given: Readonly<Record<string, string | number | boolean>>,
  path: KeyPath,
  { job, spec, catalogue }: SetContext,
) {
  const problems: JobFault[] = [];
  const set: Record<string, StagedValue> = {};
  const specs = new Map<string, FieldSpec>();
  const names = new Map<string, string>();
  const fieldOf = (name: string) => {
    const found = findTarget(name, job, spec, catalogue);
    return 'problem' in found ? name : found.field;
  };
  const keys = job.match.key.map(fieldOf);
  if (Object.keys(given).length === 0) {
    const name = path.join('.');
    problems.push({ path, part: 'key', message: `\`${name}\` names no field; write \`${name}: { field: value }\`` });
  }
  for (const [name, scalar] of Object.entries(given)) {
    const at = [...path, name];
    const refuse = (message: string, part: JobFault['part'] = 'key') => problems.push({ path: at, part, message });
    if (name.trim().toLowerCase() === 'id') {
      refuse('`id` cannot be set: the service gives ids itself');
      continue;
    }
    const target = findTarget(name, job, spec, catalogue);
    if ('problem' in target) {
      refuse(target.problem);
      continue;
    }
    const { field } = target;
    const { type, update } = target.spec;
    const earlier = names.get(field);
    names.set(field, name);
    specs.set(field, target.spec);
    if (earlier !== undefined) refuse(`\`${name}\` is given twice: \`${earlier}\` sets it already`);
    if (keys.includes(field))
      refuse(`\`${name}\` is the key of this job: a record whose key is changed is another one to the next file`);
    if (update === undefined && !customFieldName(field)) {
      refuse(`\`${name}\` cannot be set: it is fixed when ${withArticle(spec.name)} is created`);
      continue;
    }
    const value = jobValue(target, scalar, { path: at, job }, problems);
    if (value === undefined) continue;
    set[field] = value;
    const accepted = type.kind === 'enum' ? type.update : undefined;
    if (accepted && !accepted.some((one) => one === value))
      refuse(`"${scalar}" is not accepted in an update, which takes only: ${accepted.join(', ')}`, 'value');
  }
  return { set, specs, problems };
}
