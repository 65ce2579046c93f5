import { type ImportJob, importJob } from '../model/job.js';
import type { Catalogue } from '../pipeline/custom-names.js';
import { foldText } from '../pipeline/headings.js';
import { findTarget } from '../pipeline/targets.js';
import { parseCustomName } from '../resources/custom.js';
import { findField, resourceSpec } from '../resources/registry.js';
import type { FieldSpec, ResourceName, ResourceSpec } from '../resources/spec.js';
import type { ColumnSource } from './column.js';

/** A column of an export, as far as its import is concerned. */
export interface Importable {
  readonly heading: string;
  /** The field of a job file that the column shows; absent: for information. */
  readonly field?: string;
  readonly source?: ColumnSource;
}

/** The field as a job file writes it, or why the column cannot be imported. */
export type ImportField = { readonly field: string } | { readonly why: string };

/**
 * What an import of the changed file does with a column. The code that reads job files decides.
 */
export function importField(
  resource: ResourceName,
  column: Importable,
  all: readonly Importable[],
  catalogue: Catalogue,
): ImportField {
  const spec = resourceSpec(resource);
  const own = findField(spec, column.field ?? column.heading);
  if (own && (column.field !== undefined || own.name === column.heading)) {
    const why = whyNot(own);
    if (why !== undefined) return { why };
  }
  const { field } = column;
  if (field === undefined)
    return { why: idle(column, spec, catalogue) ?? `for information${instead(column, spec, all)}` };
  const found = findTarget(field, jobOf(spec), spec, catalogue);
  if ('problem' in found) return { why: found.problem };
  return found.spec.update === undefined ? { why: ON_CREATE } : { field };
}

/** The column that says which record a row is. */
export function isId({ heading }: Importable): boolean {
  return foldText(heading) === 'id';
}

/** As far as it decides which fields can be named. */
function jobOf({ name }: ResourceSpec): ImportJob {
  return importJob.parse({ kind: 'import', resource: name, match: { key: 'id' }, columns: { id: 'id' } });
}

const ON_CREATE = 'can be set when a record is created only';

function whyNot({ derived, create, update, read, readElse }: FieldSpec): string | undefined {
  if (derived) return 'the service works it out itself';
  if (create === undefined && update === undefined) return 'the service only shows it';
  if (update === undefined) return ON_CREATE;
  return read === undefined && readElse === undefined
    ? 'the service never shows it: a blank cell would say nothing'
    : undefined;
}

/** Why a custom field cannot be named in a job, e.g. because it is inactive. */
function idle({ source }: Importable, spec: ResourceSpec, catalogue: Catalogue): string | undefined {
  // What stands beside the fields has a name that no field can have.
  if (source?.kind !== 'custom' || /\p{Cc}/u.test(source.name) || !parseCustomName(source.name)) return undefined;
  const found = findTarget(source.name, jobOf(spec), spec, catalogue);
  return 'problem' in found ? found.problem : undefined;
}

/** Where a column shows part of a reference, or the same field in another form, and a second column can be changed. */
function instead({ heading }: Importable, spec: ResourceSpec, all: readonly Importable[]): string {
  const [root = '', part] = heading.split('.');
  const name = findField(spec, part === undefined ? heading : `${root}.name`)?.name ?? findField(spec, root)?.name;
  const other = name === undefined ? undefined : all.find((one) => one.field === name && one.heading !== heading);
  return other ? `; change ${other.heading} instead` : '';
}
