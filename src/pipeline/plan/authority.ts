import type { Authority, ReconcileJob } from '../../model/job.js';
import { type Fields, isEmpty, sameValue } from '../../model/value.js';
import type { ResourceSpec } from '../../resources/spec.js';
import type { Mapping } from '../map/map.js';
import { type Catalogue, findTarget } from '../map/targets.js';
import type { Stands } from './merge.js';

/** A subcategory means something under its category alone: whose category stands, his subcategory does. */
const LED_BY: Readonly<Record<string, string>> = { 'category.subcategory': 'category.name' };

interface Compared {
  readonly stands: Stands;
  /** Names that are no fields of the resource, or none that the job sets; sentences. */
  readonly problems: readonly string[];
}

/** What `compare` says, by canonical field: which fields are compared, and whose value stands where they differ. */
export function compileCompare(
  job: ReconcileJob,
  spec: ResourceSpec,
  catalogue: Catalogue,
  mapping: Pick<Mapping, 'fields' | 'key'>,
): Compared {
  const problems: string[] = [];
  const canonical = (name: string, where: string): string | undefined => {
    const found = findTarget(name, job, spec, catalogue);
    const wrong =
      'problem' in found
        ? found.problem
        : mapping.fields.includes(found.field)
          ? undefined
          : `"${name}" is mapped to no column, so there is nothing to compare`;
    if (wrong === undefined && !('problem' in found)) return found.field;
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
  const own = (field: string): Authority => byField.get(field) ?? byField.get('*') ?? 'file';
  const decide = (field: string, held: Fields, whose: Authority) =>
    whose === 'fill' ? (isEmpty(held[field] ?? null) ? 'file' : 'service') : whose;
  return {
    problems,
    stands(field, set, held) {
      // A record that a row means has its key, however the service spells it.
      if (mapping.key.includes(field)) return 'none';
      const leader = LED_BY[field];
      // Under another category the subcategory of the file means nothing: both stand or fall together.
      const led = leader !== undefined && leader in set && !sameValue(set[leader], held[leader]);
      const by = led ? leader : field;
      if (compared && !compared.has(by)) return 'none';
      return decide(by, held, leader !== undefined && !byField.has(by) ? own(leader) : own(by));
    },
  };
}
