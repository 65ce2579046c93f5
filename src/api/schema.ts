import { z } from 'zod';
import { correction } from '../model/correction.js';
import { OUTCOME_GROUPS, OUTCOMES } from '../model/outcome.js';
import { IMPORTABLE } from '../model/resource-names.js';
import { ROLES, type Role } from './access/roles.js';

export { ROLES, type Role };

/**
 * What the API takes and answers: contract, section 12. Names are those of the reports; times are ISO 8601 in UTC, dates plain
 * calendar dates. The console imports these as types, the description at `/api/v1/openapi.json` is made from them.
 */

const count = z.int().nonnegative();
const time = z.string().meta({ format: 'date-time' });
/** One or several words, between commas. */
const wordList = (words: readonly string[]) =>
  z
    .string()
    .max(300)
    .refine((list) => list.split(',').every((one) => words.includes(one)), {
      error: `names what there is not; it may name: ${words.join(', ')}`,
    });
/** What the description has under a name of its own. */
const named = <S extends z.ZodRawShape>(id: string, shape: S) => z.object(shape).meta({ id });

/** A fault as RFC 9457 has it. `code`: `usage` where the request has to change, `failed` otherwise. */
export const problem = named('Problem', {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(['usage', 'failed']),
  detail: z.string().describe('What is wrong, and what to do, in sentences.'),
  errors: z.array(z.string()).optional().describe('Each fault by itself, where there are several.'),
});
export type Problem = z.output<typeof problem>;

/** Who is signed in, and what they look at. */
export const session = named('Session', {
  name: z.string(),
  role: z.enum(ROLES),
  via: z.enum(['user', 'link', 'key', 'socket']),
  service: z.string().describe('Address of the service.'),
  company: z.int(),
  company_name: z.string().nullable().describe('Null where it could not be read.'),
  production: z.boolean().describe('False where the address of the service looks like a test.'),
  version: z.string(),
  max_upload: z.int().describe('Bytes.'),
});
export type Session = z.output<typeof session>;

export const signIn = z.strictObject({ name: z.string().max(200), password: z.string().max(1_000) });

// Files and what is found in them

export const uploaded = named('File', {
  id: z.string(),
  file: z.string().describe('What `POST /runs` and the others take as `file`; the id will do, too.'),
  name: z.string(),
  bytes: count,
  sha256: z.string(),
});
export type Uploaded = z.output<typeof uploaded>;

/** How a table is to be read where detection would be wrong; as `source` of a job file. */
const tableOptions = z.strictObject({
  sheet: z.union([z.string(), z.int()]).optional(),
  header_row: z.union([z.int().min(1), z.literal('none')]).optional(),
  encoding: z.string().optional(),
  delimiter: z.string().optional(),
});
export type TableOptions = z.output<typeof tableOptions>;

export const tableRequest = z.strictObject({ file: z.string(), source: tableOptions.optional() });

const gridRow = named('GridRow', {
  row: z.int().describe('The number that the spreadsheet program shows.'),
  cells: z.array(z.string()),
});
export type GridRow = z.output<typeof gridRow>;

export const table = named('Table', {
  format: z.string(),
  encoding: z.string().nullable(),
  delimiter: z.string().nullable(),
  sheet: z.string().nullable(),
  sheets: z.array(z.string()),
  header_row: z.int().nullable(),
  headings: z.array(z.string()).describe('As job files name the columns.'),
  first: z.array(gridRow).describe('The first rows below the heading, as a person sees them.'),
  resource: z.enum(IMPORTABLE).describe('What its rows seem to be.'),
  evidence: z.array(z.string()),
  warnings: z.array(z.string()),
});
export type Table = z.output<typeof table>;

export const suggestionRequest = z.strictObject({
  file: z.string(),
  resource: z.string(),
  source: tableOptions.optional(),
});

export const suggestion = named('Suggestion', {
  resource: z.string(),
  rows: count,
  columns: z.array(
    z.object({
      heading: z.string().describe('As the job names the column.'),
      column: z.int().describe('From 1.'),
      field: z.string().nullable(),
      confidence: z.enum(['high', 'medium', 'none']),
      evidence: z.array(z.string()),
      remarks: z.array(z.string()),
      why: z.string().nullable().describe('Why it is not mapped.'),
      alternatives: z.array(z.object({ field: z.string(), why: z.string() })),
      samples: z.array(z.string()),
      blank: z.number().describe('Share of its cells, 0 to 1.'),
      converts: z
        .number()
        .nullable()
        .describe('Share of its cells that fit the field, 0 to 1; null where unmapped or undecided.'),
    }),
  ),
  key: z.object({ field: z.string(), heading: z.string(), blank: count, repeats: count, fits: z.boolean() }).nullable(),
  missing: z.array(z.string()).describe('Fields that a new record must have, and no column gives.'),
  next: z.string().nullable().describe('What a person must decide next.'),
  warnings: z.array(z.string()),
  text: z.string().describe('The job file, YAML.'),
  job: z.record(z.string(), z.unknown()).describe('The same as an object: what `POST /runs` takes as `job`.'),
});
export type Suggestion = z.output<typeof suggestion>;

// What the service has

export const field = named('Field', {
  name: z.string(),
  label: z.string(),
  group: z.string(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'choice', 'reference']),
  required: z.boolean(),
  choices: z.array(z.string()).describe('Of a choice; none where they are too many or come from the service.'),
  of: z.string().nullable().describe('Of a reference: what `GET /names?of=` takes.'),
  written: z.boolean().describe('False where it can only be read.'),
  updated: z.boolean().describe('False where a record that is there keeps what it has.'),
});
export type Field = z.output<typeof field>;

export const resource = named('Resource', {
  name: z.string(),
  imported: z.boolean(),
  exported: z.boolean(),
  fields: z.array(field),
});
export type Resource = z.output<typeof resource>;

export const resources = z.object({ resources: z.array(resource) });

export const names = named('Names', {
  names: z.array(z.string()),
  more: z.boolean(),
  lack: z.string().nullable().describe('Why there are none, or not all, in a sentence.'),
});
export type Names = z.output<typeof names>;

// Runs

export const counts = z.object({ ...Object.fromEntries(OUTCOMES.map((kind) => [kind, count])) } as Record<
  (typeof OUTCOMES)[number],
  typeof count
>);

export { type Correction, correction } from '../model/correction.js';

const RUN_STATES = [
  'waiting',
  'running',
  'succeeded',
  'partial',
  'braked',
  'failed',
  'interrupted',
  'unfinished',
] as const;

/** `waiting`: on the queue. `unfinished`: it ended without reports; `resume` goes on with it. */
export type RunState = (typeof RUN_STATES)[number];

export const progress = z.object({
  phase: z.string(),
  done: count,
  total: count.nullable(),
  outcomes: counts,
  phases: z
    .array(z.object({ phase: z.string(), at: time }))
    .optional()
    .describe('When each phase began; the last of them.'),
  paused_until: time.optional().describe('The service asked to be left alone until then.'),
  service_away: z.literal(true).optional().describe('The service does not answer; the run waits for it.'),
});
export type RunProgress = z.output<typeof progress>;

export const run = named('Run', {
  id: z.string(),
  status: z.enum(RUN_STATES),
  kind: z.enum(['import', 'export', 'reconcile', 'undo']),
  manner: z.enum(['retry', 'approved']).optional(),
  of_run: z.string().optional().describe('The run that it retries, undoes or carries out.'),
  job: z.string(),
  file: z.string().describe('Its name, without folders.'),
  dry_run: z.boolean(),
  started_at: time,
  rows: count.nullable(),
  needs_person: count.nullable(),
  outcomes: counts.nullable(),
  verdict: z.string().optional().describe('Why a run that succeeded is not all well: `Texts were cut`.'),
  aside: z.literal(true).optional().describe('Somebody said that nothing more is to be done with it.'),
  aside_reason: z.string().optional().describe('Why that is so without anybody: its job was begun anew elsewhere.'),
});
export type Run = z.output<typeof run>;

/** Of an address below a run. */
export const runParams = z.object({ id: z.string().describe('Of the run.') });

export const VERBS = ['resume', 'retry', 'undo', 'approve', 'stop'] as const;
export type Verb = (typeof VERBS)[number];

export const verb = z.object({
  allowed: z.boolean(),
  why: z.string().optional().describe('Why not, in a sentence.'),
});

export const runDetail = named('RunDetail', {
  ...run.shape,
  here: z.boolean().describe('Whether its rows and reports lie in the data folder of this worker.'),
  resource: z.string().optional(),
  company: z.int().optional(),
  undone_by: z.string().optional().describe('The undo that puts back what it wrote, or has.'),
  corrections: count.optional().describe('Cells that were corrected in the console.'),
  ordered: z
    .object({
      job: z.union([z.string(), z.record(z.string(), z.unknown())]),
      job_etag: z.string().optional().describe('Of the job file as the run read it.'),
      file: z.string().optional(),
      corrections: z.array(correction).optional(),
    })
    .optional()
    .describe('What `POST /runs` was given, for somebody who takes it up from here.'),
  progress: progress.nullable().describe('Of a run that waits or works.'),
  summary: z.record(z.string(), z.unknown()).nullable().describe('summary.json, once it has ended.'),
  reason: z.string().nullable().describe('Why it was braked, failed or was refused.'),
  reports: z.array(z.string()),
  actions: z.record(z.enum(VERBS), verb),
  state: z.string().optional().describe('Of its job on the queue.'),
  failure: z.enum(['usage', 'failed']).optional().describe('Of a job that failed: whether the order has to change.'),
  host: z.string().optional().describe('The machine of the worker that has it, or had.'),
});
export type RunDetail = z.output<typeof runDetail>;

export const runs = named('Runs', { runs: z.array(run), next: z.string().nullable() });
export type Runs = z.output<typeof runs>;

/** `next` of the page before: the run that was its last. */
export const afterRun = z
  .string()
  .max(500)
  .regex(/^\d{8}T\d{9}Z-/)
  .optional()
  .describe('`next` of the page before.');

/** What `GET /runs` may be asked. */
export const runsQuery = z.object({
  job: z.string().max(300).optional(),
  kind: z.enum(['import', 'export', 'reconcile', 'undo']).optional(),
  status: wordList(RUN_STATES).optional().describe('One or several, between commas.'),
  q: z.string().max(300).optional().describe('How the id begins, or a part of the name of file or job.'),
  after: afterRun,
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export type RunsQuery = z.output<typeof runsQuery>;

export const issue = z.object({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  column: z.string().optional(),
  field: z.string().optional(),
  value: z.string().optional(),
  origin: z.enum(['local', 'service']),
});
export type Issue = z.output<typeof issue>;

export const change = z.object({
  field: z.string(),
  old: z.string(),
  new: z.string(),
  kind: z.enum(['set', 'clear', 'preserved', 'at_risk', 'kept']),
});

export const row = named('Row', {
  row: z.int(),
  outcome: z.enum(OUTCOMES).nullable().describe('Null while the run has not come to it.'),
  key: z.string(),
  id: z.int().nullable(),
  changed: z.array(z.string()),
  issues: z.array(issue),
  cells: z.array(z.string()).optional().describe('With `cells=true`: as a person sees them.'),
});
export type Row = z.output<typeof row>;

/** What `GET /runs/{id}/rows` may be asked. `offset` is for lists that are scrolled to any place, `after` for all others. */
export const rowsQuery = z.object({
  outcome: wordList([...OUTCOME_GROUPS, ...OUTCOMES])
    .optional()
    .describe('One or several of these, between commas.'),
  code: z.string().optional(),
  column: z.string().optional().describe('With `code`: only rows whose fault of this code is in this column.'),
  key: z.string().optional().describe('What the key begins with.'),
  after: z
    .string()
    .regex(/^\d{1,10}$/)
    .optional()
    .describe('`next` of the page before.'),
  offset: z.coerce.number().int().nonnegative().optional().describe('In place of `after`: rows to pass over.'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cells: z.stringbool().default(false).meta({ type: 'boolean', default: false }),
});
export type RowsQuery = z.output<typeof rowsQuery>;

export const rows = named('Rows', {
  rows: z.array(row),
  headings: z.array(z.string()).optional().describe('With `cells=true`.'),
  total: count.describe('Rows that the filter lets through, so far.'),
  next: z.string().nullable(),
});
export type Rows = z.output<typeof rows>;

/** cells → values → what was found → decision → request → outcome */
export const story = named('Story', {
  ...row.shape,
  cells: z.array(z.string()),
  headings: z.array(z.string()),
  corrected: z.array(z.int()).describe('Positions of cells that were corrected, from 0.'),
  changes: z.array(change),
  found: z.object({ id: z.int(), record: z.unknown() }).nullable().describe('The record as it was before an update.'),
  sent: z
    .object({ operation: z.enum(['create', 'update']), times: count, at: time.nullable() })
    .nullable()
    .describe('Null where nothing was sent.'),
});
export type Story = z.output<typeof story>;

/** The same fault in the same value of a column, over all rows. */
export const faultGroup = named('Fault', {
  code: z.string(),
  meaning: z.string(),
  column: z.string().nullable(),
  field: z.string().nullable(),
  value: z.string().nullable(),
  message: z.string(),
  rows: count,
  first: z.int().describe('The first of these rows.'),
});
export type FaultGroup = z.output<typeof faultGroup>;

/** What a run writes, or would. */
export const plan = named('Plan', {
  created: count,
  updated: count,
  unchanged: count,
  cleared: count.describe('Values that updates empty.'),
  at_risk: count,
  brakes: z.array(
    z.object({
      name: z.string(),
      limit: z.string(),
      found: z.string(),
      tripped: z.boolean().describe('It stopped the run.'),
      overridden: z.boolean().optional().describe('It would have, and somebody let the run pass.'),
    }),
  ),
  fields: z.array(
    z.object({
      field: z.string(),
      records: count,
      first: z.array(z.object({ row: z.int(), key: z.string(), old: z.string(), new: z.string(), kind: z.string() })),
    }),
  ),
  creates: z.array(
    z.object({ row: z.int(), key: z.string(), values: z.array(z.object({ field: z.string(), value: z.string() })) }),
  ),
  warnings: z.array(z.string()),
});
export type Plan = z.output<typeof plan>;

export const accepted = named('Accepted', { id: z.string().describe('Of the run that this began, or takes up.') });
export type Accepted = z.output<typeof accepted>;

// Jobs, nights, queue, overview

const jobProblem = z.object({
  line: z.int().nullable(),
  column: z.int().nullable(),
  severity: z.enum(['error', 'warning']),
  message: z.string(),
});

export const job = named('Job', {
  name: z.string(),
  kind: z.enum(['import', 'export', 'reconcile']).nullable().describe('Null where the file is wrong.'),
  resource: z.string().nullable(),
  schedule: z
    .object({ cron: z.string(), timezone: z.string(), file: z.string().nullable(), next: time.nullable() })
    .nullable(),
  inbox: z.object({ waiting: count, folder: z.string() }).nullable().describe('What waits in its drop folder.'),
  last: z.union([run, z.null()]),
  problems: z.array(jobProblem),
});
export type Job = z.output<typeof job>;

export const jobFile = named('JobFile', {
  ...job.shape,
  job: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'As an object that `POST /runs` takes as `job`: without `notify` and `schedule`. Absent where the file is wrong.',
    ),
  text: z.string(),
  etag: z.string(),
});
export type JobFile = z.output<typeof jobFile>;

export const jobs = z.object({ jobs: z.array(job) });

/** A job as the text of its file, or as an object with the same keys. */
export const jobInput = z.union(
  [z.strictObject({ text: z.string().max(1_000_000) }), z.strictObject({ job: z.record(z.string(), z.unknown()) })],
  'must be {"text": "…"}, the text of a job file of at most 1,000,000 characters, or {"job": {…}}, its keys as an object',
);
export type JobInput = z.output<typeof jobInput>;

export const jobChecked = named('JobChecked', {
  kind: job.shape.kind,
  resource: job.shape.resource,
  problems: z.array(jobProblem),
  text: z.string().describe('As the file would have it.'),
});
export type JobChecked = z.output<typeof jobChecked>;

export const night = named('Night', {
  run: z.string(),
  started_at: time,
  status: z.enum(RUN_STATES),
  verdict: run.shape.verdict,
  apply: z.boolean(),
  rows: count,
  differences: count,
  put_right: count,
  created: count,
  orphans: count,
  new_orphans: count,
  orphans_acted: count.describe('Set or archived, as the job says.'),
  reason: z.string().nullable(),
  approved_by: z.string().nullable(),
  undone_by: runDetail.shape.undone_by,
});
export type Night = z.output<typeof night>;

export const nights = named('Nights', { nights: z.array(night), next: z.string().nullable() });
export type Nights = z.output<typeof nights>;

export const queued = z.object({
  id: z.string(),
  run: z.string().nullable(),
  kind: z
    .string()
    .describe('Of one that takes up an earlier run what is done with that: `retry`, `undo` or `approve`.'),
  job: z.string(),
  file: z.string().nullable(),
  at: time,
  progress: progress.nullable(),
  reason: z.string().nullable(),
});

export const queue = named('Queue', {
  address: z.string().describe('For people.'),
  workers: count,
  roots: z.array(z.string()).optional(),
  counts: z.object({ waiting: count, active: count, delayed: count, failed: count, completed: count }),
  waiting: z.array(queued).describe('The first of them.'),
  active: z.array(queued),
  failed: z.array(queued).describe('The latest of them.'),
});
export type Queue = z.output<typeof queue>;

export const overview = named('Overview', {
  needs_person: z.array(run).describe('Stopped nights, files to correct, what failed; the latest first.'),
  running: z.array(run),
  next: z.array(z.object({ job: z.string(), at: time })),
  days: z.array(z.object({ date: z.string(), outcomes: counts })).describe('The last 30, in the time zone asked for.'),
  service: z.object({
    ok: z.boolean().nullable().describe('Null where it was not asked yet.'),
    rate: z.number().nullable().describe('Requests a second that it bears, as learned.'),
    waiting: count.describe('Requests that wait for their turn.'),
    paused_until: time.nullable(),
  }),
});
export type Overview = z.output<typeof overview>;

export const health = named('Health', { ok: z.boolean(), details: z.record(z.string(), z.string()) });
export type Health = z.output<typeof health>;
