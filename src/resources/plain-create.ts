import { type Fields, isEmpty } from '../model/value.js';
import type { FieldSpec, ResourceSpec } from './spec.js';

/** Where a create takes the value of a field as it is, under a name of its own; undefined for any other field. */
function plainName(field: FieldSpec): string | undefined {
  const { create, derived } = field;
  return create === undefined || create.includes('.') || derived || isById(field) ? undefined : create;
}

/** Both operations carry the id of its value. */
export function isById({ type }: FieldSpec): boolean {
  return type.kind === 'reference' || type.kind === 'country';
}

/** What the bodies of rows that set the same fields have in common. */
interface Pattern {
  /** The fields as the rows have them. */
  readonly given: readonly string[];
  /** The fields in the order of the description, and their names in the body; absent where one has none of its own. */
  readonly plain?: { readonly fields: readonly string[]; readonly names: readonly string[] };
  /** A body without values: to copy and fill it costs half of adding member by member. */
  readonly blank: Readonly<Record<string, undefined>>;
}

/** Patterns that are remembered; the rows of a file have few. */
const MOST_PATTERNS = 256;

const patterns = new WeakMap<ResourceSpec, { last?: Pattern; readonly known: Map<string, Pattern> }>();

/**
 * The body of a create of which every value goes as it is: nearly every row. Undefined for others, whose body is made
 * field by field (`write.ts`); a property test holds the two equal.
 */
export function plainCreate(spec: ResourceSpec, company: number, fields: Fields): Record<string, unknown> | undefined {
  const { plain, blank } = patternOf(spec, Object.keys(fields));
  if (!plain) return undefined;
  const body: Record<string, unknown> = { ...blank };
  body['company'] = company;
  for (let i = 0; i < plain.fields.length; i++) {
    const value = fields[plain.fields[i]!];
    if (isEmpty(value)) return undefined;
    body[plain.names[i]!] = value;
  }
  return body;
}

function patternOf(spec: ResourceSpec, given: readonly string[]): Pattern {
  let of = patterns.get(spec);
  if (!of) {
    of = { known: new Map() };
    patterns.set(spec, of);
  }
  if (of.last && isSame(of.last.given, given)) return of.last;
  const key = given.join('\n');
  let pattern = of.known.get(key);
  if (!pattern) {
    pattern = makePattern(spec, given);
    if (of.known.size >= MOST_PATTERNS) of.known.clear();
    of.known.set(key, pattern);
  }
  of.last = pattern;
  return pattern;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function makePattern(spec: ResourceSpec, given: readonly string[]): Pattern {
  const own = spec.fields.filter(({ name }) => given.includes(name));
  const names = own.flatMap((field) => plainName(field) ?? []);
  if (spec.idleGroups || names.length < given.length) return { given, blank: {} };
  const blank = Object.fromEntries(['company', ...names].map((name) => [name, undefined]));
  return { given, plain: { fields: own.map(({ name }) => name), names }, blank };
}
