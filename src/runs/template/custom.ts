import { type BlankColumn, blankColumns, type CustomColumn, isIndispensable } from '../../blank-workbook/columns.js';
import { RunError } from '../../model/error.js';
import { customFieldName } from '../../model/job.js';
import { foldText } from '../../model/value.js';
import { quoted } from '../../pipeline/map/headings.js';
import { type Catalogue, type CustomTarget, findCustom } from '../../pipeline/map/targets.js';
import { findField } from '../../resources/registry.js';
import type { CustomTemplate, FieldSpec, ResourceSpec } from '../../resources/spec.js';
import { didYouMean } from '../job/shape.js';

/** Which custom fields a blank workbook has. */
export interface CustomChoice {
  readonly columns: readonly CustomColumn[];
  /** Name of the template whose fields these are. */
  readonly template?: string;
  readonly warnings: readonly string[];
}

/** What a person asks for. */
interface CustomWish {
  /** Name or id of a template, or `none`; the one that `columns` belong to, else the first, where absent. */
  readonly template?: string;
  /** Names or ids of forms, or `none`; all where absent. */
  readonly forms?: readonly string[];
  readonly columns?: readonly string[];
}

/**
 * The columns of custom forms, and the fields of one custom field template: a record holds the values of one (interface,
 * section 2.1). Throws `RunError('usage')` for a template or form that there is not.
 */
export function chooseCustom(spec: ResourceSpec, catalogue: Catalogue, wish: CustomWish): CustomChoice {
  const { columns, ...rest } = choose(spec, catalogue, wish);
  return { ...rest, columns: distinct(columns) };
}

/** A custom field with both names that a job may give it; `byName` only where it means this field alone. */
interface Named {
  readonly byId: string;
  readonly byName: string | undefined;
  readonly spec: FieldSpec;
}

type Choice = Omit<CustomChoice, 'columns'> & { readonly columns: readonly Named[] };

/** A job compares the names of its fields without case: where two would be one, both go by their ids. */
function distinct(columns: readonly Named[]): CustomColumn[] {
  const times = new Map<string, number>();
  for (const { byName } of columns) {
    if (byName !== undefined) times.set(foldText(byName), (times.get(foldText(byName)) ?? 0) + 1);
  }
  return columns.map(({ byId, byName, spec }) => ({
    field: byName !== undefined && times.get(foldText(byName)) === 1 ? byName : byId,
    spec,
  }));
}

function choose(
  spec: ResourceSpec,
  catalogue: Catalogue,
  { template, forms: formNames, columns: wanted = [] }: CustomWish,
): Choice {
  const forms = formsOf(spec, catalogue, formNames);
  const there = catalogue.templates
    .map((one) => ({ one, columns: columnsOf('template', one, spec, catalogue) }))
    .filter(({ columns }) => columns.length > 0);
  const all = there.map(({ one }) => one);
  const names = all.map(({ name }) => name);
  if (template !== undefined) {
    if (foldText(template) === 'none') return { columns: forms, warnings: [] };
    const [found, ...same] = named(there, template, ({ one }) => one);
    if (found && same.length > 0)
      throw ambiguous(
        '--template',
        'custom field templates',
        template,
        [found, ...same].map(({ one }) => one),
      );
    if (!found) {
      throw new RunError(
        'usage',
        `--template: ${spec.name} records have no custom field template "${template}"${didYouMean(template, names) || '.'} ${names.length > 0 ? `There are ${listed(all)}, and none.` : 'There are none.'}`,
      );
    }
    return { columns: [...found.columns, ...forms], template: found.one.name, warnings: [] };
  }
  const asked = new Set(wanted.flatMap((text) => templateOf(text, spec, catalogue) ?? []));
  if (asked.size > 1) {
    throw new RunError(
      'usage',
      `--columns names fields of ${asked.size} custom field templates, and a record holds the values of one. Keep those of one; make a workbook for each.`,
    );
  }
  const chosen = there.find(({ one }) => asked.has(one.id)) ?? there[0];
  if (!chosen) return { columns: forms, warnings: [] };
  const others = all.filter((one) => one !== chosen.one);
  const warnings =
    others.length > 0 && asked.size === 0 && wanted.length === 0
      ? [
          `A record holds the values of one custom field template. The columns are those of "${chosen.one.name}"; for another say --template with its name or id: ${listed(others)}.`,
        ]
      : [];
  return { columns: [...chosen.columns, ...forms], template: chosen.one.name, warnings };
}

function formsOf(spec: ResourceSpec, catalogue: Catalogue, wanted: readonly string[] | undefined): Named[] {
  const there = catalogue.forms
    .map((one) => ({ one, columns: columnsOf('form', one, spec, catalogue) }))
    .filter(({ columns }) => columns.length > 0);
  if (wanted === undefined) return there.flatMap(({ columns }) => columns);
  const all = there.map(({ one }) => one);
  const chosen = wanted.flatMap((text) => {
    if (foldText(text) === 'none') return [];
    const [found, ...same] = named(there, text, ({ one }) => one);
    if (found && same.length > 0)
      throw ambiguous(
        '--form',
        'custom forms',
        text,
        [found, ...same].map(({ one }) => one),
      );
    if (found) return [found];
    throw new RunError(
      'usage',
      `--form: ${spec.name} records have no custom form "${text}"${
        didYouMean(
          text,
          all.map(({ name }) => name),
        ) || '.'
      } ${all.length > 0 ? `There are ${listed(all)}, and none.` : 'There are none.'}`,
    );
  });
  return there.filter((one) => chosen.includes(one)).flatMap(({ columns }) => columns);
}

/** What an id, a name, or else a name without regard to case means; several where names are equal. */
function named<T>(all: readonly T[], text: string, of: (one: T) => CustomTemplate): T[] {
  const ways = [
    (one: CustomTemplate) => String(one.id) === text.trim(),
    (one: CustomTemplate) => one.name.trim() === text.trim(),
    (one: CustomTemplate) => foldText(one.name) === foldText(text),
  ];
  for (const way of ways) {
    const found = all.filter((one) => way(of(one)));
    if (found.length > 0) return found;
  }
  return [];
}

function ambiguous(option: string, what: string, text: string, all: readonly CustomTemplate[]): RunError {
  return new RunError(
    'usage',
    `${option}: several ${what} are named "${text}"; say the id instead: ${all.map(({ id }) => id).join(' or ')}.`,
  );
}

/** Names, with the ids of those that a name does not tell apart. */
function listed(all: readonly CustomTemplate[]): string {
  return all
    .map((one) => {
      const same = all.some((other) => other !== one && foldText(other.name) === foldText(one.name));
      return same ? `${quoted([one.name])} (${one.id})` : quoted([one.name]);
    })
    .join(', ');
}

/** The custom field a text names. */
function customTarget(text: string, spec: ResourceSpec, catalogue: Catalogue): CustomTarget | undefined {
  const name = customFieldName(text);
  return name && findCustom(name, spec, catalogue);
}

function templateOf(text: string, spec: ResourceSpec, catalogue: Catalogue): number | undefined {
  const found = customTarget(text, spec, catalogue);
  return found && 'template' in found ? found.template?.id : undefined;
}

/** Asked for by id, so that what the import would refuse (inactive, of another resource, attachments) is left out. */
function columnsOf(
  kind: 'template' | 'form',
  owner: CustomTemplate,
  spec: ResourceSpec,
  catalogue: Catalogue,
): Named[] {
  if (kind === 'form' && !spec.form) return [];
  return owner.fields.flatMap((field): Named[] => {
    const byId = `${kind}.${owner.id}.${field.id}`;
    const found = customTarget(byId, spec, catalogue);
    if (!found || 'problem' in found) return [];
    const byName = `${kind}.${owner.name}.${field.name}`;
    const same = PLAIN.test(byName) ? customTarget(byName, spec, catalogue) : undefined;
    const certain = same !== undefined && !('problem' in same) && same.spec.name === found.spec.name;
    return [{ byId, byName: certain ? byName : undefined, spec: found.spec }];
  });
}

/** Names that a person can read and type in a job file; others go by their ids. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u;

/**
 * The columns of the workbook: all, or those that are `wanted` after those without which nothing could be imported. A
 * column is named by its field, an alias or its heading. Throws `RunError('usage')` with every name that is wrong.
 */
export function chooseColumns(
  spec: ResourceSpec,
  custom: CustomChoice,
  wanted: readonly string[] | undefined,
  catalogue: Catalogue | undefined,
): BlankColumn[] {
  const all = blankColumns(spec, custom.columns);
  if (wanted === undefined) return all;
  const problems: string[] = [];
  const chosen = new Set(all.filter((column) => isIndispensable(column, spec)));
  for (const text of wanted) {
    const column = findColumn(text, spec, all, catalogue);
    if (typeof column === 'string') problems.push(column);
    else chosen.add(column);
  }
  if (problems.length > 0) {
    throw new RunError(
      'usage',
      `--columns: ${problems.length === 1 ? 'a name is' : `${problems.length} names are`} wrong. Nothing was written.`,
      problems,
    );
  }
  return [...chosen];
}

function findColumn(
  text: string,
  spec: ResourceSpec,
  all: readonly BlankColumn[],
  catalogue: Catalogue | undefined,
): BlankColumn | string {
  const field = findField(spec, text);
  const own = field && all.find((column) => column.field === field.name);
  if (own) return own;
  const bare = (heading: string) => foldText(heading.replace(/ \*$/, ''));
  const headed = all.find(
    ({ heading, spec: one }) => bare(heading) === bare(text) || foldText(one.label) === foldText(text),
  );
  if (headed) return headed;
  if (field) return `\`${text}\` can only be read: the service sets it itself`;
  if (/^\s*(?:template|form)\s*\./i.test(text)) {
    if (!catalogue)
      return `\`${text}\`: custom fields are known to the service alone; set ROWFERRY_API_URL and ROWFERRY_API_TOKEN`;
    const found = customTarget(text, spec, catalogue);
    if (found && 'spec' in found) {
      const column = all.find((one) => one.spec.name === found.spec.name);
      return (
        column ??
        `\`${text}\` is not of the custom field template of this workbook; leave --template out, or name its own`
      );
    }
    return `\`${text}\`: ${found ? found.problem : 'is no custom field'}`;
  }
  const names = all.flatMap((column) => [column.field, column.heading, ...(column.spec.aliases ?? [])]);
  return `${spec.name} records have no field \`${text}\`${didYouMean(text, names)}`;
}
