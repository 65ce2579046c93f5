import { didYouMean, excerpt } from '../pipeline/nearest.js';
import { valueAt } from '../resources/path.js';
import { readOnlySpec, resourceSpec } from '../resources/registry.js';
import type { ReferenceTarget } from '../resources/spec.js';
import type { ExportColumn, ExportRecord } from './column.js';
import { type Condition, describe, type Problem } from './condition.js';
import { formCondition } from './filter-form.js';
import { type Wanted, wantedValue } from './filter-value.js';
import { guessedColumn } from './guessed.js';
import { columnOf, customNamed, fieldNamed, laterColumn, type Naming, partNamed, unknownName } from './names.js';
import { isMembers, rawText } from './raw-text.js';
import { isWritable } from './record.js';

/** The condition of one key and its values: any of them. */
export function conditionOn(key: string, values: readonly string[], naming: Naming): Condition | Problem {
  const form = formCondition(key, values, naming);
  if (form) return form;
  const known = columnsFor(key, naming);
  const guessed = known.columns.length > 0 ? undefined : guessedColumn(key, naming);
  const { columns, whole } = guessed ? { columns: [guessed], whole: [guessed] } : known;
  if (columns.length === 0) return { problem: unknownFilter(key, naming) };
  const wanted: Test[] = [];
  const faults: string[] = [];
  for (const text of values.filter((value) => !isBlank(value))) {
    const read = columns.map((column) => ({
      column,
      value: wantedValue(text, column, naming.lexicon, isOpen(column, naming)),
    }));
    const fitting = read.filter((one): one is Test => typeof one.value !== 'string');
    if (fitting.length === 0) faults.push(`"${key}": "${excerpt(text)}" ${read[0]?.value}.`);
    wanted.push(...fitting);
  }
  if (faults.length > 0) return { problem: faults.join(' ') };
  const fits = keeper(wanted);
  const orBlank = values.some(isBlank);
  const one = orBlank || values.length > 1 || columns.length > 1 ? undefined : wanted[0];
  return {
    described: describe(key, values),
    member: memberOf(columns[0]!, naming),
    keeps: (record) => fits(record) || (orBlank && whole.every((column) => column.text(record).trim() === '')),
    ...(one ? asking(one, values[0]!.trim(), naming) : unaskedFor(wanted, naming)),
    ...(orBlank || columns[0]?.field !== 'id' ? {} : idsOf(wanted)),
    ...(guessed ? { unlisted: key.trim() } : {}),
  };
}

/** Whether the column holds choices, and the interface does not list them all. */
function isOpen({ source }: ExportColumn, { resource }: Naming): boolean {
  if (source.kind !== 'path' || isWritable(resource)) return false;
  return readOnlySpec(resource).fields.some(({ name, open }) => name === source.path && open === true);
}

function memberOf({ source }: ExportColumn, { resource }: Naming): string {
  if (source.kind === 'path') return source.path.split('.')[0] ?? '';
  if (source.kind === 'extra') return source.keys[0]?.split('.')[0] ?? '';
  const spec = isWritable(resource) ? resourceSpec(resource) : undefined;
  return (source.name.startsWith('form.') ? spec?.form?.read : spec?.template.read) ?? '';
}

/** A column and what it is compared with. */
interface Test {
  readonly column: ExportColumn;
  readonly value: Wanted;
}

const isBlank = (text: string): boolean => text.trim() === '';

/** A cell is worked out once for all values; a list passes where one of its items does. */
function keeper(wanted: readonly Test[]) {
  const byColumn = new Map<ExportColumn, Wanted[]>();
  for (const { column, value } of wanted) byColumn.set(column, [...(byColumn.get(column) ?? []), value]);
  return (record: ExportRecord): boolean => {
    for (const [column, values] of byColumn) {
      const cell = column.text(record);
      const items = listed(column, record);
      if (values.some((value) => value.is(cell) || items.some((item) => value.is(item)))) return true;
    }
    return false;
  };
}

/** The items of a list; none where the member is no list. */
function listed({ source }: ExportColumn, { json }: ExportRecord): readonly string[] {
  const list = source.kind === 'path' ? valueAt(json, source.path) : undefined;
  return Array.isArray(list) ? list.filter((item) => !isMembers(item) && !Array.isArray(item)).map(rawText) : [];
}

interface Meant {
  /** Any of them may have the value. */
  readonly columns: readonly ExportColumn[];
  /** All of them are blank where there is none. */
  readonly whole: readonly ExportColumn[];
}

/** Which column, or which parts of a reference, a key means. */
function columnsFor(key: string, naming: Naming): Meant {
  const own = columnOf(key, naming) ?? parameterColumn(key, naming);
  if (own) return { columns: [own], whole: [own] };
  const named = fieldNamed(key, naming);
  if (named) {
    const { type } = named.field;
    const columns = type.kind === 'reference' ? referenceParts(named.columns, type.to) : named.columns;
    return { columns, whole: named.columns };
  }
  const custom = customNamed(key, naming);
  const column =
    partNamed(key, naming) ??
    (custom && 'name' in custom
      ? naming.columns.find(({ source }) => source.kind === 'custom' && source.name === custom.name)
      : undefined);
  const found = column ?? laterColumn(key, naming);
  return { columns: found ? [found] : [], whole: found ? [found] : [] };
}

/**
 * A reference is meant by its id, its name, and where it has one its e-mail address; a contract by its number alone, because
 * digits are a number.
 */
function referenceParts(columns: readonly ExportColumn[], to: ReferenceTarget): readonly ExportColumn[] {
  const parts = to === 'contract' ? ['number'] : ['id', 'email', 'name'];
  const found = parts.flatMap((part) => columns.filter(({ heading }) => heading.endsWith(`.${part}`)));
  return found.length > 0 ? found : columns;
}

/** The service's own parameter names: interface, sections 4.1 and 4.4. */
export function parameterNames({ resource }: Pick<Naming, 'resource'>): ReadonlyMap<string, string> {
  const { filters } = isWritable(resource) ? resourceSpec(resource) : readOnlySpec(resource);
  return new Map(Object.entries(filters).map(([field, parameter]) => [parameter, field]));
}

function parameterColumn(key: string, naming: Naming): ExportColumn | undefined {
  const field = parameterNames(naming).get(key.trim().toLowerCase());
  return field === undefined ? undefined : columnOf(field, naming);
}

/** The service compares one value at a time, and knows no blank one. */
function unaskedFor([test]: readonly Test[], naming: Naming): Pick<Condition, 'unasked'> {
  return test && parameterOf(test.column, naming) !== undefined ? { unasked: 'takes one value at a time' } : {};
}

function parameterOf({ source }: ExportColumn, naming: Naming): string | undefined {
  if (source.kind !== 'path') return undefined;
  return [...parameterNames(naming)].find(([, field]) => field === source.path)?.[0];
}

function asking({ column }: Test, text: string, naming: Naming): Pick<Condition, 'ask' | 'unasked'> {
  if (column.source.kind !== 'path') return {};
  const { path } = column.source;
  const parameter = parameterOf(column, naming);
  if (parameter === undefined) return {};
  // As a filter of serial numbers `list` is another request altogether (interface, section 4.4).
  if (parameter === 'serial_number' && text.toLowerCase() === 'list') {
    return { unasked: 'takes this text for another request' };
  }
  return { ask: { query: { [parameter]: text }, field: path } };
}

function idsOf(wanted: readonly Test[]): Pick<Condition, 'ids'> {
  const ids = wanted.map(({ value }) => Number(value.text));
  return ids.every((id) => Number.isSafeInteger(id) && id > 0) ? { ids: [...new Set(ids)].sort((a, b) => a - b) } : {};
}

function unknownFilter(key: string, naming: Naming): string {
  const near = didYouMean(key, parameterNames(naming).keys());
  const unknown = unknownName(key, naming);
  return unknown.includes('Did you mean') ? unknown : `${unknown}${near}`;
}
