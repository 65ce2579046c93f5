import type { z } from 'zod';
import { usageError } from '../../model/error.js';
import {
  type ExportJob,
  exportJob,
  importJob,
  type Job,
  type JobFault,
  type KeyPath,
  NO_KEY,
  type ReconcileJob,
  type RowsJob,
  reconcileJob,
} from '../../model/job.js';
import { withArticle } from '../../model/resource-names.js';
import { nameHint, nearestNames } from '../../pipeline/map/headings.js';
import { READ_ONLY, type ResourceName, WRITABLE } from '../../resources/spec.js';
import { asObject, type RawObject } from './yaml.js';

/** What zod reports about the shape of a job file, in words for the person who wrote it. */

type ZodIssue = z.core.$ZodIssue;

/** Kinds of job that can be run. */
export const JOB_KINDS = ['import', 'export', 'reconcile'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const SCHEMAS = { import: importJob, export: exportJob, reconcile: reconcileJob };

/** The keys that may stand at a path. */
const knownKeys = (path: KeyPath, kind: JobKind): string[] => keysAt(SCHEMAS[kind], path);

function keysAt(schema: z.core.$ZodType, path: KeyPath): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const [step, ...inner] = path;
  switch (def.type) {
    case 'object':
      if (step === undefined) return Object.keys(def.shape);
      return Object.hasOwn(def.shape, step) ? keysAt(def.shape[step] as z.core.$ZodType, inner) : [];
    case 'record':
      return keysAt(def.valueType, inner);
    case 'array':
      return keysAt(def.element, inner);
    case 'union':
      return [...new Set(def.options.flatMap((one) => keysAt(one, path)))];
    case 'pipe':
      return keysAt(def.in, path);
    case 'optional':
    case 'default':
      return keysAt(def.innerType, path);
    default:
      return [];
  }
}

/** What may stand where, in words. */
export interface Shape {
  /** Of a key that may not stand at a path. */
  unknownKey(key: string, path: KeyPath): string;
  /** What is said beside a value of another kind. */
  hint?(name: string): string;
}
export const jobShape = (kind: JobKind): Shape => ({
  unknownKey(key, path) {
    const other = JOB_KINDS.find((one) => one !== kind && knownKeys(path, one).includes(key));
    const known = knownKeys(path, kind);
    const where = path.length === 0 ? `known in ${withArticle(kind)} job` : 'known here';
    if (other) return `\`${[...path, key].join('.')}\` belongs to ${other} jobs; ${where}: ${known.join(', ')}`;
    return unknownText(key, known);
  },
  // The same key is a mapping in the other kinds of job.
  hint: (name) => (kind === 'export' && name === 'columns' ? '; in an export job it names fields: [id, name]' : ''),
});

/** `name`: the key with its place, where nothing else tells that. */
export function unknownText(key: string, known: readonly string[], name = `\`${key}\``): string {
  return `unknown key ${name}${nameHint(key, known) || `; known here: ${known.join(', ')}`}`;
}

export function shapeProblems(issues: readonly ZodIssue[], root: unknown, shape: Shape): JobFault[] {
  return issues.flatMap((issue) => explain(issue, issue.path as KeyPath, root, shape));
}

/** `root`: all that was given. */
function explain(issue: ZodIssue, path: KeyPath, root: unknown, shape: Shape): JobFault[] {
  const found = getValue(root, path);
  const name = path.map(String).join('.');
  const say = (message: string): JobFault[] => [{ path, part: 'value', message }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: [...path, key],
        part: 'key',
        message: shape.unknownKey(key, path),
      }));
    case 'invalid_union': {
      if (found === undefined) return [missingProblem(path, HINTS[name] ?? '')];
      // The branch that takes this kind of value says more than "none of them".
      const fitting = issue.errors.find((branch) => !branch.some((one) => isWrongKind(one, found)));
      if (fitting) return fitting.flatMap((one) => explain(one, [...path, ...(one.path as KeyPath)], root, shape));
      return say(`\`${name}\` must be ${kinds(wantedKinds(issue))}, not ${quoteValue(found)}`);
    }
    case 'invalid_value':
      if (found === undefined) return [missingProblem(path, `; write ${choices(issue.values)}`)];
      return say(
        `\`${name}\` is ${quoteValue(found)}; it must be ${issue.values.length > 1 ? 'one of: ' : ''}${choices(issue.values)}${typeof found === 'string' ? nameHint(found, issue.values.map(String)) : ''}`,
      );
    case 'invalid_type':
      if (found === undefined) return [missingProblem(path, HINTS[name] ?? '')];
      return say(`\`${name}\` must be ${kinds([issue.expected])}, not ${quoteValue(found)}${shape.hint?.(name) ?? ''}`);
    case 'too_small':
      if (issue.origin === 'string') return say(`\`${name}\` is blank; write a value`);
      if (issue.origin === 'array') return say(`\`${name}\` is an empty list; write at least one entry`);
      return say(`\`${name}\` is ${quoteValue(found)}; it must be ${issue.minimum} or more`);
    case 'too_big':
      if (issue.origin === 'array') return say(`\`${name}\` has more than ${issue.maximum} entries`);
      if (issue.origin === 'string') return say(`\`${name}\` has more than ${issue.maximum} characters`);
      return say(`\`${name}\` is ${quoteValue(found)}; it must be ${issue.maximum} or less`);
    default:
      return say(`\`${name}\` is ${quoteValue(found)}; it ${issue.message}`);
  }
}

/** `put, patch`; signs in quotes, because a comma among commas cannot be seen. */
function choices(values: readonly unknown[]): string {
  return values.map((value) => (/^\w/.test(String(value)) ? String(value) : `"${value}"`)).join(', ');
}

/** What to write for a key whose name alone does not say it. */
const HINTS: Readonly<Record<string, string>> = {
  match:
    '; say which field tells one record from another, such as `match: { key: name }`, or append every row as a new record with `match: { key: none }`; a job that `rowferry map` wrote has such lines: take the # from one of them',
  columns: '; write a line `Heading: field` for each column',
};

function missingProblem(path: KeyPath, what: string): JobFault {
  return { path, part: 'key', message: `\`${path.join('.')}\` is missing${what}` };
}

function isWrongKind(issue: ZodIssue, found: unknown): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_union')
    return issue.errors.every((branch) => branch.some((one) => isWrongKind(one, found)));
  return issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof found !== 'string');
}

/** The kinds of value that the branches of a union take, and the words. */
function wantedKinds(issue: ZodIssue): string[] {
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(wantedKinds);
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return issue.code === 'invalid_type' ? [issue.expected] : [];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: '~',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
  array: 'a list',
};

function kinds(expected: readonly string[]): string {
  const words = [...new Set(expected.filter(Boolean).map((one) => KINDS[one] ?? one))];
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : (words[0] ?? 'another value');
}

/** The value as a fault quotes it, short. */
export function quoteValue(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = String(value);
  return `"${text.length > 60 ? `${text.slice(0, 57)}...` : text}"`;
}

function getValue(root: unknown, path: KeyPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/**
 * A job without what is misshapen, so that the rest can be looked at in the same round. Undefined where too little is left.
 */
export function parseRest(
  kind: RowsJob['kind'],
  value: RawObject,
  misshapen: readonly JobFault[],
): RowsJob | undefined {
  const rest = structuredClone(value);
  let faults = misshapen;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Where something is missing, what lacks it goes.
    const paths = faults.map(({ path }) => (getValue(rest, path) === undefined ? path.slice(0, -1) : path));
    for (const path of paths) dropAt(rest, path);
    const parsed = SCHEMAS[kind].safeParse({ match: { key: NO_KEY }, columns: {}, ...rest });
    if (parsed.success) return parsed.data;
    faults = shapeProblems(parsed.error.issues, rest, jobShape(kind));
  }
  return undefined;
}

/** More than a job has levels. */
const MAX_ROUNDS = 8;

/** Takes away what stands at a path, and what holds nothing any more. Of a list all goes that follows: places count. */
function dropAt(root: RawObject, path: KeyPath): void {
  const [holder, last] = [getValue(root, path.slice(0, -1)), path.at(-1)];
  if (last === undefined) return;
  if (Array.isArray(holder)) holder.length = Math.min(holder.length, Number(last));
  else delete (asObject(holder) as Record<string | number, unknown>)[last];
  if (Object.keys(Object(holder)).length === 0) dropAt(root, path.slice(0, -1));
}

/** A job file that is fit to run. */
export interface Loaded<J extends Job> {
  readonly job: J;
  /** File name without folder and ending; `inline` for a job that came without a file. */
  readonly name: string;
  /** Absolute; '' for a job that came without a file. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  /** Remarks that stop nothing, as `file:line:column message`. */
  readonly warnings: readonly string[];
}

/** A job that takes rows: an import or a reconciliation. */
export type LoadedJob = Loaded<RowsJob>;
export type LoadedReconcileJob = Loaded<ReconcileJob>;
export type LoadedExportJob = Loaded<ExportJob>;

export { nameHint, nearestNames };

/** The resource that is meant, also in the plural. `purpose`: what is asked for it, which a resource that is only read has no use for. */
export function writableResource(given: string, purpose: string): ResourceName {
  const wanted = given.trim().toLowerCase();
  const found = WRITABLE.find((name) => name === wanted || `${name}s` === wanted);
  if (found) return found;
  const why = READ_ONLY.some((name) => name === wanted)
    ? `${wanted} records can only be read.`
    : `There is no resource \`${given}\`${nameHint(wanted, WRITABLE) || '.'}`;
  throw usageError(`${why} Name one for which ${purpose}: ${WRITABLE.join(', ')}.`);
}
