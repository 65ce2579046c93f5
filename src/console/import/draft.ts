import type { Correction, Field, RunDetail, Suggestion, TableOptions } from '../../api/schema.js';

export type JobOf = NonNullable<RunDetail['ordered']>['job'];

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
  /** In place of columns: the name of a saved job, or the job of a check that somebody else made. */
  readonly job?: JobOf;
  /** Over what was suggested, by heading; null: not imported. */
  readonly fields: Readonly<Record<string, string | null>>;
  readonly blanks: Readonly<Record<string, string>>;
  /** Formats of the text dates of a column. */
  readonly dates: Readonly<Record<string, string>>;
  /** By field. */
  readonly constants: Readonly<Record<string, string>>;
  /** Fields that tell records apart; none: every row is a new record. Absent: as suggested. */
  readonly key?: readonly string[];
  /** The address of the last step that was begun here: its `step`, and the runs that check and write. */
  readonly last?: string;
  /** Corrections over what a check has shown, by its run; the latest last. */
  readonly edits: Readonly<Record<string, readonly Correction[]>>;
}

export function newDraft(id: string, name: string): Draft {
  return { id, name, at: Date.now(), source: {}, fields: {}, blanks: {}, dates: {}, constants: {}, edits: {} };
}

const MOST_CHECKS = 5;

export function withEdits(draft: Draft, run: string, edits: readonly Correction[]): Draft {
  const { [run]: _, ...others } = draft.edits;
  return {
    ...draft,
    edits: Object.fromEntries([...Object.entries(others), [run, edits] as const].slice(-MOST_CHECKS)),
  };
}

/** What was decided about columns goes where they are other columns. */
export function withSource(draft: Draft, source: TableOptions, resource = draft.resource): Draft {
  const { id, name, edits } = draft;
  return { ...newDraft(id, name), source, edits, ...(resource !== undefined && { resource }) };
}

/** A column of the file with the field it goes to. */
export interface Mapped {
  readonly heading: string;
  readonly field: string | null;
  /** As it was suggested. */
  readonly asFound: boolean;
}

export function mapping(draft: Draft, { columns }: Suggestion): Mapped[] {
  return columns.map(({ heading, field }) => {
    const chosen = own(draft.fields, heading);
    const asFound = chosen === undefined || chosen === field;
    return { heading, field: asFound ? field : chosen, asFound };
  });
}

const own = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;

/** A field is given by one column: the one that had it is left out of the import. */
export function withField(draft: Draft, suggestion: Suggestion, heading: string, field: string | null): Draft {
  const before = mapping(draft, suggestion).filter((one) => field !== null && one.field === field);
  const taken = Object.fromEntries(before.map((one) => [one.heading, null]));
  return { ...draft, fields: { ...draft.fields, ...taken, [heading]: field } };
}

/** Required fields that neither a column nor a constant gives. */
export function missing(draft: Draft, suggestion: Suggestion, fields: readonly Field[]): Field[] {
  const given = new Set(mapping(draft, suggestion).map(({ field }) => field));
  const computed = record(suggestion.job['computed']);
  return fields.filter(
    ({ name, required }) =>
      (required || suggestion.missing.includes(name)) && !given.has(name) && own(computed, name) === undefined,
  );
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** Undefined where a person must choose. */
export function keyOf(draft: Draft, { key }: Suggestion): readonly string[] | undefined {
  return draft.key ?? (key ? [key.field] : undefined);
}

/** What `POST /runs` takes as `job`, of columns that were matched here. */
export function jobOf(draft: Draft, suggestion: Suggestion): Readonly<Record<string, unknown>> {
  const { job, resource } = suggestion;
  const found = record(job['columns']);
  const columns = mapping(draft, suggestion).map(({ heading, field, asFound }) => {
    const base = asFound ? own(found, heading) : field;
    if (field === null || base === undefined) return [heading, null];
    const blank = own(draft.blanks, heading);
    const dates = own(draft.dates, heading);
    if (!blank && !dates) return [heading, base];
    const full = typeof base === 'string' ? { field: base } : record(base);
    return [heading, { ...full, ...(blank && { blank }), ...(dates && { dates: [dates] }) }];
  });
  const constants = Object.entries(draft.constants).filter(([, value]) => value !== '');
  return {
    ...job,
    kind: 'import',
    resource,
    source: { ...record(job['source']), ...draft.source },
    columns: Object.fromEntries(columns),
    match: matchOf(draft, suggestion),
    constants: { ...record(job['constants']), ...Object.fromEntries(constants) },
  };
}

function matchOf({ key }: Draft, { job, resource }: Suggestion): Readonly<Record<string, unknown>> {
  const { unique_field: _, ...match } = record(job['match']);
  if (key === undefined) return record(job['match']);
  const [only] = key.length === 1 ? key : [];
  const guarded = resource === 'asset' && (only === 'name' || only === 'serial_number');
  return { ...match, key: key.length === 0 ? 'none' : (only ?? [...key]), ...(guarded && { unique_field: only }) };
}

/** Heading to the first field it goes to; nothing where the job is known by its name alone. */
export function targetsOf(job: JobOf): Map<string, string> {
  const targets = new Map<string, string>();
  for (const [heading, given] of Object.entries(record(typeof job === 'string' ? {} : job['columns']))) {
    const first: unknown = Array.isArray(given) ? given[0] : given;
    const field = typeof first === 'string' ? first : record(first)['field'];
    if (typeof field === 'string') targets.set(heading, field);
  }
  return targets;
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

export function load(shelf: Shelf, id: string): Draft | undefined {
  try {
    const kept = JSON.parse(shelf.getItem(PREFIX + id) ?? 'null') as Partial<Draft> | null;
    return kept ? { ...newDraft(id, ''), ...kept, id } : undefined;
  } catch {
    return undefined;
  }
}

/** False where the browser has no room for it, also without those of other files. */
export function keep(shelf: Shelf, draft: Draft): boolean {
  const text = JSON.stringify({ ...draft, at: Date.now() });
  for (;;) {
    try {
      shelf.setItem(PREFIX + draft.id, text);
      return true;
    } catch {
      const oldest = drafts(shelf).findLast(({ id }) => id !== draft.id);
      if (!oldest) return false;
      shelf.removeItem(PREFIX + oldest.id);
    }
  }
}

/** The latest first; those whose upload must be gone are taken off the shelf. */
export function drafts(shelf: Shelf): Draft[] {
  const names = Array.from({ length: shelf.length }, (_, at) => shelf.key(at) ?? '');
  const all = names.flatMap((name) => (name.startsWith(PREFIX) ? (load(shelf, name.slice(PREFIX.length)) ?? []) : []));
  const old = all.filter(({ at }) => Date.now() - at >= KEPT_MS);
  for (const { id } of old) shelf.removeItem(PREFIX + id);
  return all.filter((draft) => !old.includes(draft)).sort((a, b) => b.at - a.at);
}
