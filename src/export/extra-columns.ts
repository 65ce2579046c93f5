import { isEmptyJson } from '../resources/path.js';
import type { ReadRecord } from '../resources/read.js';
import { resourceSpec } from '../resources/registry.js';
import { readPaths } from '../resources/spec.js';
import type { Json } from '../service/port.js';
import {
  type Exportable,
  type ExportColumn,
  type ExportContext,
  headingAssigner,
  isWritable,
  type UnheadedColumn,
} from './column.js';
import { customExtras } from './custom-columns.js';
import { columnKind, isJsonObject, rawText, type Shape, shapeOf } from './raw-text.js';

/** Members without a column that get columns of their own; of more, all stand in one column as JSON. */
const MOST = 1_000;

/** Keys on the way to a member; deeper objects are JSON. */
const DEPTH = 3;

/** Where members that the interface does not name stand, once there are too many of them. */
const OTHERS = 'other_members';

/**
 * Columns for what records hold and the interface does not name, as `created_date` or `business_unit.contact_name`, and
 * for what only the records tell: further rows of a form. Memory grows with the number of different keys, which is
 * bounded, not with the records. `known`: all columns, not those that were chosen.
 */
export function extraColumns(resource: Exportable, known: readonly ExportColumn[], context: ExportContext) {
  const custom = isWritable(resource) ? customExtras(resourceSpec(resource), known, context) : undefined;
  const visitUncovered = uncoveredVisitor(resource, known);
  const found = new Map<string, Member>();
  return {
    /** Every record once; `read`: it in canonical form, where the caller has it. */
    see(record: Json, read?: ReadRecord): void {
      custom?.see(read ? { json: record, read } : { json: record });
      visitUncovered(record, (keys, value) => {
        const at = keys.join('\0');
        const entry = found.get(at) ?? { keys, shapes: new Set() };
        entry.shapes.add(shapeOf(value));
        if (found.size <= MOST) found.set(at, entry);
      });
    },
    /** The same whatever the order in which the records were seen. */
    columns(): readonly ExportColumn[] {
      const inOrder = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => memberColumn(one));
      const members = found.size > MOST ? [othersColumn(visitUncovered)] : inOrder;
      return [...(custom?.columns() ?? []), ...members].map(headingAssigner(known));
    },
  };
}

interface Member {
  /** On the way to it. */
  readonly keys: readonly string[];
  readonly shapes: Set<Shape>;
}

function memberColumn({ keys, shapes }: Member): UnheadedColumn {
  return {
    headings: [keys.join('.')],
    kind: columnKind(shapes, keys.at(-1) ?? ''),
    source: { kind: 'extra' },
    note: 'Not named by the interface of the service. For information.',
    text({ json }) {
      let value: unknown = json;
      for (const key of keys) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      // The members of an object have columns of their own.
      return isJsonObject(value) && keys.length < DEPTH ? '' : rawText(value);
    },
  };
}

/** One column for all members without a column, where there are too many of them. */
function othersColumn(visitUncovered: ReturnType<typeof uncoveredVisitor>): UnheadedColumn {
  return {
    headings: [OTHERS],
    kind: 'json',
    source: { kind: 'extra' },
    note: 'What the interface of the service does not name. For information.',
    text({ json }) {
      const others: [string, unknown][] = [];
      visitUncovered(json, (keys, value) => others.push([keys.join('.'), value]));
      return rawText(Object.fromEntries(others));
    },
  };
}

/**
 * Calls back with every member of a record, and every member of an object in it, that no column shows: the keys on the
 * way to it, and what stands there. Custom values have columns of their own.
 */
function uncoveredVisitor(resource: Exportable, columns: readonly ExportColumn[]) {
  const paths = new Set(columns.flatMap(({ source }) => (source.kind === 'path' ? [source.path] : [])));
  /** Members that are shown as they come, objects too, and references, which may come as an id or a name alone. */
  const [whole, plain] = [new Set([...paths].filter((path) => !path.includes('.'))), new Set<string>()];
  if (isWritable(resource)) {
    const spec = resourceSpec(resource);
    for (const root of [spec.template.read, spec.form?.read]) if (root !== undefined) whole.add(root);
    for (const field of spec.fields) {
      const isReference = field.type.kind === 'reference';
      for (const path of readPaths(field)) {
        paths.add(path);
        if (isReference) whole.delete(path);
        if (!path.includes('.')) (isReference ? plain : whole).add(path);
      }
    }
  }
  type Visit = (keys: readonly string[], value: unknown) => void;
  const walk = (keys: readonly string[], value: unknown, visit: Visit): void => {
    if (isEmptyJson(value) || (keys.length > 1 && paths.has(keys.join('.')))) return;
    if (!isJsonObject(value) || keys.length === DEPTH) visit(keys, value);
    else for (const [key, child] of Object.entries(value)) walk([...keys, key], child, visit);
  };
  return (record: Json, visit: Visit): void => {
    for (const [key, value] of Object.entries(record))
      if (!whole.has(key) && (isJsonObject(value) || !plain.has(key))) walk([key], value, visit);
  };
}
