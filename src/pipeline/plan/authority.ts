import type { Authority, ReconcileJob } from '../../model/job.js';
import { type Fields, isEmpty, sameValue } from '../../model/value.js';
import type { ResourceSpec } from '../../resources/spec.js';
import type { Mapping } from '../map/map.js';
import { type Catalogue, findTarget } from '../map/targets.js';
import type { DecideAuthority } from './merge.js';

/** A subcategory means something under its category alone: whose category stands, his subcategory does. */
const PARENT_FIELD: Readonly<Record<string, string>> = { 'category.subcategory': 'category.name' };

/**
 * What `compare` says, by canonical field: which fields are compared, and whose value stands where they differ. `problems`: names
 * that are no fields of the resource, or none that the job sets; sentences.
 */
export function compileCompare(
  job: ReconcileJob,
  spec: ResourceSpec,
  catalogue: Catalogue,
  mapping: Pick<Mapping, 'fields' | 'key'>,
): { readonly authorityOf: DecideAuthority; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const canonical = (name: string, where: string): string | undefined => {
    const found = findTarget(name, job, spec, catalogue);
    if (!('problem' in found) && mapping.fields.includes(found.field)) return found.field;
    const unmapped = `"${name}" is mapped to no column, so there is nothing to compare`;
    const wrong = 'problem' in found ? found.problem : unmapped;
    problems.push(`${where}: ${wrong}`);
    return undefined;
  };
  const { fields, authority } = job.compare;
  const compared = fields && new Set(fields.flatMap((name) => canonical(name, 'compare.fields') ?? []));
  const byField = new Map<string, Authority>();
  for (const [name, whose] of Object.entries(authority)) {
    const field = name === '*' ? name : canonical(name, 'compare.authority');
    if (field !== undefined) byField.set(field, whose);
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
