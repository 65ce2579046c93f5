import { RunError } from '../model/error.js';
import type { ExportColumn } from './column.js';
import { mayBeMember } from './guessed.js';
import {
  columnOf,
  columnsBelow,
  customNamed,
  fieldNamed,
  laterColumn,
  type Naming,
  partNamed,
  unknownName,
} from './names.js';

/**
 * `--columns`: the columns in the order they are named. A name is a heading; or what headings begin with
 * (`category`, `template.Finance`, `template`), which means all of these; or a field as job files name it. A column that is
 * named twice is there once. Throws a RunError that lists every name nothing has.
 */
export function chooseColumns(wanted: readonly string[], naming: Naming): readonly ExportColumn[] {
  const problems: string[] = [];
  const chosen = new Set<ExportColumn>();
  for (const name of wanted) {
    const found = columnsNamed(name, naming);
    for (const column of found) chosen.add(column);
    if (found.length === 0) problems.push(unknownName(name, naming));
  }
  if (wanted.length === 0) problems.push('No column is named.');
  if (problems.length > 0) throw refused('The columns cannot be chosen so.', problems);
  return [...chosen];
}

/**
 * The same faults before any record is read, as far as they can be told: names that only the records can tell of pass
 * (a further row of a form, parts of objects with keys of their own, members that nobody described).
 */
export function checkColumns(wanted: readonly string[], naming: Naming): void {
  const problems = wanted
    .filter((name) => columnsNamed(name, naming).length === 0)
    .filter((name) => !laterColumn(name, naming) && !mayBeMember(name, naming))
    .map((name) => unknownName(name, naming));
  if (problems.length > 0) throw refused('The columns cannot be chosen so.', problems);
}

/**
 * Once all records were seen: what filters and orders took for a member that nobody described (`Naming.unlisted`) must be
 * in some record. `naming` with all columns. Throws a RunError that lists every name nothing has.
 */
export function checkUnlisted(asked: readonly { readonly unlisted?: string }[], naming: Naming): void {
  const names = new Set(asked.flatMap(({ unlisted }) => unlisted ?? []));
  const problems = [...names]
    .filter((name) => columnsNamed(name, naming).length === 0)
    .map((name) => unknownName(name, naming));
  if (problems.length > 0) throw refused('--filter or --order cannot be used.', problems);
}

/** In the order of the headings; empty where the name means none. */
export function columnsNamed(name: string, naming: Naming): readonly ExportColumn[] {
  const own = columnOf(name, naming);
  if (own) return [own];
  const below = columnsBelow(name, naming);
  if (below.length > 0) return below;
  const field = fieldNamed(name, naming);
  if (field) return field.columns;
  const part = partNamed(name, naming);
  if (part) return [part];
  const custom = customNamed(name, naming);
  if (!custom || !('name' in custom)) return [];
  return naming.columns.filter(({ source }) => source.kind === 'custom' && source.name === custom.name);
}

/** One fault in a sentence, several as a list. */
export function refused(what: string, problems: readonly string[]): RunError {
  const [only] = problems;
  return problems.length === 1 ? new RunError('usage', `${what} ${only}`) : new RunError('usage', what, problems);
}
