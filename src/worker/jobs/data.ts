import { z } from 'zod';
import { correction, MAX_CORRECTIONS } from '../../model/correction.js';
import { Decimal } from '../../model/decimal.js';
import { RunError } from '../../model/error.js';
import { type Job, type KeyPath, RUN_ID } from '../../model/job.js';
import {
  JOB_KINDS,
  type JobKind,
  nameHint,
  quoteValue,
  type Shape,
  shapeProblems,
  unknownText,
} from '../../runs/job/shape.js';
import {
  inlineJob,
  type Loaded,
  type LoadedExportJob,
  type LoadedJob,
  type LoadedReconcileJob,
  targetProblems,
} from '../../runs/job-file.js';

/**
 * What the jobs of queue `rowferry` carry: contract, section 10. Published as `schemas/job-data.schema.json`, which
 * `test/worker/jobs/data-schema.ts` makes of this; everything that is put on the queue by anybody is checked against it before anything else is done.
 */

/** The queue that carries runs; contract, section 10. */
export const RUNS_QUEUE = 'rowferry';

export { JOB_KINDS, type JobKind } from '../../runs/job/shape.js';

/**
 * Every job lies in the memory of the queue and is copied with each delivery; a file is read piece by piece. More rows than
 * these belong in a file.
 */
export const DATA_LIMITS = {
  rows: 10_000,
  columns: 1_000,
  /** Characters of a cell: what a spreadsheet cell may hold. */
  cell: 32_767,
  /** Bytes of the whole data as JSON. */
  bytes: 16 * 1024 * 1024,
  /** Bytes of an inline job as JSON: what a job file may have. */
  job: 1024 * 1024,
} as const;

/** Name of a file in the jobs folder, without folder and ending: a path would reach files outside it. */
export const jobName = z
  .string()
  .min(1)
  .max(200)
  .regex(
    /^(?!.*\.[yY][aA]?[mM][lL]$)[^./\\~\p{Cc}][^/\\\p{Cc}]*$/u,
    'must be the name of a job file in the jobs folder, without folder and ending',
  );

const company = z
  .number()
  .int()
  .min(1)
  .optional()
  .describe('Company id; wins over the job and the settings of the worker.');

const corrections = z
  .array(correction)
  .max(MAX_CORRECTIONS)
  .optional()
  .describe(
    'Cells that are read as if something else stood there; each names its `row`, or with `from` what the cell shows.',
  );

const FLAGS = 'What the flags of the command line say otherwise.';

/** What a run of rows may be told; `apply` only of a reconciliation, `plan_of` only of an import. */
export const rowsOptions = z
  .strictObject({
    dry_run: z.boolean().optional().describe('Say what would happen; nothing is written to the service.'),
    apply: z
      .boolean()
      .optional()
      .describe('Reconcile only: write the differences, or only report them. Wins over `dry_run` and the job.'),
    force: z.boolean().optional().describe('Go on although a brake of the job would stop the run.'),
    company,
    plan_of: z
      .string()
      .regex(RUN_ID, 'must be the id of a run')
      .optional()
      .describe(
        'Import only: a dry run of the same. A row that would now be written otherwise than it planned is a conflict.',
      ),
  })
  .describe(FLAGS);

const file = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), { message: 'must not hold a NUL' })
  .describe(
    'Spreadsheet below one of the folders that the worker allows (ROWFERRY_ROOTS), absolute or relative to one.',
  );

export type RowsOptions = Readonly<z.output<typeof rowsOptions>>;

/** Checked data of a run that takes rows. Exactly one of `file` and `rows` is there. */
export type RowsData = Readonly<Omit<z.output<(typeof DATA_SHAPES)['reconcile']>, 'rows' | 'options'>> & {
  readonly options?: RowsOptions;
  readonly rows?: readonly Readonly<Record<string, string | number | boolean | null>>[];
};

/** Checked data of an export. `file` is what it writes, and wins over the job. */
type ExportData = Readonly<z.output<(typeof DATA_SHAPES)['export']>>;

/** What the checked data of every job hold. */
export type RunData = Pick<ExportData, 'job' | 'file'>;

/** Of a job file, or the job itself; this is checked as job files are. */
const job = z.union([
  jobName.describe('Name of a job file in the jobs folder of the worker.'),
  z.record(z.string(), z.unknown()),
]);
/** They are checked by themselves: zod leaves a key `__proto__` out, which is a heading like any other. */
const rows = z.array(z.unknown()).min(1).max(DATA_LIMITS.rows);

const rowsShape = { job, file: file.optional(), rows: rows.optional(), corrections };

/** The data of each kind of job. The published schema says more of inline jobs, rows and the file that an export writes. */
export const DATA_SHAPES = {
  import: z.strictObject({ ...rowsShape, options: rowsOptions.omit({ apply: true }).describe(FLAGS).optional() }),
  reconcile: z.strictObject({ ...rowsShape, options: rowsOptions.omit({ plan_of: true }).optional() }),
  export: z.strictObject({ job, file: file.optional(), options: z.strictObject({ company }).optional() }),
};

/** Data that are fit to be carried out. */
export type ValidData =
  | { readonly kind: 'import'; readonly ok: RowsData; readonly inline?: LoadedJob }
  | { readonly kind: 'reconcile'; readonly ok: RowsData; readonly inline?: LoadedReconcileJob }
  | { readonly kind: 'export'; readonly ok: ExportData; readonly inline?: LoadedExportJob };

type CheckedData = ValidData | { readonly faults: readonly string[] };

/** A NUL or half of a character, as JSON has it. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** More are counted, not listed: the reason of a failed job lies in the queue and is shown on one page. */
const MOST_LISTED = 100;

/**
 * Checks what came with a job of the queue. Each fault names the place, the value, shortened, and the rule; all are listed.
 * What is or may be a cell is not quoted: the faults stay on the queue and in the log.
 * An inline job is checked like a job file.
 */
export function checkJobData(name: string, data: unknown): CheckedData {
  const knownKind = JOB_KINDS.find((one) => one === name);
  const kind = knownKind ?? 'import';
  const faults: string[] = knownKind
    ? []
    : [`the job name is ${quoteValue(name)}; it must be one of: ${JOB_KINDS.join(', ')}${nameHint(name, JOB_KINDS)}`];
  const json = jsonOf(data);
  if (json === undefined) return { faults: [...faults, 'the data nests too deep to be read'] };
  const size = Buffer.byteLength(json);
  if (size > DATA_LIMITS.bytes) {
    const text = `the data has ${size} bytes; it may have ${DATA_LIMITS.bytes}. Put the rows into a file.`;
    return { faults: [...faults, text] };
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return { faults: [...faults, 'the data must be an object with `job` and `file` or `rows`'] };
  }
  const { error } = DATA_SHAPES[kind].safeParse(data);
  const problems = shapeProblems(error?.issues ?? [], data, dataShape(kind));
  const quotesCell = ([first]: KeyPath) => first === 'rows' || first === 'corrections';
  faults.push(...problems.map(({ path, message }) => (quotesCell(path) ? message.replace(/".*"/s, '"…"') : message)));
  const { job, file, rows, options = {} } = data as Readonly<Record<string, unknown>> & { readonly options?: object };
  if (kind === 'export') {
    const problems = typeof file === 'string' && file !== '' ? targetProblems(file) : [];
    faults.push(...problems.map((wrong) => `\`file\` is ${quoteValue(file)}; ${wrong}`));
  } else {
    if (Array.isArray(rows) && rows.length <= DATA_LIMITS.rows) faults.push(...rowFaults(rows));
    const { corrections } = data as { readonly corrections?: unknown };
    if (Array.isArray(corrections)) faults.push(...correctionFaults(corrections));
    if ((file === undefined) === (rows === undefined)) {
      faults.push(`give exactly one of \`file\` and \`rows\`; ${file === undefined ? 'neither is' : 'both are'} there`);
    }
  }
  const { dry_run: dryRun, apply, plan_of: planOf } = (options ?? {}) as Readonly<Record<string, unknown>>;
  if (kind === 'reconcile' && dryRun === true && apply === true) {
    faults.push(
      '`options.dry_run` and `options.apply` are both true; say one: write the differences, or only report them',
    );
  }
  if (dryRun === true && planOf !== undefined)
    faults.push('`options.dry_run` and `options.plan_of` are both there; say one: a dry run makes a plan of its own');
  const isInline = typeof job === 'object' && job !== null && !Array.isArray(job);
  const inline = isInline ? checkInline(job, kind) : undefined;
  if (inline && 'faults' in inline) faults.push(...inline.faults);
  else if (faults.length === 0 && ESCAPED.test(json))
    faults.push('a text of the data holds a NUL or half of a character');
  else if (faults.length === 0) {
    // As it came: zod's copy of the rows would lack a heading `__proto__`.
    return { kind, ok: data, ...(inline && { inline: inline.job }) } as ValidData;
  }
  const more = faults.length - MOST_LISTED;
  return { faults: more > 0 ? [...faults.slice(0, MOST_LISTED), `… and ${more} more`] : faults };
}

function checkInline(
  job: object,
  kind: JobKind,
): { readonly job: Loaded<Job> } | { readonly faults: readonly string[] } {
  if (Object.hasOwn(job, 'notify')) {
    return {
      faults: ['`job.notify` stands in a job file only: whoever puts a job on the queue names nobody to be told'],
    };
  }
  const size = Buffer.byteLength(jsonOf(job) ?? '');
  if (size > DATA_LIMITS.job) return { faults: [`\`job\` has ${size} bytes; a job may have ${DATA_LIMITS.job}`] };
  try {
    return { job: inlineJob(kind, job) };
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
      faults.push(`\`${place}\`: a row is an object of headings and values`);
      continue;
    }
    for (const [heading, value] of Object.entries(row)) {
      headings.add(heading);
      const rule = cellFault(value) ?? textFault(heading);
      if (rule !== undefined) faults.push(`\`${place}.${clip(heading)}\`: ${rule}`);
    }
  }
  if (rows.length > 0 && headings.size === 0 && faults.length === 0) faults.push('`rows` hold no values at all');
  if (headings.size > DATA_LIMITS.columns) {
    faults.push(`\`rows\` have ${headings.size} different headings; there may be ${DATA_LIMITS.columns}`);
  }
  return faults;
}

function correctionFaults(corrections: readonly unknown[]): string[] {
  return corrections.flatMap((one, index) => {
    if (typeof one !== 'object' || one === null) return [];
    const { row, from } = one as { readonly row?: unknown; readonly from?: unknown };
    if ((row === undefined) !== (from === undefined)) return [];
    return [
      `\`corrections[${index}]\` says ${row === undefined ? 'neither' : 'both'} of \`row\` and \`from\`; say one`,
    ];
  });
}

function cellFault(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return value.length > DATA_LIMITS.cell ? `a cell may have ${DATA_LIMITS.cell} characters` : textFault(value);
  }
  if (value instanceof Decimal || (typeof value === 'number' && losesDigits(value))) {
    return 'numbers this long lose digits on their way; send it as text';
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return undefined;
  return 'a cell is text, a number, true, false or null';
}

/** Not every queue can keep such a text. */
const textFault = (text: string) =>
  /[\0\p{Cs}]/u.test(text) ? 'a text may hold no NUL and no half of a character' : undefined;

/** No longer what was written. A fraction that lost digits before it came here cannot be told. */
const losesDigits = (value: number) =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));

const dataShape = (kind: JobKind): Shape => ({
  unknownKey(key, [first]) {
    const { shape } = DATA_SHAPES[kind];
    const inner = { options: shape.options.unwrap().shape, corrections: correction.shape }[String(first)];
    const name = `\`${first === undefined ? '' : `${String(first)}.`}${clip(key)}\``;
    return unknownText(key, Object.keys(inner ?? shape), name);
  },
});

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** Undefined where it nests too deep to be written. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return undefined;
  }
}
