import type { ExportableName } from '../model/resource-names.js';
import type { TableColumn, TableKind } from '../model/table.js';
import { foldText } from '../model/value.js';
import { type ReadRecord, readRecord } from '../resources/read.js';
import { ConventionSurvey, type ReadConventions } from '../resources/read-conventions.js';
import { recordId } from '../resources/read-value.js';
import { readOnlySpec, resourceSpec } from '../resources/registry.js';
import {
  type CustomTemplate,
  type FieldType,
  type Lexicon,
  MONEY_MAX,
  type ResourceName,
  WRITABLE,
} from '../resources/spec.js';
import type { Json } from '../service/port.js';

/** Every resource that can be exported. */
export type Exportable = ExportableName;

/** A record on its way into a row. */
export interface ExportRecord {
  /** As the service sent it. */
  readonly json: Json;
  /** In canonical form; only of resources that can be written. Made when it is first asked for. */
  readonly read?: ReadRecord | undefined;
}

/** What of the read form a column shows. */
type ColumnSource =
  /** Dotted path. */
  | { readonly kind: 'path'; readonly path: string }
  /** A field of a custom field template or form row, by its canonical name: `template.<id>.<id>`, `form.<id>#2.<column>`. */
  | { readonly kind: 'custom'; readonly name: string }
  /** What the interface does not name. */
  | { readonly kind: 'extra' };

/** One column of an export. */
export interface ExportColumn extends TableColumn {
  /**
   * Field of a job file that this column shows, so that it can be imported again (`category.name`, `template.3.11`,
   * `form.4#2.Rack`); absent: the column is for information.
   */
  readonly field?: string;
  readonly source: ColumnSource;
  /** How an import reads the column; absent in resources that can only be read and for what the interface does not name. */
  readonly type?: FieldType;
  /** The cell of a record; '' where it holds nothing. Never throws. */
  text(record: ExportRecord): string;
}

/** What an export knows of the service's names. The lexicon is asked when a row is made, so it may learn until then. */
export interface ExportContext {
  readonly lexicon: Lexicon;
  readonly templates: readonly CustomTemplate[];
  readonly forms: readonly CustomTemplate[];
}

export function isWritable(resource: Exportable): resource is ResourceName {
  return (WRITABLE as readonly string[]).includes(resource);
}

/**
 * A record as the service sent it, read where its resource has a canonical form. One without a usable id is no record that
 * could be changed: it is shown as it came.
 */
export function exportRecord(
  resource: Exportable,
  json: Json,
  { lexicon }: Pick<ExportContext, 'lexicon'>,
): ExportRecord {
  if (!isWritable(resource) || recordId(json['id']) === undefined) return { json };
  let read: ReadRecord | undefined;
  return {
    json,
    get read() {
      read ??= readRecord(resourceSpec(resource), json, lexicon);
      return read;
    },
  };
}

/** How a field's values stand in a table; amounts are the decimals that the interface bounds as money (section 2.1). */
export function tableKind(type: FieldType): TableKind {
  switch (type.kind) {
    case 'integer':
    case 'date':
    case 'boolean':
      return type.kind;
    case 'decimal':
      return type.max === MONEY_MAX ? 'money' : 'decimal';
    default:
      return 'text';
  }
}

/** A column that has no heading yet: it gets the first of these that is free. */
export type UnheadedColumn = Omit<ExportColumn, 'heading'> & { readonly headings: readonly [string, ...string[]] };

/**
 * Gives columns their headings: unique without regard to case, blanks and Unicode form, as imports compare them. `columns`: those
 * that have theirs already.
 */
export function headingAssigner(columns: readonly ExportColumn[]): (column: UnheadedColumn) => ExportColumn {
  const taken = new Set(columns.map(({ heading }) => foldText(heading)));
  return ({ headings, ...column }) => {
    // A blank heading is no heading.
    const named = headings.filter((heading) => foldText(heading) !== '');
    const last = named.at(-1) ?? 'unnamed';
    let heading = named.find((one) => !taken.has(foldText(one))) ?? last;
    for (let number = 2; taken.has(foldText(heading)); number++) heading = `${last} (${number})`;
    taken.add(foldText(heading));
    return { ...column, heading };
  };
}

/** Sees every record once, before the first is read: how the service writes dates is told by all together. */
export function recordHabits(resource: Exportable): ConventionSurvey {
  return new ConventionSurvey(isWritable(resource) ? resourceSpec(resource) : readOnlySpec(resource));
}

/** What an export cannot read for certain, in a sentence for its warnings. */
export function describeHabits({ unclearDate }: ReadConventions): string | undefined {
  return (
    unclearDate &&
    `Dates such as "${unclearDate.text}" (${unclearDate.field}) could have the day or the month first, and no record tells which. They are in the file as the service shows them.`
  );
}
