import { usageError } from '../model/error.js';
import { type ImportJob, importJob } from '../model/job.js';
import { foldText, isEmpty, isRef, normaliseKey, type Ref } from '../model/value.js';
import { commentText, shellWord, yamlKey, yamlScalar } from '../model/yaml-text.js';
import { isRefusal, trimText } from '../pipeline/map/cell-text.js';
import { makeConverter } from '../pipeline/map/convert.js';
import { isOwnHeading } from '../pipeline/map/headings.js';
import { type Catalogue, findTarget } from '../pipeline/map/targets.js';
import { isNarrowEnum } from '../pipeline/plan/merge.js';
import { type DirectoryOptions, loadDirectory, type ReferenceNames } from '../pipeline/resolve/directory.js';
import { decodeFields, isId, isNamedRef } from '../pipeline/rows.js';
import type { ReadRecord } from '../resources/read.js';
import { findField, resourceSpec } from '../resources/registry.js';
import type { FieldSpec, ReferenceTarget, ResourceName, ResourceSpec } from '../resources/spec.js';
import type { Json } from '../service/port.js';
import type { ExportColumn, ExportRecord } from './column.js';

/** What an editable file needs to know of its job. */
interface EditableOptions {
  readonly company: number;
  readonly format: 'csv' | 'xlsx' | 'ndjson';
  /** Name of the sheet with the data; workbooks only. */
  readonly sheet?: string;
  /** File names as they stand beside one another, for the commands in the comments. */
  readonly file: string;
  readonly job: string;
  /** The service's custom field templates and forms: what can be written is decided by them. */
  readonly catalogue: Catalogue;
  /** The export that writes the file, where its run folder keeps what was written. */
  readonly run?: string;
}

/** First line of every job file that goes with an exported file: one that begins so may be written anew. */
export const EDITABLE_MARK = '# Written by `rowferry export --editable`.';

/**
 * The job file of a file that was exported to be changed and imported again (contract, section 4): records are matched
 * by id, never created; every column that an update can write is mapped, the others are named with the reason. Throws a
 * `RunError` where no column holds the id.
 */
export function editableJob(resource: ResourceName, columns: readonly Importable[], options: EditableOptions): string {
  if (!columns.some(isIdColumn)) {
    throw usageError(
      'An editable file needs the column `id`: it says which record a row changes. Add `id` to the columns.',
    );
  }
  const { company, format, sheet, catalogue, run } = options;
  return [
    ...introduction(options),
    'kind: import',
    `resource: ${resource}`,
    `company: ${company}`,
    ...(run === undefined
      ? []
      : [`edited_from: ${yamlScalar(run)} # cells that are as that export wrote them are no change`]),
    '',
    'source:',
    `  format: ${format}`,
    ...(format === 'xlsx' && sheet !== undefined ? [`  sheet: ${yamlScalar(sheet)}`] : []),
    ...(format === 'ndjson' ? [] : ['  header_row: 1']),
    '  dates: [yyyy-MM-dd]',
    '  decimal: "."',
    '',
    'match:',
    '  key: id',
    '  existing: update',
    '  missing: fail',
    '',
    `blank: keep # ${HOW_TO_CLEAR}`,
    '',
    'columns:',
    ...jobColumns(resource, columns, catalogue).map(
      ({ heading, field, why }) =>
        `  ${yamlKey(heading, '  ')} ${field === undefined ? '~' : yamlScalar(field)}${why === undefined ? '' : ` # ${commentText(why)}`}`,
    ),
    '',
  ].join('\n');
}

/**
 * What an import of the file sets, and the place of its column in the file: what has to be remembered to tell later
 * which cells a person changed. The id is not among them.
 */
export function importedFields(
  resource: ResourceName,
  columns: readonly Importable[],
  catalogue: Catalogue,
): readonly { readonly field: string; readonly index: number }[] {
  return jobColumns(resource, columns, catalogue).flatMap(({ field, index }) =>
    field === undefined || field === 'id' ? [] : [{ field, index }],
  );
}

/** A line under `columns`: the field that the column sets, or why it sets none. */
interface JobColumn {
  readonly heading: string;
  readonly index: number;
  readonly field?: string;
  readonly why?: string;
}

function jobColumns(resource: ResourceName, columns: readonly Importable[], catalogue: Catalogue): JobColumn[] {
  const taken = new Map<string, string>();
  return columns.flatMap((column, index): JobColumn[] => {
    const { heading } = column;
    // rowferry's own columns are never read, and need no word in the job.
    if (isOwnHeading(heading)) return [];
    const found = isIdColumn(column) ? { field: 'id' } : importField(resource, column, catalogue);
    if ('why' in found) return [{ heading, index, why: found.why }];
    const before = taken.get(found.field);
    if (before !== undefined) return [{ heading, index, why: `for information: ${before} sets the same field` }];
    taken.set(found.field, heading);
    return [{ heading, index, field: found.field }];
  });
}

const HOW_TO_CLEAR =
  'an emptied cell keeps the value; `clear` empties it, here for all columns or `{ field: room, blank: clear }` for one';

function introduction({ file, job }: EditableOptions): string[] {
  const command = `rowferry import ${shellWord(file)} --job ${shellWord(job)}`;
  return [
    EDITABLE_MARK,
    '# Change cells, save, look at what would happen, then import:',
    `#   ${command} --dry-run`,
    `#   ${command}`,
    '# A row that was not changed is `unchanged`, and nothing is sent for it. Rows may be deleted: their records stay as they',
    '# are. New rows are refused: `match: { missing: fail }`. A reference is a name, or `id:17` where the name would not do.',
    '',
  ];
}

/**
 * The columns of a file that is made to be imported again. What cannot be imported is marked read-only, and its note says
 * why; cells of the others say what the import reads back: references are names only where a name finds the record, and what
 * could not be read stands in the service's own words, which an import takes for no change (pipeline/plan/unchanged-cells.ts).
 */
export function editableColumns(
  resource: ResourceName,
  columns: readonly ExportColumn[],
  catalogue: Catalogue,
  references: ReferenceTexts,
): readonly ExportColumn[] {
  return columns.map((column) => {
    if (isIdColumn(column))
      return { ...column, readOnly: true, note: 'Says which record the row changes. Leave it as it is.' };
    const found = importField(resource, column, catalogue);
    if ('field' in found && !isOwnHeading(column.heading))
      return { ...column, text: editableText(resource, column, references) };
    const why = 'why' in found ? found.why : 'for information';
    return { ...column, readOnly: true, note: [column.note, `Not imported: ${why}.`].filter(Boolean).join(' ') };
  });
}

/** The cell of a column that can be imported. */
function editableText(
  resource: ResourceName,
  column: ExportColumn,
  references: ReferenceTexts,
): (record: ExportRecord) => string {
  const own = findField(resourceSpec(resource), column.field ?? '');
  const name = own?.name ?? (column.source.kind === 'custom' ? column.source.name : column.field);
  return (record) => {
    const { read } = record;
    const lost = read?.losses.find((loss) => loss.field === name);
    if (lost) return lost.text;
    const value = own && read?.fields[own.name];
    if (own?.type.kind !== 'reference' || !isRef(value)) return column.text(record);
    const subcategory = read?.fields['category.subcategory'];
    return references(own.type.to, value, typeof subcategory === 'string' ? subcategory : undefined);
  };
}

/** A column of an export, as far as its import is concerned. */
export interface Importable {
  readonly heading: string;
  /** The field of a job file that the column shows; absent: for information. */
  readonly field?: string;
}

/** The field as a job file writes it, or why the column cannot be imported. */
type ImportField = { readonly field: string } | { readonly why: string };

/**
 * What an import of the changed file does with a column. The code that reads job files decides.
 */
function importField(resource: ResourceName, column: Importable, catalogue: Catalogue): ImportField {
  const spec = resourceSpec(resource);
  const own = findField(spec, column.field ?? column.heading);
  if (own && (column.field !== undefined || own.name === column.heading)) {
    const why = notImportableReason(own);
    if (why !== undefined) return { why };
  }
  const { field } = column;
  if (field === undefined) return { why: 'for information' };
  const found = findTarget(field, jobOf(spec), spec, catalogue);
  if ('problem' in found) return { why: found.problem };
  return found.spec.update === undefined ? { why: CREATE_ONLY } : { field };
}

/** The column that says which record a row is. */
function isIdColumn({ heading }: Importable): boolean {
  return foldText(heading) === 'id';
}

/** As far as it decides which fields can be named. */
function jobOf({ name }: ResourceSpec): ImportJob {
  return importJob.parse({ kind: 'import', resource: name, match: { key: 'id' }, columns: { id: 'id' } });
}

const CREATE_ONLY = 'can be set when a record is created only';

function notImportableReason({ derived, create, update, read, readElse }: FieldSpec): string | undefined {
  if (derived) return 'the service works it out itself';
  if (create === undefined && update === undefined) return 'the service only shows it';
  if (update === undefined) return CREATE_ONLY;
  return read === undefined && readElse === undefined
    ? 'the service never shows it: a blank cell would say nothing'
    : undefined;
}

/**
 * A record with what our last write left where reads show `none` or nothing because they know fewer values (interface,
 * section 2.5, warranty_type): an editable file that said `none` there would take the value away. `written`: the home's
 * memory of the record (`KnownIds.lastWritten`).
 */
export function withLastWritten(resource: ResourceName, read: ReadRecord, written: Json | undefined): ReadRecord {
  if (!written) return read;
  const lastValues = decodeFields(written);
  const better = resourceSpec(resource).fields.filter((field) => {
    const readValue = read.fields[field.name];
    return isNarrowEnum(field) && !isEmpty(lastValues[field.name]) && (isEmpty(readValue) || readValue === 'none');
  });
  if (better.length === 0) return read;
  const restored = Object.fromEntries(better.map(({ name }) => [name, lastValues[name] ?? null]));
  return { ...read, fields: { ...read.fields, ...restored } };
}

/**
 * The cell of a reference that an import reads back as the same record: the name where the import finds exactly this record
 * by it, else `id:17`. Categories are found by their subcategory, too, where several have the name.
 */
export type ReferenceTexts = (target: ReferenceTarget, ref: Ref, subcategory?: string) => string;

/** Collects the names that records refer to, one record after another. Memory: each name once. */
export class ReferenceCollector {
  readonly names = new Map<ReferenceTarget, Set<string>>();
  readonly #fields: readonly (readonly [field: string, target: ReferenceTarget])[];

  constructor(spec: ResourceSpec) {
    this.#fields = spec.fields.flatMap(({ name, type, derived }) =>
      type.kind === 'reference' && !derived ? [[name, type.to] as const] : [],
    );
  }

  add({ fields }: ReadRecord): void {
    for (const [field, target] of this.#fields) {
      const value = fields[field];
      if (!isRef(value) || value.name === undefined || !isName(target, value.name)) continue;
      const names = this.names.get(target) ?? new Set();
      this.names.set(target, names);
      names.add(normaliseKey(value.name));
    }
  }
}

/**
 * Looks up the names that the records of an export refer to, as an import of the file would: each list once, contracts by
 * number where that is cheaper. Customers, business units and hardware models are known from the records themselves.
 */
export async function loadReferenceTexts(names: ReferenceNames, options: DirectoryOptions): Promise<ReferenceTexts> {
  const directory = await loadDirectory(names, options);
  return (target, { id, name }, subcategory) => {
    if (name !== undefined && isName(target, name)) {
      const found = target === 'category' ? directory.category(name, subcategory) : directory.lookup(target, name);
      if (found.kind === 'found' && found.ref.id === id) return name;
    }
    return `id:${id}`;
  };
}

/** Whether an import takes the text for a name, whatever ids there will be, and not for a code that a spreadsheet has shortened. */
function isName(target: ReferenceTarget, name: string): boolean {
  if (target !== 'contract' && isId(normaliseKey(name))) return false;
  const field = { name: target, label: target, type: { kind: 'reference', to: target } } as const;
  const value = makeConverter(field, { decimal: { sign: '.', why: '' }, format: 'csv' })(trimText(name));
  return !isRefusal(value) && isNamedRef(value) && value.name !== '';
}
