import { type CustomFieldName, customFieldName, type RowsJob, targetsOf } from '../../model/job.js';
import { withArticle } from '../../model/resource-names.js';
import { foldText, normaliseName } from '../../model/value.js';
import { belongsTo, customFieldSpec, formFieldSpec } from '../../resources/custom.js';
import { findField } from '../../resources/registry.js';
import type { CustomField, CustomTemplate, FieldSpec, ResourceSpec } from '../../resources/spec.js';
import { didYouMean, nameHint, quoted } from './headings.js';

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
  const wrong = malformed(name, spec);
  if (wrong !== undefined) return { problem: wrong };
  const all = name.kind === 'template' ? catalogue.templates : catalogue.forms;
  const problems: string[] = [];
  const hits: { readonly owner: CustomTemplate; readonly field: CustomField; readonly occurrence: number }[] = [];
  for (const { owner, part } of name.splits) {
    const { text, occurrence } = withOccurrence(owner, name.kind, all);
    const matches = matching(all, text);
    const fitting = matches.filter((one) => belongsTo(spec, one));
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

/** Why no service can have a custom field of this name. */
function malformed({ kind, splits }: CustomFieldName, spec: ResourceSpec): string | undefined {
  if (kind === 'form' && !spec.form) return `${withArticle(spec.name)} has no custom forms`;
  if (splits.length > 0) return undefined;
  return `the name is incomplete; write ${kind}.<name or id>.<${kind === 'form' ? 'column' : 'field'}>`;
}

/** A custom field before the service is asked: its spelling stands for it, and any value may be right. */
function openTarget(text: string, name: CustomFieldName, spec: ResourceSpec): Target | { readonly problem: string } {
  const row = name.kind === 'form' ? /#\s*(\d+)$/.exec(name.splits[0]?.owner ?? '')?.[1] : undefined;
  const problem =
    row === undefined || /^[1-9]\d{0,2}$/.test(row)
      ? malformed(name, spec)
      : `#${row} is no row of a form; rows count from #1 to #999, and without # the first is meant`;
  if (problem !== undefined) return { problem };
  const field = foldText(text);
  return { field, name: text.trim(), spec: { name: field, label: text.trim(), type: { kind: 'text' } } };
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
  const names = all.filter((one) => one.active && belongsTo(spec, one)).map(({ name }) => name);
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

/**
 * Finds the field a job names, or says in words why it cannot be written. Where the service was not asked for its `catalogue`,
 * every custom field is taken that one could have.
 */
export function findTarget(
  text: string,
  job: RowsJob,
  spec: ResourceSpec,
  catalogue: Catalogue | undefined,
): Target | { readonly problem: string } {
  const custom = customFieldName(text);
  if (custom) {
    if (!catalogue) return openTarget(text, custom, spec);
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
      : { problem: '`id` can be mapped only where it is the key (match: { key: id }); the service gives ids itself' };
  }
  const field = findField(spec, text.trim());
  if (!field) {
    const names = spec.fields.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    return { problem: `${withArticle(spec.name)} has no field \`${text}\`${nameHint(text, names)}` };
  }
  if (field.derived || (field.create === undefined && field.update === undefined)) {
    return { problem: `\`${text}\` can only be read: the service sets it itself; remove it or map the column to ~` };
  }
  return { field: field.name, name: field.name, spec: field };
}

/** Whether a job names custom fields, so that templates and forms are read only where they are needed. */
export function usesCustomFields(job: RowsJob): ReturnType<typeof customFieldsIn> {
  const mapped = Object.values(job.columns).flatMap((target) => targetsOf(target).map(({ field }) => field));
  const stated = Object.keys({ ...job.computed, ...job.constants, ...job.defaults });
  return customFieldsIn([...mapped, ...stated, ...job.match.key]);
}

/** Which of them names of fields mean. */
export function customFieldsIn(names: readonly string[]): { readonly templates: boolean; readonly forms: boolean } {
  const kinds = new Set(names.map((name) => customFieldName(name)?.kind));
  return { templates: kinds.has('template'), forms: kinds.has('form') };
}
