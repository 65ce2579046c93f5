import { z } from 'zod';
import { EXPORTABLE, IMPORTABLE } from './resource-names.js';

/** Job files, contract section 4. The loader adds line numbers and nearest names to what zod reports. */

const blank = z.enum(['keep', 'clear']);

/** What a heading is mapped to, in full form. */
export const columnTarget = z.strictObject({
  field: z.string().min(1),
  required: z.boolean().optional(),
  /** A file may lack the heading: its cells then count as not given. */
  optional: z.boolean().optional(),
  blank: blank.optional(),
  /** Cell text → value; compared without case and surrounding blanks. */
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  /** Formats of this column's text dates, in place of `source.dates`. */
  dates: z.array(z.string().min(1)).optional(),
  decimal: z.enum(['.', ',']).optional(),
  /** Texts that are too long: a fault, or cut, with a warning that counts them. */
  overflow: z.enum(['reject', 'cut']).optional(),
});
export type ColumnTarget = z.output<typeof columnTarget>;

/** A field by its name, or in full form. */
const target = z.union([z.string().min(1), columnTarget]);

/** What a heading is mapped to: one field, several, or none on purpose. */
const columnTargets = z.union([z.null(), z.string().min(1), columnTarget, z.array(target).min(1)]);

/** Its fields, in full form. */
export function targetsOf(given: z.output<typeof columnTargets>): readonly ColumnTarget[] {
  if (given === null) return [];
  return (Array.isArray(given) ? given : [given]).map((one) => (typeof one === 'string' ? { field: one } : one));
}

/** The keys of a job file down to a value; places in lists count from 0. */
export type KeyPath = readonly (string | number)[];

/** Something in a job that cannot be used as it is. */
export interface JobFault {
  readonly path: KeyPath;
  /** Whether the key itself is meant, or what stands under it. */
  readonly part: 'key' | 'value';
  readonly message: string;
  /** A remark, which stops nothing; else an error. */
  readonly severity?: 'warning';
}

/** A place without those in lists: `columns.Vendor`. */
export const pathText = (path: KeyPath): string => path.filter((step) => typeof step === 'string').join('.');

/** For whoever has no job file at hand: `columns.Cost: …`. */
export const jobFaultText = ({ path, message }: JobFault): string => `${pathText(path)}: ${message}`;

/** Of a run, whatever its kind. */
export const RUN_ID = /^\d{8}T\d{9}Z-[0-9a-f]{4}$/;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** `20%` or `50`. */
const brake = z
  .union([
    z.number().int().min(0),
    z.string().regex(/^\d+(\.\d+)?\s*%$|^\d+$/, 'must be a count or a percentage such as 20%'),
  ])
  .transform((value) => String(value).replace(/\s/g, ''));

export const sourceOptions = z.strictObject({
  format: z.enum(['auto', 'csv', 'xlsx', 'ods', 'ndjson']).default('auto'),
  sheet: z.union([z.string().min(1), z.number().int().min(1)]).optional(),
  /** `none`: columns go by their letters. */
  header_row: z.union([z.enum(['auto', 'none']), z.number().int().min(1)]).default('auto'),
  footer: z.enum(['auto', 'keep']).optional(),
  encoding: z.string().min(1).default('auto'),
  delimiter: z.string().min(1).default('auto'),
  dates: z.array(z.string().min(1)).optional(),
  decimal: z.enum(['auto', '.', ',']).default('auto'),
  /** Texts of cells that mean blank; compared without case and surrounding blanks. */
  null_values: z.array(z.string().min(1)).optional(),
});

export const brakes = z.strictObject({
  max_invalid: brake.optional(),
  max_rejected: brake.optional(),
  max_updates: brake.optional(),
  max_creates: brake.optional(),
  max_orphans: brake.optional(),
  max_cleared: brake.optional(),
  max_change: brake.optional(),
  min_rows: z.number().int().min(0).default(1),
});
export type Brakes = z.output<typeof brakes>;

const schedule = z.strictObject({
  cron: z.string().min(1),
  timezone: z.string().min(1).default('UTC'),
  file: z.string().min(1),
});

export const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Who is told how each run of the job by a worker ended; section 4. */
export const notify = z.strictObject({
  email: z.array(z.email('must be an e-mail address, such as buyer@example.com')).min(1).optional(),
  webhook: z
    .string()
    .refine(isWebAddress, { message: 'must be an address that begins with https:// or http://' })
    .optional(),
});
export type Notify = z.output<typeof notify>;

/** As `match.key`: nothing tells which record a row means, so each is appended. */
export const NO_KEY = 'none';

/** What a field is given, by field. */
const values = z.record(z.string(), scalar);

/** A value that a record must have; `~` or '' means none. */
const filterValue = z.union([scalar, z.null()]);
/** Field to value; of several values any one, of several fields all. */
const filter = z.record(z.string(), z.union([filterValue, z.array(filterValue).min(1)])).default({});

/** Keys of every job that takes the rows of a file into the service. */
const rowsShape = {
  resource: z.enum(IMPORTABLE),
  company: z.number().int().min(1).optional(),
  source: sourceOptions.default(() => sourceOptions.parse({})),
  match: z.strictObject({
    /** `none`: every row is a new record; then there are no fields. */
    key: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
      .transform((key) => (key === NO_KEY ? [] : Array.isArray(key) ? key : [key])),
    /** A row that equals an earlier one in every mapped column: needs a person, or is skipped. */
    duplicates: z.enum(['reject', 'first']).default('reject'),
    unique_field: z.enum(['name', 'serial_number']).optional(),
    existing: z.enum(['update', 'skip', 'fail']).default('update'),
    missing: z.enum(['create', 'skip', 'fail']).default('create'),
  }),
  blank: blank.default('keep'),
  columns: z.record(z.string(), columnTargets),
  /** Field to a text with headings in braces: a field from several columns; blank where all of them are blank. */
  computed: z.record(z.string(), z.string().min(1)).default({}),
  constants: values.default({}),
  defaults: values.default({}),
  references: z
    .strictObject({
      /** `create`: suppliers and customers that rows name and no record bears are created first, by their name alone. */
      missing: z.enum(['reject', 'create']).default('reject'),
      /** As `retire`, of the records that were created so. */
      retire: values.optional(),
    })
    .default({ missing: 'reject' }),
  write: z
    .strictObject({
      method: z.enum(['put', 'patch']).default('put'),
      at_risk: z.enum(['block', 'warn', 'strict']).default('block'),
      /** Records read right before their own update: those that were read over a minute ago, or all. */
      reread: z.enum(['stale', 'always']).default('stale'),
    })
    .default({ method: 'put', at_risk: 'block', reread: 'stale' }),
  brakes: brakes.default(() => brakes.parse({})),
  /** What `runs undo` sets in records that a run of this job created: the service has no delete. */
  retire: values.optional(),
  schedule: schedule.optional(),
  notify: notify.optional(),
};

export const importJob = z.strictObject({
  kind: z.literal('import'),
  ...rowsShape,
  /** The export that wrote the file: cells that are as that export wrote them are no change. */
  edited_from: z
    .string()
    .regex(RUN_ID, 'must be the id of the export that wrote the file, such as 20261121T081502123Z-3f9a')
    .optional(),
  /** Takes the same content again: from the drop folder, and where rows are appended. */
  repeat: z.boolean().default(false),
});
export type ImportJob = z.output<typeof importJob>;
/** As it is written: what has a default may be left out. */
export type ImportJobText = z.input<typeof importJob>;

/** Whose value stands where the file and the service differ; `fill`: the file's, where the service has none. */
const AUTHORITIES = ['file', 'service', 'fill'] as const;
export type Authority = (typeof AUTHORITIES)[number];

/** Brakes that look at what a file was on the nights before. `stop`: the run is braked; `warn`: it says so and goes on. */
const nightBrake = z.enum(['stop', 'warn']).default('stop');

export const reconcileBrakes = brakes.extend({
  /** The very file that was applied before, where applying it again would write. */
  same_file: nightBrake,
  /** Hardly any key of the file is known: the file of another company or resource. */
  unknown_keys: nightBrake,
});

const orphanSet = z.strictObject({ set: values });

/** `action: report`, `action: archive`, `action: { set: … }`, and `set: …` beside it or alone: all come to one form. */
export const orphanRules = z
  .strictObject({
    action: z.union([z.enum(['report', 'archive', 'set']), orphanSet]).optional(),
    set: values.optional(),
    /** Runs in a row, each with another file and a certain reading, that a record must be missing before it is touched. */
    after: z.number().int().min(1).default(2),
  })
  .transform(({ action, set, after }) => {
    const setValues = typeof action === 'object' ? action.set : set;
    const kind = typeof action === 'object' ? 'set' : (action ?? (set === undefined ? 'report' : 'set'));
    return { action: kind, after, ...(setValues === undefined ? {} : { set: setValues }) };
  });

/** A job that compares a file with the service, and makes them agree where it is applied. Contract, section 4. */
export const reconcileJob = z.strictObject({
  kind: z.literal('reconcile'),
  ...rowsShape,
  brakes: reconcileBrakes.default(() => reconcileBrakes.parse({})),
  compare: z
    .strictObject({
      /** Fields whose values are compared; default: every mapped one. Others are set in new records only. */
      fields: z.array(z.string().min(1)).min(1).optional(),
      /** By field; `*` stands for all that are not named. */
      authority: z.record(z.string(), z.enum(AUTHORITIES)).default({}),
    })
    .default(() => ({ authority: {} })),
  orphans: orphanRules.default(() => orphanRules.parse({})),
  /** Which records of the service the file is about. */
  scope: filter,
  /** Whether runs by schedule, drop folder and queue write. On the command line `--apply` says so. */
  apply: z.boolean().default(false),
  read: z
    .strictObject({
      /** Reads the list whole at least every so many runs; those between read what changed. 1: always whole. */
      full_every: z.number().int().min(1).default(7),
    })
    .default({ full_every: 7 }),
});
export type ReconcileJob = z.output<typeof reconcileJob>;
export type ReconcileJobText = z.input<typeof reconcileJob>;

/** A job that takes the rows of a file into the service. */
export type RowsJob = ImportJob | ReconcileJob;

/**
 * A job that writes the records of a resource to a file. `{date}` in `output` and `schedule.file` stands for the calendar
 * date: of the slot where a schedule set the run off, else of its beginning in the schedule's time zone.
 */
export const exportJob = z.strictObject({
  kind: z.literal('export'),
  resource: z.enum(EXPORTABLE),
  company: z.number().int().min(1).optional(),
  /** The file to write; its name says the format: .csv, .xlsx, .ndjson, each also .gz. */
  output: z.string().min(1).optional(),
  /** Fields or headings, in this order; all where absent. */
  columns: z.array(z.string().min(1)).min(1).optional(),
  filter,
  /** A field, with `-` before it for descending. */
  order: z.string().min(1).optional(),
  /** Made to be changed and imported again: a job file that does so is written beside it. */
  editable: z.boolean().default(false),
  /** `file`: as `output`, and wins over it. */
  schedule: schedule.partial({ file: true }).optional(),
  notify: notify.optional(),
});
export type ExportJob = z.output<typeof exportJob>;
export type ExportJobText = z.input<typeof exportJob>;

/** What a job file holds; `kind` tells which. */
export type Job = RowsJob | ExportJob;

/**
 * A custom field as job files name it: `template.Finance.Cost Centre`, `form.Data centre.Rack`. The owner is the template
 * or form, the part its field or column, each by name or id. Names may hold dots themselves, so every way to cut
 * the text is given, the first dot first; the service's own names decide (`template.2.11`, by ids, is never in doubt).
 */
export interface CustomFieldName {
  readonly kind: 'template' | 'form';
  readonly splits: readonly { readonly owner: string; readonly part: string }[];
}

/** Undefined where the text does not name a custom field; no cuts where it names one incompletely (`template.Finance`). */
export function customFieldName(text: string): CustomFieldName | undefined {
  const match = /^\s*(template|form)\s*\.(.*)$/isu.exec(text);
  if (!match) return undefined;
  const rest = match[2]!;
  const splits = [...rest.matchAll(/\./g)]
    .map(({ index }) => ({ owner: rest.slice(0, index).trim(), part: rest.slice(index + 1).trim() }))
    .filter(({ owner, part }) => owner !== '' && part !== '');
  return { kind: match[1]!.toLowerCase() === 'form' ? 'form' : 'template', splits };
}
