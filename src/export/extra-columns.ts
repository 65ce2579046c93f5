import { valueAt } from '../resources/path.js';
import type { ReadRecord } from '../resources/read.js';
import { resourceSpec } from '../resources/registry.js';
import { readPaths } from '../resources/spec.js';
import type { Json } from '../service/port.js';
import {
  type Exportable,
  type ExportColumn,
  type ExportContext,
  headingGiver,
  isWritable,
  type Unheaded,
} from './column.js';
import { customExtras, formRowsOf, templatesOf } from './custom-columns.js';
import { isMembers, isNothing, kindOf, rawText, type Shape, shapeOf } from './raw-text.js';

/** Members without a column that get columns of their own; of more, all stand in one column as JSON. */
const MOST = 1_000;

/** Where members that the interface does not name stand, once there are too many of them. */
const OTHERS = 'other_members';

export type ExtraColumns = ReturnType<typeof extraColumns>;

/**
 * Columns for what records hold and the interface does not name, and for what only the records tell: further rows of a
 * form, keys that name no field. Memory grows with the number of different keys, which is bounded, not with the records.
 */
export function extraColumns(resource: Exportable, known: readonly ExportColumn[], context: ExportContext) {
  const find = unshownFinder(resource, known);
  const custom = isWritable(resource) ? customExtras(resourceSpec(resource), known, context) : undefined;
  const found = new Map<string, { readonly keys: readonly string[]; readonly shapes: Set<Shape> }>();
  return {
    /** Every record once; `read`: it in canonical form, where the caller has it. */
    see(record: Json, read?: ReadRecord): void {
      custom?.see(read ? { json: record, read } : { json: record });
      find(record, (keys, value) =>
        eachLeaf(keys, value, (keys, leaf) => {
          const at = keys.join('\0');
          const known = found.get(at) ?? { keys, shapes: new Set() };
          known.shapes.add(shapeOf(leaf));
          if (found.size <= MOST) found.set(at, known);
        }),
      );
    },
    /** The same whatever the order in which the records were seen. */
    columns(): readonly ExportColumn[] {
      const inOrder = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => memberColumn(one));
      const members = found.size > MOST ? [othersColumn(find)] : inOrder;
      return [...(custom?.columns() ?? []), ...members].map(headingGiver(known));
    },
  };
}

/** Deeper objects are JSON. */
const MOST_DEPTH = 8;

/** Members of an object each at their own place. */
function eachLeaf(keys: readonly string[], value: unknown, see: Unshown): void {
  if (!isMembers(value) || keys.length >= MOST_DEPTH) see(keys, value);
  else for (const [key, held] of Object.entries(value)) if (!isNothing(held)) eachLeaf([...keys, key], held, see);
}

function memberColumn({ keys, shapes }: { readonly keys: readonly string[]; readonly shapes: Set<Shape> }): Unheaded {
  return {
    headings: [keys.join('.')],
    kind: kindOf(shapes, keys.at(-1) ?? ''),
    source: { kind: 'extra', keys },
    note: 'Not named by the interface of the service. For information.',
    text({ json }) {
      let value: unknown = json;
      for (const key of keys) value = isMembers(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      // The members of an object have columns of their own.
      return isMembers(value) && keys.length < MOST_DEPTH ? '' : rawText(value);
    },
  };
}

/** One column for all members without a column, where there are too many of them. */
function othersColumn(find: ReturnType<typeof unshownFinder>): Unheaded {
  return {
    headings: [OTHERS],
    kind: 'json',
    source: { kind: 'extra', keys: [OTHERS] },
    note: 'What the interface of the service does not name. For information.',
    text({ json }) {
      const others: [string, unknown][] = [];
      find(json, (keys, value) => others.push([keys.join('.'), value]));
      return rawText(Object.fromEntries(others));
    },
  };
}

/** Sees a member that no column shows: the keys on the way to it, and what stands there. */
type Unshown = (keys: readonly string[], value: unknown) => void;

/** What the columns show at one place of the read form. */
interface Place {
  readonly members: Map<string, Place>;
  /** A column shows what stands here, objects too. */
  shown: boolean;
  /** Of an object here only the members that have columns are shown. */
  apart: boolean;
  /** Shown only where the places that come before it are empty or say the same. */
  after?: readonly string[];
  /** Custom values have columns of their own where they have the documented form; `beside`: other members may not. */
  custom?: (raw: unknown) => 'shown' | 'beside' | 'strange';
}

/**
 * Finds what of a record no column shows, so that an export loses nothing. `columns`: all of them, not those that were
 * chosen.
 */
function unshownFinder(
  resource: Exportable,
  columns: readonly ExportColumn[],
): (record: Json, unshown: Unshown) => void {
  const root = place();
  for (const { source } of columns) if (source.kind === 'path') at(root, source.path).shown = true;
  if (isWritable(resource)) describe(root, resource);
  return (record, unshown) => {
    for (const key of Object.keys(record)) look(root.members.get(key), [key], record[key], record, unshown);
  };
}

function place(): Place {
  return { members: new Map(), shown: false, apart: false };
}

function at(root: Place, path: string): Place {
  let found = root;
  for (const key of path.split('.')) {
    const next = found.members.get(key) ?? place();
    found.members.set(key, next);
    found = next;
  }
  return found;
}

function describe(root: Place, resource: Parameters<typeof resourceSpec>[0]): void {
  const spec = resourceSpec(resource);
  for (const field of spec.fields) {
    const paths = readPaths(field);
    const refers = field.type.kind === 'reference' || field.type.kind === 'country';
    for (const [index, path] of paths.entries()) {
      const found = at(root, path);
      if (refers) found.apart = true;
      // A reference may come as its id or its name alone.
      if (index === 0 && field.type.kind === 'reference') found.shown = true;
      if (index === 0 || found.shown) continue;
      found.shown = true;
      found.after = paths.slice(0, index);
    }
  }
  at(root, spec.template.read).custom = (raw) =>
    templatesOf(raw) === undefined ? 'strange' : isMembers(raw) ? 'beside' : 'shown';
  at(root, `${spec.template.read}.fields`).shown = true;
  if (spec.form?.read) at(root, spec.form.read).custom = (raw) => (formRowsOf(raw) ? 'shown' : 'strange');
}

function look(found: Place | undefined, keys: readonly string[], value: unknown, record: Json, unshown: Unshown): void {
  if (isNothing(value)) return;
  const custom = found?.custom?.(value);
  if (custom === 'shown') return;
  if (!found || custom === 'strange') {
    unshown(keys, value);
    return;
  }
  if (!isMembers(value) || (found.shown && !found.apart)) {
    if (!found.shown || (found.after && !agrees(found.after, value, record))) unshown(keys, value);
    return;
  }
  for (const key of Object.keys(value)) look(found.members.get(key), [...keys, key], value[key], record, unshown);
}

function agrees(before: readonly string[], value: unknown, record: Json): boolean {
  const first = before.map((path) => valueAt(record, path)).find((raw) => !isNothing(raw));
  if (first === undefined) return true;
  const text = rawText(value);
  return text === rawText(isMembers(first) ? first['name'] : first);
}
