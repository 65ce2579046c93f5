import { valueAt } from '../resources/path.js';
import { resourceSpec } from '../resources/registry.js';
import type { Json } from '../service/port.js';
import type { Exportable, ExportColumn } from './column.js';
import { formRowsOf, templatesOf } from './custom-cells.js';
import { readPaths } from './own-columns.js';
import { isMembers, isNothing, rawText } from './raw-text.js';
import { isWritable } from './record.js';

/** Sees a member that no column shows: the keys on the way to it, and what stands there. */
export type Unshown = (keys: readonly string[], value: unknown) => void;

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
export function unshownFinder(
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
