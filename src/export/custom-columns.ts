import { foldText, isEmpty } from '../model/value.js';
import {
  belongsTo,
  customType,
  fieldsByKey,
  formFieldName,
  formParts,
  templateFieldName,
  templateParts,
} from '../resources/custom.js';
import { isEmptyJson } from '../resources/path.js';
import type { CustomField, CustomTemplate, Lexicon, ResourceSpec } from '../resources/spec.js';
import { type ExportColumn, type ExportContext, type ExportRecord, tableKind, type UnheadedColumn } from './column.js';
import { exportedText, rawText } from './raw-text.js';

/** One value of a record's custom fields, and whose it is. */
interface CustomCell {
  readonly text: string;
  readonly owner: number;
  /** Of a form: its row, and the name of the column. */
  readonly form?: { readonly row: number; readonly key: string };
}

/** The custom values of a record. */
interface CustomValues {
  /** By canonical name: what a job file can name. */
  readonly cells: ReadonlyMap<string, CustomCell>;
  /** Members of the record that hold more than that, such as keys that name no field. */
  readonly unmatched: readonly string[];
}

/** Rows of one form beyond this number have no columns, so that a sheet does not grow by thousands of them. */
const MOST_ROWS = 50;

/** Finds the custom values of a record: interface, sections 2.1 and 2.5. The last record's are remembered: a row asks often. */
export function customReader(spec: ResourceSpec, lexicon: Lexicon): (record: ExportRecord) => CustomValues {
  let last: { readonly of: ExportRecord; readonly values: CustomValues } | undefined;
  return (record) => {
    if (last?.of !== record) last = { of: record, values: valuesOf(record, spec, lexicon) };
    return last.values;
  };
}

function valuesOf(record: ExportRecord, spec: ResourceSpec, lexicon: Lexicon): CustomValues {
  const cells = new Map<string, CustomCell>();
  const unmatched = new Set<string>();
  const put = (name: string, raw: unknown, of: Omit<CustomCell, 'text'>): void => {
    if (isEmptyJson(raw)) return;
    const value = record.read?.fields[name];
    cells.set(name, { ...of, text: value !== undefined && !isEmpty(value) ? exportedText(value) : rawText(raw) });
  };
  const template = record.json[spec.template.read];
  if (template === undefined) {
    // A record that was not read but is known (customers): its canonical fields are all there is.
    for (const name of Object.keys(record.read?.fields ?? {})) {
      const owner = /^template\.(\d+)\.\d+$/.exec(name)?.[1];
      if (owner !== undefined) put(name, record.read?.fields[name], { owner: Number(owner) });
    }
  }
  const templates = templateParts(template);
  if (!templates.isWhole) unmatched.add(spec.template.read);
  for (const { id, entries } of templates.parts) {
    const described = lexicon.template(id);
    const named =
      described &&
      belongsTo(spec, described) &&
      fieldsByKey(
        described,
        entries.map(([key]) => key),
      );
    for (const [key, raw] of entries) {
      const field = named ? named.get(key)?.id : undefined;
      if (field !== undefined) put(templateFieldName(id, field), raw, { owner: id });
      else if (!isEmptyJson(raw)) unmatched.add(spec.template.read);
    }
  }
  const form = spec.form?.read;
  if (form !== undefined) {
    const rows = formParts(record.json[form]);
    if (!rows.isWhole) unmatched.add(form);
    for (const { id, row, data } of rows.parts) {
      const described = lexicon.form(id);
      const names = described && belongsTo(spec, described) ? described.fields.map(({ name }) => name) : [];
      for (const [key, raw] of Object.entries(data)) {
        put(formFieldName(id, row, key), raw, { owner: id, form: { row, key } });
        if (!names.includes(key) && !isEmptyJson(raw)) unmatched.add(form);
      }
      if (row > MOST_ROWS) unmatched.add(form);
    }
  }
  return { cells, unmatched: [...unmatched] };
}

/**
 * Columns of every custom field template and form of a resource: also of inactive ones, which may still hold values.
 * A form's second row is known from the data alone. Interface, section 2.7.
 */
export function customColumns(spec: ResourceSpec, context: ExportContext): readonly ExportColumn[] {
  const valuesIn = customReader(spec, context.lexicon);
  const drafts = [
    ...ownedTemplates(spec, context.templates).flatMap((one) => templateDrafts(one, context.templates)),
    ...(spec.form?.read ? ownedTemplates(spec, context.forms).flatMap((one) => formDrafts(one, context.forms)) : []),
  ];
  const names = new Map<string, number>();
  for (const { heading } of drafts) names.set(foldText(heading), (names.get(foldText(heading)) ?? 0) + 1);
  const columns = drafts.map(({ byId, ...draft }) => ({
    ...draft,
    heading: names.get(foldText(draft.heading)) === 1 ? draft.heading : byId,
    text: (record: ExportRecord) => valuesIn(record).cells.get(draft.source.name)?.text ?? '',
  }));
  return [...assignmentColumns(spec, valuesIn), ...columns];
}

/** Of those the service lists, what belongs to the resource. */
function ownedTemplates(spec: ResourceSpec, all: readonly CustomTemplate[]): readonly CustomTemplate[] {
  return all.filter((one) => belongsTo(spec, one));
}

/** Which templates and forms a record has: it may have one without any value. */
function assignmentColumns(
  spec: ResourceSpec,
  valuesIn: (record: ExportRecord) => CustomValues,
): readonly ExportColumn[] {
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
        const parts = raw === undefined ? [...valuesIn(record).cells.values()].map(({ owner }) => owner) : [];
        const ids = raw === undefined ? parts : templateParts(raw).parts.map(({ id }) => id);
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
            text: ({ json }: ExportRecord) =>
              formParts(json[form])
                .parts.map(({ id }) => id)
                .join(', '),
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
  return isUnambiguous(owner.name, all) ? owner.name.trim() : String(owner.id);
}

function partName(field: CustomField, owner: CustomTemplate): string {
  return isUnambiguous(field.name, owner.fields) ? field.name.trim() : String(field.id);
}

/** A form's column as a job file names it: canonical, where that is not read as another one. */
function jobPart(field: CustomField, owner: CustomTemplate): string {
  const clear = field.name.trim() === field.name && field.name !== '';
  const asId = /^\d+$/.test(field.name) && owner.fields.some(({ id }) => id === Number(field.name));
  const active = owner.fields.filter((one) => foldText(one.name) === foldText(field.name));
  return clear && !asId && active.length === 1 ? field.name : String(field.id);
}

function isUnambiguous(name: string, all: readonly { readonly name: string }[]): boolean {
  const folded = foldText(name);
  return folded !== '' && !/^\d+$/.test(folded) && all.filter((one) => foldText(one.name) === folded).length === 1;
}

/**
 * Columns for custom values that the descriptions do not announce: a form's second row and those after it, and, as the
 * service sends them, templates or forms that hold what no other column shows.
 */
export function customExtras(spec: ResourceSpec, known: readonly ExportColumn[], context: ExportContext) {
  const valuesIn = customReader(spec, context.lexicon);
  const names = new Set(known.flatMap(({ source }) => (source.kind === 'custom' ? [source.name] : [])));
  const rows = new Map<string, { readonly place: readonly number[]; readonly column: UnheadedColumn }>();
  const unmatched = new Set<string>();
  const addCell = (name: string, { owner, form }: CustomCell): void => {
    if (!form || form.row > MOST_ROWS || names.has(name) || rows.has(name)) return;
    const at = context.forms.findIndex(({ id }) => id === owner);
    const template = context.forms[at];
    const field = template && belongsTo(spec, template) && template.fields.find((one) => one.name === form.key);
    if (!template || !field) return;
    const { heading, byId, ...draft } = formDraft(template, field, form.row, context.forms);
    const text = (record: ExportRecord) => valuesIn(record).cells.get(name)?.text ?? '';
    rows.set(name, {
      place: [at, form.row, template.fields.indexOf(field)],
      column: { ...draft, headings: [heading, byId], text },
    });
  };
  return {
    see(record: ExportRecord): void {
      const values = valuesIn(record);
      for (const [name, cell] of values.cells) addCell(name, cell);
      for (const root of values.unmatched) unmatched.add(root);
    },
    columns: (): readonly UnheadedColumn[] => [
      ...[...rows.values()].sort((a, b) => byPlace(a.place, b.place)).map(({ column }) => column),
      ...[...unmatched].map(
        (root): UnheadedColumn => ({
          headings: [root],
          // JSON as a text: unfolded by who reads the file, its members would have the names of other columns.
          kind: 'text',
          source: { kind: 'extra' },
          note: 'As the service sends it, where it holds more than the other columns show. For information.',
          text: (record) => (valuesIn(record).unmatched.includes(root) ? rawText(record.json[root]) : ''),
        }),
      ),
    ],
  };
}

function byPlace(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
