import { z } from 'zod';
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
  .describe(
    'Spreadsheet below one of the folders that the worker allows (ROWFERRY_ROOTS), absolute or relative to one.',
  );

const cell = z.union([z.string().max(DATA_LIMITS.cell), z.number(), z.boolean(), z.null()]);

/** The rows are checked by `rowFaults`: zod leaves a key `__proto__` out, which is a heading like any other. */
export const dataShape = z.strictObject({
  job: z.union([jobName, z.record(z.string(), z.unknown())]),
  file: file.optional(),
  rows: z.array(z.unknown()).min(1).max(DATA_LIMITS.rows).optional(),
  options: options.optional(),
});

/** What the checked data of every job hold. */
export interface RunData {
  readonly job: string | Readonly<Record<string, unknown>>;
  readonly file?: string;
}

/** Checked data of a run that takes rows. Exactly one of `file` and `rows` is there. */
export interface RowsData extends RunData {
  readonly rows?: readonly Readonly<Record<string, Scalar>>[];
  readonly options?: RowsOptions;
}

export interface RowsOptions {
  readonly dry_run?: boolean;
  /** Of a reconciliation alone. */
  readonly apply?: boolean;
  readonly force?: boolean;
  readonly company?: number;
}

/** Checked data of an export. `file` is what it writes, and wins over the job. */
export interface ExportData extends RunData {
  readonly options?: { readonly company?: number };
}

export type Scalar = string | number | boolean | null;

const NAMED = 'Name of a job file in the jobs folder of the worker.';
const INLINE = 'The job itself, with the keys of a job file.';

const rows = z
  .array(z.record(z.string(), cell))
  .min(1)
  .max(DATA_LIMITS.rows)
  .optional()
  .describe('Rows in place of a file: heading to value. More than these belong in a file.');

const publishedImport = z.strictObject({
  job: z.union([jobName.describe(NAMED), importJob.describe(INLINE)]),
  file: file.optional(),
  rows,
  options: options.omit({ apply: true }).describe(FLAGS).optional(),
});

const publishedReconcile = z.strictObject({
  job: z.union([jobName.describe(NAMED), reconcileJob.describe(INLINE)]),
  file: file.optional(),
  rows,
  options: options.optional(),
});

const publishedExport = z.strictObject({
  job: z.union([jobName.describe(NAMED), exportJob.describe(INLINE)]),
  file: z
    .string()
    .min(1)
    .max(4096)
    .regex(/\.([cC][sS][vV]|[xX][lL][sS][xX]|[nN][dD][jJ][sS][oO][nN])(\.[gG][zZ])?$/)
    .optional()
    .describe(
      'File to write, below one of the folders that the worker allows; wins over the job. {date} stands for the calendar date.',
    ),
  options: z.strictObject({ company }).optional(),
});

/** The JSON Schema that is published: draft 2020-12. `$defs` holds the data of each kind by itself. */
export function jobDataSchema(): Readonly<Record<string, unknown>> {
  const plain = (schema: z.ZodType) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
    return rest;
  };
  const fileOrRows = { oneOf: [{ required: ['file'] }, { required: ['rows'] }] };
  const contradiction = {
    properties: {
      options: {
        properties: { dry_run: { const: true }, apply: { const: true } },
        required: ['dry_run', 'apply'],
      },
    },
    required: ['options'],
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'rowferry: data of a job on the queue `rowferry`',
    description:
      'Which of these it is, the name of the job of the queue says: `import`, `reconcile` or `export`. Anything else fails at once, with every fault listed.',
    anyOf: JOB_KINDS.map((kind) => ({ $ref: `#/$defs/${kind}` })),
    $defs: {
      import: { title: 'Data of a job `import`', ...plain(publishedImport), ...fileOrRows },
      reconcile: {
        title: 'Data of a job `reconcile`',
        ...plain(publishedReconcile),
        ...fileOrRows,
        not: contradiction,
      },
      export: { title: 'Data of a job `export`', ...plain(publishedExport) },
    },
  };
}
