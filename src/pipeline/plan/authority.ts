import { type Authority, customFieldName, type JobFault, type KeyPath, type ReconcileJob } from '../../model/job.js';
import { type Fields, isEmpty, sameValue } from '../../model/value.js';
import type { ResourceSpec } from '../../resources/spec.js';
import type { Mapping } from '../map/map.js';
import { type Catalogue, findTarget } from '../map/targets.js';
import type { DecideAuthority } from './merge.js';

/** A subcategory means something under its category alone: whose category stands, his subcategory does. */
const PARENT_FIELD: Readonly<Record<string, string>> = { 'category.subcategory': 'category.name' };

/**
 * What `compare` says, by canonical field: which fields are compared, and whose value stands where they differ. `problems`: names
 * that are no fields of the resource, or none that the job sets. `catalogue` is undefined where the service was not asked.
 */
export function compileCompare(
  job: ReconcileJob,
  spec: ResourceSpec,
  catalogue: Catalogue | undefined,
  mapping: Pick<Mapping, 'fields' | 'key'>,
): { readonly authorityOf: DecideAuthority; readonly problems: readonly JobFault[] } {
  const problems: JobFault[] = [];
  // Names and ids of custom fields come to one only when the service is asked.
  const kinds = catalogue ? [] : mapping.fields.map((field) => customFieldName(field)?.kind);
  const canonical = (name: string, path: KeyPath, part: JobFault['part']): string | undefined => {
    const found = findTarget(name, job, spec, catalogue);
    const kind = customFieldName(name)?.kind;
    if (!('problem' in found) && (mapping.fields.includes(found.field) || (kind && kinds.includes(kind))))
      return found.field;
    const unset = `\`${name}\` is set by no column, constant or default, so there is nothing to compare; map a column to it`;
    problems.push({ path, part, message: 'problem' in found ? found.problem : unset });
    return undefined;
  };
  const { fields, authority } = job.compare;
  const compared =
    fields && new Set(fields.flatMap((name, i) => canonical(name, ['compare', 'fields', i], 'value') ?? []));
  const byField = new Map<string, Authority>();
  const names = new Map<string, string>();
  for (const [name, whose] of Object.entries(authority)) {
    const path = ['compare', 'authority', name];
    const field = name === '*' ? name : canonical(name, path, 'key');
    if (field === undefined) continue;
    const earlier = names.get(field);
    if (earlier !== undefined) {
      const message = `\`${name}\` is the same field as \`${earlier}\`; keep one of them`;
      problems.push({ path, part: 'key', message });
    }
    names.set(field, name);
    byField.set(field, whose);
  }
  const configured = (field: string): Authority => byField.get(field) ?? byField.get('*') ?? 'file';
  const decide = (field: string, current: Fields, whose: Authority) =>
    whose === 'fill' ? (isEmpty(current[field] ?? null) ? 'file' : 'service') : whose;
  return {
    problems,
    authorityOf(field, set, current) {
      // A record that a row means has its key, however the service spells it.
      if (mapping.key.includes(field)) return 'none';
      const parent = PARENT_FIELD[field];
      // Under another category the subcategory of the file means nothing: both stand or fall together.
      const followsParent = parent !== undefined && parent in set && !sameValue(set[parent], current[parent]);
      const by = followsParent ? parent : field;
      if (compared && !compared.has(by)) return 'none';
      return decide(by, current, parent !== undefined && !byField.has(by) ? configured(parent) : configured(by));
    },
  };
}
