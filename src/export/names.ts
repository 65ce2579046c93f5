import { type RunError, usageError } from '../model/error.js';
import { customFieldName } from '../model/job.js';
import { foldText } from '../model/value.js';
import { didYouMean } from '../pipeline/map/headings.js';
import { findCustom } from '../pipeline/map/targets.js';
import { findField, resourceSpec } from '../resources/registry.js';
import { type FieldSpec, readPaths } from '../resources/spec.js';
import { type Exportable, type ExportColumn, type ExportContext, isWritable } from './column.js';

/** What names in `--columns`, `--filter` and `--order` can mean. */
export interface Naming extends ExportContext {
  readonly resource: Exportable;
  readonly columns: readonly ExportColumn[];
}

/** The column with this heading, or of the field of a job file that is named so canonically. */
export function findColumn(name: string, { columns }: Pick<Naming, 'columns'>): ExportColumn | undefined {
  const folded = foldText(name);
  if (folded === '') return undefined;
  return (
    columns.find(({ heading }) => foldText(heading) === folded) ??
    columns.find(({ source }) => source.kind === 'custom' && foldText(source.name) === folded)
  );
}

/** The columns whose headings begin with the name and a dot. */
function columnsUnder(name: string, { columns }: Pick<Naming, 'columns'>): readonly ExportColumn[] {
  const begin = `${foldText(name)}.`;
  return begin === '.' ? [] : columns.filter(({ heading }) => foldText(heading).startsWith(begin));
}

/** A field of the resource itself by name or alias, where reads show it, and its columns: of a reference, all its parts. */
export function findOwnField(
  name: string,
  { resource, columns }: Naming,
): { readonly field: FieldSpec; readonly columns: readonly ExportColumn[] } | undefined {
  if (!isWritable(resource)) return undefined;
  const field = findField(resourceSpec(resource), name);
  const [path] = field ? readPaths(field) : [];
  if (!field || path === undefined) return undefined;
  const own = columns.filter(({ source }) => source.kind === 'path' && source.path === path);
  return { field, columns: own.length > 0 ? own : columnsUnder(path, { columns }) };
}

/**
 * The one column of a name that is no heading and no field: `supplier.name`, where `supplier` is another word for
 * `attached_supplier`, or a custom field by its names or ids.
 */
function findPart(name: string, naming: Naming): ExportColumn | undefined {
  const dot = name.lastIndexOf('.');
  const owner = dot < 0 ? undefined : findOwnField(name.slice(0, dot), naming);
  const [path] = owner ? readPaths(owner.field) : [];
  const custom = findCustomField(name, naming);
  const part = path === undefined ? undefined : findColumn(`${path}${name.slice(dot)}`, naming);
  return part ?? (custom && 'name' in custom ? findColumn(custom.name, naming) : undefined);
}

/** What a name means: columns, none where nothing has it, and the field of the resource where it is the name of one. */
export function resolveName(
  name: string,
  naming: Naming,
): { readonly columns: readonly ExportColumn[]; readonly field?: FieldSpec } {
  const own = findColumn(name, naming);
  if (own) return { columns: [own] };
  const part = findPart(name, naming);
  return findOwnField(name, naming) ?? { columns: part ? [part] : [] };
}

/** A custom field as a job file names it: canonical, or in words why there is none. Undefined: the name is not that of one. */
function findCustomField(
  name: string,
  { resource, templates, forms }: Naming,
): { readonly name: string } | { readonly problem: string } | undefined {
  const custom = customFieldName(name);
  if (!custom || !isWritable(resource)) return undefined;
  const found = findCustom(custom, resourceSpec(resource), { templates, forms });
  return 'problem' in found ? found : { name: found.spec.name };
}

/**
 * `--columns`: the columns in the order they are named. A name is a heading; or what headings begin with
 * (`category`, `template.Finance`, `template`), which means all of these; or a field as job files name it. A column that is
 * named twice is there once. Throws a RunError that lists every name nothing has.
 */
export function chooseColumns(wanted: readonly string[], naming: Naming): readonly ExportColumn[] {
  const problems: string[] = wanted.length === 0 ? ['No column is named.'] : [];
  const chosen = new Set<ExportColumn>();
  for (const name of wanted) {
    const below = findColumn(name, naming) ? [] : columnsUnder(name, naming);
    const found = below.length > 0 ? below : resolveName(name, naming).columns;
    for (const column of found) chosen.add(column);
    if (found.length === 0) problems.push(unknownNameText(name, naming));
  }
  if (problems.length > 0) throw choiceError('The columns cannot be chosen so.', problems);
  return [...chosen];
}

/** What to say about a name that nothing has. */
export function unknownNameText(name: string, naming: Naming): string {
  const custom = findCustomField(name, naming);
  if (custom && 'problem' in custom) return custom.problem;
  const { resource } = naming;
  const field = isWritable(resource) ? findField(resourceSpec(resource), name) : undefined;
  if (field && readPaths(field).length === 0) return `"${field.name}" can be written, but the service never shows it.`;
  const names = naming.columns.map(({ heading }) => heading);
  const near = didYouMean(name, names);
  const hint = near || ` There are: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ' and others' : ''}.`;
  return `${resource} records show no "${name}".${hint}`;
}

/** One fault in a sentence, several as a list. */
export function choiceError(what: string, problems: readonly string[]): RunError {
  const [only] = problems;
  return problems.length === 1 ? usageError(`${what} ${only}`) : usageError(what, problems);
}
