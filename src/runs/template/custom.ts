import type { CustomColumn } from '../../blank-workbook/columns.js';
import { RunError } from '../../model/error.js';
import { customFieldName } from '../../model/job.js';
import { type Catalogue, type CustomTarget, findCustom } from '../../pipeline/custom-names.js';
import { foldText } from '../../pipeline/headings.js';
import { quoted } from '../../pipeline/nearest.js';
import type { CustomTemplate, ResourceSpec } from '../../resources/spec.js';
import { didYouMean } from '../nearest.js';

/** Which custom fields a blank workbook has. */
export interface CustomChoice {
  readonly columns: readonly CustomColumn[];
  /** Name of the template whose fields these are. */
  readonly template?: string;
  readonly warnings: readonly string[];
}

/**
 * The columns of all forms, and the fields of one custom field template: a record holds the values of one (interface,
 * section 2.1). `template`: its name or id, or `none`; left out, the one that `wanted` columns belong to, else the first.
 */
export function chooseCustom(
  spec: ResourceSpec,
  catalogue: Catalogue,
  template: string | undefined,
  wanted: readonly string[],
): CustomChoice {
  const forms = catalogue.forms.flatMap((form) => columnsOf('form', form, spec, catalogue));
  const there = catalogue.templates
    .map((one) => ({ one, columns: columnsOf('template', one, spec, catalogue) }))
    .filter(({ columns }) => columns.length > 0);
  const names = there.map(({ one }) => one.name);
  if (template !== undefined) {
    if (foldText(template) === 'none') return { columns: forms, warnings: [] };
    const found =
      there.find(({ one }) => String(one.id) === template.trim()) ??
      there.find(({ one }) => foldText(one.name) === foldText(template));
    if (!found) {
      throw new RunError(
        'usage',
        `--template: ${spec.name} records have no custom field template "${template}"${didYouMean(template, names)}. ${names.length > 0 ? `There are ${quoted(names)}, and none.` : 'There are none.'}`,
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
  const others = names.filter((name) => name !== chosen.one.name);
  const warnings =
    others.length > 0 && asked.size === 0 && wanted.length === 0
      ? [
          `A record holds the values of one custom field template. The columns are those of "${chosen.one.name}"; for another say --template with its name: ${quoted(others)}.`,
        ]
      : [];
  return { columns: [...chosen.columns, ...forms], template: chosen.one.name, warnings };
}

/** The custom field a text names. */
export function customTarget(text: string, spec: ResourceSpec, catalogue: Catalogue): CustomTarget | undefined {
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
): CustomColumn[] {
  if (kind === 'form' && !spec.form) return [];
  return owner.fields.flatMap((field): CustomColumn[] => {
    const byId = `${kind}.${owner.id}.${field.id}`;
    const found = customTarget(byId, spec, catalogue);
    if (!found || 'problem' in found) return [];
    const byName = `${kind}.${owner.name}.${field.name}`;
    const same = PLAIN.test(byName) ? customTarget(byName, spec, catalogue) : undefined;
    const certain = same !== undefined && !('problem' in same) && same.spec.name === found.spec.name;
    return [{ field: certain ? byName : byId, spec: found.spec }];
  });
}

/** Names that a person can read and type in a job file; others go by their ids. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u;
