import { customFieldName } from '../model/job.js';
import { findCustom } from '../pipeline/custom-names.js';
import { foldText } from '../pipeline/headings.js';
import { didYouMean } from '../pipeline/nearest.js';
import { findField, readOnlySpec, resourceSpec } from '../resources/registry.js';
import type { FieldSpec } from '../resources/spec.js';
import type { Exportable, ExportColumn, ExportContext } from './column.js';
import { customReader } from './custom-cells.js';
import { readPaths, tableKind } from './own-columns.js';
import { isMembers, isNothing, rawText } from './raw-text.js';
import { isWritable } from './record.js';

/** What names in `--columns`, `--filter` and `--order` can mean. */
export interface Naming extends ExportContext {
  readonly resource: Exportable;
  readonly columns: readonly ExportColumn[];
  /**
   * Filters and orders may name members that nobody described. The caller then holds the names against the records, once all
   * were seen: `checkUnlisted`.
   */
  readonly unlisted?: true;
}

/** The column with this heading, or of the field of a job file that is named so canonically. */
export function columnOf(name: string, { columns }: Pick<Naming, 'columns'>): ExportColumn | undefined {
  const folded = foldText(name);
  if (folded === '') return undefined;
  return (
    columns.find(({ heading }) => foldText(heading) === folded) ??
    columns.find(({ source }) => source.kind === 'custom' && foldText(source.name) === folded)
  );
}

/** The columns whose headings begin with the name and a dot. */
export function columnsBelow(name: string, { columns }: Pick<Naming, 'columns'>): readonly ExportColumn[] {
  const begin = `${foldText(name)}.`;
  return begin === '.' ? [] : columns.filter(({ heading }) => foldText(heading).startsWith(begin));
}

/** A field of the resource itself by name or alias, where reads show it, and its columns: of a reference, all its parts. */
export function fieldNamed(
  name: string,
  { resource, columns }: Naming,
): { readonly field: FieldSpec; readonly columns: readonly ExportColumn[] } | undefined {
  if (!isWritable(resource)) return undefined;
  const field = findField(resourceSpec(resource), name);
  const [path] = field ? readPaths(field) : [];
  if (!field || path === undefined) return undefined;
  const own = columns.filter(({ source }) => source.kind === 'path' && source.path === path);
  return { field, columns: own.length > 0 ? own : columnsBelow(path, { columns }) };
}

/** `supplier.name`, where `supplier` is another word for `attached_supplier`. */
export function partNamed(name: string, naming: Naming): ExportColumn | undefined {
  const dot = name.lastIndexOf('.');
  const owner = dot < 0 ? undefined : fieldNamed(name.slice(0, dot), naming);
  const [path] = owner ? readPaths(owner.field) : [];
  return path === undefined ? undefined : columnOf(`${path}${name.slice(dot)}`, naming);
}

/** A custom field as a job file names it: canonical, or in words why there is none. Undefined: the name is not that of one. */
export function customNamed(
  name: string,
  { resource, templates, forms }: Naming,
): { readonly name: string; readonly spec: FieldSpec } | { readonly problem: string } | undefined {
  const custom = customFieldName(name);
  if (!custom || !isWritable(resource)) return undefined;
  const found = findCustom(custom, resourceSpec(resource), { templates, forms });
  return 'problem' in found ? found : { name: found.spec.name, spec: found.spec };
}

/** Members that reads may show although the interface does not list them for the record. */
export const UNLISTED = ['company', 'created_date', 'modified_date'];

/**
 * A column that only the records can tell of: a further row of a form, a part of an object with keys of its own, the dates
 * of a record. Undefined where there can be none of this name.
 */
export function laterColumn(name: string, naming: Naming): ExportColumn | undefined {
  const custom = customNamed(name, naming);
  if (custom) return 'problem' in custom ? undefined : rowColumn(name, custom, naming);
  const [head = ''] = name.split('.');
  return freeMembers(naming.resource).some((one) => foldText(one) === foldText(head)) ? memberColumn(name) : undefined;
}

/** The member with this dotted name, wherever it stands in the record. */
export function memberColumn(name: string): ExportColumn {
  const wanted = foldText(name);
  return {
    heading: name.trim(),
    kind: 'text',
    source: { kind: 'extra', keys: [name.trim()] },
    text: ({ json }) => rawText(memberAt(json, '', wanted)),
  };
}

function freeMembers(resource: Exportable): readonly string[] {
  if (isWritable(resource)) return UNLISTED;
  return readOnlySpec(resource)
    .fields.filter(({ kind }) => kind === 'object')
    .map((field) => field.name);
}

function rowColumn(
  heading: string,
  { name, spec: field }: { readonly name: string; readonly spec: FieldSpec },
  { resource, lexicon }: Naming,
): ExportColumn | undefined {
  if (!isWritable(resource)) return undefined;
  const cells = customReader(resourceSpec(resource), lexicon);
  return {
    heading: heading.trim(),
    kind: tableKind(field.type),
    type: field.type,
    source: { kind: 'custom', name },
    text: (record) => cells(record).get(name)?.text ?? '',
  };
}

/** Keys may hold dots: every way to cut the name is tried. */
function memberAt(json: Readonly<Record<string, unknown>>, before: string, wanted: string): unknown {
  for (const [key, value] of Object.entries(json)) {
    if (isNothing(value)) continue;
    const name = before === '' ? key : `${before}.${key}`;
    if (foldText(name) === wanted) return value;
    const inner =
      isMembers(value) && wanted.startsWith(`${foldText(name)}.`) ? memberAt(value, name, wanted) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** What to say about a name that nothing has. */
export function unknownName(name: string, naming: Naming): string {
  const custom = customNamed(name, naming);
  if (custom && 'problem' in custom) return custom.problem;
  const { resource } = naming;
  const field = isWritable(resource) ? findField(resourceSpec(resource), name) : undefined;
  if (field && readPaths(field).length === 0) return `"${field.name}" can be written, but the service never shows it.`;
  const names = naming.columns.map(({ heading }) => heading);
  const near = didYouMean(name, names);
  const hint = near || ` There are: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ' and others' : ''}.`;
  return `${resource} records show no "${name}".${hint}`;
}
