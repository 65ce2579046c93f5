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
  /** How the table is to be read where detection was overruled. */
  readonly source: TableOptions;
  readonly resource?: string;
  /** As it was changed here, or the name of a saved one. Absent: as suggested. */
  readonly job?: OrderedJob;
  /** What was decided and corrected of other tables of the file, or other records: for who comes back to them. */
  readonly left?: Readonly<Record<string, { readonly job?: OrderedJob; readonly corrected: readonly Correction[] }>>;
  /** What the checks that were begun here were of, by their run. */
  readonly sent?: Readonly<Record<string, Sent>>;
  /** The address of the last step that was begun here: its `step`, and the runs that check and write. */
  readonly last?: string;
  /** Corrections over what a check has shown, by its run; the latest last. */
  readonly edits: Readonly<Record<string, readonly Correction[]>>;
}

interface Sent {
  readonly source: TableOptions;
  readonly resource: string | undefined;
  readonly job: OrderedJob | undefined;
}

export function newDraft(id: string, name: string): Draft {
  return { id, name, at: Date.now(), source: {}, edits: {} };
}

const MOST_CHECKS = 5;

function withLatest<T>(all: Readonly<Record<string, T>> | undefined, run: string, one: T): Record<string, T> {
  const { [run]: _, ...others } = all ?? {};
  return Object.fromEntries([...Object.entries(others), [run, one] as const].slice(-MOST_CHECKS));
}

export function withEdits(draft: Draft, run: string, edits: readonly Correction[]): Draft {
  return { ...draft, edits: withLatest(draft.edits, run, edits) };
}

export function withSent(draft: Draft, run: string, sent: Sent): Draft {
  return { ...draft, sent: withLatest(draft.sent, run, sent) };
}

/** What was decided about the columns of the table `table`, and corrected in it, stays with it: now they are other columns. */
export function withSource(
  draft: Draft,
  table: string,
  source: TableOptions,
  resource = draft.resource,
  corrected: readonly Correction[] = [],
): Draft {
  const { job: _, last: _last, ...kept } = draft;
  const job = draft.job ?? draft.left?.[table]?.job;
  const left = { ...draft.left, [table]: { corrected, ...(job !== undefined && { job }) } };
  return { ...kept, source, left, ...(resource !== undefined && { resource }) };
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

export const suggestedJob = ({ job }: Suggestion, { source }: Draft) => withMembers(job, 'source', source);

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

const PREFIX = 'rowferry.import.';
/** Uploads are removed some time after they were last used. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** What of the browser's storage is used. */
export interface DraftStorage {
  readonly length: number;
  key(at: number): string | null;
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

const storageKey = (id: string): string => PREFIX + id;

export function loadDraft(storage: DraftStorage, id: string): Draft | undefined {
  try {
    const stored = JSON.parse(storage.getItem(storageKey(id)) ?? 'null') as Partial<Draft> | null;
    return stored ? { ...newDraft(id, ''), ...stored, id } : undefined;
  } catch {
    return undefined;
  }
}

/** False where the browser has no room for it. */
export function saveDraft(storage: DraftStorage, draft: Draft): boolean {
  try {
    storage.setItem(storageKey(draft.id), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

/** The latest first; those whose upload must be gone are taken off the shelf. */
export function listDrafts(storage: DraftStorage): Draft[] {
  const names = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '');
  const all = names.flatMap((name) =>
    name.startsWith(PREFIX) ? (loadDraft(storage, name.slice(PREFIX.length)) ?? []) : [],
  );
  const expired = all.filter(({ at }) => Date.now() - at >= KEPT_MS);
  for (const { id } of expired) storage.removeItem(storageKey(id));
  return all.filter((draft) => !expired.includes(draft)).sort((a, b) => b.at - a.at);
}
