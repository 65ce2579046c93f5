import { Decimal } from '../model/decimal.js';
import { isBlank } from '../model/row.js';
import { foldText, normaliseName } from '../model/value.js';
import { idOf } from '../pipeline/map/convert.js';
import { excerpt } from '../pipeline/map/headings.js';
import { readDate } from '../resources/calendar.js';
import { findCountry } from '../resources/countries.js';
import { parseCustomName } from '../resources/custom.js';
import { valueAt } from '../resources/path.js';
import { decimalSignOf, readAmount } from '../resources/read-value.js';
import { readOnlySpec, resourceSpec } from '../resources/registry.js';
import { type FieldType, type ReferenceTarget, readPaths } from '../resources/spec.js';
import { booleanValue, enumValue } from '../resources/value-check.js';
import { type ExportColumn, type ExportRecord, isWritable } from './column.js';
import { customReader } from './custom-columns.js';
import { choiceError, findColumn, findOwnField, type Naming, resolveName, unknownNameText } from './names.js';
import { isJsonObject, rawText } from './raw-text.js';

/** One condition of a filter, or of the scope of a reconciliation. */
export interface Condition {
  /** `manufacturer = Dell or HP`. */
  readonly described: string;
  matches(record: ExportRecord): boolean;
  /** Only records with these ids can fit. */
  readonly ids?: readonly number[];
}

/** What a record must have, by the names of fields; of a list any one, and null, like a blank text, means none. */
export type Filter = Readonly<Record<string, FilterValue | readonly FilterValue[]>>;
type FilterValue = string | number | boolean | null;

/** What is wrong with a filter, in a sentence. */
interface FilterProblem {
  readonly name: string;
  /** Of the value that cannot be used, 0 where there is one alone; absent where the name cannot be used. */
  readonly index?: number;
  readonly message: string;
}

/**
 * A filter from texts `field=value`, where nothing behind the sign means blank. A field that is named several times has all
 * of these values.
 * @throws RunError `usage` with every text of another form.
 */
export function parseFilter(texts: readonly string[]): Filter {
  const problems: string[] = [];
  const fields = new Map<string, { readonly name: string; readonly values: readonly string[] }>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(at, 0)).trim();
    if (name === '') problems.push(`--filter "${excerpt(text)}" is not of the form field=value.`);
    const field = fields.get(foldText(name)) ?? { name, values: [] };
    fields.set(foldText(name), { name: field.name, values: [...field.values, text.slice(at + 1)] });
  }
  if (problems.length > 0) throw choiceError('The filter cannot be used.', problems);
  return Object.fromEntries([...fields.values()].map(({ name, values }) => [name, values]));
}

/**
 * What an export is to leave out. Throws a RunError that lists every fault of the filter.
 */
export function exportFilter(filter: Filter, naming: Naming) {
  const { conditions, problems } = conditionsOn(filter, naming);
  if (problems.length > 0) {
    throw choiceError(
      'The filter cannot be used.',
      problems.map(({ message }) => message),
    );
  }
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

/**
 * The conditions of a filter or scope, and every fault of it. Fields go by heading, name or alias (`manufacturer`,
 * `supplier.name`, `template.Finance.Cost Centre`), columns of custom forms as `form.Data centre.Rack`: in any row.
 * All is compared here: how the service compares is not documented, and what its filters leave out nothing would tell.
 */
export function conditionsOn(filter: Filter, naming: Naming) {
  const conditions: Condition[] = [];
  const problems: FilterProblem[] = [];
  const seen = new Map<string, string>();
  for (const [name, given] of Object.entries(filter)) {
    const earlier = seen.get(foldText(name));
    if (earlier !== undefined)
      problems.push({ name, message: `"${name}" is the same as "${earlier}"; write both values as a list.` });
    seen.set(foldText(name), name);
    const values = [given].flat().map((value) => String(value ?? ''));
    const found = conditionOn(name, values, naming);
    if (Array.isArray(found)) problems.push(...found);
    else conditions.push(found);
  }
  return { conditions, problems };
}

/** The condition of one name and its values: any of them. */
function conditionOn(name: string, values: readonly string[], naming: Naming): Condition | FilterProblem[] {
  const { field, columns: whole } = resolveName(name, naming);
  const columns = field?.type.kind === 'reference' ? referenceParts(whole, field.type.to) : whole;
  if (columns.length === 0) return [{ name, message: unknownNameText(name, naming) }];
  const reference = findReference(name, naming);
  const tests: Test[] = [];
  const problems: FilterProblem[] = [];
  for (const [index, value] of values.entries()) {
    if (isBlank(value)) continue;
    const id = reference && idOf(value);
    // A number is an id, too, as in the cells of a file; but that of a contract is its number.
    const orId = reference?.takesNumbers && /^\s*\d+\s*$/.test(value) ? [reference.idColumn] : [];
    const read = (id ? [reference.idColumn] : [...columns, ...orId]).map((column) => ({
      column,
      value: wantedValue(id ?? value, column),
    }));
    const fitting = read.filter((one): one is Test => typeof one.value !== 'string');
    if (fitting.length === 0)
      problems.push({ name, index, message: `"${name}": "${excerpt(value)}" ${read[0]?.value}.` });
    tests.push(...fitting);
  }
  if (problems.length > 0) return problems;
  const orBlank = values.some(isBlank);
  const ids = columns[0]!.field === 'id' && !orBlank ? tests.map(({ value }) => Number(value.text)) : [];
  const textsOf = textReader(naming);
  const byColumn = new Map<ExportColumn, Wanted[]>();
  for (const { column, value } of tests) byColumn.set(column, [...(byColumn.get(column) ?? []), value]);
  return {
    described: conditionText(name, values),
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

/** A condition in words. */
function conditionText(name: string, values: readonly string[]): string {
  const texts = [...new Set(values)].map((value) => (isBlank(value) ? 'blank' : excerpt(value)));
  return texts.length === 1 && texts[0] === 'blank' ? `${name} is blank` : `${name} = ${texts.join(' or ')}`;
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

/** Where the ids of a reference are shown, by whichever of its parts it is named, and whether a number is one. */
function findReference(name: string, naming: Naming) {
  const field = findOwnField(name, naming)?.field;
  if (field?.type.kind !== 'reference') return undefined;
  const idColumn = findColumn(`${readPaths(field)[0]}.id`, naming);
  return idColumn && { idColumn, takesNumbers: field.type.to !== 'contract' };
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
function wantedValue(text: string, { type, choices, kind, heading }: ExportColumn): Wanted | string {
  const wanted = normaliseName(text);
  if (heading.endsWith('.email')) return { text: wanted, matchesCell: (cell) => foldText(cell) === foldText(wanted) };
  if (type?.kind === 'enum') return wantedChoice(wanted, type);
  if (type === undefined && kind === 'text' && choices) return wantedChoice(wanted, { kind: 'enum', values: choices });
  if (type?.kind === 'country') return wantedCountry(wanted);
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
function wantedCountry(wanted: string): Wanted {
  const code = findCountry(wanted)?.id;
  const matchesCell = (cell: string) =>
    normaliseName(cell) === wanted || (code !== undefined && findCountry(cell)?.id === code);
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
