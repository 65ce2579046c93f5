import { isEmpty } from '../model/value.js';
import { fieldsByKey, formFieldName, templateFieldName } from '../resources/custom.js';
import { entriesOf } from '../resources/read-custom.js';
import { recordId } from '../resources/read-value.js';
import type { Lexicon, ResourceSpec } from '../resources/spec.js';
import type { ExportRecord } from './column.js';
import { isMembers, isNothing, rawText, valueCell } from './raw-text.js';

/** One value of a record's custom fields. */
export interface CustomCell {
  readonly text: string;
  readonly raw: unknown;
  /** `field`: what a job file can name. `member`: what stands beside the fields, or a key that names none. */
  readonly place: CustomPlace;
}

export type CustomPlace =
  | { readonly kind: 'template'; readonly owner: number; readonly field?: number; readonly key: string }
  | {
      readonly kind: 'form';
      readonly owner: number;
      readonly row: number;
      readonly key: string;
      readonly member: boolean;
    };

/** Cells by canonical name; members under a name that no canonical name can be. */
export type CustomCells = ReadonlyMap<string, CustomCell>;

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
  if (template === undefined && !record.asSent) knownValues(record, put);
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
