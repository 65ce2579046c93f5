import type { TableKind } from '../model/table.js';
import { isEmpty, isRef, type Ref, type Value } from '../model/value.js';
import { readDate } from '../resources/calendar.js';
import { countryByCode } from '../resources/countries.js';
import { isEmptyJson, stepsOf, valueAt } from '../resources/path.js';
import { type ReadOnlyField, type ReadOnlySpec, readOnlySpec, resourceSpec } from '../resources/registry.js';
import {
  type FieldSpec,
  type FieldType,
  type Lexicon,
  type ReferenceTarget,
  type ResourceName,
  type ResourceSpec,
  readPaths,
} from '../resources/spec.js';
import { ruleText, typeName } from '../resources/value-check.js';
import {
  type Exportable,
  type ExportColumn,
  type ExportContext,
  type ExportRecord,
  headingAssigner,
  isWritable,
  tableKind,
} from './column.js';
import { customColumns } from './custom-columns.js';
import { exportedText, isJsonObject, listText, rawText } from './raw-text.js';

/** How a customer came to be known: customers cannot be listed (interface, section 4.1). */
export const KNOWN_FROM = '_known_from';

const knownFromColumn: ExportColumn = {
  heading: KNOWN_FROM,
  kind: 'text',
  source: { kind: 'path', path: KNOWN_FROM },
  note: 'How this customer is known: the service has no list of customers. For information.',
  text: ({ json }) => rawText(json[KNOWN_FROM]),
};

/**
 * The columns of a resource, known before its first record: its fields as its description has them, then its custom field
 * templates, then its custom forms. Headings are dotted paths of the read form, unique as imports compare them.
 */
export function exportColumns(resource: Exportable, context: ExportContext): readonly ExportColumn[] {
  if (!isWritable(resource)) return readOnlyColumns(readOnlySpec(resource), context.lexicon);
  const spec = resourceSpec(resource);
  const own = ownColumns(spec);
  const withHeading = headingAssigner(own);
  const custom = customColumns(spec, context).map(({ heading, ...column }) =>
    withHeading({ ...column, headings: [heading] }),
  );
  return [...own, ...custom, ...(resource === 'customer' ? [knownFromColumn] : [])];
}

/**
 * Fields that reads show twice, the second time as a word: the word has a column of its own, as the interface lists it
 * (section 2.5).
 */
const REPEATED_FIELDS: Partial<Record<ResourceName, readonly string[]>> = { asset: ['asset_usage_status'] };

/** References that reads show as a name alone (interface, section 2.5). */
const NAME_ONLY: readonly ReferenceTarget[] = ['hardware-model'];

/** The columns of a resource's own fields, in the order of its description. Headings are paths of the read form. */
function ownColumns(spec: ResourceSpec): readonly ExportColumn[] {
  const repeated = (REPEATED_FIELDS[spec.name] ?? []).map((path) => plainColumn(path, { kind: 'text' }, [path]));
  return [...spec.fields.flatMap(columnsOf), ...repeated];
}

function columnsOf(field: FieldSpec): readonly ExportColumn[] {
  const paths = readPaths(field);
  const [path] = paths;
  if (path === undefined) return [];
  if (field.type.kind !== 'reference') return [scalarColumn(field, path, paths)];
  if (NAME_ONLY.includes(field.type.to)) return [nameColumn(field, path, paths)];
  return referenceColumns(field, field.type.to, path, paths);
}

function scalarColumn(field: FieldSpec, path: string, paths: readonly string[]): ExportColumn {
  const { name, type } = field;
  const isCountry = type.kind === 'country';
  const findValue = valueFinder(paths);
  return {
    ...plainColumn(path, type, paths),
    ...columnInfo(field),
    text(record) {
      const value = record.read?.fields[name];
      if (isEmpty(value)) return rawText(findValue(record.json));
      return isCountry ? countryText(findValue(record.json), value!) : exportedText(value!);
    },
  };
}

/** A column without a canonical value. */
function plainColumn(path: string, type: FieldType, paths: readonly string[]): ExportColumn {
  const findValue = valueFinder(paths);
  return {
    heading: path,
    kind: path === 'id' ? 'id' : tableKind(type),
    type,
    source: { kind: 'path', path },
    text: ({ json }) => rawText(findValue(json)),
  };
}

function columnInfo(field: FieldSpec): Pick<ExportColumn, 'field' | 'choices' | 'note'> {
  const { type } = field;
  const rule = type.kind === 'enum' ? '' : ruleText(field);
  const note = [`${field.label}: ${typeName(type)}${rule && rule !== typeName(type) ? `, ${rule}` : ''}.`, field.note];
  return {
    ...(isImportable(field) ? { field: field.name } : {}),
    ...(type.kind === 'enum' ? { choices: choicesOf(type) } : {}),
    note: note.filter((part) => part !== undefined).join(' '),
  };
}

/** The id is importable, too: as the match key. */
function isImportable(field: FieldSpec): boolean {
  return field.name === 'id' || (!field.derived && (field.create !== undefined || field.update !== undefined));
}

/** What an import can write and what reads may show. */
function choicesOf(type: Extract<FieldType, { kind: 'enum' }>): readonly string[] {
  return [...new Set([...type.values, ...(type.update ?? []), ...(type.read ?? [])])];
}

/** `<path>.id` and `<path>.name`, of contracts `<path>.number`. Reads may show a reference in either form: section 2.1. */
function referenceColumns(
  field: FieldSpec,
  to: ReferenceTarget,
  path: string,
  paths: readonly string[],
): readonly ExportColumn[] {
  const title = to === 'contract' ? 'number' : 'name';
  const findValue = valueFinder(paths);
  return [
    {
      heading: `${path}.id`,
      kind: 'id',
      source: { kind: 'path', path: `${path}.id` },
      note: `${field.label}: id in the service. For information.`,
      text(record) {
        const raw = findValue(record.json);
        const id = isJsonObject(raw) ? raw['id'] : typeof raw === 'string' ? undefined : raw;
        return rawText(id) || refPart(record.read?.fields[field.name], ({ id }) => String(id));
      },
    },
    {
      heading: `${path}.${title}`,
      kind: 'text',
      type: field.type,
      source: { kind: 'path', path: `${path}.${title}` },
      ...columnInfo(field),
      text(record) {
        const raw = findValue(record.json);
        if (typeof raw === 'string' || Array.isArray(raw)) return rawText(raw);
        const own = isJsonObject(raw) ? rawText(raw[title]) : '';
        // A contract without a number is not known by its name.
        if (own || (isJsonObject(raw) && title === 'number')) return own;
        return refPart(record.read?.fields[field.name], ({ name }) => name ?? '');
      },
    },
  ];
}

function nameColumn(field: FieldSpec, path: string, paths: readonly string[]): ExportColumn {
  const findValue = valueFinder(paths);
  return {
    ...plainColumn(path, field.type, paths),
    ...columnInfo(field),
    text(record) {
      const raw = findValue(record.json);
      if (!isEmptyJson(raw) && !isJsonObject(raw)) return rawText(raw);
      return refPart(record.read?.fields[field.name], ({ id, name }) => name ?? String(id)) || rawText(raw);
    },
  };
}

function refPart(value: Value | undefined, part: (ref: Ref) => string): string {
  return isRef(value) ? part(value) : '';
}

/** As the service spells it; by the name of the standard where the service did not send it. */
function countryText(raw: unknown, value: Value): string {
  if (typeof raw === 'string' || typeof raw === 'number') return rawText(raw);
  if (!isRef(value)) return exportedText(value);
  return value.name ?? countryByCode(value.id)?.name ?? String(value.id);
}

type Finder = (json: ExportRecord['json']) => unknown;

/** What stands first at these paths, which are of the descriptions. */
function valueFinder(paths: readonly string[]): Finder {
  const places = paths.map(stepsOf);
  return (json) => {
    for (const steps of places) {
      const raw = valueAt(json, steps);
      if (!isEmptyJson(raw)) return raw;
    }
    return undefined;
  };
}

/** Whole numbers that name something. */
const IDS = ['id', 'license_id', 'company_id', 'public_license_id', 'issuer'];

/** A time of day: what is more than a date stays as it is. */
const TIME = /\d:\d/;

/**
 * The columns of a resource that can only be read, as the service shows it: interface, sections 2.6 and 2.7. Objects with
 * keys of their own have no columns before the records are seen.
 */
function readOnlyColumns(spec: ReadOnlySpec, lexicon: Lexicon): readonly ExportColumn[] {
  return spec.fields.flatMap((field) => {
    if (field.kind === 'object') return [];
    const { name } = field;
    const formatCell = cellFormatter(field, lexicon);
    return [
      {
        heading: name,
        kind: readOnlyKind(field),
        source: { kind: 'path' as const, path: name },
        ...(field.values && !field.open ? { choices: field.values } : {}),
        text: ({ json }) => formatCell(valueAt(json, name)),
      },
    ];
  });
}

function readOnlyKind({ name, kind }: ReadOnlyField): TableKind {
  switch (kind) {
    case 'integer':
      return IDS.includes(name) ? 'id' : 'integer';
    case 'boolean':
      return 'boolean';
    case 'date text':
      return 'date';
    case 'objects':
      return 'json';
    default:
      return 'text';
  }
}

function cellFormatter({ kind }: ReadOnlyField, lexicon: Lexicon): (raw: unknown) => string {
  if (kind === 'texts' || kind === 'integers') return (raw) => (Array.isArray(raw) ? listText(raw) : rawText(raw));
  if (kind !== 'date text') return rawText;
  return (raw) => {
    const text = rawText(raw);
    return typeof raw !== 'string' || TIME.test(raw) ? text : (readDate(raw, lexicon.dateOrder) ?? text);
  };
}
