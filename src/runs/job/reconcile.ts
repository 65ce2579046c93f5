import { customFieldName, NO_KEY, type ReconcileJob } from '../../model/job.js';
import { foldText } from '../../model/value.js';
import { findField } from '../../resources/registry.js';
import type { FieldSpec, ResourceSpec } from '../../resources/spec.js';
import { readScope, scopeNaming } from '../reconcile/scope.js';
import { checkGiven } from './fields.js';
import {
  asPlain,
  isScalarValue,
  type NamedField,
  type NamedFields,
  NO_LEXICON,
  type Plain,
  type Report,
  writtenProblem,
} from './names.js';
import type { JobYaml, KeyPath } from './yaml.js';

/**
 * What a reconcile job says beyond what an import says. Works on the plain data; whatever has the wrong shape is passed over,
 * it is reported already.
 */
export function checkReconcile(job: Plain, named: NamedFields, yaml: JobYaml, report: Report): void {
  if (named.spec.readPath === undefined) {
    report(
      ['resource'],
      `${named.spec.name}s cannot be reconciled: the service neither lists nor shows them, so there is nothing to compare with; use an import job`,
      { part: 'value' },
    );
    return;
  }
  if (asPlain(job['match'])['key'] === NO_KEY)
    report(
      ['match', 'key'],
      'a reconciliation compares rows with records by a key; name the field that identifies them',
      {
        part: 'value',
      },
    );
  checkCompare(asPlain(job['compare']), named, report);
  checkOrphans(asPlain(job['orphans']), named, yaml, report);
  checkScope(asPlain(job['scope']), named, yaml, report);
}

/** Fields that the job sets: of the others there is nothing in the file to compare with. */
function checkCompare(compare: Plain, named: NamedFields, report: Report): void {
  const fields = new Map<string, string>();
  const listed = Array.isArray(compare['fields']) ? compare['fields'] : [];
  for (const [i, text] of listed.entries()) {
    const path = ['compare', 'fields', i];
    if (typeof text !== 'string' || text === '') continue;
    if (text.trim() === '*') {
      report(path, '`*` belongs to `compare.authority`; leave `compare.fields` out to compare every mapped field', {
        part: 'value',
      });
      continue;
    }
    const key = comparable(text, path, 'value', named, report)?.key;
    if (key === undefined) continue;
    if (fields.has(key)) {
      report(path, `\`${text}\` stands in the list twice`, { part: 'value', severity: 'warning' });
    }
    fields.set(key, text);
  }
  const seen = new Map<string, string>();
  for (const [text, whose] of Object.entries(asPlain(compare['authority']))) {
    const path = ['compare', 'authority', text];
    if (text === '*') continue;
    const field = comparable(text, path, 'key', named, report);
    if (!field) continue;
    const { key } = field;
    const earlier = seen.get(key);
    if (earlier !== undefined) report(path, `\`${text}\` is the same field as \`${earlier}\`; keep one of them`);
    seen.set(key, text);
    if (named.keys.includes(key)) {
      report(path, `\`${text}\` has no effect: it is the key, which is the same in a row and its record`, {
        severity: 'warning',
      });
    } else if (fields.size > 0 && !fields.has(key)) {
      report(path, `\`${text}\` has no effect: \`compare.fields\` leaves it out`, { severity: 'warning' });
    } else if (whose === 'fill' && !isUpdatable(field, text, named.spec)) {
      report(
        path,
        `\`${text}\` cannot be filled: an update cannot write it (field_not_updatable), only records that are created get it; write \`service\`, or leave it out of \`compare.fields\``,
        { severity: 'warning' },
      );
    }
  }
}

function isUpdatable({ spec }: NamedField, text: string, { form }: ResourceSpec): boolean {
  if (customFieldName(text)?.kind === 'form') return form?.update !== undefined;
  return spec === undefined || spec.update !== undefined;
}

function comparable(
  text: string,
  path: KeyPath,
  part: 'key' | 'value',
  { fields, set }: NamedFields,
  report: Report,
): NamedField | undefined {
  const field = fields.known(text, path, part);
  if (!field) return undefined;
  if (set.has(field.key) || maySet(text, set)) return field;
  report(
    path,
    `\`${text}\` is set by no column, constant or default, so there is nothing to compare; map a column to it`,
    {
      part,
    },
  );
  return undefined;
}

/** Names and ids of custom fields come to one only when the service is asked. */
function maySet(text: string, set: ReadonlySet<string>): boolean {
  const kind = customFieldName(text)?.kind;
  return kind !== undefined && [...set].some((one) => customFieldName(one)?.kind === kind);
}

function checkOrphans(orphans: Plain, named: NamedFields, yaml: JobYaml, report: Report): void {
  const { action, set, after } = orphans;
  const inner = asPlain(action)['set'];
  const acts = set !== undefined || inner !== undefined || action === 'set' || action === 'archive';
  if (inner !== undefined && set !== undefined) {
    report(['orphans', 'set'], '`set` stands beside `action: { set: … }`; keep one of the two');
  } else if (action === 'set' && set === undefined) {
    report(['orphans', 'action'], '`action: set` needs to know what; add `set: { field: value }` beside it');
  } else if (set !== undefined && (action === 'report' || action === 'archive')) {
    report(['orphans', 'set'], `\`set\` has no effect with \`action: ${action}\`; remove it, or write \`action: set\``);
  }
  if (action === 'archive' && named.spec.name !== 'contract') {
    const example = findField(named.spec, 'lifecycle_stage')
      ? 'set: { lifecycle_stage: Retired }'
      : 'set: { field: value }';
    report(['orphans', 'action'], `${named.spec.name}s have no archive: use \`${example}\``, { part: 'value' });
  }
  if (after !== undefined && !acts) {
    report(['orphans', 'after'], '`after` has no effect: orphans are only reported', { severity: 'warning' });
  }
  if (inner !== undefined) checkGiven(inner, ['orphans', 'action', 'set'], named, yaml, report);
  if (set !== undefined) checkGiven(set, ['orphans', 'set'], named, yaml, report);
}

/** Names and values as a run reads them, but for custom fields, which the service alone knows. */
function checkScope(scope: Plain, { spec, fields }: NamedFields, yaml: JobYaml, report: Report): void {
  const naming = scopeNaming(spec.name, NO_LEXICON);
  const tell = (one: ReconcileJob['scope'], path: KeyPath, part: 'key' | 'value'): boolean => {
    const { problems } = readScope(one, naming);
    for (const problem of problems) report(path, problem.replace(/\.$/, ''), { part });
    return problems.length === 0;
  };
  const seen = new Map<string, string>();
  for (const [name, given] of Object.entries(scope)) {
    const path = ['scope', name];
    const earlier = seen.get(foldText(name));
    if (earlier !== undefined) report(path, `\`${name}\` is the same as \`${earlier}\`; write both values as a list`);
    seen.set(foldText(name), name);
    const custom = customFieldName(name) !== undefined;
    let field: FieldSpec | undefined;
    if (custom) {
      if (!fields.known(name, path, 'key')) continue;
    } else if (!tell({ [name]: null }, path, 'key')) continue;
    else field = findField(spec, name);
    for (const [i, value] of (Array.isArray(given) ? given : [given]).entries()) {
      if (!isScalarValue(value)) continue;
      const at = Array.isArray(given) ? [...path, i] : path;
      const changed = writtenProblem(field, value, yaml.written(at));
      if (changed !== undefined) report(at, `scope: \`${name}\` ${changed}`, { part: 'value' });
      else if (!custom) tell({ [name]: value }, at, 'value');
    }
  }
}
