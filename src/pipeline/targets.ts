import { customFieldName, type RowsJob } from '../model/job.js';
import { fieldNames, findField } from '../resources/registry.js';
import type { CustomTemplate, FieldSpec, ResourceSpec } from '../resources/spec.js';
import { type Catalogue, findCustom } from './custom-names.js';
import { didYouMean } from './nearest.js';

/** A field as a job names it, found in the resource or among its custom fields. */
export interface Target {
  /** Canonical; custom fields are `template.<id>.<id>` and `form.<id>.<column>`. */
  readonly field: string;
  /** As people read it: the resource's own name, or a custom field as the job writes it. */
  readonly name: string;
  readonly spec: FieldSpec;
  /** The custom field template the value belongs to. */
  readonly template?: CustomTemplate;
}

/** Not in every resource's description, because only a match key may name it. */
const ID: FieldSpec = {
  name: 'id',
  label: 'Id',
  type: { kind: 'integer', min: 1, max: Number.MAX_SAFE_INTEGER },
  section: '2',
};

/** Finds the field a job names, or says in words why it cannot be written. */
export function findTarget(
  text: string,
  job: RowsJob,
  spec: ResourceSpec,
  catalogue: Catalogue,
): Target | { readonly problem: string } {
  const custom = customFieldName(text);
  if (custom) {
    const found = findCustom(custom, spec, catalogue);
    if ('problem' in found) return found;
    return {
      field: found.spec.name,
      name: text.trim(),
      spec: found.spec,
      ...(found.template ? { template: found.template } : {}),
    };
  }
  if (text.trim().toLowerCase() === 'id') {
    return job.match.key.some((key) => key.trim().toLowerCase() === 'id')
      ? { field: 'id', name: 'id', spec: ID }
      : { problem: 'the service gives the id; it can be mapped only where it is the match key (`match: { key: id }`)' };
  }
  const field = findField(spec, text);
  if (!field) return { problem: `${spec.name} records have no field "${text}".${didYouMean(text, fieldNames(spec))}` };
  if (field.derived || (field.create === undefined && field.update === undefined)) {
    return {
      problem: `"${field.name}" cannot be written: ${field.derived ? 'the service works it out itself' : 'the service only shows it'}`,
    };
  }
  return { field: field.name, name: field.name, spec: field };
}

/** Whether a job names custom fields, so that templates and forms are read only where they are needed. */
export function usesCustomFields(job: RowsJob): { readonly templates: boolean; readonly forms: boolean } {
  const kinds = new Set<string | undefined>(jobFields(job).map((name) => customFieldName(name)?.kind));
  return { templates: kinds.has('template'), forms: kinds.has('form') };
}

/** Every field a job names, in the order of the job file. */
function jobFields(job: RowsJob): string[] {
  const mapped = Object.values(job.columns).flatMap((target) =>
    target === null ? [] : [typeof target === 'string' ? target : target.field],
  );
  return [...mapped, ...Object.keys(job.constants), ...Object.keys(job.defaults), ...job.match.key];
}
