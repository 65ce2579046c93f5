import { excerpt } from '../pipeline/nearest.js';
import { parseCustomName } from '../resources/custom.js';
import { resourceSpec } from '../resources/registry.js';
import type { ExportColumn, ExportRecord } from './column.js';
import { type Condition, describe, type Problem } from './condition.js';
import { customReader, MORE_ROWS } from './custom-cells.js';
import { owned, valueColumn } from './custom-columns.js';
import { type Wanted, wantedValue } from './filter-value.js';
import { columnOf, customNamed, type Naming, unknownName } from './names.js';
import { isMembers, isNothing, rawText } from './raw-text.js';
import { isWritable } from './record.js';

/** Filters by a column of a custom form: interface, section 4.4. */

const PARAMETERS = ['custom_form_id', 'custom_form_name', 'custom_form_value'] as const;

/** Where assets show their form rows: interface, section 2.5. */
const FORMS = 'custom_form';

/** What was asked for, by key in lower case. */
export type Asked = Map<string, { readonly key: string; readonly values: readonly string[] }>;

export function isFormParameter(key: string): boolean {
  return (PARAMETERS as readonly string[]).includes(key.toLowerCase());
}

/** The condition of `custom_form_id`, `custom_form_name` and `custom_form_value`, which mean something only together. */
export function takeFormParameters(asked: Asked, naming: Naming): Condition | Problem | undefined {
  const given = PARAMETERS.map((name) => [...new Set(asked.get(name)?.values)]);
  for (const name of PARAMETERS) asked.delete(name);
  const [ids = [], names = [], values = []] = given;
  if (given.every((one) => one.length === 0)) return undefined;
  if (given.some((one) => one.length !== 1)) return { problem: `Give each of ${PARAMETERS.join(', ')}, once.` };
  const [id, column, value] = [ids[0]!.trim(), names[0]!.trim(), values[0]!];
  const form = ownedForms(naming).find((one) => String(one.id) === id);
  if (!form) return { problem: `There is no custom form for ${naming.resource} records with the id "${excerpt(id)}".` };
  const key = `form.${form.id}.${column}`;
  if (!form.fields.some(({ name }) => name === column)) return { problem: unknownName(key, naming) };
  return condition({ key: `form.${form.name}.${column}`, form: form.id, column }, [value], naming);
}

/** The condition of `form.Data centre.Rack`: any of the form's rows has the value. Undefined: the key is no such name. */
export function formCondition(key: string, values: readonly string[], naming: Naming): Condition | Problem | undefined {
  const custom = customNamed(key, naming);
  const name = customSource(columnOf(key, naming)) ?? (custom && 'name' in custom ? custom.name : undefined);
  const parsed = name === undefined ? undefined : parseCustomName(name);
  if (parsed?.kind !== 'form' || parsed.occurrence > 1) return undefined;
  return condition({ key, form: parsed.form, column: parsed.column }, values, naming);
}

const customSource = (column: ExportColumn | undefined): string | undefined =>
  column?.source.kind === 'custom' ? column.source.name : undefined;

function ownedForms({ resource, forms }: Naming) {
  return isWritable(resource) ? owned(resourceSpec(resource), forms) : [];
}

interface Column {
  readonly key: string;
  readonly form: number;
  readonly column: string;
}

function condition({ key, form, column }: Column, values: readonly string[], naming: Naming): Condition | Problem {
  const owner = naming.forms.find(({ id }) => id === form);
  const field = owner?.fields.find(({ name }) => name === column);
  const typed = owner && field ? valueColumn(owner, field) : { kind: 'text' as const };
  const like: ExportColumn = { ...typed, heading: key, source: { kind: 'custom', name: key }, text: () => '' };
  const wanted = values.map((text) => ({ text, value: wantedValue(text, like, naming.lexicon) }));
  const faults = wanted.filter(({ value }) => typeof value === 'string');
  if (faults.length > 0) {
    return { problem: faults.map(({ text, value }) => `"${key}": "${excerpt(text)}" ${value}.`).join(' ') };
  }
  const tests = wanted.map(({ value }) => value as Wanted);
  const cellsOf = rowCells(form, column, naming);
  const [test, ...others] = tests;
  const query = {
    custom_form_id: String(form),
    custom_form_name: column,
    custom_form_value: like.kind === 'text' ? values[0]!.trim() : (test?.text ?? ''),
  };
  return {
    described: describe(key, values),
    member: FORMS,
    keeps(record) {
      const cells = cellsOf(record);
      return tests.some((one) => (one.text === '' ? cells.length === 0 : cells.some((cell) => one.is(cell))));
    },
    ...(others.length === 0 && query.custom_form_value !== '' ? { ask: { query } } : {}),
  };
}

/** What a form's rows hold in one column; blank cells are left out. */
function rowCells(
  form: number,
  column: string,
  { resource, lexicon }: Naming,
): (record: ExportRecord) => readonly string[] {
  if (!isWritable(resource)) return () => [];
  const cells = customReader(resourceSpec(resource), lexicon);
  return (record) => {
    const found: string[] = [];
    for (const { place, text, raw } of cells(record).values()) {
      if (place.kind !== 'form' || place.owner !== form) continue;
      if (!place.member && place.key === column) found.push(text);
      if (place.member && place.key === MORE_ROWS && Array.isArray(raw)) found.push(...furtherCells(raw, column));
    }
    return found;
  };
}

function furtherCells(rows: readonly unknown[], column: string): readonly string[] {
  return rows.flatMap((row) => {
    const data = isMembers(row) ? row['custom_form_data'] : undefined;
    const raw = isMembers(data) && Object.hasOwn(data, column) ? data[column] : undefined;
    return isNothing(raw) ? [] : [rawText(raw)];
  });
}
