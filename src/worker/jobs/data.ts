import { z } from 'zod';
import { importJob } from '../../model/job.js';

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

const options = z
  .strictObject({
    dry_run: z.boolean().optional().describe('Say what would happen; nothing is written to the service.'),
    force: z.boolean().optional().describe('Go on although a brake of the job would stop the run.'),
    company: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe('Company id; wins over the job and the settings of the worker.'),
  })
  .describe('What the flags of the command line say otherwise.');

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

/** Checked data of an import. Exactly one of `file` and `rows` is there. */
export interface ImportData {
  readonly job: string | Readonly<Record<string, unknown>>;
  readonly file?: string;
  readonly rows?: readonly Readonly<Record<string, Scalar>>[];
  readonly options?: { readonly dry_run?: boolean; readonly force?: boolean; readonly company?: number };
}

export type Scalar = string | number | boolean | null;

/** The JSON Schema that is published: draft 2020-12. */
export function jobDataSchema(): Readonly<Record<string, unknown>> {
  const published = z.strictObject({
    job: z.union([
      jobName.describe('Name of a job file in the jobs folder of the worker.'),
      importJob.describe('The job itself, with the keys of a job file.'),
    ]),
    file: file.optional(),
    rows: z
      .array(z.record(z.string(), cell))
      .min(1)
      .max(DATA_LIMITS.rows)
      .optional()
      .describe('Rows in place of a file: heading to value. More than these belong in a file.'),
    options: options.optional(),
  });
  const { $schema, ...schema } = z.toJSONSchema(published, { io: 'input', target: 'draft-2020-12' });
  return {
    $schema,
    title: 'rowferry: data of a job on the queue `rowferry`',
    description:
      'For the job names import and reconcile. An export takes no rows. Anything else fails at once, with every fault listed.',
    ...schema,
    oneOf: [{ required: ['file'] }, { required: ['rows'] }],
  };
}
