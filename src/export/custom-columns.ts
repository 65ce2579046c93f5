import { foldText, isEmpty } from '../model/value.js';
import { customType, entriesOf, fieldsByKey, formFieldName, templateFieldName } from '../resources/custom.js';
import { recordId } from '../resources/read-value.js';
import type { CustomField, CustomTemplate, Lexicon, ResourceSpec } from '../resources/spec.js';
import { type ExportColumn, type ExportContext, type ExportRecord, tableKind, type Unheaded } from './column.js';
import { isMembers, isNothing, kindOf, rawText, type Shape, shapeOf, valueCell } from './raw-text.js';

/** One value of a record's custom fields. */
export interface CustomCell {
  readonly text: string;
  readonly raw: unknown;
  /** `field`: what a job file can name. `member`: what stands beside the fields, or a key that names none. */
  readonly place: CustomPlace;
}

type CustomPlace =
  | { readonly kind: 'template'; readonly owner: number; readonly field?: number; readonly key: string }
  | {
      readonly kind: 'form';
      readonly owner: number;
      readonly row: number;
      readonly key: string;
      readonly member: boolean;
    };

/** Cells by canonical name; members under a name that no canonical name can be. */
type CustomCells = ReadonlyMap<string, CustomCell>;

/** Rows of one form beyond this number stand together in one cell, so that a sheet does not grow by thousands of columns. */
const MOST_ROWS = 50;

/** The rows of a form beyond the last that has columns of its own, as JSON. */
export const MORE_ROWS = `rows after ${MOST_ROWS}`;

/** Between an owner and a key that is no field; no name can hold it. */
const MEMBER = '\u0000';

/** Finds the custom values of a record: interface, sections 2.1 and 2.5. The last record's are remembered: a row asks often. */
export function customReader(spec: ResourceSpec, lexicon: Lexicon): (record: ExportRecord) => CustomCells {
  let last: { readonly of: ExportRecord; readonly cells: CustomCells } | undefined;
  return (record) => {
    if (last?.of !== record) last = { of: record, cells: cellsOf(record, spec, lexicon) };
    return last.cells;
  };
}

function cellsOf(record: ExportRecord, spec: ResourceSpec, lexicon: Lexicon): CustomCells {
  const cells = new Map<string, CustomCell>();
  const put = (name: string, raw: unknown, place: CustomPlace): void => {
    if (isNothing(raw)) return;
    const value = record.read?.fields[name];
    cells.set(name, { text: value !== undefined && !isEmpty(value) ? valueCell(value) : rawText(raw), raw, place });
  };
  const template = record.json[spec.template.read];
  if (template === undefined) knownValues(record, put);
  for (const { id, entries } of templatesOf(template) ?? []) {
    const described = lexicon.template(id);
    const keys = entries.map(([key]) => key);
    const named = described && fieldsByKey(described, keys);
    for (const [key, raw] of entries) {
      const field = named?.get(key)?.id;
      const name = field === undefined ? `template.${id}${MEMBER}${key}` : templateFieldName(id, field);
      put(name, raw, { kind: 'template', owner: id, key, ...(field === undefined ? {} : { field }) });
    }
  }
  if (spec.form?.read) putForms(record.json[spec.form.read], put);
  return cells;
}

type Put = (name: string, raw: unknown, place: CustomPlace) => void;

/** A record that was not read but is known (customers): its canonical fields are all there is. */
function knownValues({ read }: ExportRecord, put: Put): void {
  for (const name of Object.keys(read?.fields ?? {})) {
    const [, owner, field] = /^template\.(\d+)\.(\d+)$/.exec(name) ?? [];
    if (owner === undefined || field === undefined) continue;
    put(name, read?.fields[name], { kind: 'template', owner: Number(owner), field: Number(field), key: field });
  }
}

function putForms(raw: unknown, put: Put): void {
  const more = new Map<number, unknown[]>();
  for (const { id, row, data, members, item } of formRowsOf(raw) ?? []) {
    if (row > MOST_ROWS) {
      more.set(id, [...(more.get(id) ?? []), item]);
      continue;
    }
    for (const [key, value] of Object.entries(data)) {
      put(formFieldName(id, row, key), value, { kind: 'form', owner: id, row, key, member: false });
    }
    for (const [key, value] of members) {
      put(`${formFieldName(id, row, '')}${MEMBER}${key}`, value, { kind: 'form', owner: id, row, key, member: true });
    }
  }
  for (const [id, items] of more) {
    const place = { kind: 'form', owner: id, row: MOST_ROWS + 1, key: MORE_ROWS, member: true } as const;
    put(`${formFieldName(id, MOST_ROWS + 1, '')}${MEMBER}`, items, place);
  }
}

interface TemplatePart {
  readonly id: number;
  readonly entries: readonly (readonly [key: string, value: unknown])[];
}

/** The templates of a record; undefined where they do not have the documented form, so that they are shown as they are. */
export function templatesOf(raw: unknown): readonly TemplatePart[] | undefined {
  if (isNothing(raw)) return [];
  const parts: TemplatePart[] = [];
  for (const item of Array.isArray(raw) ? raw : [raw]) {
    const id = isMembers(item) ? recordId(item['id']) : undefined;
    if (!isMembers(item) || id === undefined || parts.some((part) => part.id === id)) return undefined;
    // Members beside the fields are shown under their own names, where there is one template.
    if (Array.isArray(raw) && Object.keys(item).some((key) => key !== 'id' && key !== 'fields')) return undefined;
    const fields = item['fields'];
    if (!isNothing(fields) && !isMembers(fields) && !isPairs(fields)) return undefined;
    parts.push({ id, entries: entriesOf(fields) });
  }
  return parts;
}

function isPairs(fields: unknown): boolean {
  return (
    Array.isArray(fields) &&
    fields.every((item) => isMembers(item) && Object.keys(item).every((key) => /^(id|name|value)$/.test(key)))
  );
}

interface FormRow {
  readonly id: number;
  /** Among the rows of its form, from 1. */
  readonly row: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly members: readonly (readonly [string, unknown])[];
  readonly item: unknown;
}

/** The form rows of a record; undefined where they do not have the documented form. */
export function formRowsOf(raw: unknown): readonly FormRow[] | undefined {
  if (isNothing(raw)) return [];
  const counts = new Map<number, number>();
  const rows: FormRow[] = [];
  for (const item of Array.isArray(raw) ? raw : [raw]) {
    const id = isMembers(item) ? recordId(item['id']) : undefined;
    if (!isMembers(item) || id === undefined) return undefined;
    const data = item['custom_form_data'] ?? {};
    if (!isMembers(data)) return undefined;
    const row = (counts.get(id) ?? 0) + 1;
    counts.set(id, row);
    const members = Object.entries(item).filter(([key]) => key !== 'id' && key !== 'custom_form_data');
    rows.push({ id, row, data, members, item });
  }
  return rows;
}

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
function owned(spec: ResourceSpec, all: readonly CustomTemplate[]): readonly CustomTemplate[] {
  return all.filter(({ resource }) => isOf(spec, resource));
}

function isOf(spec: ResourceSpec, resource: string): boolean {
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
function formDraft(owner: CustomTemplate, field: CustomField, row: number, all: readonly CustomTemplate[]): Draft {
  return {
    ...valueColumn(owner, field),
    heading: `form.${ownerName(owner, all)}${rowMark(row)}.${partName(field, owner)}`,
    byId: formFieldName(owner.id, row, String(field.id)),
    source: { kind: 'custom', name: formFieldName(owner.id, row, field.name) },
    ...(isImportable(owner, field) ? { field: formFieldName(owner.id, row, jobPart(field, owner)) } : {}),
  };
}

const rowMark = (row: number): string => (row > 1 ? `#${row}` : '');

/** What a template or form field holds, whatever its column is called. */
function valueColumn(owner: CustomTemplate, field: CustomField): Pick<ExportColumn, 'kind' | 'type' | 'note'> {
  const type = customType(field.dataType);
  const idle = !owner.active || !field.active ? ' Inactive in the service: for information.' : '';
  const note = `${owner.name}: ${field.name}. ${field.dataType === 'attachment' ? 'An attachment: for information.' : `Holds ${field.dataType}.`}${idle}`;
  return { kind: tableKind(type), type, note };
}

/** What an import accepts: pipeline/map/targets.ts. */
function isImportable(owner: CustomTemplate, field: CustomField): boolean {
  return owner.active && field.active && field.dataType !== 'attachment';
}

/** How job files name the fields of custom field templates, by their canonical names. */
export function templateNames(all: readonly CustomTemplate[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    all.flatMap((owner) => templateDrafts(owner, all).map(({ byId, heading }) => [byId, heading])),
  );
}

/** How they name custom forms, by `form.<id>`. */
export function formNames(all: readonly CustomTemplate[]): Readonly<Record<string, string>> {
  return Object.fromEntries(all.map((owner) => [`form.${owner.id}`, `form.${ownerName(owner, all)}`]));
}

/** The name where it is the only one of its kind and is not read as an id, else the id. */
function ownerName(owner: CustomTemplate, all: readonly CustomTemplate[]): string {
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

/** A custom value that no known column shows. */
interface Found {
  readonly name: string;
  readonly place: CustomPlace;
  readonly shapes: Set<Shape>;
}

/**
 * Columns for custom values that the descriptions do not announce: a form's second row, keys that name no field, templates
 * that are not listed or belong to another kind of record.
 */
export function customExtras(spec: ResourceSpec, known: readonly ExportColumn[], context: ExportContext) {
  const cells = customReader(spec, context.lexicon);
  const names = new Set(known.flatMap(({ source }) => (source.kind === 'custom' ? [source.name] : [])));
  const found = new Map<string, Found>();
  const column = (one: Found): Unheaded => ({
    ...described(one, spec, context),
    source: { kind: 'custom', name: one.name },
    text: (record) => cells(record).get(one.name)?.text ?? '',
  });
  return {
    see(record: ExportRecord): void {
      for (const [name, cell] of cells(record)) if (!names.has(name)) see(found, name, cell);
    },
    columns: (): readonly Unheaded[] => [...found.values()].sort(inOrder(context)).map(column),
  };
}

function see(found: Map<string, Found>, name: string, { place, raw }: CustomCell): void {
  const one = found.get(name) ?? { name, place, shapes: new Set() };
  found.set(name, one);
  one.shapes.add(shapeOf(raw));
}

type Described = Pick<Unheaded, 'headings' | 'kind' | 'type' | 'field' | 'note'>;

function described({ place, shapes }: Found, spec: ResourceSpec, context: ExportContext): Described {
  const all = place.kind === 'template' ? context.templates : context.forms;
  const owner = all.find(({ id }) => id === place.owner);
  const own = owner !== undefined && isOf(spec, owner.resource);
  const name = owner
    ? ownerName(
        owner,
        all.filter(({ resource }) => isOf(spec, resource) === own),
      )
    : `${place.owner}`;
  const field = owner && fieldOf(owner, place);
  const row = place.kind === 'form' ? rowMark(place.row) : '';
  const headings = [
    `${place.kind}.${name}${row}.${place.key}`,
    `${place.kind}.${place.owner}${row}.${place.key}`,
  ] as const;
  if (owner && field && place.kind === 'form') {
    const { heading, byId, field: importable, ...rest } = formDraft(owner, field, place.row, context.forms);
    return {
      headings: own ? [heading, byId] : [byId],
      ...pick(rest),
      ...(own && importable !== undefined ? { field: importable } : {}),
    };
  }
  if (owner && field)
    return { headings: [`template.${owner.id}.${field.name}`, ...headings], ...valueColumn(owner, field) };
  return {
    headings: [...headings],
    kind: kindOf(shapes, place.key),
    note: 'The service does not say what this is. For information.',
  };
}

const pick = ({ kind, type, note }: ReturnType<typeof valueColumn>): ReturnType<typeof valueColumn> => ({
  kind,
  ...(type === undefined ? {} : { type }),
  ...(note === undefined ? {} : { note }),
});

function fieldOf(owner: CustomTemplate, place: CustomPlace) {
  if (place.kind === 'template') return owner.fields.find(({ id }) => id === place.field);
  return place.member ? undefined : owner.fields.find(({ name }) => name === place.key);
}

/** Templates before forms; as the service lists them, what it does not list by id; row by row, field by field. */
function inOrder({ templates, forms }: ExportContext): (a: Found, b: Found) => number {
  const rank = ({ place }: Found): readonly (number | string)[] => {
    const all = place.kind === 'template' ? templates : forms;
    const at = all.findIndex(({ id }) => id === place.owner);
    const owner = all[at];
    const field = owner && fieldOf(owner, place);
    return [
      place.kind === 'template' ? 0 : 1,
      at < 0 ? all.length : at,
      place.owner,
      place.kind === 'form' ? place.row : 0,
      owner && field ? owner.fields.indexOf(field) : Number.MAX_SAFE_INTEGER,
      place.key,
    ];
  };
  return (one, other) => {
    const [a, b] = [rank(one), rank(other)];
    const at = a.findIndex((part, index) => part !== b[index]);
    return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1;
  };
}
