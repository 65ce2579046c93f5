import type { CustomTemplate, ResourceSpec } from '../resources/spec.js';
import type { ExportColumn, ExportContext, ExportRecord } from './column.js';
import { type CustomCell, type CustomPlace, customReader } from './custom-cells.js';
import { formDraft, isOf, ownerName, rowMark, valueColumn } from './custom-columns.js';
import type { Unheaded } from './headings.js';
import { kindOf, type Shape, shapeOf } from './shape.js';

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
