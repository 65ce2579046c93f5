import type { z } from 'zod';
import { RunError } from '../../model/error.js';
import {
  inlineExportJob,
  inlineJob,
  inlineReconcileJob,
  type LoadedExportJob,
  type LoadedJob,
  type LoadedReconcileJob,
  targetProblems,
} from '../../runs/job-file.js';
import { didYouMean } from '../../runs/nearest.js';
import {
  DATA_LIMITS,
  dataShape,
  type ExportData,
  JOB_KINDS,
  type JobKind,
  type RowsData,
  type Scalar,
} from './data.js';

/** Data that are fit to be carried out. */
export type FitData =
  | { readonly kind: 'import'; readonly ok: RowsData; readonly inline?: LoadedJob }
  | { readonly kind: 'reconcile'; readonly ok: RowsData; readonly inline?: LoadedReconcileJob }
  | { readonly kind: 'export'; readonly ok: ExportData; readonly inline?: LoadedExportJob };

type CheckedData = FitData | { readonly faults: readonly string[] };

/** More are counted, not listed: the reason of a failed job lies in the queue and is shown on one page. */
const LISTED = 100;

/** A job that nests deeper is no job: its keys have four levels. */
const DEPTH = 20;

/**
 * Checks what came with a job of the queue. Each fault names the place, the value, shortened, and the rule; all are listed.
 * An inline job is checked like a job file.
 */
export function checkJobData(name: string, data: unknown): CheckedData {
  const faults: string[] = [];
  const kind = JOB_KINDS.find((one) => one === name);
  if (!kind) {
    faults.push(
      `the job name is ${shown(name)}; it must be one of: ${JOB_KINDS.join(', ')}${didYouMean(name, JOB_KINDS)}`,
    );
  }
  const size = sizeOf(data);
  if (size === undefined) return { faults: [...faults, 'the data nests too deep to be read'] };
  if (size > DATA_LIMITS.bytes) {
    return {
      faults: [...faults, `the data has ${size} bytes; it may have ${DATA_LIMITS.bytes}. Put the rows into a file.`],
    };
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return {
      faults: [...faults, `the data is ${shown(data)}; it must be an object with \`job\` and \`file\` or \`rows\``],
    };
  }
  const parsed = dataShape.safeParse(data);
  if (!parsed.success) faults.push(...parsed.error.issues.flatMap((issue) => explain(issue, data, kind)));

  const has = (key: string) => Object.hasOwn(data, key) && (data as Record<string, unknown>)[key] !== undefined;
  const rows = has('rows') && 'rows' in data && Array.isArray(data.rows) ? (data.rows as unknown[]) : [];
  if (rows.length <= DATA_LIMITS.rows) faults.push(...rowFaults(rows));
  const plain = data as Readonly<Record<string, unknown>>;
  if (kind) faults.push(...optionFaults(kind, plain['options']));
  if (kind === 'export') faults.push(...exportFaults(plain));
  else if (has('file') === has('rows')) {
    faults.push(`give exactly one of \`file\` and \`rows\`; ${has('file') ? 'both are' : 'neither is'} there`);
  }

  const job = has('job') && 'job' in data ? data.job : undefined;
  const inline = typeof job === 'object' && job !== null && !Array.isArray(job) ? job : undefined;
  const loaded = inlineOf(kind ?? 'import', inline);
  if (loaded && 'faults' in loaded) faults.push(...loaded.faults);
  else if (faults.length === 0 && kind) {
    // As it came: zod's copy of the rows would lack a heading `__proto__`.
    return { kind, ok: data, ...(loaded && { inline: loaded.job }) } as FitData;
  }
  return { faults: shortened(faults) };
}

/** An inline job, by the rules of its kind. */
function inlineOf(kind: JobKind, job: object | undefined): CheckedInline | undefined {
  if (!job) return undefined;
  switch (kind) {
    case 'import':
      return checkInline(job, inlineJob);
    case 'reconcile':
      return checkInline(job, inlineReconcileJob);
    case 'export':
      return checkInline(job, inlineExportJob);
  }
}

/** Options that another kind of job may have, and those that contradict each other. */
function optionFaults(kind: JobKind, options: unknown): string[] {
  if (typeof options !== 'object' || options === null) return [];
  const has = (key: string) => Object.hasOwn(options, key);
  const { dry_run: dryRun, apply } = options as { readonly dry_run?: unknown; readonly apply?: unknown };
  if (kind === 'export') {
    return ['dry_run', 'apply', 'force'].flatMap((key) =>
      has(key)
        ? [`\`options.${key}\` has no meaning in an export: nothing is ever written to the service; leave it out`]
        : [],
    );
  }
  if (kind === 'import' && has('apply')) {
    return ['`options.apply` belongs to jobs `reconcile`; an import writes unless `options.dry_run` is true'];
  }
  if (dryRun === true && apply === true) {
    return ['`options.dry_run` and `options.apply` are both true; say one: write the differences, or only report them'];
  }
  return [];
}

/** What data of an import may hold and those of an export may not; and the file that is to be written. */
function exportFaults(data: Readonly<Record<string, unknown>>): string[] {
  const faults: string[] = [];
  if (data['rows'] !== undefined) faults.push('`rows` has no meaning in an export; leave it out');
  const { file } = data;
  if (typeof file === 'string' && file !== '') {
    faults.push(...targetProblems(file).map((wrong) => `\`file\` is ${shown(file)}; ${wrong}`));
  }
  return faults;
}

type CheckedInline = { readonly job: LoadedJob | LoadedExportJob } | { readonly faults: readonly string[] };

function checkInline(job: object, load: (job: object) => LoadedJob | LoadedExportJob): CheckedInline {
  if (depthOf(job, DEPTH) > DEPTH) return { faults: [`\`job\` nests deeper than ${DEPTH} levels`] };
  const size = sizeOf(job) ?? 0;
  if (size > DATA_LIMITS.job) return { faults: [`\`job\` has ${size} bytes; a job may have ${DATA_LIMITS.job}`] };
  try {
    return { job: load(job) };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { faults: error.details.length > 0 ? error.details : [error.message] };
  }
}

function rowFaults(rows: readonly unknown[]): string[] {
  const faults: string[] = [];
  const headings = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const place = `rows[${index}]`;
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      faults.push(`\`${place}\` is ${shown(row)}; a row is an object of headings and values`);
      continue;
    }
    for (const [heading, value] of Object.entries(row)) {
      headings.add(heading);
      const rule = cellFault(value);
      if (rule !== undefined) faults.push(`\`${place}.${clip(heading)}\` is ${shown(value)}; ${rule}`);
    }
  }
  if (rows.length > 0 && headings.size === 0 && faults.length === 0) faults.push('`rows` hold no values at all');
  if (headings.size > DATA_LIMITS.columns) {
    faults.push(`\`rows\` have ${headings.size} different headings; there may be ${DATA_LIMITS.columns}`);
  }
  return faults;
}

function cellFault(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return value.length > DATA_LIMITS.cell ? `a cell may have ${DATA_LIMITS.cell} characters` : undefined;
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return 'numbers this long lose digits on their way; send it as text';
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return undefined;
  return 'a cell is text, a number, true, false or null';
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

function explain(issue: z.core.$ZodIssue, root: unknown, kind: JobKind | undefined): string[] {
  const place = issue.path.map(String).join('.');
  const found = valueAt(root, issue.path);
  const say = (rule: string) => [`\`${place}\` is ${shown(found)}; ${rule}`];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(place, kind);
      return issue.keys.map(
        (key) =>
          `unknown key \`${place === '' ? '' : `${place}.`}${clip(key)}\`${didYouMean(key, known) || `; known here: ${known.join(', ')}`}`,
      );
    }
    case 'invalid_union': {
      if (found === undefined) return [`\`${place}\` is missing`];
      // Text is meant as a name: the rules of names are told.
      const named = typeof found === 'string' ? issue.errors[0]?.find((one) => one.code !== 'invalid_type') : undefined;
      if (named?.code === 'invalid_format') return say(named.message);
      if (named) return explain({ ...named, path: issue.path }, root, kind);
      return say('it must be the name of a job file, or the job itself as an object');
    }
    case 'invalid_type':
      return found === undefined
        ? [`\`${place}\` is missing`]
        : say(`it must be ${KINDS[issue.expected] ?? issue.expected}`);
    case 'too_small':
      if (issue.origin === 'array') return [`\`${place}\` is an empty list; there must be ${issue.minimum} at least`];
      return say(issue.origin === 'string' ? 'it must not be blank' : `it must be ${issue.minimum} or more`);
    case 'too_big':
      if (issue.origin === 'array') {
        return [
          `\`${place}\` has ${Array.isArray(found) ? found.length : 'too many'} entries; there may be ${issue.maximum}. Put more into a file.`,
        ];
      }
      return say(`it may have at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`);
    default:
      return say(issue.message);
  }
}

const OPTIONS: Readonly<Record<JobKind, string[]>> = {
  import: ['dry_run', 'force', 'company'],
  reconcile: ['dry_run', 'apply', 'force', 'company'],
  export: ['company'],
};

function knownKeys(place: string, kind: JobKind | undefined): string[] {
  if (place === 'options') return OPTIONS[kind ?? 'import'];
  return Object.keys(dataShape.shape).filter((key) => kind !== 'export' || key !== 'rows');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

function shortened(faults: readonly string[]): readonly string[] {
  if (faults.length <= LISTED) return faults;
  return [...faults.slice(0, LISTED), `… and ${faults.length - LISTED} more`];
}

/** The value as a fault quotes it, short. */
function shown(value: Scalar | unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return JSON.stringify(clip(String(value)));
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** Bytes as JSON; undefined where it nests too deep to be written. */
function sizeOf(value: unknown): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '');
  } catch {
    return undefined;
  }
}

/** Levels of nesting; stops counting above `limit`. */
function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit < 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, limit - 1));
  return deepest + 1;
}
