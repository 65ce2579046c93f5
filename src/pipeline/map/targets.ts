import { type CustomFieldName, customFieldName, type RowsJob, targetsOf } from '../../model/job.js';
import { foldText, normaliseName } from '../../model/value.js';
import { customFieldSpec, formFieldSpec } from '../../resources/custom.js';
import { fieldNames, findField } from '../../resources/registry.js';
import type { CustomField, CustomTemplate, FieldSpec, ResourceSpec } from '../../resources/spec.js';
import { didYouMean, quoted } from './headings.js';

/** The custom field templates and custom forms the service lists. */
export interface Catalogue {
  readonly templates: readonly CustomTemplate[];
  readonly forms: readonly CustomTemplate[];
}

type CustomTarget = { readonly spec: FieldSpec; readonly template?: CustomTemplate } | { readonly problem: string };

/**
 * Finds the field that a job names `template.Finance.Cost Centre` or `form.Data centre#2.Rack` (`#2`: the form's second
 * row). Names are compared exactly first, then without case; a part of digits alone is an id. Nothing is guessed: where two
 * templates fit, the job must say the id.
 */
export function findCustom(name: CustomFieldName, spec: ResourceSpec, catalogue: Catalogue): CustomTarget {
  const what = name.kind === 'template' ? 'custom field template' : 'custom form';
  if (name.kind === 'form' && !spec.form) return { problem: `${spec.name} records have no custom forms` };
  if (name.splits.length === 0)
    return { problem: `write ${name.kind}.<name or id>.<${name.kind === 'form' ? 'column' : 'field'}>` };
  const all = name.kind === 'template' ? catalogue.templates : catalogue.forms;
  const problems: string[] = [];
  const hits: { readonly owner: CustomTemplate; readonly field: CustomField; readonly occurrence: number }[] = [];
  for (const { owner, part } of name.splits) {
    const { text, occurrence } = withOccurrence(owner, name.kind, all);
    const matches = matching(all, text);
    const fitting = matches.filter(({ resource }) => fits(resource, spec));
    const active = fitting.filter((one) => one.active);
    const [found, ...others] = active;
    if (!found) {
      if (matches.length === 0) continue;
      problems.push(
        fitting.length > 0
          ? `the ${what} "${text}" is inactive; activate it in the service, or map another`
          : `the ${what} "${text}" belongs to ${matches[0]!.resource} records, not to ${spec.name} records`,
      );
    } else if (others.length > 0) {
      problems.push(
        `several ${what}s are named "${text}"; write the id instead: ${active.map(({ id }) => id).join(' or ')}`,
      );
    } else {
      const field = findPart(found, part, name.kind);
      if (typeof field === 'string') problems.push(field);
      else hits.push({ owner: found, field, occurrence });
    }
  }
  const [hit, ...more] = hits;
  if (hit && more.length > 0) {
    return {
      problem: `can be read in ${hits.length} ways; write ids: ${hits.map(({ owner, field }) => `${name.kind}.${owner.id}.${field.id}`).join(' or ')}`,
    };
  }
  if (hit) {
    return name.kind === 'template'
      ? { spec: customFieldSpec(spec, hit.owner, hit.field), template: hit.owner }
      : { spec: formFieldSpec(spec, hit.owner, hit.field, hit.occurrence) };
  }
  return { problem: problems[0] ?? unknownOwner(name.splits[0]!.owner, what, all, spec) };
}

/** Customers have a template in both forms of the interface, which lists no template type for them: supplier templates serve. */
function fits(resource: string, spec: ResourceSpec): boolean {
  return resource === spec.name || (spec.name === 'customer' && resource === 'supplier');
}

function withOccurrence(owner: string, kind: 'template' | 'form', all: readonly CustomTemplate[]) {
  const numbered = kind === 'form' ? /^(.*\S)\s*#([1-9]\d{0,2})$/su.exec(owner) : null;
  if (!numbered || matching(all, owner).length > 0) return { text: owner, occurrence: 1 };
  return { text: numbered[1]!, occurrence: Number(numbered[2]) };
}

function matching<T extends { readonly id: number; readonly name: string }>(all: readonly T[], text: string): T[] {
  const byId = /^\d+$/.test(text) ? all.filter(({ id }) => id === Number(text)) : [];
  if (byId.length > 0) return byId;
  const exact = all.filter(({ name }) => normaliseName(name) === normaliseName(text));
  return exact.length > 0 ? exact : all.filter(({ name }) => foldText(name) === foldText(text));
}

function findPart(owner: CustomTemplate, part: string, kind: 'template' | 'form'): CustomField | string {
  const what = kind === 'template' ? 'field' : 'column';
  const matches = matching(owner.fields, part);
  const active = matches.filter((field) => field.active);
  const [found, ...others] = active;
  if (matches.length === 0) {
    const names = owner.fields.filter((field) => field.active).map(({ name }) => name);
    return `"${owner.name}" has no ${what} "${part}".${didYouMean(part, names) || (names.length ? ` It has ${quoted(names)}.` : ' It has none.')}`;
  }
  if (!found) return `the ${what} "${part}" of "${owner.name}" is inactive; activate it in the service, or map another`;
  if (others.length > 0)
    return `"${owner.name}" has several ${what}s "${part}"; write the id instead: ${active.map(({ id }) => id).join(' or ')}`;
  if (found.dataType === 'attachment')
    return `the ${what} "${part}" of "${owner.name}" holds attachments, which cannot be written`;
  return found;
}

function unknownOwner(owner: string, what: string, all: readonly CustomTemplate[], spec: ResourceSpec): string {
  const names = all.filter((one) => one.active && fits(one.resource, spec)).map(({ name }) => name);
  return `there is no ${what} "${owner}".${didYouMean(owner, names) || (names.length ? ` There are ${quoted(names)}.` : ` There are none for ${spec.name} records.`)}`;
}

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
  const mapped = Object.values(job.columns).flatMap((target) => targetsOf(target).map(({ field }) => field));
  const stated = Object.keys({ ...job.computed, ...job.constants, ...job.defaults });
  const kinds = new Set([...mapped, ...stated, ...job.match.key].map((name) => customFieldName(name)?.kind));
  return { templates: kinds.has('template'), forms: kinds.has('form') };
}
