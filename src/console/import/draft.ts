import type { Correction, Field, RunDetail, Suggestion, TableOptions } from '../../api/schema.js';

/** What a run was given. */
export type Ordered = NonNullable<RunDetail['ordered']>;
export type OrderedJob = Ordered['job'];
/** A job file as an object: what `POST /runs` takes as `job`, and what choices about columns change. */
export type Job = Exclude<OrderedJob, string>;

/** What a person has decided about a file so far. It lies in the browser by the id of the upload; a reload finds it again. */
export interface Draft {
  /** Of the upload. */
  readonly id: string;
  readonly name: string;
  /** When it was last changed, in milliseconds. */
  readonly at: number;
  /** Of each table that the file was read as, by what the address says of it. */
  readonly tables: Readonly<Record<string, Decided>>;
  /** Corrections over what a check has shown, by its run; the latest last. */
  readonly edits: Readonly<Record<string, readonly Correction[]>>;
  /** The address of the last step that was begun here: its `step`, and the runs that check and write. */
  readonly last?: string;
}

export interface Decided {
  /** As it was changed here, or the name of a saved one. Absent: as suggested. */
  readonly job?: OrderedJob | undefined;
  /** The check that was looked at when another table was chosen. */
  readonly run?: string | undefined;
}

export function newDraft(id: string, name: string): Draft {
  return { id, name, at: Date.now(), tables: {}, edits: {} };
}

const MOST_CHECKS = 5;

export function withEdits(draft: Draft, run: string, edits: readonly Correction[]): Draft {
  const { [run]: _, ...others } = draft.edits;
  return { ...draft, edits: Object.fromEntries([...Object.entries(others), [run, edits]].slice(-MOST_CHECKS)) };
}

export function withDecided(draft: Draft, table: string, decided: Decided): Draft {
  return { ...draft, tables: { ...draft.tables, [table]: { ...draft.tables[table], ...decided } } };
}

// A job, and what is decided about it

type Members = Readonly<Record<string, unknown>>;

const members = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** What stands in a job under these names, one below the other. A heading may have any name. */
export function valueAt(job: Job, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((of, name) => (Object.hasOwn(members(of), name) ? members(of)[name] : undefined), job);
}

/** The job with these below `name`, beside what stands there. */
export function withMembers(job: Job, name: string, more: object): Job {
  return { ...job, [name]: { ...members(job[name]), ...more } };
}

export const suggestedJob = ({ job }: Suggestion, source: TableOptions) => withMembers(job, 'source', source);

/** The field that a column goes to, of several the first; null where it is not imported. */
export function fieldIn(job: Job, heading: string): string | null {
  const mapping = valueAt(job, 'columns', heading);
  const first: unknown = Array.isArray(mapping) ? mapping[0] : mapping;
  const field = typeof first === 'string' ? first : members(first)['field'];
  return typeof field === 'string' ? field : null;
}

/** A field is given by one column: the one that had it is left out. What was found out of a field does not stay with another. */
export function withField(job: Job, suggested: Job, heading: string, field: string | null): Job {
  const before = Object.keys(members(job['columns'])).filter((one) => field !== null && fieldIn(job, one) === field);
  const released = Object.fromEntries(before.map((other) => [other, null]));
  const asFound = field !== null && fieldIn(suggested, heading) === field;
  return withMembers(job, 'columns', {
    ...released,
    [heading]: asFound ? valueAt(suggested, 'columns', heading) : field,
  });
}

/** What a column says beside its field. */
export function optionsIn(job: Job, heading: string): { blank?: unknown; dates?: unknown; overflow?: unknown } {
  return members(valueAt(job, 'columns', heading));
}

export function withOption(job: Job, heading: string, option: ReturnType<typeof optionsIn>): Job {
  const mapping = valueAt(job, 'columns', heading);
  const full = typeof mapping === 'string' ? { field: mapping } : members(mapping);
  return withMembers(job, 'columns', { [heading]: { ...full, ...option } });
}

export const constantIn = (job: Job, field: string) => String(valueAt(job, 'constants', field) ?? '');

export function withConstant(job: Job, field: string, value: string): Job {
  const { [field]: _, ...others } = members(job['constants']);
  return { ...job, constants: value === '' ? others : { ...others, [field]: value } };
}

/** Fields that tell records apart; none: every row is a new record. Undefined where a person must choose. */
export function keyIn(job: Job, { key: found, job: suggested }: Suggestion): readonly string[] | undefined {
  const key = valueAt(job, 'match', 'key');
  if (JSON.stringify(key) === JSON.stringify(valueAt(suggested, 'match', 'key')))
    return found ? [found.field] : undefined;
  return key === 'none' ? [] : [key].flat().map(String);
}

/** `field`: null where every row is a new record. */
export function withKey(job: Job, field: string | null): Job {
  const { unique_field: _, ...match } = members(job['match']);
  const guarded = job['resource'] === 'asset' && (field === 'name' || field === 'serial_number');
  return { ...job, match: { ...match, key: field ?? 'none', ...(guarded && { unique_field: field }) } };
}

/** Required fields that no column gives, where records are created. */
export function unfilledFields(job: Job, suggestion: Suggestion, fields: readonly Field[]): Field[] {
  if ((valueAt(job, 'match', 'missing') ?? 'create') !== 'create') return [];
  const mapped = new Set(Object.keys(members(job['columns'])).map((heading) => fieldIn(job, heading)));
  return fields.filter(
    ({ name, required }) =>
      (required || suggestion.missing.includes(name)) &&
      !mapped.has(name) &&
      valueAt(job, 'computed', name) === undefined,
  );
}

// Kept in the browser

const KEPT_AS = 'rowferry.imports';
/** Uploads are removed some time after they were last used. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** What of the browser's storage is used. */
export type DraftStorage = { getItem(name: string): string | null; setItem(name: string, text: string): void };

/** The latest first, without those whose upload must be gone. */
export function listDrafts(storage: DraftStorage): Draft[] {
  try {
    const stored = JSON.parse(storage.getItem(KEPT_AS) ?? '[]') as readonly Draft[];
    return stored.filter(({ at }) => Date.now() - at < KEPT_MS);
  } catch {
    return [];
  }
}

export function loadDraft(storage: DraftStorage, id: string): Draft | undefined {
  return listDrafts(storage).find((draft) => draft.id === id);
}

/** False where the browser has no room for it. */
export function saveDraft(storage: DraftStorage, draft: Draft): boolean {
  const others = listDrafts(storage).filter(({ id }) => id !== draft.id);
  try {
    storage.setItem(KEPT_AS, JSON.stringify([draft, ...others]));
    return true;
  } catch {
    return false;
  }
}
