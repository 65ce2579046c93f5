import type { Value } from '../model/value.js';
import { isObject, putAt } from '../resources/path.js';
import { updateBody } from '../resources/write.js';
import type { Json } from '../service/port.js';
import { changesOf, type Merge, type MergeOptions } from './merge.js';

/**
 * The body of an update: PUT the whole record as it shall be, PATCH what changes, with the other parts of the same
 * compound. Where the service keeps what a body leaves out, a cleared field is said to be null. Interface, section 4.1.
 */
export function updateRequest(method: 'put' | 'patch', merge: Merge, options: MergeOptions): Json {
  const { spec, company, lexicon, accepted } = options;
  const { body } = updateBody(spec, company, method === 'put' ? merge.target : changedParts(merge), lexicon, accepted);
  if (method === 'patch' || options.omittedIsKept) sayCleared(body, merge, options);
  return body;
}

function changedParts(merge: Merge): Record<string, Value> {
  const roots = new Set(changesOf(merge.diff).map((one) => rootOf(one.field)));
  const part: Record<string, Value> = {};
  for (const field of Object.keys(merge.target)) {
    if (roots.has(rootOf(field))) part[field] = merge.target[field] ?? null;
  }
  return part;
}

/** Parts of one object are written together. */
function rootOf(field: string): string {
  return field.split('.')[0] ?? field;
}

function sayCleared(body: Record<string, unknown>, merge: Merge, options: MergeOptions): void {
  for (const { field, kind } of changesOf(merge.diff)) {
    // A template and a form are lists of values: what is not in the list is gone.
    if (kind !== 'clear' || field.startsWith('template.') || field.startsWith('form.')) continue;
    const spec = options.specOf(field);
    const path = spec?.update ?? (options.accepted.has(field) ? spec?.create : undefined);
    if (path === undefined) continue;
    const root = rootOf(path);
    if (path !== root && isObject(body[root])) putAt(body, path, null);
    else body[root] = null;
  }
}
