/** Values in nested JSON by dotted path. */

const split = new Map<string, readonly string[]>();

/** The steps of a path of the descriptions; remembered, as the same few are walked for every record. */
function steps(path: string): readonly string[] {
  let found = split.get(path);
  if (!found) {
    found = path.split('.');
    split.set(path, found);
  }
  return found;
}

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** What stands at the path; undefined where a step is missing or is no object. */
export function valueAt(json: unknown, path: string): unknown {
  let at: unknown = json;
  for (const step of steps(path)) {
    if (!isObject(at) || !Object.hasOwn(at, step)) return undefined;
    at = at[step];
  }
  return at;
}

/** Puts a value at the path, making the objects on the way. */
export function putAt(body: Record<string, unknown>, path: string, value: unknown): void {
  const parts = steps(path);
  let at = body;
  for (const step of parts.slice(0, -1)) {
    const next = at[step];
    const inner: Record<string, unknown> = isObject(next) ? next : {};
    at[step] = inner;
    at = inner;
  }
  at[parts[parts.length - 1] ?? ''] = value;
}
