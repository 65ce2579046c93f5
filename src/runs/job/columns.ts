import { foldText } from '../../model/value.js';
import { compileDateFormat } from '../../pipeline/map/dates.js';
import { isOwnHeading } from '../../pipeline/map/headings.js';
import type { FieldSpec } from '../../resources/spec.js';
import { asPlain, type FieldNames, isScalarValue, type Plain, type Report } from './names.js';
import { shown } from './shape.js';
import { constantProblem } from './values.js';
import type { JobYaml, KeyPath } from './yaml.js';

/** Where a field gets its values from. */
export interface Source {
  readonly kind: 'column' | 'constant';
  readonly path: KeyPath;
}

/** The columns of a job: headings that can be told apart, fields that exist and are set once. Fills `sources`. */
export function checkColumns(
  columns: Plain,
  yaml: JobYaml,
  fields: FieldNames,
  sources: Map<string, Source>,
  dates: readonly string[],
  report: Report,
): void {
  const headings = new Map<string, string>();
  for (const [heading, target] of Object.entries(columns)) {
    const path = ['columns', heading];
    const folded = foldText(heading);
    const earlier = headings.get(folded);
    if (folded === '') report(path, 'a heading is blank; write the heading as it stands in the file');
    else if (heading === '__proto__') report(path, 'a column of this name cannot be mapped; rename it in the file');
    else if (isOwnHeading(heading)) {
      report(path, `\`${heading}\` begins with _: such columns hold rowferry's own remarks and are never read`);
    } else if (earlier !== undefined) {
      report(path, `the headings \`${earlier}\` and \`${heading}\` are the same but for case, blanks or Unicode form`);
    }
    headings.set(folded, heading);

    const options = asPlain(target);
    const name = typeof target === 'string' ? target : options['field'];
    if (typeof name !== 'string' || name === '') continue;
    const fieldPath = typeof target === 'string' ? path : [...path, 'field'];
    const field = fields.writable(name, fieldPath, 'value');
    checkDates(options['dates'], [...path, 'dates'], report);
    if (!field) continue;
    const before = sources.get(field.key);
    if (before) {
      report(fieldPath, `\`${name}\` is mapped twice: the column \`${before.path[1]}\` sets it already`, {
        part: 'value',
      });
    } else sources.set(field.key, { kind: 'column', path });
    checkColumnOptions(options, path, field.spec, yaml, dates, report);
  }
}

function checkColumnOptions(
  options: Plain,
  path: KeyPath,
  field: FieldSpec | undefined,
  yaml: JobYaml,
  dates: readonly string[],
  report: Report,
): void {
  const fallback = options['default'];
  if (isScalarValue(fallback)) {
    const wrong = constantProblem(field, fallback, yaml.written([...path, 'default']), dates);
    if (wrong) report([...path, 'default'], `the default ${wrong}`, { part: 'value' });
  }
  const cells = new Map<string, string>();
  for (const [cell, meaning] of Object.entries(asPlain(options['values']))) {
    const at = [...path, 'values', cell];
    const folded = foldText(cell);
    const earlier = cells.get(folded);
    if (earlier !== undefined)
      report(at, `\`${earlier}\` and \`${cell}\` are the same cell text: case and blanks do not count`);
    cells.set(folded, cell);
    if (!isScalarValue(meaning)) continue;
    const wrong = constantProblem(field, meaning, yaml.written(at), dates);
    if (wrong) report(at, `the value for \`${cell}\` ${wrong}`, { part: 'value' });
  }
  if (!field) return;
  if (options['dates'] !== undefined && field.type.kind !== 'date') {
    report([...path, 'dates'], `\`${field.name}\` is no date; \`dates\` has no effect here`, { severity: 'warning' });
  }
  if (options['decimal'] !== undefined && field.type.kind !== 'decimal') {
    report([...path, 'decimal'], `\`${field.name}\` holds no decimals; \`decimal\` has no effect here`, {
      severity: 'warning',
    });
  }
}

export function checkDates(dates: unknown, path: KeyPath, report: Report): void {
  if (!Array.isArray(dates)) return;
  for (const [i, format] of dates.entries()) {
    if (typeof format !== 'string' || format === '') continue;
    const wrong = compileDateFormat(format);
    if (typeof wrong === 'string')
      report([...path, i], `the date format ${shown(format)} cannot be used: ${wrong}`, { part: 'value' });
  }
}
