import { withArticle } from '../../model/article.js';
import { enumValue } from '../../resources/enum-match.js';
import type { FieldSpec } from '../../resources/spec.js';
import { asPlain, isScalarValue, type NamedFields, type Report } from './names.js';
import { shown } from './shape.js';
import { constantProblem } from './values.js';
import type { JobYaml, KeyPath } from './yaml.js';

/** Values that a job gives to records which are there already (`retire`, `orphans.set`): fields that an update can write. */
export function checkGiven(
  given: unknown,
  at: KeyPath,
  { spec, keys, fields, dates }: NamedFields,
  yaml: JobYaml,
  report: Report,
): void {
  const values = Object.entries(asPlain(given));
  const name = at.join('.');
  if (values.length === 0 && typeof given === 'object' && given !== null && !Array.isArray(given)) {
    report(at, `\`${name}\` names no field; write \`${name}: { field: value }\``);
  }
  const seen = new Map<string, string>();
  for (const [text, value] of values) {
    const path = [...at, text];
    if (text.trim().toLowerCase() === 'id') {
      report(path, '`id` cannot be set: the service gives ids itself');
      continue;
    }
    const field = fields.writable(text, path, 'key');
    if (!field) continue;
    const earlier = seen.get(field.key);
    if (earlier !== undefined) report(path, `\`${text}\` is given twice: \`${earlier}\` sets it already`);
    seen.set(field.key, text);
    if (keys.includes(field.key)) {
      report(path, `\`${text}\` is the key of this job: a record whose key is changed is another one to the next file`);
    }
    if (field.spec && field.spec.update === undefined) {
      report(path, `\`${text}\` cannot be set: it is fixed when ${withArticle(spec.name)} is created`);
      continue;
    }
    if (!isScalarValue(value)) continue;
    const wrong =
      String(value).trim() === ''
        ? 'is blank; state a value'
        : (constantProblem(field.spec, value, yaml.written(path), dates) ?? updateProblem(field.spec, String(value)));
    if (wrong) report(path, `${name}: \`${text}\` ${wrong}`, { part: 'value' });
  }
}

/** What may be created and not written later. */
function updateProblem(field: FieldSpec | undefined, text: string): string | undefined {
  if (field?.type.kind !== 'enum' || !field.type.update) return undefined;
  const value = enumValue(field.type, text);
  if (value === undefined || field.type.update.includes(value)) return undefined;
  return `is ${shown(text)}; an update accepts only: ${field.type.update.join(', ')}`;
}
