import { z } from 'zod';
import type { Correction } from '../../model/correction.js';
import { correction, MOST_CORRECTIONS } from '../../model/correction.js';
import { exportJob, importJob, reconcileJob } from '../../model/job.js';

/**
 * What the jobs of queue `rowferry` carry: contract, section 10. Published as `schemas/job-data.schema.json`; everything
 * that is put on the queue by anybody is checked against it before anything else is done.
 */

/** The queue that carries runs; contract, section 10. */
export const RUNS_QUEUE = 'rowferry';

export const JOB_KINDS = ['import', 'export', 'reconcile'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

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
    'it must be the name of a job file in the jobs folder, without folder and ending',
  );

const company = z
  .number()
  .int()
  .min(1)
  .optional()
  .describe('Company id; wins over the job and the settings of the worker.');

const corrections = z
  .array(correction)
  .max(MOST_CORRECTIONS)
  .optional()
  .describe(
    'Cells that are read as if something else stood there; each names its `row`, or with `from` what the cell shows.',
  );

const FLAGS = 'What the flags of the command line say otherwise.';

const options = z
  .strictObject({
    dry_run: z.boolean().optional().describe('Say what would happen; nothing is written to the service.'),
    apply: z
      .boolean()
      .optional()
      .describe('Reconcile only: write the differences, or only report them. Wins over `dry_run` and the job.'),
    force: z.boolean().optional().describe('Go on although a brake of the job would stop the run.'),
    company,
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

/** What the checked data of every job hold. */
export interface RunData {
  readonly job: string | Readonly<Record<string, unknown>>;
  readonly file?: string;
}

/** What a run of rows may be told; `apply` only of a reconciliation. */
export type RowsOptions = Readonly<z.output<typeof options>>;

/** Checked data of a run that takes rows. Exactly one of `file` and `rows` is there. */
export interface RowsData extends RunData {
  readonly rows?: readonly Readonly<Record<string, string | number | boolean | null>>[];
  readonly corrections?: readonly Correction[];
  readonly options?: RowsOptions;
}

/** Checked data of an export. `file` is what it writes, and wins over the job. */
export interface ExportData extends RunData {
  readonly options?: Pick<RowsOptions, 'company'>;
}

const INLINE = 'The job itself, with the keys of a job file but `notify`.';
const listOf = (row: z.ZodType) => z.array(row).min(1).max(DATA_LIMITS.rows);

/** The data of each kind of job, around what may stand for an inline job, the rows and the file that an export writes. */
function shapes(inline: Readonly<Record<JobKind, z.ZodType>>, rows: z.ZodType, target: z.ZodType) {
  const named = jobName.describe('Name of a job file in the jobs folder of the worker.');
  return {
    import: z.strictObject({
      job: z.union([named, inline.import]),
      file: file.optional(),
      rows: rows.optional(),
      corrections,
      options: options.omit({ apply: true }).describe(FLAGS).optional(),
    }),
    reconcile: z.strictObject({
      job: z.union([named, inline.reconcile]),
      file: file.optional(),
      rows: rows.optional(),
      corrections,
      options: options.optional(),
    }),
    export: z.strictObject({
      job: z.union([named, inline.export]),
      file: target.optional(),
      options: z.strictObject({ company }).optional(),
    }),
  };
}

const anything = z.record(z.string(), z.unknown());
/** Inline jobs are checked as job files are; rows by themselves: zod leaves a key `__proto__` out, which is a heading like any other. */
export const DATA_SHAPES = shapes(
  { import: anything, export: anything, reconcile: anything },
  listOf(z.unknown()),
  file,
);

const cell = z.union([z.string().max(DATA_LIMITS.cell), z.number(), z.boolean(), z.null()]);
const published = () =>
  shapes(
    {
      import: importJob.omit({ notify: true }).describe(INLINE),
      export: exportJob.omit({ notify: true }).describe(INLINE),
      reconcile: reconcileJob.omit({ notify: true }).describe(INLINE),
    },
    listOf(z.record(z.string(), cell)).describe(
      'Rows in place of a file: heading to value. More than these belong in a file.',
    ),
    z
      .string()
      .min(1)
      .max(4096)
      .regex(/\.([cC][sS][vV]|[xX][lL][sS][xX]|[nN][dD][jJ][sS][oO][nN])(\.[gG][zZ])?$/)
      .describe(
        'File to write, below one of the folders that the worker allows; wins over the job. {date} stands for the calendar date.',
      ),
  );

/** The JSON Schema that is published: draft 2020-12. `$defs` holds the data of each kind by itself. */
export function jobDataSchema(): Readonly<Record<string, unknown>> {
  const shape = published();
  const plain = (kind: JobKind) => {
    const { $schema: _, ...rest } = z.toJSONSchema(shape[kind], { io: 'input', target: 'draft-2020-12' });
    return { title: `Data of a job \`${kind}\``, ...rest };
  };
  const fileOrRows = { oneOf: [{ required: ['file'] }, { required: ['rows'] }] };
  const both = { properties: { dry_run: { const: true }, apply: { const: true } }, required: ['dry_run', 'apply'] };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'rowferry: data of a job on the queue `rowferry`',
    description:
      'Which of these it is, the name of the job of the queue says: `import`, `reconcile` or `export`. Anything else fails at once, with every fault listed.',
    anyOf: JOB_KINDS.map((kind) => ({ $ref: `#/$defs/${kind}` })),
    $defs: {
      import: { ...plain('import'), ...fileOrRows },
      reconcile: {
        ...plain('reconcile'),
        ...fileOrRows,
        not: { properties: { options: both }, required: ['options'] },
      },
      export: plain('export'),
    },
  };
}
