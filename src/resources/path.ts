/** Values in nested JSON by dotted path. */

/** The steps of a path. */
export const stepsOf = (path: string): readonly string[] => path.split('.');

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Null, '' and lists or objects without anything in them. */
export function isEmptyJson(json: unknown): boolean {
  if (json === undefined || json === null || json === '') return true;
  if (Array.isArray(json)) return json.length === 0;
  return isObject(json) && Object.keys(json).length === 0;
}

/** What stands at the path, or at the end of its steps; undefined where a step is missing or is no object. */
export function valueAt(json: unknown, path: string | readonly string[]): unknown {
  let at: unknown = json;
  for (const step of typeof path === 'string' ? stepsOf(path) : path) {
    if (!isObject(at) || !Object.hasOwn(at, step)) return undefined;
    at = at[step];
  }
  return at;
}

/** Puts a value at the path, making the objects on the way. */
export function putAt(body: Record<string, unknown>, path: string, value: unknown): void {
  if (!path.includes('.')) {
    body[path] = value;
    return;
  }
  const parts = stepsOf(path);
  const last = parts.length - 1;
  let at = body;
  for (let depth = 0; depth < last; depth++) {
    const step = parts[depth] ?? '';
    const next = at[step];
    const inner: Record<string, unknown> = isObject(next) ? next : {};
    at[step] = inner;
    at = inner;
  }
  at[parts[last] ?? ''] = value;
}
