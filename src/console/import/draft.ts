import type { Correction, Field, RunDetail, Suggestion, TableOptions } from '../../api/schema.js';

export type JobOf = NonNullable<RunDetail['ordered']>['job'];
/** A job file as an object: what `POST /runs` takes as `job`, and what choices about columns change. */
export type Job = Exclude<JobOf, string>;

/** What a person has decided about a file so far. It lies in the browser by the id of the upload; a reload finds it again. */
export interface Draft {
  /** Of the upload. */
  readonly id: string;
  readonly name: string;
  /** When it was last changed, in milliseconds. */
  readonly at: number;
  /** How the table is to be read where detection was overruled. */
  readonly source: TableOptions;
  readonly resource?: string;
  /** As it was changed here, or the name of a saved one. Absent: as suggested. */
  readonly job?: JobOf;
  /** Jobs of other tables of the file, or other records, that were turned away from: for who comes back to them. */
  readonly left?: Readonly<Record<string, JobOf>>;
  /** The job of the latest check that was begun here. */
  readonly sent?: JobOf;
  /** The address of the last step that was begun here: its `step`, and the runs that check and write. */
  readonly last?: string;
  /** Corrections over what a check has shown, by its run; the latest last. */
  readonly edits: Readonly<Record<string, readonly Correction[]>>;
}

export function newDraft(id: string, name: string): Draft {
  return { id, name, at: Date.now(), source: {}, edits: {} };
}

const MOST_CHECKS = 5;

export function withEdits(draft: Draft, run: string, edits: readonly Correction[]): Draft {
  const { [run]: _, ...others } = draft.edits;
  return {
    ...draft,
    edits: Object.fromEntries([...Object.entries(others), [run, edits] as const].slice(-MOST_CHECKS)),
  };
}

/** What was decided about the columns of the table `was` stays with it: now they are other columns. */
export function withSource(draft: Draft, was: string, source: TableOptions, resource = draft.resource): Draft {
  const { id, name, edits, job } = draft;
  const left = job === undefined ? draft.left : { ...draft.left, [was]: job };
  return { ...newDraft(id, name), source, edits, ...(left && { left }), ...(resource !== undefined && { resource }) };
}

// A job, and what is decided about it

type Members = Readonly<Record<string, unknown>>;

const members = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
/** A heading may have any name. */
const own = (of: unknown, name: string): unknown => (Object.hasOwn(members(of), name) ? members(of)[name] : undefined);

export function suggestedJob({ job }: Suggestion, { source }: Draft): Job {
  return { ...job, source: { ...members(job['source']), ...source } };
}

/** The field that a column goes to, of several the first; null where it is not imported. */
export function fieldIn(job: Job, heading: string): string | null {
  const given = own(job['columns'], heading);
  const first: unknown = Array.isArray(given) ? given[0] : given;
  const field = typeof first === 'string' ? first : own(first, 'field');
  return typeof field === 'string' ? field : null;
}

/** A field is given by one column: the one that had it is left out. What was found out of a field does not stay with another. */
export function withField(job: Job, suggested: Job, heading: string, field: string | null): Job {
  const columns = members(job['columns']);
  const before = Object.keys(columns).filter((other) => field !== null && fieldIn(job, other) === field);
  const taken = Object.fromEntries(before.map((other) => [other, null]));
  const found = field !== null && fieldIn(suggested, heading) === field ? own(suggested['columns'], heading) : field;
  return { ...job, columns: { ...columns, ...taken, [heading]: found } };
}

/** What a column says beside its field. */
export function optionIn(job: Job, heading: string, name: 'blank' | 'dates' | 'overflow'): unknown {
  return own(own(job['columns'], heading), name);
}

export function withOption(
  job: Job,
  heading: string,
  option: { blank: string } | { dates: unknown } | { overflow: string },
): Job {
  const given = own(job['columns'], heading);
  const full = typeof given === 'string' ? { field: given } : members(given);
  return { ...job, columns: { ...members(job['columns']), [heading]: { ...full, ...option } } };
}

export function constantIn(job: Job, field: string): string {
  return String(own(job['constants'], field) ?? '');
}

export function withConstant(job: Job, field: string, value: string): Job {
  const { [field]: _, ...others } = members(job['constants']);
  return { ...job, constants: value === '' ? others : { ...others, [field]: value } };
}

/** Fields that tell records apart; none: every row is a new record. Undefined where a person must choose. */
export function keyIn(job: Job, { key: found, job: suggested }: Suggestion): readonly string[] | undefined {
  const key = own(job['match'], 'key');
  if (JSON.stringify(key) === JSON.stringify(own(suggested['match'], 'key'))) return found ? [found.field] : undefined;
  return key === 'none' ? [] : [key].flat().map(String);
}

/** `field`: null where every row is a new record. */
export function withKey(job: Job, field: string | null): Job {
  const { unique_field: _, ...match } = members(job['match']);
  const guarded = job['resource'] === 'asset' && (field === 'name' || field === 'serial_number');
  return { ...job, match: { ...match, key: field ?? 'none', ...(guarded && { unique_field: field }) } };
}

/** Whether names of suppliers and customers that the service lacks are created first. */
export function createsMissing(job: Job): boolean {
  return own(job['references'], 'missing') === 'create';
}

export function withMissing(job: Job, missing: string): Job {
  return { ...job, references: { ...members(job['references']), missing } };
}

/** Required fields that no column gives, where records are created. */
export function missing(job: Job, suggestion: Suggestion, fields: readonly Field[]): Field[] {
  if ((own(job['match'], 'missing') ?? 'create') !== 'create') return [];
  const given = new Set(Object.keys(members(job['columns'])).map((heading) => fieldIn(job, heading)));
  return fields.filter(
    ({ name, required }) =>
      (required || suggestion.missing.includes(name)) && !given.has(name) && own(job['computed'], name) === undefined,
  );
}

// Kept in the browser

const PREFIX = 'rowferry.import.';
/** Uploads are removed some time after they were last used. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** What of the browser's storage is used. */
export interface Shelf {
  readonly length: number;
  key(at: number): string | null;
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

const shelfName = (id: string): string => PREFIX + id;

export function load(shelf: Shelf, id: string): Draft | undefined {
  try {
    const kept = JSON.parse(shelf.getItem(shelfName(id)) ?? 'null') as Partial<Draft> | null;
    return kept ? { ...newDraft(id, ''), ...kept, id } : undefined;
  } catch {
    return undefined;
  }
}

/** False where the browser has no room for it. */
export function keep(shelf: Shelf, draft: Draft): boolean {
  try {
    shelf.setItem(shelfName(draft.id), JSON.stringify({ ...draft, at: Date.now() }));
    return true;
  } catch {
    return false;
  }
}

/** The latest first; those whose upload must be gone are taken off the shelf. */
export function drafts(shelf: Shelf): Draft[] {
  const names = Array.from({ length: shelf.length }, (_, at) => shelf.key(at) ?? '');
  const all = names.flatMap((name) => (name.startsWith(PREFIX) ? (load(shelf, name.slice(PREFIX.length)) ?? []) : []));
  const old = all.filter(({ at }) => Date.now() - at >= KEPT_MS);
  for (const { id } of old) shelf.removeItem(shelfName(id));
  return all.filter((draft) => !old.includes(draft)).sort((a, b) => b.at - a.at);
}
