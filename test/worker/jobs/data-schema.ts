import { z } from 'zod';
import { exportJob, importJob, reconcileJob } from '../../../src/model/job.js';
import { DATA_LIMITS, DATA_SHAPES, JOB_KINDS, type JobKind } from '../../../src/worker/jobs/data.js';

const INLINE = 'The job itself, with the keys of a job file but `notify`.';
const [name] = DATA_SHAPES.import.shape.job.options;
const cell = z.union([z.string().max(DATA_LIMITS.cell), z.number(), z.boolean(), z.null()]);
const rows = z
  .array(z.record(z.string(), cell))
  .min(1)
  .max(DATA_LIMITS.rows)
  .describe('Rows in place of a file: heading to value. More than these belong in a file.')
  .optional();
const target = z
  .string()
  .min(1)
  .max(4096)
  .regex(/\.([cC][sS][vV]|[xX][lL][sS][xX]|[nN][dD][jJ][sS][oO][nN])(\.[gG][zZ])?$/)
  .describe(
    'File to write, below one of the folders that the worker allows; wins over the job. {date} stands for the calendar date.',
  )
  .optional();

/** What is checked, with what the worker checks by itself. */
const published = {
  import: DATA_SHAPES.import.extend({
    job: z.union([name, importJob.omit({ notify: true }).describe(INLINE)]),
    rows,
  }),
  reconcile: DATA_SHAPES.reconcile.extend({
    job: z.union([name, reconcileJob.omit({ notify: true }).describe(INLINE)]),
    rows,
  }),
  export: DATA_SHAPES.export.extend({
    job: z.union([name, exportJob.omit({ notify: true }).describe(INLINE)]),
    file: target,
  }),
};

/** The JSON Schema that is published: draft 2020-12. `$defs` holds the data of each kind by itself. */
export function jobDataSchema(): Readonly<Record<string, unknown>> {
  const plain = (kind: JobKind) => {
    const { $schema: _, ...rest } = z.toJSONSchema(published[kind], { io: 'input', target: 'draft-2020-12' });
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
