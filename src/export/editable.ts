import { Document, isMap, isScalar, isSeq, Pair, Scalar } from 'yaml';
import { RunError } from '../model/error.js';
import type { Catalogue } from '../pipeline/custom-names.js';
import { isOwnHeading } from '../pipeline/headings.js';
import type { ResourceName } from '../resources/spec.js';
import { type Importable, importField, isId } from './editable-field.js';

/** What an editable file needs to know of its job. */
export interface EditableOptions {
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
  if (!columns.some(isId)) {
    throw new RunError(
      'usage',
      'An editable file needs the column `id`: it says which record a row changes. Add `id` to the columns.',
    );
  }
  const { company, format, sheet, catalogue, run } = options;
  const document = new Document({
    kind: 'import',
    resource,
    company,
    ...(run === undefined ? {} : { edited_from: run }),
    source: {
      format,
      ...(format === 'xlsx' && sheet !== undefined ? { sheet } : {}),
      ...(format === 'ndjson' ? {} : { header_row: 1 }),
      dates: ['yyyy-MM-dd'],
      decimal: '.',
    },
    match: { key: 'id', existing: 'update', missing: 'fail' },
    blank: 'keep',
    columns: {},
  });
  document.commentBefore = introduction(options);
  const root = document.contents;
  if (!isMap(root)) throw new TypeError('a job file is a mapping');
  const blank = root.get('blank', true);
  if (isScalar(blank)) blank.comment = ` ${HOW_TO_CLEAR}`;
  const from = root.get('edited_from', true);
  if (isScalar(from)) from.comment = ' cells that are as that export wrote them are no change';
  const dates = root.getIn(['source', 'dates'], true);
  if (isSeq(dates)) dates.flow = true;
  for (const key of ['source', 'match', 'blank', 'columns']) {
    const pair = root.items.find((one) => isScalar(one.key) && one.key.value === key);
    if (isScalar(pair?.key)) pair.key.spaceBefore = true;
  }
  const mapped = root.get('columns');
  if (!isMap(mapped)) throw new TypeError('columns of a job file are a mapping');
  for (const { heading, field, why } of jobColumns(resource, columns, catalogue)) {
    const value = new Scalar(field ?? null);
    if (why !== undefined) value.comment = comment(why);
    mapped.items.push(new Pair(new Scalar(heading), value));
  }
  return document.toString({ lineWidth: 0, nullStr: '~' });
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
    const found = isId(column) ? { field: 'id' } : importField(resource, column, columns, catalogue);
    if ('why' in found) return [{ heading, index, why: found.why }];
    const before = taken.get(found.field);
    if (before !== undefined) return [{ heading, index, why: `for information: ${before} sets the same field` }];
    taken.set(found.field, heading);
    return [{ heading, index, field: found.field }];
  });
}

const HOW_TO_CLEAR =
  'an emptied cell keeps the value; `clear` empties it, here for all columns or `{ field: room, blank: clear }` for one';

function introduction({ file, job }: EditableOptions): string {
  return [
    EDITABLE_MARK.slice(1),
    ' Change cells, save, look at what would happen, then import:',
    `   rowferry import ${oneLine(file)} --job ${oneLine(job)} --dry-run`,
    `   rowferry import ${oneLine(file)} --job ${oneLine(job)}`,
    ' A row that was not changed is `unchanged`, and nothing is sent for it. Rows may be deleted: their records stay as they',
    ' are. New rows are refused: `match: { missing: fail }`. A reference is a name, or `id:17` where the name would not do.',
  ].join('\n');
}

function comment(text: string): string {
  return ` ${oneLine(text)}`;
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
