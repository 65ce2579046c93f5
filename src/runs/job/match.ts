import { withArticle } from '../../model/article.js';
import { customFieldName } from '../../model/job.js';
import { foldText } from '../../model/value.js';
import { findField } from '../../resources/registry.js';
import { checkRecord } from '../../resources/rules.js';
import type { ResourceSpec } from '../../resources/spec.js';
import type { Source } from './columns.js';
import { asPlain, type FieldNames, type Plain, type Report } from './names.js';

/** The fields of `match.key` under the names the resource gives them. */
export function matchKeys(job: Plain, spec: ResourceSpec): string[] {
  const key = asPlain(job['match'])['key'];
  const names = Array.isArray(key) ? key : [key];
  return names.filter((one) => typeof one === 'string').map((one) => findField(spec, one)?.name ?? one.trim());
}

export function checkMatch(
  match: Plain,
  keys: readonly string[],
  spec: ResourceSpec,
  fields: FieldNames,
  sources: ReadonlyMap<string, Source>,
  report: Report,
): void {
  const listed = Array.isArray(match['key']);
  const seen = new Set<string>();
  for (const [i, key] of keys.entries()) {
    const path = listed ? ['match', 'key', i] : ['match', 'key'];
    if (seen.has(key)) report(path, `\`${key}\` stands in the key twice`, { part: 'value' });
    seen.add(key);
    if (key === 'id') {
      if (keys.length > 1) report(path, '`id` alone identifies a record; leave the other key fields out');
    } else {
      const field = fields.known(key, path, 'value');
      if (!field) continue;
      if (spec.readPath === undefined && (key !== 'name' || keys.length > 1)) {
        report(
          path,
          `a ${spec.name} can be matched by \`name\` or \`id\` alone: the service does not show the others`,
          {
            part: 'value',
          },
        );
      } else if (spec.readPath !== undefined && field.spec && field.spec.read === undefined) {
        report(path, `\`${key}\` cannot be a key: the service never shows it, so nothing can be found by it`);
      }
    }
    if (!sources.has(sourceKey(key))) report(path, `the key \`${key}\` is not mapped to any column`, { part: 'value' });
  }
  if (keys.length > 0 && keys.every((key) => sources.get(sourceKey(key))?.kind === 'constant')) {
    report(['match', 'key'], 'the key is a constant, so every row would be the same record; map a column to it');
  }

  const unique = match['unique_field'];
  if (typeof unique !== 'string') return;
  if (spec.name !== 'asset') {
    report(
      ['match', 'unique_field'],
      `\`unique_field\` exists for assets only, not for ${withArticle(spec.name)}; leave it out`,
    );
  } else if (findField(spec, unique) && !sources.has(unique)) {
    report(['match', 'unique_field'], `\`unique_field\` is \`${unique}\`, which is not mapped to any column`, {
      part: 'value',
    });
  }
}

/** Custom fields have no canonical name before the service is asked; their spelling stands for it. */
const sourceKey = (key: string) => (customFieldName(key) ? foldText(key) : key);

/** A job that creates records but never sets what every record must have. */
export function checkCoverage(
  match: Plain,
  defaults: Plain,
  spec: ResourceSpec,
  sources: ReadonlyMap<string, Source>,
  report: Report,
): void {
  if (match['missing'] === 'skip' || match['missing'] === 'fail' || sources.size === 0) return;
  const given = new Set([...sources.keys(), ...Object.keys(defaults).map((key) => findField(spec, key)?.name ?? key)]);
  const lacking = checkRecord(spec, {}, 'create').flatMap(({ code, field }) =>
    code === 'required' && field && !given.has(field) ? [field] : [],
  );
  if (lacking.length === 0) return;
  report(
    ['columns'],
    `a new ${spec.name} needs ${lacking.map((field) => `\`${field}\``).join(', ')}, which nothing here sets: rows that create a record will be invalid`,
    { severity: 'warning' },
  );
}
