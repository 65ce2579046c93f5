import type { ResourceSpec } from '../resources/spec.js';
import { type BlankColumn, SHEET } from './columns.js';
import { exampleRow } from './example.js';
import { type DropDown, dropDowns, NO_NAMES, type ServiceNames } from './lists.js';
import { type ColumnWords, columnWords } from './words.js';

/** A blank workbook, decided in full before anything is written. */
export interface BlankWorkbook {
  readonly spec: ResourceSpec;
  /** Name of the sheet to be filled in. */
  readonly sheet: string;
  readonly columns: readonly BlankColumn[];
  /** Drop-down list by field. */
  readonly lists: ReadonlyMap<string, DropDown>;
  /** By category; empty where they are not offered. */
  readonly subcategories: ReadonlyMap<string, readonly string[]>;
  /** By position of the column. */
  readonly words: readonly ColumnWords[];
  readonly example: readonly string[];
}

/** `service`: what the service knows; undefined where it was not asked. */
export function planWorkbook(
  spec: ResourceSpec,
  columns: readonly BlankColumn[],
  service: ServiceNames | undefined,
): BlankWorkbook {
  const lists = dropDowns(columns, service ?? NO_NAMES);
  const example = exampleRow(spec, columns, lists, service);
  const offered = columns.some(({ field }) => field === 'category.subcategory')
    ? lists.get('category.name')?.values
    : undefined;
  const subcategories = new Map(
    (offered ?? []).flatMap((category): [string, readonly string[]][] => {
      const parts = service?.subcategories.get(category) ?? [];
      return parts.length > 0 ? [[category, parts]] : [];
    }),
  );
  return {
    spec,
    sheet: SHEET[spec.name],
    columns,
    lists,
    subcategories,
    words: columns.map((column, at) => columnWords(column, lists.get(column.field), example[at] ?? '', spec)),
    example,
  };
}
