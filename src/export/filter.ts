import { Decimal } from '../model/decimal.js';
import { foldText, normaliseName } from '../model/value.js';
import { idOf } from '../pipeline/map/convert.js';
import { excerpt } from '../pipeline/map/headings.js';
import { readDate } from '../resources/calendar.js';
import { findCountry } from '../resources/countries.js';
import { parseCustomName } from '../resources/custom.js';
import { valueAt } from '../resources/path.js';
import { decimalSignOf, readAmount } from '../resources/read-value.js';
import { readOnlySpec, resourceSpec } from '../resources/registry.js';
import { type FieldType, type Lexicon, type ReferenceTarget, readPaths } from '../resources/spec.js';
import { booleanValue, enumValue } from '../resources/value-check.js';
import { type ExportColumn, type ExportRecord, isWritable } from './column.js';
import { customReader } from './custom-columns.js';
import { findColumn, findOwnField, type Naming, resolveName, unknownNameText, usageError } from './names.js';
import { isJsonObject, rawText } from './raw-text.js';

/** One condition of a filter, or of the scope of a reconciliation. */
export interface Condition {
  /** `manufacturer = Dell or HP`. */
  readonly described: string;
  matches(record: ExportRecord): boolean;
  /** Only records with these ids can fit. */
  readonly ids?: readonly number[];
}

/** A condition that cannot be made, in a sentence. */
export interface Problem {
  readonly problem: string;
}

/**
 * What is asked for with `--filter`: fields by heading, name or alias (`manufacturer=Dell`, `supplier.name=Acme`,
 * `template.Finance.Cost Centre=4711`) and columns of custom forms (`form.Data centre.Rack=A1`: in any row). `a=` means
 * blank; a field that is named several times must have one of the values.
 * All is compared here: how the service compares is not documented, and what its filters leave out nothing would tell.
 * Throws a RunError that lists every fault.
 */
export function exportFilter(filters: readonly string[], naming: Naming) {
  const problems: string[] = [];
  /** By key in lower case. */
  const requested = new Map<string, { readonly key: string; readonly values: readonly string[] }>();
  for (const filter of filters) {
    const at = filter.indexOf('=');
    const key = filter.slice(0, Math.max(at, 0)).trim();
    if (key === '') problems.push(`"${excerpt(filter)}" is not of the form field=value`);
    else {
      const { values } = requested.get(key.toLowerCase()) ?? { values: [] };
      requested.set(key.toLowerCase(), { key, values: [...values, filter.slice(at + 1)] });
    }
  }
  const conditions: Condition[] = [];
  for (const { key, values } of requested.values()) {
    const condition = conditionOn(key, values, naming);
    if ('problem' in condition) problems.push(condition.problem);
    else conditions.push(condition);
  }
  if (problems.length > 0) throw usageError('--filter cannot be used.', problems);
  const single = isWritable(naming.resource) ? naming.resource !== 'customer' : !readOnlySpec(naming.resource).listOnly;
  const ids = single ? conditions.find((condition) => condition.ids)?.ids : undefined;
  return {
    /** A record must fit all of them. Texts compare as keys do, the rest by value. */
    matches: (record: ExportRecord) => conditions.every((condition) => condition.matches(record)),
    /** One sentence for each condition. */
    described: conditions.map(({ described }) => described),
    conditions,
    /** Only records with these ids can fit: they can be read one by one. Absent where the interface reads no single record. */
    ...(ids ? { ids } : {}),
  };
}

/** The condition of one key and its values: any of them. */
export function conditionOn(key: string, values: readonly string[], naming: Naming): Condition | Problem {
  const { field, columns: whole } = resolveName(key, naming);
  const columns = field?.type.kind === 'reference' ? referenceParts(whole, field.type.to) : whole;
  const idColumn = idColumnOf(key, naming);
  if (columns.length === 0) return { problem: unknownNameText(key, naming) };
  const tests: Test[] = [];
  const faults: string[] = [];
  for (const text of values.filter((value) => !isBlank(value))) {
    const id = idColumn && idOf(text);
    const read = (id ? [idColumn] : columns).map((column) => ({
      column,
      value: wantedValue(id ?? text, column, naming.lexicon),
    }));
    const fitting = read.filter((one): one is Test => typeof one.value !== 'string');
    if (fitting.length === 0) faults.push(`"${key}": "${excerpt(text)}" ${read[0]?.value}.`);
    tests.push(...fitting);
  }
  if (faults.length > 0) return { problem: faults.join(' ') };
  const orBlank = values.some(isBlank);
  const ids = columns[0]!.field === 'id' && !orBlank ? tests.map(({ value }) => Number(value.text)) : [];
  const textsOf = textReader(naming);
  const byColumn = new Map<ExportColumn, Wanted[]>();
  for (const { column, value } of tests) byColumn.set(column, [...(byColumn.get(column) ?? []), value]);
  return {
    described: conditionText(key, values),
    matches(record) {
      for (const [column, wanted] of byColumn) {
        const texts = textsOf(column, record);
        if (wanted.some((value) => texts.some((text) => value.matchesCell(text)))) return true;
      }
      return orBlank && whole.every((column) => textsOf(column, record).every(isBlank));
    },
    ...(ids.length > 0 && ids.every((id) => Number.isSafeInteger(id) && id > 0)
      ? { ids: [...new Set(ids)].sort((a, b) => a - b) }
      : {}),
  };
}

/** A column and what it is compared with. */
interface Test {
  readonly column: ExportColumn;
  readonly value: Wanted;
}

const isBlank = (text: string): boolean => text.trim() === '';

/** A condition in words. */
export function conditionText(key: string, values: readonly string[]): string {
  const texts = [...new Set(values)].map((value) => (isBlank(value) ? 'blank' : excerpt(value)));
  return texts.length === 1 && texts[0] === 'blank' ? `${key} is blank` : `${key} = ${texts.join(' or ')}`;
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

/** Where the ids of a reference are shown, by whichever of its parts it is named. */
function idColumnOf(key: string, naming: Naming): ExportColumn | undefined {
  const field = findOwnField(key, naming)?.field;
  return field?.type.kind === 'reference' ? findColumn(`${readPaths(field)[0]}.id`, naming) : undefined;
}

/** The texts of a record in a column: its cell, the items of a list, and of a form's first row those of all its rows. */
function textReader({ resource, lexicon }: Naming): (column: ExportColumn, record: ExportRecord) => readonly string[] {
  const valuesIn = isWritable(resource) ? customReader(resourceSpec(resource), lexicon) : undefined;
  return (column, record) => {
    const { source } = column;
    const custom = source.kind === 'custom' ? parseCustomName(source.name) : undefined;
    if (valuesIn && custom?.kind === 'form' && custom.occurrence === 1) {
      const cells = [...valuesIn(record).cells.values()];
      return cells.flatMap(({ owner, form, text }) =>
        owner === custom.form && form?.key === custom.column ? [text] : [],
      );
    }
    const list = source.kind === 'path' ? valueAt(record.json, source.path) : undefined;
    const items = Array.isArray(list) ? list.filter((item) => !isJsonObject(item) && !Array.isArray(item)) : [];
    return [column.text(record), ...items.map(rawText)];
  };
}

/** A value that a filter asks for, as cells are compared with it. */
interface Wanted {
  /** In canonical form. */
  readonly text: string;
  /** Whether a cell means the same. */
  matchesCell(cell: string): boolean;
}

/**
 * How a filter compares a column: by value in the column's type, text as names are compared (NFKC, trimmed, blanks folded;
 * case counts, but not in a column of choices or of e-mail addresses). A string says why the text is no value of the column.
 */
function wantedValue(text: string, { type, choices, kind, heading }: ExportColumn, lexicon: Lexicon): Wanted | string {
  const wanted = normaliseName(text);
  if (heading.endsWith('.email')) return { text: wanted, matchesCell: (cell) => foldText(cell) === foldText(wanted) };
  if (type?.kind === 'enum') return wantedChoice(wanted, type);
  if (type === undefined && kind === 'text' && choices) return wantedChoice(wanted, { kind: 'enum', values: choices });
  if (type?.kind === 'country') return wantedCountry(wanted, lexicon);
  switch (kind) {
    case 'id':
    case 'integer':
    case 'decimal':
    case 'money':
      return wantedNumber(wanted, kind === 'id' || kind === 'integer');
    case 'date': {
      // Reads may show more than the day, as text.
      const date = readDate(wanted);
      return date === undefined ? 'must be a date in the form yyyy-MM-dd' : sameText(date);
    }
    case 'boolean': {
      const flag = booleanValue(wanted);
      return flag === undefined ? 'must be yes or no' : sameText(String(flag));
    }
    default:
      return sameText(wanted);
  }
}

function sameText(wanted: string): Wanted {
  return { text: wanted, matchesCell: (cell) => cell === wanted || normaliseName(cell) === wanted };
}

function wantedChoice(wanted: string, type: Extract<FieldType, { kind: 'enum' }>): Wanted | string {
  const value = enumValue(type, wanted);
  if (value === undefined) return `must be one of ${[...new Set([...type.values, ...(type.read ?? [])])].join(', ')}`;
  return { text: value, matchesCell: (cell) => cell === value || (cell !== '' && enumValue(type, cell) === value) };
}

/** Also a spelling that is no country's counts, as the service may have its own. */
function wantedCountry(wanted: string, lexicon: Lexicon): Wanted {
  const codeOf = (text: string): number | undefined => lexicon.countryCode(text) ?? findCountry(text)?.id;
  const code = codeOf(wanted);
  const matchesCell = (cell: string) => normaliseName(cell) === wanted || (code !== undefined && codeOf(cell) === code);
  return { text: wanted, matchesCell };
}

function wantedNumber(wanted: string, whole: boolean): Wanted | string {
  // People write thousands with a comma: `1,200`.
  const value = decimalSignOf(wanted) === 'either' ? Decimal.parse(wanted.replace(',', '')) : readAmount(wanted);
  if (!value || (whole && value.scale > 0)) return `must be a ${whole ? 'whole number' : 'number such as 1200.50'}`;
  return {
    text: value.text,
    matchesCell: (cell) => cell === value.text || Decimal.parse(cell)?.equals(value) === true,
  };
}
