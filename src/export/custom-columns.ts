import { foldText } from '../pipeline/headings.js';
import { customType, formFieldName, templateFieldName } from '../resources/custom.js';
import type { CustomField, CustomTemplate, ResourceSpec } from '../resources/spec.js';
import type { ExportColumn, ExportContext, ExportRecord } from './column.js';
import { type CustomCells, customReader, formRowsOf, templatesOf } from './custom-cells.js';
import { tableKind } from './own-columns.js';

/**
 * Columns of every custom field template and form of a resource: also of inactive ones, which may still hold values.
 * A form's second row is known from the data alone. Interface, section 2.7.
 */
export function customColumns(spec: ResourceSpec, context: ExportContext): readonly ExportColumn[] {
  const cells = customReader(spec, context.lexicon);
  const drafts = [
    ...owned(spec, context.templates).flatMap((one) => templateDrafts(one, context.templates)),
    ...(spec.form?.read ? owned(spec, context.forms).flatMap((one) => formDrafts(one, context.forms)) : []),
  ];
  const names = new Map<string, number>();
  for (const { heading } of drafts) names.set(foldText(heading), (names.get(foldText(heading)) ?? 0) + 1);
  const columns = drafts.map(({ byId, ...draft }) => ({
    ...draft,
    heading: names.get(foldText(draft.heading)) === 1 ? draft.heading : byId,
    text: (record: ExportRecord) => cells(record).get(draft.source.name)?.text ?? '',
  }));
  return [...assigned(spec, cells), ...columns];
}

/** Of those the service lists, what belongs to the resource. The interface has no template type for customers. */
export function owned(spec: ResourceSpec, all: readonly CustomTemplate[]): readonly CustomTemplate[] {
  return all.filter(({ resource }) => isOf(spec, resource));
}

export function isOf(spec: ResourceSpec, resource: string): boolean {
  return resource === spec.name || (spec.name === 'customer' && resource === 'supplier');
}

/** Which templates and forms a record has: it may have one without any value. */
function assigned(spec: ResourceSpec, cells: (record: ExportRecord) => CustomCells): readonly ExportColumn[] {
  const template = spec.template.read;
  const form = spec.form?.read;
  return [
    {
      heading: `${template}.id`,
      kind: 'id',
      source: { kind: 'path', path: `${template}.id` },
      note: 'Id of the custom field template that the record has. For information.',
      text(record) {
        const raw = record.json[template];
        const parts = raw === undefined ? [...cells(record).values()].map(({ place }) => place.owner) : [];
        const ids = raw === undefined ? parts : (templatesOf(raw) ?? []).map(({ id }) => id);
        return [...new Set(ids)].join(', ');
      },
    },
    ...(form === undefined
      ? []
      : [
          {
            heading: `${form}.id`,
            kind: 'text' as const,
            source: { kind: 'path' as const, path: `${form}.id` },
            note: 'Ids of the custom forms that the record has, one for each row. For information.',
            text: ({ json }: ExportRecord) => (formRowsOf(json[form]) ?? []).map(({ id }) => id).join(', '),
          },
        ]),
  ];
}

/** A column before its heading is known to be the only one of its name. */
type Draft = Omit<ExportColumn, 'text' | 'source'> & {
  readonly byId: string;
  readonly source: { readonly kind: 'custom'; readonly name: string };
};

function templateDrafts(owner: CustomTemplate, all: readonly CustomTemplate[]): readonly Draft[] {
  return owner.fields.map((field) => {
    const name = templateFieldName(owner.id, field.id);
    return {
      ...valueColumn(owner, field),
      heading: `template.${ownerName(owner, all)}.${partName(field, owner)}`,
      byId: name,
      source: { kind: 'custom', name },
      ...(isImportable(owner, field) ? { field: name } : {}),
    };
  });
}

function formDrafts(owner: CustomTemplate, all: readonly CustomTemplate[]): readonly Draft[] {
  // Values are named by their columns (interface, section 2.5), so columns of one name show the same value.
  const columns = owner.fields.filter((field, at) => owner.fields.findIndex(({ name }) => name === field.name) === at);
  return columns.map((field) => formDraft(owner, field, 1, all));
}

/** The column of a form's field in the form's n-th row. */
export function formDraft(
  owner: CustomTemplate,
  field: CustomField,
  row: number,
  all: readonly CustomTemplate[],
): Draft {
  return {
    ...valueColumn(owner, field),
    heading: `form.${ownerName(owner, all)}${rowMark(row)}.${partName(field, owner)}`,
    byId: formFieldName(owner.id, row, String(field.id)),
    source: { kind: 'custom', name: formFieldName(owner.id, row, field.name) },
    ...(isImportable(owner, field) ? { field: formFieldName(owner.id, row, jobPart(field, owner)) } : {}),
  };
}

export const rowMark = (row: number): string => (row > 1 ? `#${row}` : '');

/** What a template or form field holds, whatever its column is called. */
export function valueColumn(owner: CustomTemplate, field: CustomField): Pick<ExportColumn, 'kind' | 'type' | 'note'> {
  const type = customType(field.dataType);
  const idle = !owner.active || !field.active ? ' Inactive in the service: for information.' : '';
  const note = `${owner.name}: ${field.name}. ${field.dataType === 'attachment' ? 'An attachment: for information.' : `Holds ${field.dataType}.`}${idle}`;
  return { kind: tableKind(type), type, note };
}

/** What an import accepts: pipeline/custom-names.ts. */
function isImportable(owner: CustomTemplate, field: CustomField): boolean {
  return owner.active && field.active && field.dataType !== 'attachment';
}

/** The name where it is the only one of its kind and is not read as an id, else the id. */
export function ownerName(owner: CustomTemplate, all: readonly CustomTemplate[]): string {
  return isClear(owner.name, all) ? owner.name.trim() : String(owner.id);
}

function partName(field: CustomField, owner: CustomTemplate): string {
  return isClear(field.name, owner.fields) ? field.name.trim() : String(field.id);
}

/** A form's column as a job file names it: canonical, where that is not read as another one. */
function jobPart(field: CustomField, owner: CustomTemplate): string {
  const clear = field.name.trim() === field.name && field.name !== '';
  const asId = /^\d+$/.test(field.name) && owner.fields.some(({ id }) => id === Number(field.name));
  const active = owner.fields.filter((one) => foldText(one.name) === foldText(field.name));
  return clear && !asId && active.length === 1 ? field.name : String(field.id);
}

function isClear(name: string, all: readonly { readonly name: string }[]): boolean {
  const folded = foldText(name);
  return folded !== '' && !/^\d+$/.test(folded) && all.filter((one) => foldText(one.name) === folded).length === 1;
}
